"""What a run is compared with: buying nothing, k attributes drawn blindly, and everything, on the same rows.

Before each page, ridge regression on all pages before it predicts the page:

    beta = argmin |y - Z beta|^2 + p |beta|^2     on columns scaled to unit variance, p = the number of attributes

so these lines are online too (half a page late on average, about 1 % of the stream), not fits in hindsight.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from .._types import Floats, Ints
from ..least_squares import Moments, best_subset
from ..rules import Anything, Rule
from ..state import Stateful
from .pages import page_length

__all__ = ["Line", "References"]

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


class References(Stateful):
    """Weighted moments G of (1, x, y), shifted by the first page's means, and the losses of the lines so far.

    `sse` holds nothing, everything, then each blind draw. Cost: O(d^2) a row, as one matrix product per page; above
    1000 attributes nothing is computed. `first` is what the learner predicted before it knew anything; in the first
    row every line does the same.
    """

    _fields: ClassVar[tuple[str, ...]] = ("first", "shift", "G", "sse", "low", "high")
    _rules: ClassVar[Mapping[str, Rule]] = dict.fromkeys(("first", "low", "high"), Anything())

    def __init__(self, prices: Floats, k: int, spend: float, seed: int) -> None:
        self.prices, self.k, self.spend, d = prices, k, spend, prices.size
        rng = np.random.default_rng([seed, 6])  # draws of its own, not the learner's
        self.draws = [_affordable(rng.permutation(d), prices, k, spend) for _ in range(_DRAWS)]
        self.first = 0.0
        self.shift: Floats = np.zeros(d + 1)
        m = d + 2 if d <= _WIDEST else 0
        self.G: Floats = np.zeros((m, m))
        self.sse: Floats = np.zeros(2 + _DRAWS)
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

    def lines(self) -> dict[str, Line]:
        """The lines by name; empty where nothing was computed."""
        if not self.G.any():
            return {}
        mse = self.sse / self.G[0, 0]
        best = best_subset(self.G, self.k, self.prices, self.spend)
        count = float(np.mean([S.size for S in self.draws]))
        price = float(np.mean([self.prices[S].sum() for S in self.draws]))
        return {
            "nothing": Line(float(mse[0]), 0.0, 0.0),
            "random": Line(float(np.median(mse[2:])), count, price),
            "best": Line(best.mse, float(best.attributes.size), float(self.prices[best.attributes].sum())),
            "everything": Line(float(mse[1]), float(self.prices.size), float(self.prices.sum())),
        }

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
        lines = np.empty((self.sse.size, Z.shape[0]))
        lines[0] = moments.mean[-1]
        for places, S in self._supports:
            intercepts, beta = moments.ridge(S)
            full = np.zeros((places.size, self.prices.size))
            np.put_along_axis(full, S, beta, axis=1)
            lines[places] = intercepts[:, None] + full @ Z.T
        clipped: Floats = np.clip(lines, self.low, self.high)
        return clipped

    @cached_property
    def _supports(self) -> list[tuple[Ints, Ints]]:
        """(places among the lines, supports) of everything and the draws, those of one size together."""
        all_of_them = [np.arange(self.prices.size), *self.draws]
        groups: dict[int, list[int]] = {}
        for i, S in enumerate(all_of_them):
            groups.setdefault(S.size, []).append(i)
        return [(np.array(found) + 1, np.stack([all_of_them[i] for i in found])) for found in groups.values()]


def _affordable(order: Ints, prices: Floats, k: int, spend: float) -> Ints:
    """The first attributes of an order that fit both budgets; one that is too dear is passed over."""
    S: list[int] = []
    left = spend
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
