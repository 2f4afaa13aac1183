"""What to buy: the support, and in every free place the attribute that could help most (`free_places`).

Those that say nothing (`idle`) are not bought at all. Every second round a place of the support is lent while someone
waits for it (`explore`). With `spend`, members that must give way for a borrower, and what fills the free places, are
exact knapsacks.
"""

import math

import numpy as np

from ..._internal.numba._bare import inner as bare
from ..._internal.numba._jit import inner
from ..._internal.typing import Bools, Floats, Ints
from .arrays import flags, zeros
from .free_places import FIRST, optimism, rarely, value
from .knapsack import knapsack
from .ranking import insert
from .state import State

__all__ = ["choose"]

# How many candidates a knapsack is exact among.
_SHORTLIST = 30


@bare
def _awake(told: int, decay: float) -> bool:
    """Whether the idle come first in this round: never where nothing fades, else once in 1 / (1 - decay) rows."""
    return decay < 1.0 and int(told * (1.0 - decay)) > int((told - 1) * (1.0 - decay))


@bare
def _shortlist(state: State, pool: Bools, taken: Ints, money: float, values: Floats, items: Ints) -> int:
    """The best candidates that can be paid, best first, as many as `items` has room for; ties in the seeded order."""
    given, d = state.given, state.order.size
    b, rare = optimism(d / given.k, state.now.n / state.now.g), rarely(state)
    n = items.size - items.size  # not 0: numba would compile `insert` for that number, and for the others
    awake = _awake(state.now.told, given.decay)
    for p in range(d):
        j = state.order[p]
        me = state.attr[j]
        if pool[j] and not taken[j] and me.place < 0 and me.price <= money and (me.idle == 0 or awake):
            worth = FIRST / (1.0 + me.asked) if me.idle else value(me, state.now, b, given.k / d, rare)
            n = insert(values, items, n, worth, j)
    return n


@inner
def _fill(state: State, pool: Bools, taken: Ints, room: int, money: float, out: Ints, n: int) -> tuple[int, float]:
    """Put up to `room` candidates behind the n attributes in `out`; the new length and the money left."""
    limited = not math.isinf(state.given.spend)
    most = max(room, _SHORTLIST) if limited else room
    values, items, wanted = zeros(most), flags(most, 0), flags(most, 1)
    found = _shortlist(state, pool, taken, money, values, items)
    if limited:
        prices = zeros(most)
        for i in range(found):
            values[i], prices[i] = values[i] + 1e-300, state.attr[items[i]].price
        knapsack(values, prices, found, room, money, wanted)
    for i in range(found):
        if wanted[i]:
            out[n], taken[items[i]] = items[i], 1
            money -= state.attr[items[i]].price
            n += 1
    return n, money


@bare
def _borrower(state: State, pool: Bools) -> int:
    """The attribute that borrows a place in this round; -1: none."""
    now = state.now
    if now.queued == 0:
        return -1
    now.loans += 0.5  # every second round
    if now.loans < 1.0:
        return -1
    now.loans -= 1.0
    j = state.queue[now.turn]
    now.turn = (now.turn + 1) % now.queued
    return j if pool[j] and state.attr[j].idle == 0 else -1


@inner
def _members(state: State, pool: Bools, borrower: int) -> None:
    """`work.keep`: all members that can be bought, but for a borrower's place, and for more where money demands it."""
    attr, member, m, keep = state.attr, state.fit.member, state.now.m, state.work.keep
    for a in range(m):
        keep[a] = 1
        if not pool[member[a].j] or (borrower >= 0 and attr[borrower].displaced == a):
            keep[a] = 0
    if borrower >= 0 and not math.isinf(state.given.spend):
        values, prices = np.empty(m), np.empty(m)
        for a in range(m):
            values[a] = member[a].w ** 2 * member[a].cond + 1e-300
            prices[a] = attr[member[a].j].price if keep[a] else np.inf
        knapsack(values, prices, m, m, state.given.spend - attr[borrower].price, keep)


@bare
def choose(state: State, pool: Bools, out: Ints) -> tuple[int, int, bool]:
    """Write the attributes to buy, then the extras, into `out`: how many of each, and whether a place was lent."""
    attr, member, given = state.attr, state.fit.member, state.given
    borrower, n, money = _borrower(state, pool), 0, given.spend
    _members(state, pool, borrower)
    for a in range(state.now.m):
        if state.work.keep[a]:
            out[n] = member[a].j
            n += 1
    if borrower >= 0:
        out[n] = borrower
        n += 1
    total = n
    if n < given.k or given.k0 > 0:
        taken = state.work.taken
        for i in range(n):
            money -= attr[out[i]].price
            taken[out[i]] = 1
        if n < given.k:
            n, money = _fill(state, pool, taken, given.k - n, money, out, n)
        total = n
        if given.k0 > 0:
            total, money = _fill(state, pool, taken, given.k0, money, out, n)
    for i in range(total):
        attr[out[i]].asked += 1
        state.work.taken[out[i]] = 0
    return n, total - n, borrower >= 0
