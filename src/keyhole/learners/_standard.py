"""Raw columns made ready for a learner of the paper's world, with what was bought and nothing else.

z_i = clip((x_i - m_i) / (3 s_i), -1, 1)        m_i, s_i: running mean and deviation of attribute i so far
y   = m_y + 3 s_y u                             u: what the learner predicts, |u| <= 1
"""

from typing import ClassVar

import numpy as np

from .._jit import jit
from .._types import Floats, Ints
from ..rules import Numbers
from ..state import Stateful

# A column within +-3 deviations fills [-1, 1], as in the synthetic streams.
_WIDTH = 3.0


@jit
def _spread(moments: Floats, i: int) -> float:
    """3 s_i; 0 while fewer than two values were seen."""
    return float(_WIDTH * np.sqrt(moments[2, i] / moments[0, i])) if moments[0, i] > 1.0 else 0.0


@jit
def _take(moments: Floats, i: int, value: float) -> None:
    """Count, mean and sum of squared deviations of column i, with one value more (Welford)."""
    moments[0, i] += 1.0
    off = value - moments[1, i]
    moments[1, i] += off / moments[0, i]
    moments[2, i] += off * (value - moments[1, i])


@jit
def _standardise(
    moments: Floats, X: Floats, y: Floats, Z: Floats, labels: Floats, centre: Floats, width: Floats
) -> None:
    """Row by row: Z and the labels by the moments so far, which then take in the row; a NaN label changes nothing."""
    k = X.shape[1]
    for t in range(y.size):
        for i in range(k):
            spread = _spread(moments, i)
            known = spread > 0.0 and not np.isnan(X[t, i])
            Z[t, i] = min(max((X[t, i] - moments[1, i]) / spread, -1.0), 1.0) if known else 0.0
        centre[t], width[t] = moments[1, k], _spread(moments, k)
        labels[t] = (y[t] - centre[t]) / width[t] if width[t] > 0.0 else np.nan
        if np.isnan(y[t]):
            continue
        _take(moments, k, y[t])
        for i in range(k):
            if not np.isnan(X[t, i]):
                _take(moments, i, X[t, i])


class Standard(Stateful):
    """The running moments of k columns and of the label; the last column of `moments` is the label's."""

    _fields: ClassVar[tuple[str, ...]] = ("moments",)

    def __init__(self, k: int) -> None:
        self.moments: Floats = np.zeros((3, k + 1))

    def _check_state(self) -> None:
        Numbers(least=0.0).check("moments", self.moments[[0, 2]], self)

    def run(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Z, the scaled labels, and centre and width to scale predictions back; learns from rows that have a label."""
        Z, labels, centre, width = np.empty(X.shape), np.empty(y.size), np.empty(y.size), np.empty(y.size)
        _standardise(self.moments, X, y, Z, labels, centre, width)
        return Z, labels, centre, width

    def slopes(self, w: Floats) -> Floats:
        """Weights on the raw columns that do what w does on z, where nothing is clipped."""
        spread = np.array([_spread(self.moments, i) for i in range(w.size + 1)])
        known = spread[:-1] > 0.0
        slopes: Floats = np.zeros(w.size)
        slopes[known] = spread[-1] * w[known] / spread[:-1][known]
        return slopes


def spread_out(attributes: Ints, x: Floats, S: Ints) -> Floats:
    """The bought values in the places of S; NaN where nothing was bought."""
    full = np.full(S.size, np.nan)
    full[np.searchsorted(S, attributes)] = x
    return full
