"""What baskets of sources would leave unexplained, in hindsight, from the moments of all rows.

    mse(S) = var(y) - c_S' C_SS^-1 c_S                 least squares with an intercept, fitted to all n rows
    FPE(S) = mse(S) (n + p + 1) / (n - p - 1)          Akaike's final prediction error: what p weights fitted to n rows
                                                       leave on rows that they have not seen

The typical error is the root of FPE: so that buying everything does not look better than it would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats
from ..core.sources import SourceCatalog
from ..estimation.moment_regression import Moments

__all__ = ["Basket", "Baskets"]

_TINY = 1e-9


class Basket(NamedTuple):
    """Some sources (by place in the market), what they cost a row, and the typical error that is left."""

    sources: tuple[int, ...]
    price: float
    error: float


@dataclass(frozen=True, eq=False)
class Baskets:
    """The errors of baskets of this market's sources; what is known is in each of them."""

    moments: Moments
    catalog: SourceCatalog

    @cached_property
    def _correlations(self) -> tuple[Floats, Floats]:
        """R and r of columns of unit variance; a constant column explains nothing."""
        scale = np.sqrt(np.maximum(np.diag(self.moments.C), 0.0))
        safe = np.where(scale > 0, scale, 1.0)
        return self.moments.C / np.outer(safe, safe), np.where(scale > 0, self.moments.c / safe, 0.0)

    def of(self, sources: Sequence[int]) -> Basket:
        """A basket of these sources."""
        columns = self.catalog.attributes(list(sources))
        R, r = self._correlations
        H = R[np.ix_(columns, columns)] + _TINY * np.eye(columns.size)
        mse = self.moments.variance - float(r[columns] @ np.linalg.solve(H, r[columns])) if columns.size else None
        left = self.moments.variance if mse is None else max(mse, 0.0)
        return Basket(
            tuple(sources), float(self.catalog.prices[list(sources)].sum()), self._typical(left, columns.size)
        )

    def _typical(self, mse: float, p: int) -> float:
        n = self.moments.n
        return float(np.sqrt(mse * (n + p + 1) / (n - p - 1))) if n > p + 1 else float("nan")

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
        inside = self.catalog.attributes(list(basket))
        R, r = self._correlations
        A = np.linalg.solve(R[np.ix_(inside, inside)] + _TINY * np.eye(inside.size), R[inside])
        rest, moment = R - R[:, inside] @ A, r - r[inside] @ A
        gains = np.empty(len(others))
        for i, s in enumerate(others):
            J = self.catalog.members[s]
            H = rest[np.ix_(J, J)] + _TINY * np.eye(J.size)
            gains[i] = moment[J] @ np.linalg.solve(H, moment[J])
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
