"""What the best baskets leave in hindsight, and which error costs to play."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.sources import SourceCatalog
from ...errors import ConfigError
from ...estimation.moment_regression import Moments
from ...runs.baselines import StreamMoments
from ...theory.comparators import best_basket_of
from ..stream_spec import Rows
from .frontier_result import Choice, Point

__all__ = ["Past", "levels_of"]

_POINTS = 9
_NODES = 400


@dataclass(frozen=True, eq=False)
class Past:
    """The moments of all rows, as a run of the same file computes them, and what can be ordered."""

    moments: Moments
    catalog: SourceCatalog

    @classmethod
    def of(cls, rows: Rows) -> "Past":
        """Of the rows that have a label."""
        n = int(np.isfinite(rows.y).sum())
        if n < 10:
            raise ConfigError(f"{n} rows have a label: too few to say what money buys")
        return cls(StreamMoments.of_rows(rows.X, rows.y).moments, rows.schema.catalog)

    @property
    def n(self) -> int:
        """How many rows have a label."""
        return round(self.moments.n)

    def best(self, budget_per_row: float, k: int | None = None) -> Point:
        """The best basket for at most this much a row."""
        budget_per_row = max(budget_per_row, 0.0)
        m = self.moments
        found = best_basket_of(m.C, m.c, m.variance, self.catalog, budget_per_row=budget_per_row, k=k, nodes=_NODES)
        names = tuple(self.catalog.sources[s] for s in found.chosen)
        return Point(found.price, self.mse(found.chosen.tolist()), names, found.optimal, found.gap)

    def best_for(self, error_cost: float, k: int | None = None, budget_per_row: float = np.inf) -> Point:
        """The basket that costs least where a unit of squared error costs so much, within the other limits."""
        m, most = self.moments, min(budget_per_row, float(self.catalog.prices.sum()))
        found = best_basket_of(
            m.C, m.c, m.variance, self.catalog, error_cost=error_cost, budget_per_row=most, k=k, nodes=_NODES
        )
        names = tuple(self.catalog.sources[s] for s in found.chosen)
        return Point(found.price, self.mse(found.chosen.tolist()), names, found.optimal, found.gap)

    def choice(self, basket: Sequence[int], seeds: int) -> Choice:
        """A basket that so many seeds ended with, with its own price and error."""
        names = tuple(self.catalog.sources[s] for s in basket)
        return Choice(names, float(self.catalog.prices[list(basket)].sum()), self.mse(basket), seeds)

    def places(self, names: Sequence[str]) -> list[int]:
        """The places of sources in the market, in its order."""
        return sorted(self.catalog.sources.index(name) for name in names)

    def mse(self, basket: Sequence[int]) -> float:
        """The mean squared error of a basket in hindsight: the final prediction error, as on the page of a run."""
        return self.moments.final_prediction_error(self.catalog.attributes(list(basket)))

    def left(self, basket: Sequence[int]) -> float:
        """The variance that least squares on a basket leaves on the rows it was fitted to."""
        return self.moments.mse(self.catalog.attributes(list(basket)))

    @cached_property
    def left_by_everything(self) -> float:
        """The variance that least squares on all attributes leaves."""
        return self.left(range(len(self.catalog.sources)))

    def chance(self, attributes: int, s2: float) -> float:
        """By how much q attributes without any meaning may lower an mse of s2: (q + 3 sqrt(2 q)) s2 / n."""
        return float((attributes + 3 * np.sqrt(2 * attributes)) * s2 / self.n)

    def lowers(self, dearer: Point | Choice, than: Point | Choice) -> bool:
        """Whether a basket leaves less than another: by more than chance, and so that four digits show it."""
        new = self.places([name for name in dearer.sources if name not in than.sources])
        attributes = sum(self.catalog.members[s].size for s in new)
        seen = float(f"{dearer.typical_error:.4g}") < float(f"{than.typical_error:.4g}")
        left = [self.left(self.places(basket.sources)) for basket in (than, dearer)]
        return seen and left[0] - left[1] > self.chance(max(attributes, 1), left[1])

    def curve(self, prices: Sequence[float] = (), k: int | None = None) -> tuple[Point, ...]:
        """From nothing to everything that helps; each point leaves less than the one before.

        Searched at `prices`, and between the lowest price and the sum of all, close where prices are low.
        """
        priced = self.catalog.prices[self.catalog.prices > 0]
        first, last = float(priced.min()), float(self.catalog.prices.sum())
        points = [self.best(0.0, k)]
        for budget_per_row in sorted({*np.geomspace(first, last, _POINTS).tolist(), *prices}):
            point = self._without_useless(self.best(budget_per_row, k), k)
            if self.lowers(point, points[-1]):
                # Without a proof the cheaper of two baskets may be found last.
                points = [*(p for p in points if p.price < point.price), point]
        return tuple(points)

    def _without_useless(self, point: Point, k: int | None) -> Point:
        """A basket without the sources that add nothing to the others, or a better one for what the rest costs."""
        kept = self.helpful(self.places(point.sources))
        if len(kept) == len(point.sources):
            return point
        rest = self.choice(kept, 0)
        again = self.best(rest.price, k)
        if len(self.helpful(self.places(again.sources))) == len(again.sources):
            return again
        return Point(rest.price, rest.mse, rest.sources, False, max(rest.mse - again.mse, 0.0) + again.gap)

    def helpful(self, basket: Sequence[int]) -> list[int]:
        """A basket without the priced sources that add nothing to the others, but for chance: backward elimination."""
        S = self.moments.varying(self.catalog.attributes(list(basket)))
        R, r = self.moments.correlations(S)
        inverse = np.linalg.inv(R)
        w = inverse @ r
        places = {s: np.flatnonzero(self.catalog.of[S] == s) for s in basket if self.catalog.prices[s] > 0}
        while places:
            # Without the attributes J of a source, least squares leaves w_J' (R^-1)_JJ^-1 w_J more.
            lost = {s: np.linalg.solve(inverse[np.ix_(J, J)], w[J]) for s, J in places.items()}
            s2 = max(self.moments.variance - float(r @ w), 1e-300)
            ratio = {s: float(w[J] @ lost[s]) / self.chance(max(J.size, 1), s2) for s, J in places.items()}
            least = min(ratio, key=ratio.__getitem__)
            if ratio[least] > 1:
                break
            J = places.pop(least)
            w = w - inverse[:, J] @ lost[least]
            inverse = inverse - inverse[:, J] @ np.linalg.solve(inverse[np.ix_(J, J)], inverse[J])
        return [s for s in basket if s in places or self.catalog.prices[s] == 0]


def levels_of(past: Past, levels: int) -> list[float]:
    """Error costs from one at which nothing is bought to one at which everything is that helps, evenly in ratio.

    A source alone is bought from error_cost = price / gain on; one beside all the others from the same with what it
    adds to them. It helps where that is more than `Past.chance` of its attributes.
    """
    catalog, s2, nothing = past.catalog, past.left_by_everything, past.left([])
    first, last = np.inf, 0.0
    everything = list(range(len(catalog.sources)))
    for s, (price, brings) in enumerate(zip(catalog.prices, catalog.members, strict=True)):
        alone = nothing - past.left([s])
        beside = past.left([o for o in everything if o != s]) - s2
        chance = past.chance(brings.size, s2)
        if price > 0 and alone > chance:
            first, last = min(first, price / alone), max(last, price / alone)
        if price > 0 and beside > chance:
            last = max(last, price / beside)
    if not np.isfinite(first):  # nothing helps: say so from both sides
        first = float(catalog.prices[catalog.prices > 0].min()) / max(nothing, 1e-300)
        last = first * 100
    low, high = first / 2.0, max(last * 1.5, first * 4.0)
    return [float(f"{error_cost:.3g}") for error_cost in np.geomspace(low, high, levels)]
