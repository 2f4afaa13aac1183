"""What baskets of sources would leave unexplained, in hindsight, from the moments of all rows.

The error of a basket is the root of Akaike's final prediction error (`Moments.final_prediction_error`), so that buying
everything does not look better than it would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats
from ..core.sources import SourceCatalog
from ..estimation.moment_regression import Moments

__all__ = ["Basket", "Baskets"]


class Basket(NamedTuple):
    """Some sources (by place in the market), what they cost a row, and the error in hindsight that is left."""

    sources: tuple[int, ...]
    price: float
    error: float


@dataclass(frozen=True, eq=False)
class Baskets:
    """The errors of baskets of this market's sources; what is known is in each of them."""

    moments: Moments
    catalog: SourceCatalog

    def of(self, sources: Sequence[int]) -> Basket:
        """A basket of these sources."""
        mse = self.moments.final_prediction_error(self.catalog.attributes(list(sources)))
        return Basket(tuple(sources), float(self.catalog.prices[list(sources)].sum()), float(np.sqrt(mse)))

    def way(self, candidates: Sequence[int], most: int = 12) -> list[Basket]:
        """From nothing on: add the source that explains most for its money, while the typical error goes down."""
        steps = [self.of(())]
        left = list(candidates)
        while left and len(steps) <= most:
            best = left[int(np.argmax(self._gains(steps[-1].sources, left)))]
            step = self.of((*steps[-1].sources, best))
            if not step.error < steps[-1].error:
                break
            steps.append(step)
            left.remove(best)
        return steps

    def _gains(self, basket: Sequence[int], others: Sequence[int]) -> Floats:
        """What each of the others would explain beside the basket, for its money and a twentieth of the usual price."""
        inside, left = self.catalog.attributes(list(basket)), self.moments.mse(self.catalog.attributes(list(basket)))
        gains = np.array([left - self.moments.mse(np.append(inside, self.catalog.members[s])) for s in others])
        prices = self.catalog.prices
        return gains / (prices[list(others)] + 0.05 * max(float(prices.mean()), 1e-300))

    def enough(self, sources: Sequence[int], error_cost: float | None = None, tolerance: float = 0.01) -> Basket:
        """The part of a basket that is worth buying.

        By `error_cost`, the cost of one unit of squared error; else the part whose typical error exceeds that of the
        whole basket by at most `tolerance`.
        """
        whole = self.of(sources)

        def good(basket: Basket) -> bool:
            return basket.error <= (1 + tolerance) * whole.error

        def cost(basket: Basket) -> float:
            return (error_cost or 0.0) * basket.error**2 + basket.price

        way = self.way(sources, most=len(sources))
        if error_cost is not None:
            return min(way, key=cost)
        short = next((basket for basket in way if good(basket)), whole)
        for s in short.sources:  # what came early may have been made superfluous
            less = self.of([other for other in short.sources if other != s])
            short = less if good(less) else short
        return short
