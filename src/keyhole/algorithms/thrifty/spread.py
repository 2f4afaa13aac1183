"""How far off a prediction is expected to be: what the fit leaves unexplained, and what it does not know or see.

    spread^2 = s2 (1 + h) + (1 - alpha)^2 explained + sum over members not seen of w_a^2 var(x_a | rest)

h = v' V v is the leverage of the row; without any member seen it is the label's own variance.
"""

import math

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats, Ints
from .level import level
from .predict import Signal, answer, signal
from .state import State

__all__ = ["centre_and_spread", "spread"]


@inner
def spread(state: State, said: Signal) -> float:
    """The expected deviation of the label from the prediction by the signal just made."""
    now, fit, seen, hidden = state.now, state.fit, state.work.seen, 0.0
    if said.shown == 0:
        return math.sqrt(now.y_var)
    for a in range(now.m):
        hidden += 0.0 if seen[a] else fit.member[a].w ** 2 * fit.member[a].cond
    return math.sqrt(now.s2 * (1.0 + max(said.h, 0.0)) + (1.0 - now.alpha) ** 2 * fit.label.explained + hidden)


@inner
def centre_and_spread(state: State, attributes: Ints, x: Floats, n: int) -> tuple[float, float]:
    """The prediction from the first n values and its spread, in the label's units; after the first label."""
    now, said = state.now, signal(state, attributes, x, n)
    return now.y_ref + now.y_unit * (answer(now, said) + level(state.accounts)), now.y_unit * spread(state, said)
