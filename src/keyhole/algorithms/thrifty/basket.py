"""With a limit on money: members and candidates that are bought together, chosen together."""

from ..._internal.numba._jit import short
from .adopt import adopt
from .arrays import flags, zeros
from .change import forget_recent
from .fit import build
from .knapsack import knapsack
from .room import contenders
from .state import State

__all__ = ["rearrange"]


@short
def rearrange(state: State, L: float) -> bool:
    """The best basket of all, if it differs from the support and explains more in its own fit."""
    attr, fit, trial, now, given = state.attr, state.fit, state.trial, state.now, state.given
    rivals = contenders(state, L)
    wanted, guess = flags(rivals.n, 0), zeros(given.k + 1)
    knapsack(rivals.value, rivals.price, rivals.n, given.k, given.spend, wanted)
    m, old = 0, 0
    for newcomers in range(2):  # members first
        for i in range(rivals.n):
            me = attr[rivals.j[i]]
            if wanted[i] and (me.place < 0) == (newcomers == 1):
                trial.member[m].j = rivals.j[i]
                guess[m] = fit.member[me.place].w if me.place >= 0 else me.r / me.c
                m, old = m + 1, old + (me.place >= 0)
    if m == old:
        return False
    build(state, m, guess)
    for a in range(m):  # those who stay, too: one that does not hold its own there would leave at once
        if trial.member[a].w ** 2 <= 0.5 * L * now.s2 * trial.V[a, a]:
            return False
    if trial.label.explained <= fit.label.explained:
        return False
    adopt(state, m)
    forget_recent(now)
    return True
