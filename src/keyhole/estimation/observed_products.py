"""Products with a few bought values, where a NaN takes no part: small, called every round, therefore compiled."""

import numpy as np

from .._internal.numba._jit import jit
from .._internal.typing import Floats, Ints

__all__ = ["dot_at", "dot_on", "same", "zero_filled"]


@jit
def zero_filled(x: Floats) -> Floats:
    """x with 0 for NaN."""
    filled = x.copy()
    for i in range(x.size):
        if np.isnan(x[i]):
            filled[i] = 0.0
    return filled


@jit
def dot_at(w: Floats, B: Ints, x: Floats) -> float:
    """sum of w[B_i] x_i over the x_i that are known."""
    total = 0.0
    for i in range(B.size):
        if not np.isnan(x[i]):
            total += w[B[i]] * x[i]
    return total


@jit
def dot_on(w: Floats, S: Ints, B: Ints, x: Floats) -> float:
    """sum of w_a x_i over the places a where S_a = B_i, of the x_i that are known; S is ascending, w lives on S."""
    total = 0.0
    for i in range(B.size):
        a = np.searchsorted(S, B[i])
        if a < S.size and S[a] == B[i] and not np.isnan(x[i]):
            total += w[a] * x[i]
    return total


@jit
def same(a: Ints, b: Ints) -> bool:
    """Whether two index arrays are equal."""
    equal = a.size == b.size
    for i in range(min(a.size, b.size)):
        equal &= a[i] == b[i]
    return equal
