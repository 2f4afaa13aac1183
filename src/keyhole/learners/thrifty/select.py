"""How the support changes: who leaves, who joins, who is swapped.

With L = 2 ln(e d / k), the price of choosing k of d: a member stays while z^2 >= L/2; a candidate joins when its
evidence (a likelihood ratio) > L, and z^2 > L/2 in the fit of the new support; without room, if it explains more than
who must go.
"""

import math

import numpy as np

from ..._jit import inner, jit
from ..._types import Bools, Floats
from .adopt import adopt, residual
from .basket import rearrange
from .explore import appraise, line_up
from .fit import build, solve
from .knapsack import knapsack
from .score import enough, evidence, regress, shrinkage, swap
from .state import FEW, State

__all__ = ["refit", "threshold"]

# How many of those that should join are tried at a refit.
_TRIES = 6


def threshold(d: int, k: int) -> float:
    """L = 2 ln(e d / k), about 2 / k times the logarithm of the number of ways to choose k of d."""
    return 2.0 * (1.0 + math.log(d / k))


@jit
def _reweigh(state: State) -> None:
    """The weights anew, from the sums as they stand."""
    if state.now.m > 0:
        solve(state.fit, state.now.m, state.attr, state.now)
    residual(state)


@jit
def _evict(state: State, L: float) -> bool:
    """Let the least significant member go, if z^2 = w^2 / (s2 V_aa) < L/2."""
    fit, trial, now = state.fit, state.trial, state.now
    m, worst, least = now.m, -1, 0.5 * L
    for a in range(m):
        z2 = fit.member[a].w ** 2 / (now.s2 * fit.V[a, a])
        if z2 < least:
            worst, least = a, z2
    if worst < 0 or fit.gram[m, m] / now.g <= FEW:
        return False
    guess, n = np.zeros(m), 0
    for a in range(m):
        if a != worst:
            trial.member[n].j, guess[n] = fit.member[a].j, fit.member[a].w
            n += 1
    build(state, n, guess)
    adopt(state, n)
    return True


@inner
def _money_left(state: State) -> float:
    """The money that is left beside the whole support; -1 where it has all the places."""
    left = state.given.spend
    for a in range(state.now.m):
        left -= state.attr[state.fit.member[a].j].price
    return float(left if state.now.m < state.given.k else -1.0)


@inner
def _stay(state: State, price: float, losses: Floats) -> Bools:
    """The members that stay when one of this price comes: all if there is room, else all but the cheapest to lose that
    make it."""
    m, given = state.now.m, state.given
    stay, least = np.ones(m, dtype=np.bool_), 0
    if price <= _money_left(state):
        return stay
    if not math.isinf(given.spend):
        values, prices = np.empty(m), np.empty(m)
        for a in range(m):
            values[a], prices[a] = losses[a] + 1e-300, state.attr[state.fit.member[a].j].price
        knapsack(values, prices, m, given.k - 1, given.spend - price, stay)
        return stay
    for a in range(m):
        least = a if losses[a] < losses[least] else least
    stay[least] = False
    return stay


@jit
def _score(state: State, L: float, fully: bool) -> int:
    """gain_j > 0 for every candidate that should join now, loan_value_j > 0 for those that should be looked at: how
    many these are.

    Not `fully`: only those that were bought since the last time.
    """
    attr, fit, now, given = state.attr, state.fit, state.now, state.given
    m, s, left, borrowers = now.m, shrinkage(state), _money_left(state), 0
    u, losses, slab = np.zeros(max(m, 1)), np.zeros(max(m, 1)), 0.0
    for a in range(m):
        slab += (fit.member[a].w * fit.member[a].sd) ** 2 / m
    for j in range(attr.size):
        me = attr[j]
        if not fully and me.scored == me.asked:
            borrowers += me.loan_value > 0.0
            continue
        me.gain, me.loan_value, me.scored = 0.0, -1.0, me.asked
        if me.place >= 0:
            continue
        v = regress(me, state.pair[j], fit, now, s, u) if me.rows >= 2 else 0.0
        full = me.price > left
        again = me.asked >= 1.1 * me.failed  # who failed comes back with news
        if v > 0.0 and again and enough(me) and evidence(me, now.s2) > L:
            me.gain = me.r**2 / me.c
            if full:
                me.displaced = swap(fit, m, me.r, me.c, u, losses)
                stay = _stay(state, me.price, losses)
                for a in range(m):
                    me.gain -= 0.0 if stay[a] else losses[a]
        if full and m > 0 and slab > 0.0 and given.k0 == 0 and me.price <= given.spend:
            appraise(state, j, v, u, slab, s)
            borrowers += me.loan_value > 0.0
    return borrowers


@inner
def _attempt(state: State, j: int, L: float) -> bool:
    """Fit the support with j in it; keep it if j holds its own there: z^2 > L/2, and it explains more than is lost."""
    me, fit, trial, now = state.attr[j], state.fit, state.trial, state.now
    m = now.m
    u, losses, guess = np.zeros(max(m, 1)), np.zeros(max(m, 1)), np.zeros(m + 1)
    regress(me, state.pair[j], fit, now, shrinkage(state), u)
    r, c = me.r, me.c
    weakest = swap(fit, m, r, c, u, losses)
    stay, n, lost = _stay(state, me.price, losses), 0, 0.0
    for a in range(m):
        member = fit.member[a]
        if stay[a]:
            trial.member[n].j, guess[n] = member.j, member.w - u[a] * r / c
            n += 1
        else:
            lost += member.w**2 * member.cond
    trial.member[n].j, guess[n] = j, r / c
    build(state, n + 1, guess)
    w = trial.member[n].w
    if w * w <= 0.5 * L * now.s2 * trial.V[n, n]:
        return False
    alone = 1.0 / c  # precision of j given those who stay, where one leaves
    if n < m:
        alone -= (u[weakest] / c) ** 2 / (fit.P[weakest, weakest] + u[weakest] ** 2 / c)
    if w * w / alone <= lost:
        return False
    adopt(state, n + 1)
    return True


@inner
def _foremost(state: State) -> int:
    """The candidate that gains most, the first of equals in the seeded order."""
    attr, best = state.attr, state.order[0]
    for p in range(state.order.size):
        j = state.order[p]
        if attr[j].gain > attr[best].gain:
            best = j
    return int(best)


@jit
def _join(state: State, L: float) -> bool:
    """Try the candidates that should join, best first; True when one did."""
    for _ in range(_TRIES):
        j = _foremost(state)
        me = state.attr[j]
        if me.gain <= 0.0:
            return False
        if _attempt(state, j, L):
            return True
        me.gain, me.failed = 0.0, me.asked
    return False


def refit(state: State) -> None:
    """Weights anew, moves until nothing moves, who may borrow; next time after 3 % more rows.

    While places are lent, after 0.5 % too, but then only those who borrowed are looked at again.

    Not compiled: the compiler would optimise every part again in the whole, and the parts take longer than the calls.
    """
    now, k, borrowers = state.now, int(state.given.k), 0
    L, fully, limited = threshold(state.attr.size, k), bool(now.told >= now.score_at), math.isfinite(state.given.spend)
    _reweigh(state)
    for _ in range(2 * k + 4):
        if not _evict(state, L):
            borrowers = _score(state, L, fully)
            if not (_join(state, L) or (limited and rearrange(state, L))):
                break
        fully = True
    line_up(state, borrowers)
    told, rows = int(now.told), min(float(now.n / now.g), int(now.told))
    if fully:
        now.score_at = told + max(1, int(0.03 * rows))
    now.refit_at = min(int(now.score_at), told + max(1, int(0.005 * rows))) if now.queued else now.score_at
