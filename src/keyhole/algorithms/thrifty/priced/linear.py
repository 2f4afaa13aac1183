"""Small symmetric matrices inside compiled functions."""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats

__all__ = ["inverse", "possible", "precision"]

_RIDGE = 1e-6
# The least share of its variance that a column must keep beside those before it, and how far correlations are drawn in.
_OWN, _DRAWN = 0.005, np.array([0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.6])


@inner
def inverse(A: Floats, first: int, m: int) -> Floats:
    """The inverse of the m by m block of A that starts at `first` (Gauss and Jordan; a pivot of 0 counts as 1e-9)."""
    W = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            W[i, j] = A[first + i, first + j]
    for i in range(m):
        pivot = max(W[i, i], 1e-9)
        W[i, i] = 1.0
        for j in range(m):
            W[i, j] /= pivot
        for r in range(m):
            f = W[r, i]
            if r == i or f == 0.0:
                continue
            W[r, i] = 0.0
            for j in range(m):
                W[r, j] -= f * W[i, j]
    return W


@inner
def precision(C: Floats) -> Floats:
    """The inverse of a covariance, scaled to unit variances and with a small ridge; a variance of 0 has no weight."""
    m = C.shape[0]
    sd, R = np.empty(m), np.empty((m, m))
    for a in range(m):
        sd[a] = math.sqrt(C[a, a]) if C[a, a] > 1e-200 else 0.0
    for a in range(m):
        for e in range(m):
            R[a, e] = C[a, e] / (sd[a] * sd[e]) if sd[a] > 0.0 and sd[e] > 0.0 else 0.0
        R[a, a] = 1.0 + _RIDGE
    R = inverse(R, 0, m)
    for a in range(m):
        for e in range(m):
            R[a, e] = R[a, e] / (sd[a] * sd[e]) if sd[a] > 0.0 and sd[e] > 0.0 else 0.0
    return R


@inner
def _least_pivot(C: Floats, share: float) -> float:
    """The least pivot of the correlations times `share`: below 0 they are those of nothing."""
    m, least = C.shape[0], 1.0
    L = np.empty((m, m))
    for a in range(m):
        for e in range(a + 1):
            size = math.sqrt(C[a, a] * C[e, e])
            x = 1.0 if a == e else (share * C[a, e] / size if size > 0.0 else 0.0)
            for i in range(e):
                x -= L[a, i] * L[e, i]
            if a == e:
                least = min(least, x)
                if x <= 0.0:
                    return x
                L[a, a] = math.sqrt(x)
            else:
                L[a, e] = x / L[e, e]
    return least


@inner
def possible(C: Floats) -> None:
    """Draw the correlations of C in until some data could have them: each pair was seen in rows of its own."""
    m, drawn = C.shape[0], 1.0
    for i in range(_DRAWN.size):
        if _least_pivot(C, 1.0 - _DRAWN[i]) >= _OWN:
            drawn = _DRAWN[i]
            break
    if drawn > 0.0:
        for a in range(m):
            for e in range(m):
                if a != e:
                    C[a, e] *= 1.0 - drawn
