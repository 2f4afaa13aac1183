"""Baselines of a run on the same rows: buying nothing, randomly drawn sources, and everything.

Before each page, ridge regression on all pages before it predicts the page:

    beta = argmin |y - Z beta|^2 + p |beta|^2     on columns scaled to unit variance, p = the number of attributes

so the baselines are online too (half a page late on average, about 1 % of the stream). Each is shown with the error of
least squares on the same attributes in hindsight (final prediction error). All of them use the free attributes.
"""

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.sources import SourceCatalog
from ..core.state import NoCheck, NumberCheck, Part, Stateful, StateSchema
from ..estimation.moment_regression import Moments
from ..simulation import scored
from ..theory.comparators import best_basket_of
from .stream_blocks import page_length

__all__ = ["Baselines", "Limits", "Line", "StreamMoments"]

# After the first _FULL rows only one page in _SKIP is read, with weight _SKIP.
_FULL, _SKIP = 1 << 17, 8


class StreamMoments(Stateful):
    """The second moments G = sum of v v' over labelled rows v = (1, x, y), centred at the means of the first block of
    rows.

    A missing value counts as the mean of its column so far. Memory is O(d^2), time O(d^2) per row.
    """

    _state: ClassVar[StateSchema] = {"shift": NumberCheck(), "G": NumberCheck()}

    def __init__(self, d: int) -> None:
        self.shift: Floats = np.zeros(d + 1)
        self.G: Floats = np.zeros((d + 2, d + 2))

    @classmethod
    def of_rows(cls, X: Floats, y: Floats) -> "StreamMoments":
        """Accumulate all rows of a table in memory, in the same blocks as a run."""
        sums, start = cls(X.shape[1]), 0
        while start < y.size:
            stop = start + page_length(start)
            rows = sums.page(X[start:stop], y[start:stop])
            if rows is not None and (weight := page_weight(start)):
                sums.add(rows, weight)
            start = stop
        return sums

    @property
    def empty(self) -> bool:
        """Whether no row has been added yet."""
        return not self.G.any()

    def page(self, X: Floats, y: Floats) -> Floats | None:
        """Return the labelled rows of a page as (1, x, y), shifted and imputed; None if no row has a label."""
        known = np.isfinite(y)
        if not known.any():
            return None
        X, y = (X, y) if known.all() else (X[known], y[known])
        if self.empty:
            self.shift = np.append(_means(X), y.mean())
        rows = np.empty((y.size, self.G.shape[0]))
        rows[:, 0] = 1.0
        np.subtract(X, self.shift[:-1], out=rows[:, 1:-1])
        np.subtract(y, self.shift[-1], out=rows[:, -1])
        if not np.isfinite(rows).all():
            mean = self.G[0] / max(self.G[0, 0], 1.0)
            rows = np.where(np.isfinite(rows), rows, mean)
        return rows

    def add(self, rows: Floats, weight: float) -> None:
        """Add the rows that `page` returned."""
        self.G += weight * (rows.T @ rows)

    @property
    def moments(self) -> Moments:
        """The moments of all rows so far; the means are those of the shifted rows."""
        return Moments.of(self.G)


def page_weight(first: int) -> float:
    """Return the weight of the page that begins after `first` rows: 1, or _SKIP for one page in _SKIP and else 0."""
    if first < _FULL:
        return 1.0
    return float(_SKIP) if first // page_length(first) % _SKIP == 0 else 0.0


def _means(X: Floats) -> Floats:
    """Return the column means over finite values; 0 for a column without any."""
    there = np.isfinite(X)
    means: Floats = np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return means


_DRAWS = 20
_WIDEST = 1000


class Line(NamedTuple):
    """A baseline in the headline table."""

    mse: float
    """The online error over the scored rows; NaN for the best basket in hindsight, which is not an online strategy."""
    hindsight: float
    """The final prediction error of the same attributes, fitted to all rows."""
    attributes: float
    """Attributes bought per row."""
    price: float
    """Money spent per row."""
    sources: float
    """Sources ordered per row."""


class Limits(NamedTuple):
    """The limits of a row: the number of sources, their price, or the cost of an error."""

    k: int
    budget_per_row: float = np.inf
    error_cost: float | None = None


class Baselines(Stateful):
    """The moments of all rows, and the losses of the baselines so far.

    `sse` holds nothing, everything, then each random draw; `rows` is the number of scored rows. Cost: O(d^2) per row,
    as one matrix product per page; above 1000 attributes nothing is computed. If only `error_cost` limits a row, random
    baskets of 1, 2, 4, ... sources are drawn, and those closest in size to the run's average basket are shown.
    """

    _state: ClassVar[StateSchema] = {
        "sums": Part(),
        "sse": NumberCheck(),
        "rows": NumberCheck(),
        "low": NoCheck(),
        "high": NoCheck(),
    }

    def __init__(self, catalog: SourceCatalog, limits: Limits, seed: int, center: float | None = None) -> None:
        """`center` is the stated centre of the label, if any: every baseline predicts it before the first label."""
        self.catalog, self.limits, self.center = catalog, limits, center
        d, n, k = len(catalog.names), len(catalog.sources), limits.k
        rng = np.random.default_rng([seed, 6])  # a generator of its own, independent of the learner's
        free = limits.error_cost is not None and k == n and np.isinf(limits.budget_per_row)
        sizes = [1 << i for i in range(max(n - 1, 1).bit_length())] if free else [k]
        orders = [rng.permutation(n) for _ in range(_DRAWS)]
        self.draws = [
            _affordable(order, catalog.prices, size, limits.budget_per_row) for size in sizes for order in orders
        ]
        self.computed = d <= _WIDEST
        self.sums = StreamMoments(d if self.computed else 0)
        self.sse: Floats = np.zeros(2 + len(self.draws))
        self.rows = 0.0
        self.low, self.high = np.inf, -np.inf

    def add(self, first: int, X: Floats, y: Floats) -> None:
        """Add a complete page, which begins after `first` rows."""
        weight = page_weight(first)
        rows = self.sums.page(X, y) if self.computed and weight else None
        if rows is None:
            return
        Z, z = rows[:, 1:-1], rows[:, -1]
        guesses = self._guess(z) if self.sums.empty else self._predict(Z)
        counts = scored(z, self.center, before=int(self.sums.G[0, 0]))
        self.sse += weight * ((guesses - z) ** 2)[:, counts].sum(axis=1)
        self.rows += weight * float(counts.sum())
        self.sums.add(rows, weight)
        self.low, self.high = min(self.low, float(z.min())), max(self.high, float(z.max()))

    def lines(self, bought: float = 1.0) -> dict[str, Line]:
        """Return the baselines by name, for a run that ordered `bought` sources per row; empty if none was computed."""
        if self.sums.empty or not self.rows:
            return {}
        mse, n = self.sse / self.rows, len(self.catalog.sources)
        sizes = np.array([S.size for S in self.draws])
        # Show the draws closest in size (by ratio) to the run's baskets, or all if only one size was drawn.
        size = min(set(sizes.tolist()), key=lambda m: abs(np.log(max(m, 0.5) / max(bought, 0.5))))
        shown = np.flatnonzero(sizes == size) if len(self.draws) > _DRAWS else np.arange(sizes.size)
        drawn = [self._line(float(mse[2 + i]), self.draws[i]) for i in shown]
        middle = [float(np.median([getattr(line, name) for line in drawn])) for name in Line._fields[:2]]
        means = [float(np.mean([getattr(line, name) for line in drawn])) for name in Line._fields[2:]]
        return {
            "nothing": self._line(float(mse[0]), np.empty(0, dtype=np.int64)),
            "random": Line(*middle, *means),
            "best": self._line(np.nan, self._best()),
            "everything": self._line(float(mse[1]), np.arange(n)),
        }

    def _line(self, mse: float, basket: Ints) -> Line:
        """Return the baseline of a basket of sources."""
        attributes = self.catalog.attributes(basket)
        brings = float(sum(self.catalog.members[s].size for s in basket))
        hindsight = self.sums.moments.final_prediction_error(attributes)
        return Line(mse, hindsight, brings, float(self.catalog.prices[basket].sum()), float(basket.size))

    def _best(self) -> Ints:
        k, budget_per_row, error_cost = self.limits
        m = self.sums.moments
        limit = None if np.isinf(budget_per_row) else budget_per_row
        best = best_basket_of(m.C, m.c, m.variance, self.catalog, error_cost=error_cost, budget_per_row=limit, k=k)
        return best.chosen

    @property
    def moments(self) -> Moments | None:
        """The moments of all rows so far; None if nothing was computed."""
        return None if self.sums.empty else self.sums.moments

    def _guess(self, z: Floats) -> Floats:
        """Predict the first page: each row by the mean of the labels before it, the first by the stated centre."""
        first = 0.0 if self.center is None else self.center - self.sums.shift[-1]
        mean = np.append(first, np.cumsum(z)[:-1] / np.arange(1, z.size))
        return np.broadcast_to(mean, (self.sse.size, z.size))

    def _predict(self, Z: Floats) -> Floats:
        """Predict a later page (baselines, rows), clipped to the range of the labels so far."""
        moments = self.sums.moments
        lines = np.full((self.sse.size, Z.shape[0]), moments.mean[-1])
        for places, S in self._supports:
            intercepts, beta = moments.ridge(S)
            full = np.zeros((places.size, Z.shape[1]))
            np.put_along_axis(full, S, beta, axis=1)
            lines[places] = intercepts[:, None] + full @ Z.T
        clipped: Floats = np.clip(lines, self.low, self.high)
        return clipped

    @cached_property
    def _supports(self) -> list[tuple[Ints, Ints]]:
        """The supports of the free attributes, of everything and of the draws, grouped by size, with their indices."""
        nothing, everything = np.empty(0, dtype=np.int64), np.arange(len(self.catalog.sources))
        groups: dict[int, list[tuple[int, Ints]]] = {}
        for i, basket in enumerate((nothing, everything, *self.draws)):
            S = self.catalog.attributes(basket)
            if S.size:
                groups.setdefault(S.size, []).append((i, S))
        return [(np.array([i for i, _ in found]), np.stack([S for _, S in found])) for found in groups.values()]


def _affordable(order: Ints, prices: Floats, k: int, budget_per_row: float) -> Ints:
    """Return the first sources of an order that fit both limits; a source that is too expensive is skipped."""
    S: list[int] = []
    left = budget_per_row
    for i in order:
        if len(S) == k:
            break
        if prices[i] <= left:
            S.append(int(i))
            left -= prices[i]
    return np.sort(np.array(S, dtype=np.int64))
