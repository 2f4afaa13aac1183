"""One way to compile a hot loop: numba, cached on disk, IEEE arithmetic (no fast-math: results must repeat)."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

__all__ = ["inner", "jit"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` in nopython mode; division by zero gives inf or nan, as numpy's does."""
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def inner(function: F) -> F:
    """The same for a function that only compiled functions call: without the entries from Python and C, whose
    compilation takes longer than that of a small loop."""
    compiled: Callable[..., object] = numba.njit  # numba's stubs do not know the two options
    bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Callable[[F], F], compiled(error_model="numpy", nogil=True, **bare))(function)
