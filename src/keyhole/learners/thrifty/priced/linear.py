"""Small symmetric matrices inside compiled functions."""

import math

import numpy as np

from ...._jit import inner
from ...._types import Floats

__all__ = ["inverse", "precision"]

_RIDGE = 1e-6


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
