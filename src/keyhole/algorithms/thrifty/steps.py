"""The steps of a round, one by one, as Python calls them: entries into the compiled parts."""

from ..._internal.numba._jit import short
from ..._internal.typing import Bools, Floats, Ints
from . import acquire, predict, spread, update
from .state import State

__all__ = ["answer", "ask", "expect", "learn"]


@short
def ask(state: State, pool: Bools, out: Ints) -> tuple[int, int, bool]:
    """`acquire.choose`."""
    return acquire.choose(state, pool, out)


@short
def answer(state: State, attributes: Ints, x: Floats) -> float:
    """`predict.predict` from all of x."""
    return predict.predict(state, predict.signal(state, attributes, x, x.size))


@short
def expect(state: State, attributes: Ints, x: Floats) -> tuple[float, float]:
    """`spread.centre_and_spread` from all of x."""
    return spread.centre_and_spread(state, attributes, x, x.size)


@short
def learn(state: State, attributes: Ints, x: Floats, y: float, before: int) -> bool:
    """`update.tell`, with `before` of the values x bought before the label."""
    said = predict.signal(state, attributes, x, before)
    return update.tell(state, said, attributes, x, y, before, x.size)
