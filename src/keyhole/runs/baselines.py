"""What a run is compared with: buying nothing, sources drawn blindly, and everything, on the same rows.

Before each page, ridge regression on all pages before it predicts the page:

    beta = argmin |y - Z beta|^2 + p |beta|^2     on columns scaled to unit variance, p = the number of attributes

so these lines are online too (half a page late on average, about 1 % of the stream), not fits in hindsight. What is
known for free is in every line.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.sources import SourceCatalog
from ..core.state import Anything, Rule, Stateful
from ..estimation.moment_regression import Moments
from ..theory.comparators import best_basket_of
from .stream_blocks import page_length

__all__ = ["Baselines", "Limits", "Line"]

_DRAWS = 20
# After the first _FULL rows one page in _SKIP is looked at, and counts for all of them.
_FULL, _SKIP = 1 << 17, 8
_WIDEST = 1000


class Line(NamedTuple):
    """A line of the headline table."""

    mse: float
    attributes: float
    """Bought per row."""
    price: float
    """Paid per row."""
    sources: float
    """Ordered per row."""


class Limits(NamedTuple):
    """What limits a row: how many sources, what they may cost, or what an error is worth."""

    k: int
    budget_per_row: float = np.inf
    error_cost: float | None = None


class Baselines(Stateful):
    """Weighted moments G of (1, x, y), shifted by the first page's means, and the losses of the lines so far.

    `sse` holds nothing, everything, then each blind draw. Cost: O(d^2) a row, as one matrix product per page; above
    1000 attributes nothing is computed. `first` is what the learner predicted before it knew anything; in the first
    row every line does the same. Where only `error_cost` limits a row, blind draws of 1, 2, 4, ... sources are made;
    those of the average size of the baskets that the run bought are shown.
    """

    _fields: ClassVar[tuple[str, ...]] = ("first", "shift", "G", "sse", "low", "high")
    _rules: ClassVar[Mapping[str, Rule]] = dict.fromkeys(("first", "low", "high"), Anything())

    def __init__(self, catalog: SourceCatalog, limits: Limits, seed: int) -> None:
        self.catalog, self.limits = catalog, limits
        d, n, k = len(catalog.names), len(catalog.sources), limits.k
        rng = np.random.default_rng([seed, 6])  # draws of its own, not the learner's
        free = limits.error_cost is not None and k == n and np.isinf(limits.budget_per_row)
        sizes = [1 << i for i in range(max(n - 1, 1).bit_length())] if free else [k]
        orders = [rng.permutation(n) for _ in range(_DRAWS)]
        self.draws = [
            _affordable(order, catalog.prices, size, limits.budget_per_row) for size in sizes for order in orders
        ]
        self.first = 0.0
        self.shift: Floats = np.zeros(d + 1)
        m = d + 2 if d <= _WIDEST else 0
        self.G: Floats = np.zeros((m, m))
        self.sse: Floats = np.zeros(2 + len(self.draws))
        self.low, self.high = np.inf, -np.inf

    def add(self, first: int, X: Floats, y: Floats) -> None:
        """A complete page, which begins after `first` rows."""
        weight, known = _weight(first), np.isfinite(y)
        if not self.G.size or not weight or not known.any():
            return
        if not self.G.any():
            self.shift = np.append(_means(X[known]), y[known].mean())
        rows = self._filled(X, y) if known.all() else self._filled(X[known], y[known])
        Z, z = rows[:, 1:-1], rows[:, -1]
        guesses = self._predict(Z) if self.G.any() else self._guess(z)
        self.sse += weight * ((guesses - z) ** 2).sum(axis=1)
        self.G += weight * (rows.T @ rows)
        self.low, self.high = min(self.low, float(z.min())), max(self.high, float(z.max()))

    def lines(self, bought: float = 1.0) -> dict[str, Line]:
        """The lines by name, beside a run that ordered `bought` sources a row; empty where nothing was computed."""
        if not self.G.any():
            return {}
        mse, n = self.sse / self.G[0, 0], len(self.catalog.sources)
        sizes = np.array([S.size for S in self.draws])
        # The draws nearest in size, in ratio; all of them where all are of one kind.
        size = min(set(sizes.tolist()), key=lambda m: abs(np.log(max(m, 0.5) / max(bought, 0.5))))
        shown = np.flatnonzero(sizes == size) if len(self.draws) > _DRAWS else np.arange(sizes.size)
        drawn = [self._line(0.0, self.draws[i]) for i in shown]
        means = [float(np.mean([getattr(line, name) for line in drawn])) for name in Line._fields[1:]]
        best = self._best()
        return {
            "nothing": self._line(float(mse[0]), np.empty(0, dtype=np.int64)),
            "random": Line(float(np.median(mse[2:][shown])), *means),
            "best": self._line(best[1], best[0]),
            "everything": self._line(float(mse[1]), np.arange(n)),
        }

    def _line(self, mse: float, basket: Ints) -> Line:
        """What a basket of sources brings and costs."""
        brings = sum(self.catalog.members[s].size for s in basket)
        return Line(mse, float(brings), float(self.catalog.prices[basket].sum()), float(basket.size))

    def _best(self) -> tuple[Ints, float]:
        """The best basket in hindsight and its error."""
        k, budget_per_row, error_cost = self.limits
        _, _, C, c, variance = Moments.of(self.G)
        best = best_basket_of(
            C,
            c,
            variance,
            self.catalog,
            error_cost=error_cost,
            budget_per_row=None if np.isinf(budget_per_row) else budget_per_row,
            k=k,
        )
        return best.chosen, best.mse

    @property
    def moments(self) -> Moments | None:
        """Of all rows so far; None where nothing was computed."""
        return Moments.of(self.G) if self.G.any() else None

    def _filled(self, X: Floats, y: Floats) -> Floats:
        """(1, x, y), shifted; what is missing is its column's mean so far."""
        rows = np.empty((y.size, self.G.shape[0]))
        rows[:, 0] = 1.0
        np.subtract(X, self.shift[:-1], out=rows[:, 1:-1])
        np.subtract(y, self.shift[-1], out=rows[:, -1])
        if not np.isfinite(rows).all():
            mean = self.G[0] / max(self.G[0, 0], 1.0)
            rows = np.where(np.isfinite(rows), rows, mean)
        return rows

    def _guess(self, z: Floats) -> Floats:
        """The first page: every line predicts the mean of the labels before."""
        mean = np.append(self.first - self.shift[-1], np.cumsum(z)[:-1] / np.arange(1, z.size))
        return np.broadcast_to(mean, (self.sse.size, z.size))

    def _predict(self, Z: Floats) -> Floats:
        """A later page, (lines, rows): within the range of the labels so far."""
        moments = Moments.of(self.G)
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
        """(places among the lines, supports) of what is known, everything and the draws, those of one size together."""
        nothing, everything = np.empty(0, dtype=np.int64), np.arange(len(self.catalog.sources))
        groups: dict[int, list[tuple[int, Ints]]] = {}
        for i, basket in enumerate((nothing, everything, *self.draws)):
            S = self.catalog.attributes(basket)
            if S.size:
                groups.setdefault(S.size, []).append((i, S))
        return [(np.array([i for i, _ in found]), np.stack([S for _, S in found])) for found in groups.values()]


def _affordable(order: Ints, prices: Floats, k: int, budget_per_row: float) -> Ints:
    """The first sources of an order that fit both budgets; one that is too dear is passed over."""
    S: list[int] = []
    left = budget_per_row
    for i in order:
        if len(S) == k:
            break
        if prices[i] <= left:
            S.append(int(i))
            left -= prices[i]
    return np.sort(np.array(S, dtype=np.int64))


def _weight(first: int) -> float:
    """How much the page counts that begins after `first` rows: 1, or one page for a few."""
    if first < _FULL:
        return 1.0
    return float(_SKIP) if first // page_length(first) % _SKIP == 0 else 0.0


def _means(X: Floats) -> Floats:
    """The columns' means over what is there; 0 for a column that is not."""
    there = np.isfinite(X)
    means: Floats = np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return means
