"""Least squares on a set of attributes, from rows of which some lack one of them.

A row that shows all of M enters as it is; one that lacks a single member a enters with x_a replaced by its regression
on the others, and with weight S2 / (S2 + w_a^2 var(x_a | rest)): the noise that the missing part adds. Such rows say
nothing about w_a, but they keep what was known about the others when a joined. All sums are positive definite.
"""

import numpy as np

from .._jit import inner
from .._types import Floats, Ints
from .book import (
    CENTRE,
    COND,
    EXPLAINED,
    HEFT,
    IMPUTED,
    LABEL,
    MARK,
    MEAN,
    MEANS,
    NOW,
    RAW,
    S2,
    SD,
    TOLD,
    Book,
    G,
    P,
    V,
    W,
)

__all__ = ["add", "build", "impute", "invert", "solve"]

# How many pseudo-rows: enough that a newcomer known from a handful of rows does not explode.
_PRIOR = 5.0
# How often the missing values are filled in anew: twice more than once is enough for where it matters, a newcomer
# whose first rows all lack someone.
_STEPS = 3


@inner
def invert(A: Floats, m: int, out: Floats) -> None:
    """out = A^-1 for a positive definite m x m matrix: Gauss-Jordan on A scaled to a unit diagonal."""
    s = np.empty(m)
    T = np.zeros((m, 2 * m))
    for i in range(m):
        s[i] = 1.0 / np.sqrt(max(A[i, i], 1e-300))
    for i in range(m):
        for j in range(m):
            T[i, j] = A[i, j] * s[i] * s[j]
        T[i, i] += 1e-9  # keeps exact duplicates apart
        T[i, m + i] = 1.0
    for i in range(m):
        pivot = max(T[i, i], 1e-9)
        for e in range(2 * m):
            T[i, e] /= pivot
        for j in range(m):
            f = T[j, i] if j != i else 0.0
            if f != 0.0:
                for e in range(2 * m):
                    T[j, e] -= f * T[i, e]
    for i in range(m):
        for j in range(m):
            out[i, j] = T[i, m + j] * s[i] * s[j]


@inner
def moments(b: Book, j: int) -> tuple[float, float]:
    """Mean and variance of attribute j over all its values, before winsorising."""
    n = b.at[j, RAW]
    if n <= 0.0:
        return 0.0, 0.0
    mean = b.at[j, RAW + 1] / n
    return mean, max(b.at[j, RAW + 2] / n - mean * mean, 0.0)


@inner
def add(gram: Floats, v: Floats, m: int, weight: float) -> None:
    """gram += weight v v'."""
    for i in range(m + 2):
        f = weight * v[i]
        for j in range(m + 2):
            gram[i, j] += f * v[j]


@inner
def impute(b: Book, v: Floats, seen: Ints, m: int) -> None:
    """Replace the deviations v[a] of members not seen by their expectation given those seen: P_uu v_u = -P_us v_s."""
    lost, u = np.empty(m, dtype=np.int64), 0
    for a in range(m):
        if not seen[a]:
            lost[u] = a
            u += 1
    A, A_inv = np.empty((u, u)), np.empty((u, u))
    for i in range(u):
        for j in range(u):
            A[i, j] = b.inv[NOW, P, lost[i], lost[j]]
    invert(A, A.shape[0], A_inv)
    pull = np.zeros(u)
    for i in range(u):
        for a in range(m):
            if seen[a]:
                pull[i] -= b.inv[NOW, P, lost[i], a] * v[a]
    for i in range(u):
        v[lost[i]] = 0.0
        for j in range(u):
            v[lost[i]] += A_inv[i, j] * pull[j]


@inner
def solve(b: Book, f: np.int64, m: int) -> None:
    """Weights of the members: ridge with pseudo-rows of each member's own mean and variance."""
    g, y_mean = _PRIOR * b.num[G], b.num[MEAN]
    total = b.gram[f, m, m] + g
    A, c = np.zeros((m, m)), np.zeros(m)
    y_bar = (b.gram[f, m, m + 1] + g * y_mean) / total
    prior = np.empty(m)
    for a in range(m):
        prior[a], variance = moments(b, b.M[f, a])
        b.vec[f, SD, a] = np.sqrt(variance)
        b.vec[f, MEANS, a] = (b.gram[f, m, a] + g * prior[a]) / total
    for a in range(m):
        for e in range(m):
            A[a, e] = b.gram[f, a, e] + g * prior[a] * prior[e] - total * b.vec[f, MEANS, a] * b.vec[f, MEANS, e]
        A[a, a] += g * b.vec[f, SD, a] ** 2
        c[a] = b.gram[f, a, m + 1] + g * prior[a] * y_mean - total * b.vec[f, MEANS, a] * y_bar
    invert(A, m, b.inv[f, V])
    for a in range(m):
        b.vec[f, W, a] = 0.0
        for e in range(m):
            b.vec[f, W, a] += b.inv[f, V, a, e] * c[e]
            b.inv[f, V, a, e] *= b.num[G]
        A[a, a] += b.vec[f, IMPUTED, a] * b.vec[f, COND, a]  # an imputed value lacks its own conditional variance
    explained = 0.0
    for a in range(m):
        for e in range(m):
            A[a, e] /= total
            explained += b.vec[f, W, a] * b.vec[f, W, e] * A[a, e]
    invert(A, m, b.inv[f, P])
    b.top[f, CENTRE], b.top[f, EXPLAINED] = y_bar, explained


@inner
def _show(b: Book, t: int, v: Floats, seen: Ints, m: int) -> int:
    """The members that stored row t shows, into v; how many they are."""
    n = 0
    seen[:] = 0
    for i in range(b.who.shape[1]):
        j = b.who[t, i]
        if j < 0:
            break
        a = b.idx[MARK, j]
        if a >= 0:
            v[a], seen[a] = b.what[t, i], 1
            n += 1
    v[m], v[m + 1] = 1.0, b.mass[t, LABEL]
    return n


@inner
def _gather(b: Book, f: np.int64, m: int) -> Floats:
    """Sums of products of (x_M, 1, y): sums[m] over the stored rows that show all of M, sums[a] over those that lack a
    alone, with 0 in its place."""
    sums, v, seen = np.zeros((m + 1, m + 2, m + 2)), np.zeros(m + 2), np.zeros(m + 2, dtype=np.int64)
    for a in range(m):
        b.idx[MARK, b.M[f, a]] = a
    for t in range(min(b.cnt[TOLD], b.mass.shape[0])):
        shown, a = _show(b, t, v, seen, m), 0
        if shown < m - 1:
            continue
        while seen[a]:
            a += 1
        v[a] = v[a] if shown == m else 0.0  # then a = m, the place of the 1
        add(sums[a], v, m, b.mass[t, HEFT])
    for a in range(m):
        b.idx[MARK, b.M[f, a]] = -1
    return sums


@inner
def _fill_in(b: Book, f: np.int64, m: int, w_guess: Floats, sums: Floats) -> None:
    """Fit all rows, a missing x_a replaced by its regression on the others according to the fit so far.

    It is linear, x_a = beta'(x, 1, y), so that the sums of these rows are all that is needed of them.
    """
    prec, beta, cross = b.inv[f, P].copy(), np.zeros(m + 2), np.zeros(m + 2)
    mean = b.vec[f, MEANS].copy()
    for i in range(m + 2):
        for e in range(m + 2):
            b.gram[f, i, e] = sums[m, i, e]
    for a in range(m):
        cond = 1.0 / prec[a, a]
        keep = b.num[S2] / (b.num[S2] + w_guess[a] ** 2 * cond)
        b.vec[f, COND, a], b.vec[f, IMPUTED, a] = cond, keep * sums[a, m, m]
        beta[m] = mean[a]
        for e in range(m):
            beta[e] = -prec[a, e] * cond if e != a else 0.0
            beta[m] -= beta[e] * mean[e]
        square = 0.0
        for i in range(m + 2):
            cross[i] = 0.0
            for e in range(m + 2):
                cross[i] += sums[a, i, e] * beta[e]
            square += beta[i] * cross[i]
        cross[a] = square
        for i in range(m + 2):
            for e in range(m + 2):
                b.gram[f, i, e] += keep * (cross[e] if i == a else cross[i] if e == a else sums[a, i, e])
    solve(b, f, m)


@inner
def build(b: Book, f: np.int64, m: int, w_guess: Floats) -> None:
    """Fit `b.M[f, :m]` on the stored rows: first those that show all of it, then with them those that lack one.

    The regressions that fill these in are those of the fit before: a few steps of expectation and maximisation.
    """
    sums = _gather(b, f, m)
    for i in range(m + 2):
        for e in range(m + 2):
            b.gram[f, i, e] = sums[m, i, e]
    b.vec[f, IMPUTED, :], b.vec[f, COND, :] = 0.0, 0.0
    solve(b, f, m)
    for _ in range(_STEPS if m > 1 else 0):
        _fill_in(b, f, m, w_guess, sums)
