"""Raw columns made ready for a learner of the paper's world, with what was bought and nothing else.

z_i = clip((x_i - m_i) / (3 s_i), -1, 1)        m_i, s_i: running mean and deviation of attribute i so far
y   = m_y + 3 s_y u                             u: what the learner predicts, |u| <= 1
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .._jit import jit
from .._types import Floats, Ints
from ..rules import Numbers
from ..state import Stateful

# A column within +-3 deviations fills [-1, 1], as in the synthetic streams.
_WIDTH = 3.0


@jit
def _spread(running: Floats, i: int) -> float:
    """3 s_i; 0 while fewer than two values were seen."""
    return float(_WIDTH * np.sqrt(running[2, i] / running[0, i])) if running[0, i] > 1.0 else 0.0


@jit
def _take(running: Floats, i: int, value: float) -> None:
    """Count, mean and sum of squared deviations of column i, with one value more (Welford)."""
    running[0, i] += 1.0
    off = value - running[1, i]
    running[1, i] += off / running[0, i]
    running[2, i] += off * (value - running[1, i])


@jit
def _standardise(
    running: Floats, X: Floats, y: Floats, Z: Floats, labels: Floats, centre: Floats, width: Floats
) -> None:
    """Row by row: Z and the labels by what the columns were so far; then they take in the row, if it has a label."""
    k = X.shape[1]
    for t in range(y.size):
        for i in range(k):
            spread = _spread(running, i)
            known = spread > 0.0 and not np.isnan(X[t, i])
            Z[t, i] = min(max((X[t, i] - running[1, i]) / spread, -1.0), 1.0) if known else 0.0
        centre[t], width[t] = running[1, k], _spread(running, k)
        labels[t] = (y[t] - centre[t]) / width[t] if width[t] > 0.0 else np.nan
        if np.isnan(y[t]):
            continue
        _take(running, k, y[t])
        for i in range(k):
            if not np.isnan(X[t, i]):
                _take(running, i, X[t, i])


class Standard(Stateful):
    """Count, mean and sum of squared deviations of k columns and of the label, the last column of `running`."""

    _fields: ClassVar[tuple[str, ...]] = ("running",)
    _renamed: ClassVar[Mapping[str, str]] = {"moments": "running"}

    def __init__(self, k: int) -> None:
        self.running: Floats = np.zeros((3, k + 1))

    def _check_state(self) -> None:
        Numbers(least=0.0).check("running", self.running[[0, 2]], self)

    def run(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Z, the scaled labels, and centre and width to scale predictions back; learns from rows that have a label."""
        Z, labels, centre, width = np.empty(X.shape), np.empty(y.size), np.empty(y.size), np.empty(y.size)
        _standardise(self.running, X, y, Z, labels, centre, width)
        return Z, labels, centre, width

    def slopes(self, w: Floats) -> Floats:
        """Weights on the raw columns that do what w does on z, where nothing is clipped."""
        spread = np.array([_spread(self.running, i) for i in range(w.size + 1)])
        known = spread[:-1] > 0.0
        slopes: Floats = np.zeros(w.size)
        slopes[known] = spread[-1] * w[known] / spread[:-1][known]
        return slopes


def spread_out(attributes: Ints, x: Floats, S: Ints) -> Floats:
    """The bought values in the places of S; NaN where nothing was bought."""
    full = np.full(S.size, np.nan)
    full[np.searchsorted(S, attributes)] = x
    return full
