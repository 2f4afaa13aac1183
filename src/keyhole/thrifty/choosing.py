"""What to buy: the support, and in every free place the attribute that could help most.

    value_j = (|r_j| + b_t se_j) / sqrt(c_j)            b_t = 0.4 sqrt(ln(1 + t)): optimism

Attributes never asked for come first. A place of the support is lent when the account says so (`moving.lending`).
With `spend`, members that must give way for a lent attribute, and what fills the free places, are exact knapsacks.
"""

import numpy as np

from .._jit import inner, jit
from .._types import Bools, Floats, Ints
from .book import (
    ASKED,
    COND,
    COUNT,
    K0,
    LEND,
    NOW,
    ORDER,
    PLACE,
    PRICE,
    QUEUE,
    QUEUED,
    ROW_,
    ROWS,
    S2,
    SE,
    SIZE,
    SPEND,
    THEN,
    TURN,
    VICTIM,
    Book,
    C,
    G,
    K,
    R,
    W,
)
from .knapsack import knapsack

__all__ = ["choose"]

# How many candidates a knapsack is exact among.
_SHORTLIST = 30
_FIRST = 1e100


@inner
def _value(b: Book, j: int, optimism: float) -> float:
    """The optimistic value of looking at j; a tenth of an ask more keeps the first division finite."""
    if b.at[j, ASKED] == 0.0:
        return _FIRST
    asked = b.at[j, ASKED] + 0.1
    if b.at[j, ROW_] < 3.0 or b.at[j, C] <= 0.0:
        value = optimism * np.sqrt(b.num[S2] / asked)
    else:
        value = (abs(b.at[j, R]) + optimism * b.at[j, SE] * np.sqrt((b.at[j, THEN] + 0.1) / asked)) / np.sqrt(
            b.at[j, C]
        )
    return float(
        value * np.sqrt((b.at[j, COUNT] + 1.0) / (b.at[j, ASKED] + 1.0))
    )  # what is often unobserved is worth less


@inner
def _shortlist(b: Book, pool: Bools, taken: Bools, money: float, values: Floats, who: Ints) -> int:
    """The best candidates that can be paid, best first, as many as `who` has room for; ties in the seeded order."""
    optimism = 0.4 * np.sqrt(np.log1p(b.num[ROWS] / b.num[G]))
    n = 0
    for p in range(b.at.shape[0]):
        j = b.idx[ORDER, p]
        if not pool[j] or taken[j] or b.idx[PLACE, j] >= 0 or b.at[j, PRICE] > money:
            continue
        value = _value(b, j, optimism)
        if n == who.size and value <= values[n - 1]:
            continue
        i = n if n < who.size else n - 1
        n = min(n + 1, who.size)
        while i > 0 and values[i - 1] < value:
            values[i], who[i] = values[i - 1], who[i - 1]
            i -= 1
        values[i], who[i] = value, j
    return n


@inner
def _fill(b: Book, pool: Bools, taken: Bools, room: int, money: float, out: Ints, n: int) -> tuple[int, float]:
    """Put up to `room` candidates behind the n attributes in `out`; the new length and the money left."""
    limited = np.isfinite(b.num[SPEND])
    most = max(room, _SHORTLIST) if limited else room
    values, who = np.zeros(most), np.zeros(most, dtype=np.int64)
    found = _shortlist(b, pool, taken, money, values, who)
    wanted = np.ones(found, dtype=np.bool_)
    if limited and found > 0:
        prices = np.empty(found)
        for i in range(found):
            values[i], prices[i] = values[i] ** 2 + 1e-300, b.at[who[i], PRICE]
        wanted = knapsack(values[:found], prices, room, money)
    for i in range(found):
        if wanted[i]:
            out[n], taken[who[i]] = who[i], True
            money -= b.at[who[i], PRICE]
            n += 1
    return n, money


@inner
def _lent(b: Book, pool: Bools) -> int:
    """The attribute that borrows a place in this round; -1: none."""
    if b.cnt[QUEUED] == 0:
        return -1
    b.num[LEND] += 0.5  # every second round
    if b.num[LEND] < 1.0:
        return -1
    b.num[LEND] -= 1.0
    j = b.idx[QUEUE, b.cnt[TURN]]
    b.cnt[TURN] = (b.cnt[TURN] + 1) % b.cnt[QUEUED]
    return j if pool[j] else -1


@inner
def _members(b: Book, pool: Bools, guest: int) -> Bools:
    """Which members are bought: all that can be; beside a guest its victim goes, and more where money demands it."""
    m = b.cnt[SIZE]
    keep = np.empty(m, dtype=np.bool_)
    for a in range(m):
        keep[a] = pool[b.M[NOW, a]] and not (guest >= 0 and b.idx[VICTIM, guest] == a)
    if guest < 0 or np.isinf(b.num[SPEND]):
        return keep
    values, prices = np.empty(m), np.empty(m)
    for a in range(m):
        values[a] = b.vec[NOW, W, a] ** 2 * b.vec[NOW, COND, a] + 1e-300
        prices[a] = b.at[b.M[NOW, a], PRICE] if keep[a] else np.inf
    return knapsack(values, prices, m, b.num[SPEND] - b.at[guest, PRICE])


@inner
def _count(b: Book, out: Ints, n: int) -> int:
    """Note the n purchases."""
    for i in range(n):
        b.at[out[i], ASKED] += 1.0
    return n


@jit
def choose(b: Book, pool: Bools, out: Ints) -> tuple[int, int, bool]:
    """Write the attributes to buy, then the extras, into `out`: how many of each, and whether a place was lent."""
    guest, n, money = _lent(b, pool), 0, b.num[SPEND]
    keep = _members(b, pool, guest)
    for a in range(keep.size):
        if keep[a]:
            out[n] = b.M[NOW, a]
            money -= b.at[out[n], PRICE]
            n += 1
    if guest >= 0:
        out[n] = guest
        money -= b.at[guest, PRICE]
        n += 1
    if n == b.cnt[K] and b.cnt[K0] == 0:
        return _count(b, out, n), 0, guest >= 0
    taken = np.zeros(b.at.shape[0], dtype=np.bool_)
    if guest >= 0:
        taken[guest] = True
    if n < b.cnt[K]:
        n, money = _fill(b, pool, taken, b.cnt[K] - n, money, out, n)
    total = n
    if b.cnt[K0] > 0:
        total, money = _fill(b, pool, taken, b.cnt[K0], money, out, n)
    _count(b, out, total)
    return n, total - n, guest >= 0
