"""`_jit` for functions that neither make arrays nor are given any by those they call: no reference is counted in them.

Most of what numba writes for such a function counts the references of its arguments, which the caller holds anyway;
without that they compile in three quarters of the time. One that makes an array, or returns one, is refused.
"""

from collections.abc import Callable
from typing import TypeVar

from . import _jit

__all__ = ["apart", "inner", "jit", "short"]

F = TypeVar("F", bound=Callable[..., object])


def apart(function: F) -> F:
    """`_jit.apart`, uncounted."""
    return _jit.apart(function, _nrt=False)


def inner(function: F) -> F:
    """`_jit.inner`, uncounted."""
    return _jit.inner(function, _nrt=False)


def jit(function: F) -> F:
    """`_jit.jit`, uncounted."""
    return _jit.jit(function, _nrt=False)


def short(function: F) -> F:
    """`_jit.short`, uncounted."""
    return _jit.short(function, _nrt=False)
