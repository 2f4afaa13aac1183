"""How the support changes: who leaves, who joins, who is swapped.

With L = 2 ln(e d / k), the price of choosing k of d: a member stays while z^2 >= L/2; a candidate joins when its
evidence (a likelihood ratio) > L, and z^2 > L/2 in the fit of the new support; without room, if it explains more than
who must go.
"""

import math

import numpy as np

from .._jit import inner, jit
from .._types import Bools, Floats
from .baskets import rearrange
from .book import (
    ALL,
    ASKED,
    COND,
    FAILED,
    FEW,
    GAIN,
    HOPE,
    K0,
    NEXT,
    NOW,
    ORDER,
    PLACE,
    PRICE,
    QUEUED,
    ROW_,
    ROWS,
    S2,
    SD,
    SIZE,
    SPEND,
    THEN,
    TOLD,
    TRIAL,
    VICTIM,
    Book,
    C,
    G,
    K,
    P,
    R,
    V,
    W,
)
from .fitting import build, solve
from .knapsack import knapsack
from .lending import hope, lending
from .scoring import enough, evidence, regress, shrinkage, swap
from .settling import residual, settle

__all__ = ["bar", "refit"]

# How many of those that should join are tried at a refit.
_TRIES = 6


def bar(d: int, k: int) -> float:
    """L = 2 ln(e d / k), about 2 / k times the logarithm of the number of ways to choose k of d."""
    return 2.0 * (1.0 + math.log(d / k))


@jit
def _weigh(b: Book) -> None:
    """The weights anew, from the sums as they stand."""
    if b.cnt[SIZE] > 0:
        solve(b, NOW, b.cnt[SIZE])
    residual(b)


@jit
def _evict(b: Book, L: float) -> bool:
    """Let the least significant member go, if z^2 < L/2."""
    m = b.cnt[SIZE]
    worst, least = -1, 0.5 * L
    for a in range(m):
        z2 = b.vec[NOW, W, a] ** 2 / (b.num[S2] * b.inv[NOW, V, a, a])
        if z2 < least:
            worst, least = a, z2
    if worst < 0 or b.gram[NOW, m, m] / b.num[G] <= FEW:
        return False
    guess, n = np.zeros(m), 0
    for a in range(m):
        if a != worst:
            b.M[TRIAL, n], guess[n] = b.M[NOW, a], b.vec[NOW, W, a]
            n += 1
    build(b, TRIAL, m - 1, guess)
    settle(b, m - 1)
    return True


@inner
def _left(b: Book) -> float:
    """The money that is left beside the whole support; -1 where it has all the places."""
    left = b.num[SPEND]
    for a in range(b.cnt[SIZE]):
        left -= b.at[b.M[NOW, a], PRICE]
    return float(left if b.cnt[SIZE] < b.cnt[K] else -1.0)


@inner
def _stay(b: Book, j: int, losses: Floats) -> Bools:
    """The members that stay when j comes: all if there is room, else all but the cheapest to lose that make it."""
    m = b.cnt[SIZE]
    stay, values, prices, least = np.ones(m, dtype=np.bool_), np.empty(m), np.empty(m), 0
    if b.at[j, PRICE] <= _left(b):
        return stay
    for a in range(m):
        values[a], prices[a] = losses[a] + 1e-300, b.at[b.M[NOW, a], PRICE]
        least = a if losses[a] < losses[least] else least
    if np.isfinite(b.num[SPEND]):
        return knapsack(values, prices, b.cnt[K] - 1, b.num[SPEND] - b.at[j, PRICE])
    stay[least] = False
    return stay


@jit
def _score(b: Book, L: float, fully: bool) -> int:
    """gain_j > 0 for every candidate that should join now, hope_j > 0 for those that should be looked at: how many.

    Not `fully`: only those that were bought since the last time.
    """
    m, s, left, hopeful = b.cnt[SIZE], shrinkage(b), _left(b), 0
    u, losses, slab = np.zeros(max(m, 1)), np.zeros(max(m, 1)), 0.0
    for a in range(m):
        slab += (b.vec[NOW, W, a] * b.vec[NOW, SD, a]) ** 2 / m
    for j in range(b.at.shape[0]):
        if not fully and b.at[j, THEN] == b.at[j, ASKED]:
            hopeful += b.at[j, HOPE] > 0.0
            continue
        b.at[j, GAIN], b.at[j, HOPE], b.at[j, THEN] = 0.0, -1.0, b.at[j, ASKED]
        if b.idx[PLACE, j] >= 0:
            continue
        v = regress(b, j, s, u) if b.at[j, ROW_] >= 2.0 else 0.0
        full = b.at[j, PRICE] > left
        again = b.at[j, ASKED] >= 1.1 * b.at[j, FAILED]  # who failed comes back with news
        if v > 0.0 and again and enough(b, j) and evidence(b, j) > L:
            b.at[j, GAIN] = b.at[j, R] ** 2 / b.at[j, C]
            if full:
                b.idx[VICTIM, j] = swap(b, b.at[j, R], b.at[j, C], u, losses)
                stay = _stay(b, j, losses)
                for a in range(m):
                    b.at[j, GAIN] -= 0.0 if stay[a] else losses[a]
        if full and m > 0 and slab > 0.0 and b.cnt[K0] == 0 and b.at[j, PRICE] <= b.num[SPEND]:
            hope(b, j, v, u, slab, s)
            hopeful += b.at[j, HOPE] > 0.0
    return hopeful


@inner
def _attempt(b: Book, j: int, L: float) -> bool:
    """Fit the support with j in it; keep it if j holds its own there."""
    m = b.cnt[SIZE]
    u, losses, guess = np.zeros(max(m, 1)), np.zeros(max(m, 1)), np.zeros(m + 1)
    regress(b, j, shrinkage(b), u)
    r, c = b.at[j, R], b.at[j, C]
    victim = swap(b, r, c, u, losses) if m else 0
    stay, n, lost = _stay(b, j, losses), 0, 0.0
    for a in range(m):
        if stay[a]:
            b.M[TRIAL, n], guess[n] = b.M[NOW, a], b.vec[NOW, W, a] - u[a] * r / c
            n += 1
        else:
            lost += b.vec[NOW, W, a] ** 2 * b.vec[NOW, COND, a]
    b.M[TRIAL, n], guess[n] = j, r / c
    size = stay.sum() + 1
    build(b, TRIAL, size, guess)
    w = b.vec[TRIAL, W, n]
    if w * w <= 0.5 * L * b.num[S2] * b.inv[TRIAL, V, n, n]:
        return False
    alone = 1.0 / c  # precision of j given those who stay, where one leaves
    if n < m:
        alone -= (u[victim] / c) ** 2 / (b.inv[NOW, P, victim, victim] + u[victim] ** 2 / c)
    if w * w / alone <= lost:
        return False
    settle(b, size)
    return True


@inner
def _foremost(b: Book) -> int:
    """The candidate that gains most, the first of equals in the seeded order."""
    best = b.idx[ORDER, 0]
    for p in range(b.at.shape[0]):
        j = b.idx[ORDER, p]
        if b.at[j, GAIN] > b.at[best, GAIN]:
            best = j
    return int(best)


@jit
def _join(b: Book, L: float) -> bool:
    """Try the candidates that should join, best first; True when one did."""
    for _ in range(_TRIES):
        j = _foremost(b)
        if b.at[j, GAIN] <= 0.0:
            return False
        if _attempt(b, j, L):
            return True
        b.at[j, GAIN], b.at[j, FAILED] = 0.0, b.at[j, ASKED]
    return False


def refit(b: Book) -> None:
    """Weights anew, moves until nothing moves, who may borrow; next time after 3 % more rows.

    While places are lent, after 0.5 % too, but then only those who borrowed are looked at again.

    Not compiled: the compiler would optimise every part again in the whole, and the parts take longer than the calls.
    """
    k, hopeful, limited = int(b.cnt[K]), 0, math.isfinite(b.num[SPEND])
    L, fully = bar(b.at.shape[0], k), bool(b.cnt[TOLD] >= b.cnt[ALL])
    _weigh(b)
    for _ in range(2 * k + 4):
        if not _evict(b, L):
            hopeful = _score(b, L, fully)
            if not (_join(b, L) or (limited and rearrange(b, L))):
                break
        fully = True
    lending(b, hopeful)
    told, rows = int(b.cnt[TOLD]), min(float(b.num[ROWS] / b.num[G]), int(b.cnt[TOLD]))
    if fully:
        b.cnt[ALL] = told + max(1, int(0.03 * rows))
    b.cnt[NEXT] = min(int(b.cnt[ALL]), told + max(1, int(0.005 * rows))) if b.cnt[QUEUED] else b.cnt[ALL]
