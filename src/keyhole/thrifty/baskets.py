"""With a limit on money: members and candidates that are bought together, chosen together."""

import numpy as np

from .._jit import inner, jit
from .._types import Floats, Ints
from .book import COND, EXPLAINED, NOW, ORDER, PLACE, PRICE, S2, SPEND, TRIAL, Book, C, K, R, V, W
from .fitting import build
from .knapsack import knapsack
from .scoring import enough, evidence
from .settling import settle

__all__ = ["rearrange"]

# How many members and candidates the knapsack is exact among.
_SHORTLIST = 30


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
def rearrange(b: Book, L: float) -> bool:
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
    settle(b, size)
    return True
