"""One way to compile a hot loop: numba, cached on disk, IEEE arithmetic (no fast-math: results must repeat).

Where the compiled code is kept, and when it is still good, is said in `_cache.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core import event

from . import _cache

__all__ = ["inner", "jit", "once"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` in nopython mode; division by zero gives inf or nan, as numpy's does."""
    compiled = numba.njit(error_model="numpy", nogil=True)(function)
    _cache.attach(compiled, function)
    return cast(F, compiled)


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


_ONCE = ", once; the next start takes it from disk"
_AGAIN = "; no folder to keep it in can be written to, name one in NUMBA_CACHE_DIR"


class _Notice(event.Listener):
    """Says, once, why nothing seems to happen: a kernel is compiled. One that is loaded from disk is not."""

    said = False

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        if not self.said and function and function.__module__.startswith("keyhole."):
            self.said = True
            kept = _cache.folder_of(Path(function.__code__.co_filename))
            print(f"keyhole: compiling for this machine{_ONCE if kept else _AGAIN}", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
