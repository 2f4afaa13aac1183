"""Where money is short: what an attribute must explain to be worth its price, and what a look at it costs.

    need_j = most that can be explained without j, less the most that can beside j, with spend - price_j to pay it

A newcomer may push out several members, and what is left over may buy somebody else: both are exact knapsacks among the
members, each worth what it explains beside the others, and the significant candidates, worth what they would add.
"""

import math
from typing import NamedTuple

from ..._internal.numba._jit import inner
from ..._internal.typing import Floats, Ints
from .arrays import flags, zeros
from .knapsack import knapsack
from .ranking import insert
from .score import enough, evidence
from .state import State

__all__ = ["Contenders", "contenders", "forgone", "need"]

# How many members and candidates a knapsack is exact among.
_SHORTLIST = 30


class Contenders(NamedTuple):
    """Who competes for the money, n of them, with what they explain and cost; the best first."""

    j: Ints
    value: Floats
    price: Floats
    n: int


@inner
def contenders(state: State, L: float) -> Contenders:
    """Members with w_a^2 var(x_a | rest), significant candidates with r_j^2 / c_j; nobody where there is no limit."""
    items, values, prices = flags(_SHORTLIST, 0), zeros(_SHORTLIST), zeros(_SHORTLIST)
    n, spend = items.size - items.size, state.given.spend  # an int, not the literal 0
    if math.isinf(spend):
        return Contenders(items, values, prices, n)
    for p in range(state.order.size):
        j = state.order[p]
        me = state.attr[j]
        if me.place >= 0:
            member = state.fit.member[me.place]
            n = insert(values, items, n, member.w**2 * member.cond + 1e-300, j)
        elif enough(me) and me.c > 0.0 and me.price <= spend and evidence(me, state.now) > L:
            n = insert(values, items, n, me.r**2 / me.c + 1e-300, j)
    for i in range(n):
        prices[i] = state.attr[items[i]].price
    return Contenders(items, values, prices, n)


@inner
def _most(values: Floats, prices: Floats, n: int, count: int, money: float) -> float:
    """What the best basket explains."""
    taken, total = flags(n, 0), 0.0
    knapsack(values, prices, n, count, money, taken)
    for i in range(n):
        total += values[i] if taken[i] else 0.0
    return total


@inner
def need(state: State, rivals: Contenders, j: int, losses: Floats) -> float:
    """What j must explain to be in the best basket; losses[a]: what member a explains once j is there.

    Both baskets are counted from the support: before j came, and after.
    """
    given, n = state.given, rivals.n
    beside, prices, before, after = zeros(n), zeros(n), 0.0, 0.0
    for i in range(n):
        place = state.attr[rivals.j[i]].place
        beside[i] = rivals.value[i] if place < 0 else losses[place] + 1e-300
        before += rivals.value[i] if place >= 0 else 0.0
        after += beside[i] if place >= 0 else 0.0
        prices[i] = rivals.price[i] if rivals.j[i] != j else math.inf
    without = _most(rivals.value, prices, n, given.k, given.spend) - before
    within = _most(beside, prices, n, given.k - 1, given.spend - state.attr[j].price) - after
    return max(0.0, without - within)


@inner
def forgone(state: State, j: int) -> tuple[float, int]:
    """What is not explained in a row that looks at j: by the members that give way, and one of those."""
    m, lost, displaced = state.now.m, 0.0, 0
    values, prices, stay = zeros(m), zeros(m), flags(m, 0)
    for a in range(m):
        member = state.fit.member[a]
        values[a], prices[a] = member.w**2 * member.cond + 1e-300, state.attr[member.j].price
    knapsack(values, prices, m, state.given.k - 1, state.given.spend - state.attr[j].price, stay)
    for a in range(m):
        if not stay[a]:
            lost, displaced = lost + values[a], a
    return lost, displaced
