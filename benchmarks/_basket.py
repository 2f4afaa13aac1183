"""What a rival buys: the k best by a score, or what of them it can pay."""

import numpy as np
import numpy.typing as npt

from keyhole._internal.numba._jit import inner

Floats, Ints = npt.NDArray[np.float64], npt.NDArray[np.int64]

__all__ = ["affordable"]


@inner
def affordable(score: Floats, k: int, price: Floats, budget_per_row: float, out: Ints) -> int:
    """At most k attributes within `budget_per_row`, into `out`; returns how many. With money, the better (by total
    score) of taking the largest scores first and of taking the largest scores per price first."""
    best, n = -np.inf, 0
    for per_price in range(2 if np.isfinite(budget_per_row) else 1):
        taken, money, total, m = np.empty(k, np.int64), budget_per_row, 0.0, 0
        left = score / price if per_price else score.copy()
        while m < k:
            j = np.argmax(left)
            if left[j] == -np.inf:
                break
            left[j] = -np.inf
            if price[j] <= money:
                taken[m] = j
                m, money, total = m + 1, money - price[j], total + score[j]
        if total > best:
            best, n = total, m
            out[:m] = taken[:m]
    return n
