"""How the support changes: who leaves, who joins, who is swapped.

With L = 2 ln(e d / k), the price of choosing k of d: a member stays while z^2 >= L/2; a candidate joins when its
evidence (a likelihood ratio) > L, and z^2 > L/2 in the fit of the new support; without room, if it explains more than
who must go.
"""

import math

import numpy as np

from .._jit import inner, jit
from .._types import Bools, Floats, Ints
from .book import (
    COND,
    ERR,
    EXPLAINED,
    FEW,
    GAIN,
    HOPE,
    K0,
    MOVES,
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
    TOLD,
    TRIAL,
    VAR,
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
from .scoring import enough, evidence, regress, rescore, shrinkage, swap

__all__ = ["bar", "refit"]

_TRIES, _SHORTLIST = 6, 30


def bar(d: int, k: int) -> float:
    """L = 2 ln(e d / k), about 2 / k times the logarithm of the number of ways to choose k of d."""
    return 2.0 * (1.0 + math.log(d / k))


@inner
def _residual(b: Book) -> None:
    """S2 = variance of the label not explained, but not far below what was seen in predictions; and the cond of M."""
    m = b.cnt[SIZE]
    explained = b.top[NOW, EXPLAINED] if m else 0.0
    b.num[S2] = max(b.num[VAR] - explained, 0.3 * b.num[ERR], 1e-9 * b.num[VAR])
    for a in range(m):
        b.vec[NOW, COND, a] = 1.0 / b.inv[NOW, P, a, a]


@inner
def _copy(both: Floats) -> None:
    """What belongs to the trial becomes what belongs to the support: both[NOW] = both[TRIAL], flat."""
    half = both.size // 2
    for i in range(half):
        both[i] = both[half + i]


@inner
def _settle(b: Book, m: int) -> None:
    """The trial becomes the support."""
    for a in range(b.cnt[SIZE]):
        b.idx[PLACE, b.M[NOW, a]] = -1
    _copy(b.vec.ravel())
    _copy(b.gram.ravel())
    _copy(b.inv.ravel())
    _copy(b.top.ravel())
    for a in range(m):
        b.M[NOW, a] = b.M[TRIAL, a]
        b.idx[PLACE, b.M[NOW, a]] = a
    b.cnt[SIZE] = m
    b.cnt[MOVES] += 1
    _residual(b)
    rescore(b)


@jit
def _weigh(b: Book) -> None:
    """The weights anew, from the sums as they stand."""
    if b.cnt[SIZE] > 0:
        solve(b, NOW, b.cnt[SIZE])
    _residual(b)


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
    _settle(b, m - 1)
    return True


@inner
def _room(b: Book, j: int) -> bool:
    """Whether j can be bought beside the whole support."""
    cost = b.at[j, PRICE]
    for a in range(b.cnt[SIZE]):
        cost += b.at[b.M[NOW, a], PRICE]
    return bool(b.cnt[SIZE] < b.cnt[K] and cost <= b.num[SPEND])


@inner
def _stay(b: Book, j: int, losses: Floats) -> Bools:
    """The members that stay when j comes: all if there is room, else all but the cheapest to lose that make it."""
    m = b.cnt[SIZE]
    stay, values, prices, least = np.ones(m, dtype=np.bool_), np.empty(m), np.empty(m), 0
    if _room(b, j):
        return stay
    for a in range(m):
        values[a], prices[a] = losses[a] + 1e-300, b.at[b.M[NOW, a], PRICE]
        least = a if losses[a] < losses[least] else least
    if np.isfinite(b.num[SPEND]):
        return knapsack(values, prices, b.cnt[K] - 1, b.num[SPEND] - b.at[j, PRICE])
    stay[least] = False
    return stay


@jit
def _score(b: Book, L: float) -> None:
    """gain_j > 0 for every candidate that should join now, hope_j > 0 for those that should be looked at."""
    m, s = b.cnt[SIZE], shrinkage(b)
    u, losses, slab = np.zeros(max(m, 1)), np.zeros(max(m, 1)), 0.0
    for a in range(m):
        slab += (b.vec[NOW, W, a] * b.vec[NOW, SD, a]) ** 2 / m
    for j in range(b.at.shape[0]):
        b.at[j, GAIN], b.at[j, HOPE] = 0.0, -1.0
        if b.idx[PLACE, j] >= 0:
            continue
        v = regress(b, j, s, u) if b.at[j, ROW_] >= 2.0 else 0.0
        full = not _room(b, j)
        if v > 0.0 and enough(b, j) and evidence(b, j) > L:
            b.at[j, GAIN] = b.at[j, R] ** 2 / b.at[j, C]
            if full:
                b.idx[VICTIM, j] = swap(b, b.at[j, R], b.at[j, C], u, losses)
                stay = _stay(b, j, losses)
                for a in range(m):
                    b.at[j, GAIN] -= 0.0 if stay[a] else losses[a]
        if full and m > 0 and slab > 0.0 and b.cnt[K0] == 0 and b.at[j, PRICE] <= b.num[SPEND]:
            hope(b, j, v, u, slab, s)


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
    _settle(b, size)
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
        b.at[j, GAIN] = 0.0
    return False


@inner
def _basket(b: Book, L: float, who: Ints, values: Floats) -> int:
    """Members and significant candidates with what they explain, the best `who.size` of them."""
    n = 0
    for p in range(b.at.shape[0]):
        j = b.idx[ORDER, p]
        a = b.idx[PLACE, j]
        if a >= 0:
            value = b.vec[NOW, W, a] ** 2 * b.vec[NOW, COND, a]
        elif enough(b, j) and b.at[j, C] > 0.0 and b.at[j, PRICE] <= b.num[SPEND] and evidence(b, j) > L:
            value = b.at[j, R] ** 2 / b.at[j, C]
        else:
            continue
        i = n
        n = min(n + 1, who.size)
        while i > 0 and values[i - 1] < value:
            if i < who.size:
                values[i], who[i] = values[i - 1], who[i - 1]
            i -= 1
        if i < who.size:
            values[i], who[i] = value, j
    return n


@jit
def _rearrange(b: Book, L: float) -> bool:
    """With a limit on money: the best basket of all, if it differs and explains more in its own fit."""
    who, values = np.zeros(_SHORTLIST, dtype=np.int64), np.zeros(_SHORTLIST)
    found = _basket(b, L, who, values)
    prices, guess = np.empty(found), np.zeros(b.cnt[K] + 1)
    for i in range(found):
        prices[i] = b.at[who[i], PRICE]
    wanted = knapsack(values[:found] + 1e-300, prices, b.cnt[K], b.num[SPEND])
    n, old = 0, 0
    for newcomers in range(2):  # members first
        for i in range(found):
            a = b.idx[PLACE, who[i]]
            if wanted[i] and (a < 0) == (newcomers == 1):
                b.M[TRIAL, n] = who[i]
                guess[n] = b.vec[NOW, W, a] if a >= 0 else b.at[who[i], R] / b.at[who[i], C]
                n, old = n + 1, old + (a >= 0)
    size = wanted.sum()
    if size == old:
        return False
    build(b, TRIAL, size, guess)
    for a in range(old, size):
        if b.vec[TRIAL, W, a] ** 2 <= 0.5 * L * b.num[S2] * b.inv[TRIAL, V, a, a]:
            return False
    if b.top[TRIAL, EXPLAINED] <= b.top[NOW, EXPLAINED]:
        return False
    _settle(b, size)
    return True


def refit(b: Book) -> None:
    """Weights anew, moves until nothing moves, who may borrow; next time after 2 % more rows (0.5 % while lending).

    Not compiled: the compiler would optimise every part again in the whole, and the parts take longer than the calls.
    """
    L, limited = bar(b.at.shape[0], b.cnt[K]), math.isfinite(b.num[SPEND])
    _weigh(b)
    for _ in range(2 * b.cnt[K] + 4):
        if _evict(b, L):
            continue
        _score(b, L)
        if not (_join(b, L) or (limited and _rearrange(b, L))):
            break
    lending(b)
    rows = min(b.num[ROWS] / b.num[G], float(b.cnt[TOLD]))
    b.cnt[NEXT] = b.cnt[TOLD] + max(1, int(rows / (200.0 if b.cnt[QUEUED] else 50.0)))
