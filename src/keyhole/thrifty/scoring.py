"""What every attribute outside the support would be worth, from the rows that showed it.

    r_j = cov(x_j, y) - sum_a w_a q_ja          q_ja = cov(x_j, x_a): as observed in the rows of j that show a,
    c_j = var(x_j) - q_j' P q_j                 shrunk by n_ja / (n_ja + s) in its rows that do not
    se_j^2 = c_j S2 / n_j + what q_ja adds      n_j: rows of j, each weighted by S2 / (S2 + label variance it misses)

r_j^2 / c_j is then the gain of adding j to the support, and z_j = r_j / se_j its significance.
"""

import numpy as np

from .._jit import inner
from .._types import Floats, Ints
from .book import (
    ASKED,
    COND,
    FEW,
    HEFT,
    LABEL,
    MEANS,
    N_,
    NOW,
    PA,
    PJ,
    PJA,
    PLACE,
    PN,
    ROW_,
    S2,
    SD,
    SE,
    SIZE,
    THEN,
    TOLD,
    VAR,
    X_,
    XX_,
    XY_,
    Y_,
    Book,
    C,
    G,
    P,
    R,
    W,
)

__all__ = ["enough", "enter", "evidence", "regress", "rescore", "shrinkage", "swap", "unmatched"]

# No candidate is thought to be more than 95 % explained by the support: that much collinearity is not estimable.
_LEAST = 0.05


@inner
def enter(b: Book, who: Ints, what: Floats, y: float, heft: float) -> None:
    """Add a row to the sums of every attribute it shows that is not a member."""
    m, s2 = b.cnt[SIZE], b.num[S2]
    missed, lost, last = 0.0, 0, 0
    for a in range(m):
        shown = False
        for i in range(who.size):
            shown = shown or who[i] == b.M[NOW, a]
        if not shown:
            missed += (b.vec[NOW, W, a] * b.vec[NOW, SD, a]) ** 2
            lost, last = lost + 1, a
    if lost == 1 and b.vec[NOW, COND, last] > 0.0:
        missed = b.vec[NOW, W, last] ** 2 * b.vec[NOW, COND, last]
    o = heft * s2 / (s2 + min(missed, b.num[VAR])) if s2 > 0.0 else heft
    for i in range(who.size):
        j = who[i]
        if j < 0:
            break
        if b.idx[PLACE, j] >= 0:
            continue
        x, sums = what[i], b.at[j]
        sums[N_] += o
        sums[X_] += o * x
        sums[XX_] += o * x * x
        sums[XY_] += o * x * y
        sums[Y_] += o * y
        sums[ROW_] += 1.0
        for e in range(who.size):
            if who[e] < 0:
                break
            a = b.idx[PLACE, who[e]]
            if a >= 0:
                pair = b.pair[j, a]
                pair[PN] += o
                pair[PJ] += o * x
                pair[PA] += o * what[e]
                pair[PJA] += o * x * what[e]


@inner
def rescore(b: Book) -> None:
    """All sums anew from the stored rows: the support has changed, and with it what they are relative to."""
    b.at[:, N_:] = 0.0
    b.pair[:] = 0.0
    for t in range(min(b.cnt[TOLD], b.mass.shape[0])):
        enter(b, b.who[t], b.what[t], b.mass[t, LABEL], b.mass[t, HEFT])


@inner
def _covariance(pair: Floats, x_bar: float, mean: float) -> float:
    """cov(x_j, x_a) over the rows that show both."""
    return float((pair[PJA] - x_bar * pair[PA] - mean * pair[PJ] + pair[PN] * x_bar * mean) / pair[PN])


@inner
def spread(sums: Floats) -> tuple[float, float]:
    """Mean and variance of a candidate; variance 0 while it looks constant."""
    mean, square = sums[X_] / sums[N_], sums[XX_] / sums[N_]
    variance = square - mean * mean
    return mean, variance if variance > 1e-13 * square else 0.0


@inner
def shrinkage(b: Book) -> float:
    """s = 1 / mean squared correlation of candidates with members, beyond chance: how far to trust few joint rows."""
    m, g, top, bottom = b.cnt[SIZE], b.num[G], 0.0, 0.0
    for j in range(b.at.shape[0]):
        if b.idx[PLACE, j] >= 0 or b.at[j, ROW_] < 3.0:
            continue
        x_bar, v = spread(b.at[j])
        for a in range(m):
            n = b.pair[j, a, PN] / g
            if n >= 4.0 and v > 0.0 and b.vec[NOW, SD, a] > 0.0:
                weight = min(n, 200.0)
                top += weight * (
                    _covariance(b.pair[j, a], x_bar, b.vec[NOW, MEANS, a]) ** 2 / (v * b.vec[NOW, SD, a] ** 2) - 1.0 / n
                )
                bottom += weight
    return float(1.0 / min(1.0, max((top + 50.0 / 8.0) / (bottom + 50.0), 1e-3)))


@inner
def unmatched(size: float, n: float, n_a: float, s: float) -> float:
    """What not knowing q_ja adds to the variance of r_j: of its n rows, those without a rely on the n_a with it, and on
    s; size = w_a^2 var(x_a) var(x_j). (Numbers, not the book: a call with all its arrays takes longer than the sum.)"""
    return size * max(0.0, 1.0 - n_a / n) / (n_a + s)


@inner
def regress(b: Book, j: int, s: float, u: Floats) -> float:
    """r, c and se of candidate j, and u = P q, its regression on the support; the variance of x_j is returned."""
    m, g, sums = b.cnt[SIZE], b.num[G], b.at[j]
    x_bar, v = spread(sums)
    if v <= 0.0:
        return 0.0
    r, used, apart = (sums[XY_] - x_bar * sums[Y_]) / sums[N_], 0.0, 0.0
    q = np.zeros(m)
    for a in range(m):
        n = b.pair[j, a, PN]
        if n > 0.0:
            most = 0.995 * np.sqrt(v) * b.vec[NOW, SD, a]
            share = n / sums[N_]
            cov = _covariance(b.pair[j, a], x_bar, b.vec[NOW, MEANS, a])
            q[a] = min(most, max(-most, cov)) * (share + (1.0 - share) * n / (n + s * g))
        r -= b.vec[NOW, W, a] * q[a]
        used += 1.0 / (n / g + s)
        apart += unmatched((b.vec[NOW, W, a] * b.vec[NOW, SD, a]) ** 2 * v, sums[N_] / g, n / g, s)
    c = v
    for a in range(m):
        u[a] = 0.0
        for e in range(m):
            u[a] += b.inv[NOW, P, a, e] * q[e]
        c -= u[a] * q[a]
    c = max(c / max(0.5, 1.0 - used), _LEAST * v)  # q is estimated: it explains a little by chance
    b.at[j, R], b.at[j, C], b.at[j, THEN] = r, c, b.at[j, ASKED]
    b.at[j, SE] = np.sqrt((c * b.num[S2] / (sums[N_] / g) + apart) * (1.0 + 4.0 / sums[ROW_]))
    return float(v)


@inner
def swap(b: Book, r: float, c: float, u: Floats, losses: Floats) -> int:
    """losses[a]: explained variance lost when member a leaves after j came in; which member it is cheapest to lose."""
    best = 0
    for a in range(b.cnt[SIZE]):
        left = b.vec[NOW, W, a] - u[a] * r / c
        losses[a] = left * left / (b.inv[NOW, P, a, a] + u[a] * u[a] / c)
        if losses[a] < losses[best]:
            best = a
    return best


@inner
def evidence(b: Book, j: int) -> float:
    """Twice the log likelihood ratio of j beside the support: z^2 (-ln(1 - rho)) / rho, rho its share of S2.

    z^2 takes the residual variance before j joined; a strong attribute lowers it, and is significant sooner.
    """
    rho = min(b.at[j, R] ** 2 / (b.at[j, C] * b.num[S2]), 0.98)
    sharpen = -np.log1p(-rho) / rho if rho > 1e-6 else 1.0
    return float((b.at[j, R] / b.at[j, SE]) ** 2 * sharpen)


@inner
def enough(b: Book, j: int) -> bool:
    """Whether candidate j was seen often enough, and varied, to be judged at all."""
    return bool(b.at[j, ROW_] >= FEW and b.at[j, N_] > 0.0)
