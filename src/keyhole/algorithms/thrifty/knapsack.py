"""The best purchase that money can buy: a 0-1 knapsack with a limit on the number of things, exact but for things whose
values and prices are so alike that a search through them would never end."""

import numpy as np

from ..._internal.numba._jit import inner
from ..._internal.typing import Floats, Ints
from .arrays import flags, zeros
from .ranking import insert

__all__ = ["knapsack"]

# After so many baskets the best so far is taken: thirty things that are worth their price have a billion.
_BASKETS = 100_000


@inner
def _at_most(value: Floats, price: Floats, best_left: Floats, i: int, count: int, money: float) -> float:
    """A bound on what items i.. can add: with a fraction of one item allowed, and by count times the best of them."""
    if i == value.size or count == 0:
        return 0.0
    bound, left = 0.0, money
    for e in range(i, value.size):
        if price[e] > left:
            bound += value[e] * left / price[e]
            break
        bound += value[e]
        left -= price[e]
    most: float = min(bound, count * best_left[i])
    return most


@inner
def _by_density(value: Floats, price: Floats, n: int) -> Ints:
    """Most value per money first."""
    density, turn = np.empty(n), np.empty(n, dtype=np.int64)
    for e in range(n):
        insert(density, turn, e, value[e] / price[e] if price[e] > 0.0 else np.inf, e)
    return turn


@inner
def knapsack(values: Floats, prices: Floats, n: int, count: int, money: float, taken: Ints) -> None:
    """taken = argmax sum of values  s.t.  sum of prices <= money, at most `count` of the first n things; values > 0.

    Depth first, most value per money first, a branch left where its bound is no better than the best so far.
    """
    turn = _by_density(values, prices, n)
    value, price, best_left = np.empty(n), np.empty(n), zeros(n + 1)
    for i in range(n - 1, -1, -1):
        value[i], price[i], taken[i] = values[turn[i]], prices[turn[i]], 0
        best_left[i] = max(value[i], best_left[i + 1])
    has, spent, held = zeros(n + 1), zeros(n + 1), flags(n + 1, 0)  # before item i
    now, best, seen, i = flags(n, 0), -1.0, 0, n - n  # not 0: numba would compile the bound for it, and for the others
    while i >= 0 and seen < _BASKETS:
        seen += 1
        while i < n and has[i] + _at_most(value, price, best_left, i, count - held[i], money - spent[i]) > best:
            now[i] = 1 if spent[i] + price[i] <= money and held[i] < count else 0
            has[i + 1] = has[i] + (value[i] if now[i] else 0.0)
            spent[i + 1] = spent[i] + (price[i] if now[i] else 0.0)
            held[i + 1] = held[i] + now[i]
            i += 1
        if i == n and has[n] > best:
            best = has[n]
            for e in range(n):
                taken[turn[e]] = now[e]
        i -= 1
        while i >= 0 and not now[i]:
            i -= 1
        if i >= 0:  # the same without the last thing taken
            now[i] = 0
            has[i + 1], spent[i + 1], held[i + 1] = has[i], spent[i], held[i]
            i += 1
