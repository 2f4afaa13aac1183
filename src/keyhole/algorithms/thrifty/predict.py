"""What is predicted from the bought values.

y_hat = mean + alpha f / (1 + h)       f: the fit's deviation from the mean, h = x' V x its leverage (VAW), or where an
                                       extreme value is real the part of it that noise has in f^2, h s2 / f^2
alpha = slope of the label on our own past f, within [0, 1]: the mean is left only as fast as the evidence allows
"""

import math
from typing import NamedTuple

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats, Ints
from .extremes import on_trust, winsorised
from .fit import condition, expect
from .level import level
from .state import Now, State
from .units import scaled

__all__ = ["Signal", "answer", "predict", "signal"]

# How far beyond the range of the labels a prediction may be; from extreme values that are real, as far as they lead.
_SLACK, _FREE = 0.05, 1e6


class Signal(NamedTuple):
    """What the values bought before the label say."""

    f: float
    """f / (1 + h), beyond the label's mean."""
    h: float
    shown: int
    """How many members they show."""
    slack: float
    """How far beyond the range of the labels so far it may lead, in ranges."""


@inner
def signal(state: State, attributes: Ints, x: Floats, n: int) -> Signal:
    """What the members among the first n attributes say.

    `work.v` gets the deviations of the members from their means, those not seen imputed; `work.seen` is 1 for the
    others.
    """
    attr, fit, m, shown, slack = state.attr, state.fit, state.now.m, 0, _SLACK
    v, seen = state.work.v, state.work.seen
    for a in range(m):
        v[a], seen[a] = 0.0, 0
    for i in range(n):
        me = attr[attributes[i]]
        if me.place >= 0 and not math.isnan(x[i]):
            z = winsorised(me, scaled(x[i], me.ref, me.unit))
            v[me.place], seen[me.place] = z - fit.member[me.place].x_bar, 1
            shown += 1
            slack = _FREE if on_trust(me, z) else slack
    if shown == 0:
        return Signal(0.0, 0.0, 0, slack)
    if shown < m:
        expect(fit.P, state.work, m, condition(fit.P, state.work, m))
    f, h = fit.label.y_bar - state.now.y_mean, 0.0
    for a in range(m):
        f += fit.member[a].w * v[a]
        for e in range(m):
            h += v[a] * fit.V[a, e] * v[e]
    sure = slack == _FREE and f * f > state.now.s2  # then a weight that is well known is not to blame for the leverage
    return Signal(f / (1.0 + (h * state.now.s2 / (f * f) if sure else h)), h, shown, slack)


@inner
def answer(now: Now, said: Signal) -> float:
    """mean + alpha f, within the range of the labels so far and 5 % more, in the label's units."""
    slack = said.slack * (now.y_high - now.y_low)
    return min(now.y_high + slack, max(now.y_low - slack, now.y_mean + now.alpha * said.f))


@inner
def predict(state: State, said: Signal) -> float:
    """The prediction from a signal; 0 before the first label."""
    now = state.now
    return now.y_ref + now.y_unit * (answer(now, said) + level(state.accounts)) if now.told > 0 else 0.0
