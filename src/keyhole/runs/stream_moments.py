"""Moments of all rows of a stream, page by page: what everything in hindsight is computed from, on every page."""

from typing import ClassVar

import numpy as np

from .._internal.typing import Floats
from ..core.state import NumberCheck, Stateful, StateSchema
from ..estimation.moment_regression import Moments
from .stream_blocks import page_length

__all__ = ["StreamMoments"]

# After the first _FULL rows one page in _SKIP is read, and counts for all of them.
_FULL, _SKIP = 1 << 17, 8


class StreamMoments(Stateful):
    """G = sum of v v' over rows v = (1, x, y) with a label, shifted by the first page's means.

    A missing value counts as its column's mean so far. Memory and time: O(d^2), and O(d^2) a row.
    """

    _state: ClassVar[StateSchema] = {
        "shift": NumberCheck(),
        "G": NumberCheck(),
    }

    def __init__(self, d: int) -> None:
        self.shift: Floats = np.zeros(d + 1)
        self.G: Floats = np.zeros((d + 2, d + 2))

    @classmethod
    def of_rows(cls, X: Floats, y: Floats) -> "StreamMoments":
        """All rows of a table that is in memory, by the same pages as a run."""
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
        """Whether no row has counted yet."""
        return not self.G.any()

    def page(self, X: Floats, y: Floats) -> Floats | None:
        """The labelled rows of a page as (1, x, y), shifted and without gaps; None where no row has a label."""
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
        """Count what `page` gave."""
        self.G += weight * (rows.T @ rows)

    @property
    def moments(self) -> Moments:
        """Of all rows so far; the means are those of the shifted rows."""
        return Moments.of(self.G)


def page_weight(first: int) -> float:
    """How much the page counts that begins after `first` rows: 1, or one page for a few."""
    if first < _FULL:
        return 1.0
    return float(_SKIP) if first // page_length(first) % _SKIP == 0 else 0.0


def _means(X: Floats) -> Floats:
    """The columns' means over what is there; 0 for a column that is not."""
    there = np.isfinite(X)
    means: Floats = np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return means
