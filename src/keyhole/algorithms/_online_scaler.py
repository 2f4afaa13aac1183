"""Raw columns made ready for a learner of the paper's world, with what was bought and nothing else.

z_i = clip((x_i - m_i) / (3 s_i), -1, 1)        m_i, s_i: running mean and deviation of attribute i so far
y   = m_y + 3 s_y u                             u: what the learner predicts, |u| <= 1
"""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .._internal.numba._jit import jit
from .._internal.typing import Floats, Ints
from ..core.state import Numbers, Stateful

Records: TypeAlias = npt.NDArray[np.record]

# How many values, their mean m, and the sum of their squared deviations from it.
COLUMN = np.dtype([("n", "f8"), ("m", "f8"), ("squares", "f8")])

# A column within +-3 deviations fills [-1, 1], as in the synthetic streams.
_WIDTH = 3.0


@jit
def _spread(columns: Records, i: int) -> float:
    """3 s_i; 0 while fewer than two values were seen."""
    me = columns[i]
    return float(_WIDTH * np.sqrt(me.squares / me.n)) if me.n > 1.0 else 0.0


@jit
def _take(columns: Records, i: int, value: float) -> None:
    """One value more in column i (Welford)."""
    me = columns[i]
    me.n += 1.0
    off = value - me.m
    me.m += off / me.n
    me.squares += off * (value - me.m)


@jit
def _standardise(
    columns: Records, X: Floats, y: Floats, Z: Floats, labels: Floats, centre: Floats, width: Floats
) -> None:
    """Row by row: Z and the labels by what the columns were so far; then they take in the row, if it has a label."""
    k: int = X.shape[1]
    label = columns[k]
    for t in range(y.size):
        for i in range(k):
            spread = _spread(columns, i)
            known = spread > 0.0 and not np.isnan(X[t, i])
            Z[t, i] = min(max((X[t, i] - columns[i].m) / spread, -1.0), 1.0) if known else 0.0
        centre[t] = label.m
        width[t] = _spread(columns, k)
        labels[t] = (y[t] - centre[t]) / width[t] if width[t] > 0.0 else np.nan
        if np.isnan(y[t]):
            continue
        _take(columns, k, y[t])
        for i in range(k):
            if not np.isnan(X[t, i]):
                _take(columns, i, X[t, i])


class Standard(Stateful):
    """What was seen of k columns and of the label, which is the last of `columns`."""

    _fields: ClassVar[tuple[str, ...]] = ("columns",)

    def __init__(self, k: int) -> None:
        self.columns: Records = np.zeros(k + 1, COLUMN)

    def _check_state(self) -> None:
        for name in ("n", "squares"):
            Numbers(least=0.0).check(f"columns.{name}", self.columns[name], self)

    def run(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Z, the scaled labels, and centre and width to scale predictions back; learns from rows that have a label."""
        Z, labels, centre, width = np.empty(X.shape), np.empty(y.size), np.empty(y.size), np.empty(y.size)
        _standardise(self.columns, X, y, Z, labels, centre, width)
        return Z, labels, centre, width

    def slopes(self, w: Floats) -> Floats:
        """Weights on the raw columns that do what w does on z, where nothing is clipped."""
        spread = np.array([_spread(self.columns, i) for i in range(w.size + 1)])
        known = spread[:-1] > 0.0
        slopes: Floats = np.zeros(w.size)
        slopes[known] = spread[-1] * w[known] / spread[:-1][known]
        return slopes


def spread_out(attributes: Ints, x: Floats, S: Ints) -> Floats:
    """The bought values in the places of S; NaN where nothing was bought."""
    full = np.full(S.size, np.nan)
    full[np.searchsorted(S, attributes)] = x
    return full
