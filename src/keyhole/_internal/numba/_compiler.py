"""numba's compiler without what it does twice: half of the time between an empty cache and the first row.

An `inner` function is only ever a part of compiled entries. numba optimises it and makes machine code of it on its own,
and again in every function between it and an entry, and again there; here only the entry's turn is left. The result is
the same arithmetic: LLVM does not reorder floating point in either.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import numba
from llvmlite.binding import ModuleRef  # type: ignore[import-untyped]
from numba import types
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.typed_passes import InlineOverloads, NativeLowering, NativeParforLowering, NopythonRewrites
from numba.core.typing.context import Context
from numba.core.untyped_passes import InlineClosureLikes

from ._lowering import Lowering
from ._quicker import quicker
from ._remembered import Flags, Typing

__all__ = ["ApartCompiler", "Compiler", "PartCompiler", "ShortCompiler"]


class _Entry(JITCodeLibrary):
    """The code of an entry: optimised once, as a whole, and not first function by function."""

    wishes: ClassVar[dict[str, bool]] = {}

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """With all that it reaches linked in, once: parts are not linked into parts."""
        self._link(self._final_module)
        self._linking_libraries = []
        super().finalize()  # type: ignore[no-untyped-call]

    def _link(self, module: ModuleRef) -> None:
        for library in dict.fromkeys(self._reached()):
            self._reload_init.update(library._reload_init)
            module.link_in(JITCodeLibrary._get_module_for_linking(library), preserve=True)  # type: ignore[no-untyped-call]

    def _reached(self) -> Iterator[JITCodeLibrary]:
        for library in self._linking_libraries:
            yield library
            if isinstance(library, _Part):
                yield from library._reached()

    def _optimize_final_module(self) -> None:
        """numba's full optimisation, without the cheap one before it: that is there to find references that need not be
        counted, of which there are few here."""
        passes, builder = self._codegen._module_pass_manager(**self.wishes)  # type: ignore[no-untyped-call]
        passes.run(self._final_module, builder)


class _Short(_Entry):
    """The code of an entry whose loops are short, or do too much to be made vectors of: that is not tried."""

    wishes: ClassVar[dict[str, bool]] = {"loop_vectorize": False}


class _NoAddress:
    """Stands for numba's code generator where there is no machine code whose environment could be set."""

    @staticmethod
    def set_env(name: str, env: object) -> None:
        """Nothing: it has no address."""


class _Part(_Entry):
    """The code of an `inner` function, to be linked into others."""

    codegen = _NoAddress()

    def finalize(self) -> None:
        """With nothing linked in: left to the entry."""
        below, self._linking_libraries = self._linking_libraries, []
        JITCodeLibrary.finalize(self)  # type: ignore[no-untyped-call]
        self._linking_libraries = below

    def _get_module_for_linking(self) -> ModuleRef:
        """For whoever calls a part from a function that numba compiles by itself: with all that it reaches."""
        whole = super()._get_module_for_linking().clone()  # type: ignore[no-untyped-call]
        self._link(whole)
        return whole

    def _optimize_final_module(self) -> None:
        """Left to the entry."""

    def _finalize_final_module(self) -> None:
        """Left to the entry."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _Apart(_Part):
    """The code of an `apart` function, which is not to be copied to where it is called."""

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        super()._optimize_functions(ll_module)
        for function in ll_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("noinline")


# Closures, array expressions and inlined overloads: kernels are loops, and have none.
_NEVER_NEEDED = (InlineClosureLikes, InlineOverloads, NopythonRewrites)
# What lowers in numba's own pipelines; ours is written for these versions, and any other lowers its own way.
_LOWERING = (NativeLowering, NativeParforLowering)
_LOWERED = ((0, 66), (0, 67), (0, 68))


class Compiler(compiler.Compiler):
    """For an entry."""

    library: ClassVar[type[_Entry]] = _Entry
    needed: ClassVar[bool] = False
    """Whether the passes that kernels have no use for are."""
    short_ways: ClassVar[bool] = numba.version_info[:2] in _LOWERED
    """Whether `_lowering` knows this version of numba."""

    def __init__(self, typing: Context, target: object, library: object, *more: object) -> None:
        args, return_type, flags, names = more
        ours = Flags(flags)  # type: ignore[no-untyped-call]
        super().__init__(Typing.over(typing), target, library, args, return_type, ours, names)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> object:
        """numba's, into a library of ours."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        pipelines = super().define_pipelines()  # type: ignore[no-untyped-call]
        for pipeline in pipelines:
            ours = _LOWERING if self.short_ways else ()
            steps = [(Lowering if step in ours else step, why) for step, why in pipeline.passes]
            pipeline.passes[:] = [step for step in steps if self.needed or step[0] not in _NEVER_NEEDED]
            pipeline.finalize()
        return pipelines

    def compile_extra(self, func: Callable[..., object]) -> object:
        """The compiled function; one that counts no references must not hand out an array."""
        with _no_collection(), quicker(_all_parts):
            result = super().compile_extra(func)  # type: ignore[no-untyped-call]
        if not self.state.flags.nrt and (_holds_arrays(result.signature.return_type) or any(self._given_arrays())):
            name = func.__qualname__
            raise TypeError(f"{name} returns or is given a new array and must be compiled by _jit, not by _bare")
        return result

    def _given_arrays(self) -> Iterator[bool]:
        """For every call of a compiled function whether an array comes back: nobody would ever free it."""
        for expression, signature in self.state.calltypes.items():
            if getattr(expression, "op", None) == "call":
                called = self.state.typemap[expression.func.name]
                yield isinstance(called, types.Dispatcher) and _holds_arrays(signature.return_type)


def _all_parts(*given: object, flags: compiler.Flags, pipeline_class: type, **more: object) -> object:
    """`compiler.compile_extra`, for which an overload is a function to be optimised and made machine code of by itself:
    nobody but compiled functions can call one."""
    if pipeline_class is compiler.Compiler and flags.no_cpython_wrapper:
        pipeline_class = _TheirsCompiler
        flags.no_cfunc_wrapper = True  # type: ignore[assignment, misc]
    return _compile_extra(*given, flags=flags, pipeline_class=pipeline_class, **more)


_compile_extra: Callable[..., object] = compiler.compile_extra


@contextmanager
def _no_collection() -> Iterator[None]:
    """A compiler makes objects by the million and drops few: to look for garbage again and again is a sixth of it.

    Nor is it looked for at the end: what was made counts as old, and waits for the next look at everything.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if gc.get_freeze_count() == 0:  # or else it is not ours to thaw
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _holds_arrays(what: types.Type) -> bool:
    return isinstance(what, types.Array) or any(map(_holds_arrays, getattr(what, "types", ())))


class PartCompiler(Compiler):
    """For an `inner` function."""

    library = _Part


class _TheirsCompiler(PartCompiler):
    """For what numba itself wrote in Python (`max`, `np.empty`), where a kernel calls it: a part like any other."""

    needed = True


class ShortCompiler(Compiler):
    """For a `short` entry."""

    library = _Short


class ApartCompiler(Compiler):
    """For an `apart` function."""

    library = _Apart
