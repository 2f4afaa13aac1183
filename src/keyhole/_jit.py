"""One way to compile a hot loop: numba, cached on disk, IEEE arithmetic (no fast-math: results must repeat)."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` in nopython mode; division by zero gives inf or nan, as numpy's does."""
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))
