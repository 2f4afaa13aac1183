"""Many rows in one compiled call, as the protocol would play them; no value is read that was not bought."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ..._internal.numba._jit import short
from ..._internal.typing import Bools, Floats, Ints
from .acquire import choose
from .predict import predict, signal
from .state import State
from .update import tell

if TYPE_CHECKING:
    from .learner import Thrifty

__all__ = ["play_block"]

# Rows per call: a user who waits sees progress, and an interrupt is heard.
_BLOCK = 4096


@short
def _loop(
    state: State,
    pool: Bools,
    X: Floats,
    y: Floats,
    out: Floats,
    explored: Bools,
    levels: Floats,
    bought: Ints,
    sizes: Ints,
    first: int,
) -> int:
    """Play the rows of X from `first` to the one that calls for a refit, or all; how many are played then.

    Predictions go into `out`, the lowest level whose interval held the label into `levels`, purchases into `bought`, of
    which `sizes` come before and after the label; a NaN label closes a round unlearnt.
    """
    x = np.empty(bought.shape[1])
    for t in range(first, y.size):
        attributes, blank = bought[t], state.now.m == 0
        n, extras, lent = choose(state, pool, attributes)
        sizes[t, 0], sizes[t, 1] = n, extras
        for i in range(n):
            x[i] = X[t, attributes[i]]
        said = signal(state, attributes, x, n)
        out[t] = predict(state, said)
        explored[t] = lent or blank
        for i in range(n, n + extras):
            x[i] = X[t, attributes[i]]
        if math.isnan(y[t]):
            continue
        due = tell(state, said, attributes, x, y[t], n, n + extras)
        levels[t] = state.quantiles.level[0]
        if due:
            return t + 1
    return int(y.size)


def play_block(
    learner: "Thrifty", X: Floats, y: Floats, out: Floats, explored: Bools, levels: Floats
) -> tuple[Ints, Ints]:
    """Play some of the rows: what each bought, and how many before and after the label."""
    memory, n, t = learner.memory, min(y.size, _BLOCK, learner.memory.free()), 0
    bought, sizes = np.zeros((n, learner.width + learner.k0), np.int64), np.zeros((n, 2), np.int64)
    while t < n:
        t = _loop(memory.state, memory.everything, X[:n], y[:n], out[:n], explored[:n], levels[:n], bought, sizes, t)
        learner._refit()
    learner.t += n
    return bought, sizes
