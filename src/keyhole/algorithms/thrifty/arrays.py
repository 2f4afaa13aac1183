"""New arrays inside compiled functions: numpy's own `zeros` is compiled in three parts for every kind of array."""

import numpy as np

from ..._internal.numba._jit import inner
from ..._internal.typing import Floats, Ints

__all__ = ["flags", "zeros"]


@inner
def zeros(n: int) -> Floats:
    """n times 0.0."""
    array = np.empty(n)
    for i in range(n):
        array[i] = 0.0
    return array


@inner
def flags(n: int, value: int) -> Ints:
    """n times the same whole number; 0 and 1 stand for no and yes."""
    array = np.empty(n, dtype=np.int64)
    for i in range(n):
        array[i] = value
    return array
