"""What a rival buys: the k best by a score, or what of them it can pay."""

import numpy as np
import numpy.typing as npt

Floats, Ints = npt.NDArray[np.float64], npt.NDArray[np.int64]

__all__ = ["affordable", "ridged_solve"]


def affordable(score: Floats, k: int, price: Floats, budget_per_row: float) -> Ints:
    """At most k attributes within the budget, the first choice first. With money the better, by total score, of taking
    the largest scores first and of taking the largest scores per price first."""
    if not np.isfinite(budget_per_row):
        return np.argsort(-score, kind="stable")[:k]
    best, chosen = -np.inf, np.empty(0, np.int64)
    for order in (np.argsort(-score, kind="stable"), np.argsort(-score / price, kind="stable")):
        taken, money = [], budget_per_row
        for j in order.tolist():
            if len(taken) < k and price[j] <= money:
                taken.append(j)
                money -= price[j]
        total = float(score[taken].sum())
        if total > best:
            best, chosen = total, np.array(taken, np.int64)
    return chosen


def ridged_solve(A: Floats, c: Floats) -> Floats:
    """A^-1 c for a positive definite A; where it is singular in rounding, with a ridge of 1e-10 of its diagonal."""
    if not c.size:
        return c.copy()
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A + np.diag(1e-10 * np.maximum(np.diag(A), 1e-300)), c, rcond=None)[0]
    return np.linalg.solve(L.T, np.linalg.solve(L, c))
