"""Steps of numba's that take long and can be had sooner, for as long as one of our kernels is compiled.

What comes out is the same. numba's own compilations beside ours never meet these: they stand in its places only while
its compiler lock is held by us.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import compiler, event, ir, transforms
from numba.core.postproc import PostProcessor, VariableLifetime

__all__ = ["quicker"]


def _variables(instruction: ir.Inst, value: Any) -> list[ir.Var]:
    """The variables in a value of an instruction: asked a hundred times for each line, and one `isinstance` after the
    other is the slowest way to tell what they are."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in _LEAVES:
        return []
    if isinstance(value, ir.Inst):
        return value.list_vars()  # type: ignore[no-any-return, no-untyped-call]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return []
    return [variable for part in value for variable in _variables(instruction, part)]


_LEAVES = frozenset({ir.Loc, str, int, float, bool, type(None)})
_run = PostProcessor.run


def _process(self: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Without a list of what lives at the start of each block, which only generators need; numba makes it five times
    for every function."""
    if self.func_ir.is_generator:
        _run(self, emit_dels, extend_lifetimes)
        return
    self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)  # type: ignore[no-untyped-call]
    self.func_ir.variable_lifetime = VariableLifetime(self.func_ir.blocks)  # type: ignore[no-untyped-call]
    self.func_ir.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)  # type: ignore[no-untyped-call]


def _unless_of_the_lock(tell: Callable[..., None]) -> Callable[..., None]:
    """Nobody is told that LLVM is called, thousands of times, for each function that waits for another."""

    def telling(kind: str, *more: object, **named: object) -> None:
        if kind != "numba:llvm_lock":
            tell(kind, *more, **named)

    return telling


_PLACES: tuple[tuple[Any, str, Any], ...] = (
    (ir.Inst, "_rec_list_vars", _variables),
    (PostProcessor, "run", _process),
    (event, "start_event", _unless_of_the_lock(event.start_event)),
    (event, "end_event", _unless_of_the_lock(event.end_event)),
)


@contextmanager
def quicker(compile_extra: Callable[..., object]) -> Iterator[None]:
    """Put them in place, with what compiles the functions that a kernel calls; what was there comes back at the end."""
    places = (*_PLACES, (compiler, "compile_extra", compile_extra))
    was = [getattr(owner, name) for owner, name, _ in places]
    for owner, name, ours in places:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for (owner, name, _), theirs in zip(places, was, strict=True):
            setattr(owner, name, theirs)
