"""Online standardization of raw columns for learners that assume values in [-1, 1], from bought values only.

z_i = clip((x_i - m_i) / (3 s_i), -1, 1)        m_i, s_i: running mean and standard deviation of attribute i
y   = m_y + 3 s_y u                             u: the learner's prediction, |u| <= 1
"""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .._core import standardise
from .._internal.typing import Floats, Ints
from ..core.state import NumberCheck, RecordCheck, Stateful, StateSchema

Records: TypeAlias = npt.NDArray[np.record]

# The number of values, their mean m, and the sum of squared deviations from it.
COLUMN = np.dtype([("n", "f8"), ("m", "f8"), ("squares", "f8")])

# Values within 3 standard deviations are mapped to [-1, 1], as in the synthetic streams.
_WIDTH = 3.0


class Standard(Stateful):
    """The running moments of k columns and of the label, which is the last of `columns`."""

    _state: ClassVar[StateSchema] = {
        "columns": RecordCheck(),
    }

    def __init__(self, k: int) -> None:
        self.columns: Records = np.zeros(k + 1, COLUMN)

    def _check_state(self) -> None:
        for name in ("n", "squares"):
            NumberCheck(least=0.0).check(f"columns.{name}", self.columns[name], self)

    def run(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Z, scaled labels, and centre and width to rescale predictions; learn from the labelled rows."""
        Z, labels, centre, width = np.empty(X.shape), np.empty(y.size), np.empty(y.size), np.empty(y.size)
        columns = self.columns.view(np.float64).reshape(-1, 3)
        standardise(columns, np.ascontiguousarray(X), y, Z, labels, centre, width)
        return Z, labels, centre, width

    def slopes(self, w: Floats) -> Floats:
        """Return the weights on the raw columns that are equivalent to w on z where nothing is clipped."""
        n = self.columns["n"]
        spread = np.where(n > 1.0, _WIDTH * np.sqrt(self.columns["squares"] / np.maximum(n, 1.0)), 0.0)  # 3 s_i
        known = spread[:-1] > 0.0
        slopes: Floats = np.zeros(w.size)
        slopes[known] = spread[-1] * w[known] / spread[:-1][known]
        return slopes


def spread_out(attributes: Ints, x: Floats, S: Ints) -> Floats:
    """Return the bought values at their positions in S; NaN for attributes that were not bought."""
    full = np.full(S.size, np.nan)
    full[np.searchsorted(S, attributes)] = x
    return full
