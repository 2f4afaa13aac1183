"""One way to compile a hot loop: numba, cached on disk, IEEE arithmetic (no fast-math: results must repeat).

Where the compiled code is kept, and when it is still good, is said in `_cache.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core import event

# `_shared` registers a type with numba. Importing it here, before any kernel exists, keeps that registration from
# racing with a thread that is already calling one ("dictionary changed size during iteration").
from . import _cache
from ._compiler import ApartCompiler, Compiler, PartCompiler, ShortCompiler

__all__ = ["apart", "inner", "jit", "short"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F, **options: object) -> F:
    """Compile `function` in nopython mode; division by zero gives inf or nan, as numpy's does."""
    compiled = _njit(function, **{"pipeline_class": Compiler, "no_cfunc_wrapper": True, **options})
    _cache.attach(compiled, function)
    return cast(F, compiled)


def short(function: F, **options: object) -> F:
    """`jit` for one whose loops are over few numbers, or do much in each turn: LLVM does not try to make vectors of
    them, which takes a while."""
    return jit(function, pipeline_class=ShortCompiler, **options)


def inner(function: F, **options: object) -> F:
    """The same for a function that only compiled functions call: a part of each of them, without entries of its own."""
    return cast(F, _njit(function, pipeline_class=PartCompiler, **_NO_ENTRY, **options))


def apart(function: F, **options: object) -> F:
    """`inner` for one whose loops are long: it stays a function of its own and is not copied to where it is called."""
    return cast(F, _njit(function, pipeline_class=ApartCompiler, **_NO_ENTRY, **options))


def _njit(function: F, **options: object) -> object:
    compiled: Callable[..., object] = numba.njit  # numba's stubs do not know all of the options
    settings = {"error_model": "numpy", "nogil": True, "_nrt": True, **options}  # said, or else taken from the caller
    return cast(Callable[[F], object], compiled(**settings))(function)


_NO_ENTRY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
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
