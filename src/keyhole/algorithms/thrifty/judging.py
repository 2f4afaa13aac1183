"""Every candidate, judged at a refit: whether it should join now, and whether it may borrow a place."""

import math

import numpy as np

from ..._internal.numba._jit import inner
from ..._internal.typing import Floats, Ints
from .arrays import flags, zeros
from .change import doubtful
from .explore import appraise, lender
from .free_places import expected_size
from .knapsack import knapsack
from .room import Contenders, contenders, forgone, need
from .score import enough, evidence, listen, regress, shrinkage, swap
from .state import Given, Now, Records, State

__all__ = ["score_all", "stay_with"]


@inner
def _money_left(attr: Records, member: Records, now: Now, given: Given) -> float:
    """The money that is left beside the whole support; -1 where it has all the places."""
    left = given.spend
    for a in range(now.m):
        left -= attr[member[a].j].price
    return left if now.m < given.k else -1.0


@inner
def stay_with(attr: Records, member: Records, now: Now, given: Given, price: float, losses: Floats) -> Ints:
    """The members that stay when one of this price comes: all if there is room, else all but the cheapest to lose that
    make it."""
    m = now.m
    stay, least = flags(m, 1), 0
    if price <= _money_left(attr, member, now, given):
        return stay
    if not math.isinf(given.spend):
        values, prices = np.empty(m), np.empty(m)
        for a in range(m):
            values[a], prices[a] = losses[a] + 1e-300, attr[member[a].j].price
        knapsack(values, prices, m, given.k - 1, given.spend - price, stay)
        return stay
    for a in range(m):
        least = a if losses[a] < losses[least] else least
    stay[least] = 0
    return stay


@inner
def _consider_loan(state: State, rivals: Contenders, j: int, v: float, u: Floats, losses: Floats, slab: float) -> None:
    """What a loan to j is worth; where money is short, against all that its price could buy."""
    me, fit, now = state.attr[j], state.fit, state.now
    known = enough(me) and v > 0.0
    if rivals.n == 0:
        cost, me.displaced = lender(me, state.pair[j], fit.member, now, u, now.s, known)
        appraise(state, j, v, u, slab, -1.0, cost)
        return
    for a in range(now.m):
        losses[a] = fit.member[a].w ** 2 * fit.member[a].cond
    if known:
        swap(fit, now.m, me.r, me.c, u, losses)
    cost, me.displaced = forgone(state, j)
    appraise(state, j, v, u, slab, need(state, rivals, j, losses), cost)


@inner
def _should_join(state: State, j: int, u: Floats, losses: Floats, full: bool) -> float:
    """What j adds if it joins now, less what is lost with those who must go."""
    fit, now, me = state.fit, state.now, state.attr[j]
    gain: float = me.r**2 / me.c
    if full:
        swap(fit, now.m, me.r, me.c, u, losses)
        stay = stay_with(state.attr, fit.member, now, state.given, me.price, losses)
        for a in range(now.m):
            gain -= 0.0 if stay[a] else losses[a]
    return gain


@inner
def score_all(state: State, L: float, fully: bool) -> None:
    """gain_j > 0 for every candidate that should join now, loan_value_j > 0 for those that should be looked at.

    Not `fully`: only those that were bought since the last time.
    """
    attr, fit, now, given = state.attr, state.fit, state.now, state.given
    m, slab, u, losses = now.m, 0.0, zeros(now.m + 1), zeros(now.m + 1)
    s, left = shrinkage(attr, state.pair, fit.member, now), _money_left(attr, fit.member, now, given)
    if fully:
        listen(state, s, u)
    now.s, now.expects = s, expected_size(state, s) if fully else now.expects
    for a in range(m):
        slab += (fit.member[a].w * fit.member[a].sd) ** 2 / m
    if not math.isinf(given.spend):  # what each is worth decides for the others, too
        for j in range(attr.size):
            if attr[j].place < 0 and attr[j].rows >= 2:
                regress(attr[j], state.pair[j], fit, now, s, u)
    rivals, doubted = contenders(state, L), doubtful(now)
    for j in range(attr.size):
        me = attr[j]
        if not fully and me.scored == me.asked:
            continue
        me.gain, me.loan_value, me.scored, me.claims, me.odds = 0.0, -1.0, me.asked, 0, 0.0
        if me.place >= 0:
            continue
        v = regress(me, state.pair[j], fit, now, s, u) if me.rows >= 2 else 0.0
        full = me.price > left
        again = me.asked >= 1.1 * me.failed and me.left != now.told  # who failed or left comes back with news
        again = again and not (full and doubted)
        if v > 0.0 and again and enough(me) and me.idle == 0 and evidence(me, now) > L:
            me.gain = _should_join(state, j, u, losses, full)
        if full and m > 0 and slab > 0.0 and given.k0 == 0 and me.price <= given.spend:
            _consider_loan(state, rivals, j, v, u, losses, slab)
