"""The steps of a round, one by one and many at a time: entries into the compiled parts."""

import math

import numpy as np

from ...._internal.numba._jit import short
from ...._internal.typing import Bools, Floats, Ints
from .choose import choose
from .predict import predict
from .spread import centre_and_spread
from .state import State
from .update import tell

__all__ = ["answer", "ask", "expect", "learn", "play"]


@short
def ask(state: State, pool: Bools, out: Ints) -> tuple[int, int, bool]:
    """`choose.choose`."""
    return choose(state, pool, out)


@short
def answer(state: State, attributes: Ints, x: Floats) -> float:
    """`predict.predict` from all of x."""
    return predict(state, attributes, x, x.size)


@short
def expect(state: State, attributes: Ints, x: Floats) -> tuple[float, float]:
    """`spread.centre_and_spread` from all of x."""
    return centre_and_spread(state, attributes, x, x.size)


@short
def learn(state: State, attributes: Ints, x: Floats, y: float, before: int) -> bool:
    """`update.tell`, with `before` of the values x bought before the label."""
    return tell(state, attributes, x, y, before, x.size)


@short
def play(
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
    which `sizes` come before and after the label; a NaN label closes a round unlearnt. No value is read that was not
    bought.

    The same loop as in `thrifty.block`, written twice: what it calls is other code, and a compiled loop that is given
    its functions as arguments could not have them inlined.
    """
    x = np.empty(bought.shape[1])
    for t in range(first, y.size):
        attributes = bought[t]
        n, extras, looked = choose(state, pool, attributes)
        sizes[t, 0], sizes[t, 1] = n, extras
        for i in range(n):
            x[i] = X[t, attributes[i]]
        out[t] = predict(state, attributes, x, n)
        explored[t] = looked
        for i in range(n, n + extras):
            x[i] = X[t, attributes[i]]
        if math.isnan(y[t]):
            continue
        due = tell(state, attributes, x, y[t], n, n + extras)
        levels[t] = state.quantiles.level[0]
        if due:
            return t + 1
    return int(y.size)
