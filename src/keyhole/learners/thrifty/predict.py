"""What is predicted from the bought values.

y_hat = mean + alpha f / (1 + h)       f: the fit's deviation from the mean, h = x' V x its leverage (VAW)
alpha = slope of the label on our own past f, within [0, 1]: the mean is left only as fast as the evidence allows
"""

import math

from ..._jit import inner
from ..._types import Floats, Ints
from .arrays import flags, zeros
from .extremes import winsorised
from .fit import impute
from .level import level
from .state import Now, State

__all__ = ["answer", "predict", "signal"]


@inner
def signal(state: State, attributes: Ints, x: Floats, n: int, v: Floats, seen: Ints) -> float:
    """f / (1 + h): what the members among the first n attributes say about the label beyond its mean.

    v gets the deviations of the members from their means, those not seen imputed; seen is 1 for the others.
    """
    attr, fit, m, shown = state.attr, state.fit, state.now.m, 0
    for i in range(n):
        me = attr[attributes[i]]
        if me.place >= 0 and not math.isnan(x[i]):
            v[me.place], seen[me.place] = winsorised(me, x[i]) - fit.member[me.place].x_bar, 1
            shown += 1
    if shown == 0:
        return 0.0
    if shown < m:
        impute(fit.P, v, seen, m)
    f, h = fit.label.y_bar - state.now.y_mean, 0.0
    for a in range(m):
        f += fit.member[a].w * v[a]
        for e in range(m):
            h += v[a] * fit.V[a, e] * v[e]
    return f / (1.0 + h)


@inner
def answer(now: Now, f: float) -> float:
    """mean + alpha f, within the range of the labels so far and 5 % more, in the label's units."""
    slack = 0.05 * (now.y_high - now.y_low)
    return min(now.y_high + slack, max(now.y_low - slack, now.y_mean + now.alpha * f))


@inner
def predict(state: State, attributes: Ints, x: Floats, n: int) -> float:
    """The prediction from the values x of the first n attributes; 0 before the first label."""
    now = state.now
    if now.told == 0:
        return 0.0
    f = signal(state, attributes, x, n, zeros(now.m), flags(now.m, 0)) if now.m else 0.0
    return now.y_ref + now.y_unit * (answer(now, f) + level(state.accounts))
