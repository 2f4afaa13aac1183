"""What a row buys: the support as far as it can be had and paid, and those who wait to be looked at."""

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Bools, Ints
from .state import Now, State

__all__ = ["choose"]

# With a total, looks may cost as much as members in the long run, and this many rows' share at once.
_PURSE = 20.0


@inner
def _pay(now: Now, price: float) -> None:
    """Count money, with the digits that a sum would lose (Kahan)."""
    price -= now.spent_low
    new = now.spent + price
    now.spent_low = (new - now.spent) - price
    now.spent = new


@inner
def _hand_over(state: State, s: int, out: Ints, n: int) -> int:
    """A source's attributes behind the n that are there."""
    me = state.source[s]
    for i in range(me.size):
        out[n + i] = state.listed[me.first + i]
    me.asked += 1
    me.last = state.now.asked + 1
    end: int = n + me.size
    return end


@inner
def _waits(state: State, pool: Bools, s: int, cost: float, money: float) -> bool:
    """Whether a source of the queue can be looked at now, besides what costs `cost` already."""
    me = state.source[s]
    fresh = me.last <= state.now.asked  # not in this round already
    return bool(me.wanted > 0 and fresh and cost + me.price <= money and pool[state.listed[me.first]])


@inner
def _borrower(state: State, pool: Bools, room: int, money: float) -> int:
    """A source that waits and finds neither room nor money beside the support, every second time; -1: none."""
    now = state.now
    if now.queued == 0 or now.m == 0:
        return -1
    cost = 0.0
    for i in range(now.m):
        cost += state.source[state.members[i]].price
    for i in range(now.queued):
        s: int = state.queue[(now.turn + i) % now.queued]
        if not _waits(state, pool, s, 0.0, money):
            continue
        if now.m < room and cost + state.source[s].price <= money:
            return -1
        now.lend = 1 - now.lend
        if now.lend == 0:
            now.turn = (now.turn + i + 1) % now.queued
            return s
        return -1
    return -1


@inner
def _worst(state: State, kept: Ints) -> int:
    """The kept member that brings least for its price."""
    worst = -1
    for i in range(state.now.m):
        if kept[i]:
            me = state.source[state.members[i]]
            low = state.source[state.members[worst]] if worst >= 0 else me
            if worst < 0 or me.adds * low.price < low.adds * me.price:
                worst = i
    return worst


@inner
def _cost(state: State, kept: Ints) -> float:
    """What the kept members cost; always summed anew, so that no rounding stays behind."""
    cost = 0.0
    for i in range(state.now.m):
        if kept[i]:
            cost += state.source[state.members[i]].price
    return cost


@inner
def _members(state: State, pool: Bools, borrower: int, room: int, money: float, kept: Ints) -> None:
    """Which members are bought: those that can be had, less the worst while room or money is short."""
    now, count, price = state.now, 0, 0.0
    if borrower >= 0:
        room, price = room - 1, state.source[borrower].price
    for i in range(now.m):
        me = state.source[state.members[i]]
        kept[i] = 1 if pool[state.listed[me.first]] else 0
        count += kept[i]
    while True:
        if count <= room and _cost(state, kept) + price <= money:
            return
        kept[_worst(state, kept)] = 0
        count -= 1


@inner
def _look(state: State, pool: Bools, out: Ints, n: int, room: int, cost: float, money: float) -> tuple[int, float]:
    """Those who wait, in turn, as many as there is room and money for: the new length and cost."""
    now, last = state.now, state.now.turn
    for i in range(now.queued):
        if room == 0:
            break
        p = (now.turn + i) % now.queued
        s = state.queue[p]
        if _waits(state, pool, s, cost, money):
            n = _hand_over(state, s, out, n)
            state.source[s].wanted -= 1
            cost += state.source[s].price
            room -= 1
            last = (p + 1) % now.queued
    now.turn = last
    return n, cost


@inner
def _save_up(state: State, pool: Bools, kept: Ints, money: float) -> float:
    """With a total: what members may cost in this row. All of them when enough was saved up, else the pace."""
    now, given = state.now, state.given
    for i in range(now.m):
        kept[i] = 1 if pool[state.listed[state.source[state.members[i]].first]] else 0
    whole, pace = _cost(state, kept), (given.total - now.spent) / max(given.rows - now.asked, 1.0)
    now.account = min(now.account + pace, whole + pace)
    return min(money, whole if now.account >= whole else pace)


@inner
def choose(state: State, pool: Bools, out: Ints) -> tuple[int, int, bool]:
    """Write the attributes to hand over, then the extras, into `out`: how many of each, and whether any was a look."""
    now, given, kept, n, count, cost = state.now, state.given, state.scratch, 0, 0, 0.0
    for i in range(state.listed.size):
        if state.attr[state.listed[i]].of >= 0:
            break
        out[n] = state.listed[i]
        n += 1
    room, money = given.k, min(given.spend, given.total - now.spent)
    borrower, paced = _borrower(state, pool, room, money), money
    if given.total < np.inf:
        paced = _save_up(state, pool, kept, money)
        if borrower >= 0:
            paced = min(money, paced + state.source[borrower].price)
    _members(state, pool, borrower, room, paced, kept)
    for i in range(now.m):
        if kept[i]:
            n = _hand_over(state, state.members[i], out, n)
            cost += state.source[state.members[i]].price
            count += 1
    if given.total < np.inf:
        now.account -= cost
    if borrower >= 0:
        n = _hand_over(state, borrower, out, n)
        state.source[borrower].wanted -= 1
        cost += state.source[borrower].price
        count += 1
    before, members = n, cost
    if given.total < np.inf:
        pace = (given.total - now.spent) / max(given.rows - now.asked, 1.0)
        now.purse = min(now.purse + pace, _PURSE * pace) if now.asked > 0 else _PURSE * pace
        money = min(money, members + now.purse)
    n, cost = _look(state, pool, out, n, room - count, cost, money)
    total, cost = _look(state, pool, out, n, given.k0, cost, money)
    now.purse -= cost - members
    _pay(now, cost)
    now.asked += 1
    return n, total - n, borrower >= 0 or n > before
