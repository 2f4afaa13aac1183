"""How far off a prediction is expected to be.

spread^2 = s2 (1 + h / n) + sum of w_a^2 var(x_a) over the fit's attributes that were not seen,   n: rows of the fit
"""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats, Ints
from .estimate import FAITH
from .predict import deviations, signal
from .state import State

__all__ = ["centre_and_spread", "spread"]


@inner
def spread(state: State, attributes: Ints, x: Floats, n: int, v: Floats) -> float:
    """The expected deviation of the label from the prediction by the first n values, of which v are the deviations."""
    now, fit, m, h, hidden = state.now, state.fit, v.size, 0.0, 0.0
    for a in range(m):
        hidden += (fit.w[a] * state.attr[fit.A[a]].sd) ** 2
        for e in range(m):
            h += v[a] * fit.V[a, e] * v[e]
    for i in range(n):
        me = state.attr[attributes[i]]
        if me.place >= 0 and not math.isnan(x[i]):
            hidden -= (fit.w[me.place] * me.sd) ** 2
    rows = fit.gram[m, m] / now.g + FAITH
    return math.sqrt(now.s2 * (1.0 + max(h, 0.0) / rows) + max(hidden, 0.0)) if m > 0 else math.sqrt(now.y_var)


@inner
def centre_and_spread(state: State, attributes: Ints, x: Floats, n: int) -> tuple[float, float]:
    """The prediction from the first n values and its spread, in the label's units; after the first label."""
    now, v = state.now, np.empty(state.fit.A.size)
    deviations(state, attributes, x, n, v)
    return now.y_ref + now.y_unit * signal(state, v), now.y_unit * spread(state, attributes, x, n, v)
