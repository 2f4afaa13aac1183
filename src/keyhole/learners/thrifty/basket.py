"""With a limit on money: members and candidates that are bought together, chosen together."""

from ..._jit import inner, short
from ..._types import Floats, Ints
from .adopt import adopt
from .arrays import flags, zeros
from .fit import build
from .knapsack import knapsack
from .ranking import insert
from .score import enough, evidence
from .state import State

__all__ = ["rearrange"]

# How many members and candidates the knapsack is exact among.
_SHORTLIST = 30


@inner
def _shortlist(state: State, L: float, items: Ints, values: Floats) -> int:
    """Members and significant candidates with what they explain, w_a^2 var(x_a | rest) or r_j^2 / c_j: the best."""
    n, s2, spend = items.size - items.size, state.now.s2, state.given.spend  # an int, not the literal 0
    for p in range(state.order.size):
        j = state.order[p]
        me = state.attr[j]
        if me.place >= 0:
            member = state.fit.member[me.place]
            n = insert(values, items, n, member.w**2 * member.cond, j)
        elif enough(me) and me.c > 0.0 and me.price <= spend and evidence(me, s2) > L:
            n = insert(values, items, n, me.r**2 / me.c, j)
    return n


@short
def rearrange(state: State, L: float) -> bool:
    """The best basket of all, if it differs from the support and explains more in its own fit."""
    attr, fit, trial, now, given = state.attr, state.fit, state.trial, state.now, state.given
    items, values, prices = flags(_SHORTLIST, 0), zeros(_SHORTLIST), zeros(_SHORTLIST)
    wanted, guess = flags(_SHORTLIST, 0), zeros(given.k + 1)
    found = _shortlist(state, L, items, values)
    for i in range(found):
        values[i], prices[i] = values[i] + 1e-300, attr[items[i]].price
    knapsack(values, prices, found, given.k, given.spend, wanted)
    m, old = 0, 0
    for newcomers in range(2):  # members first
        for i in range(found):
            me = attr[items[i]]
            if wanted[i] and (me.place < 0) == (newcomers == 1):
                trial.member[m].j = items[i]
                guess[m] = fit.member[me.place].w if me.place >= 0 else me.r / me.c
                m, old = m + 1, old + (me.place >= 0)
    if m == old:
        return False
    build(state, m, guess)
    for a in range(old, m):
        if trial.member[a].w ** 2 <= 0.5 * L * now.s2 * trial.V[a, a]:
            return False
    if trial.label.explained <= fit.label.explained:
        return False
    adopt(state, m)
    return True
