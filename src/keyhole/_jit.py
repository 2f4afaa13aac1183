"""One way to compile a hot loop: numba, cached on disk, IEEE arithmetic (no fast-math: results must repeat).

numba decides by the file of a function whether its cache is still good; after a change in an `inner` function of
another file the cache has to be cleared by hand (`make clean`).
"""

import sys
from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.core import event

__all__ = ["inner", "jit", "once"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` in nopython mode; division by zero gives inf or nan, as numpy's does."""
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def inner(function: F) -> F:
    """The same for a function that only compiled functions call: without the entries from Python and C, whose
    compilation takes longer than that of a small loop."""
    return _bare(function, "never")


def once(function: F) -> F:
    """The same for one that is called at a single place: it becomes part of its caller and is compiled with it, not
    before it and again with it. For the larger ones only; with many small ones the caller takes longer than they."""
    return _bare(function, "always")


def _bare(function: F, inline: str) -> F:
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "inline": inline}
    compiled: Callable[..., object] = numba.njit  # numba's stubs do not know all of the options
    return cast(Callable[[F], F], compiled(error_model="numpy", nogil=True, **options))(function)


class _Notice(event.Listener):
    """Says, once, why nothing seems to happen: a kernel is compiled. One that is loaded from disk is not."""

    said = False

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        if not self.said and getattr(function, "__module__", "").startswith("keyhole."):
            self.said = True
            print("keyhole: compiling for this machine, once; the next start takes it from disk", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
