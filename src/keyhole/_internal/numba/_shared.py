"""Arrays and records that compiled functions take together, as one pointer.

numba hands over a tuple field by field, seven numbers for every array, in every call; most of the time that a kernel of
twenty arrays takes to compile, and some of that it takes to call, goes there. Here Python writes down, once, where the
arrays are, and compiled code is given the place of that list:

    @dataclass(frozen=True)
    class State(Shared):
        attr: Records
        fit: Fit            # a Shared again

`state.attr` reads the same in Python and in compiled code. What compiled code takes from it is borrowed: it must not be
returned to Python. Nothing of it can be exchanged for another array: make a new one, as with a tuple.
"""

from dataclasses import fields
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import typeof, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import from_dtype

from ._aggregates import array_value

__all__ = ["Shared"]


class Shared:
    """The base of a frozen dataclass of arrays, records and other `Shared`."""

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        words = np.array([word for value in values.values() for word in _words(value)], np.int64)
        kind = _kind(type(self).__name__, tuple((name, _looks(value)) for name, value in values.items()))
        hidden = {"_words": words, "_address": words.ctypes.data, "_numba_type_": kind}
        for name, value in hidden.items():
            object.__setattr__(self, name, value)


def _words(value: Any) -> tuple[int, ...]:
    """What compiled code has to know of a value beyond its type."""
    if isinstance(value, Shared):
        return (value._address,)  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray):
        return (value.ctypes.data, *value.shape, *value.strides)
    return (np.frombuffer(value, np.uint8).ctypes.data,)  # a record


def _looks(value: Any) -> Any:
    """What decides on the type of a value, which takes numba long to find."""
    if isinstance(value, Shared):
        return value._numba_type_  # type: ignore[attr-defined]
    flags = (value.flags.c_contiguous, value.flags.aligned, value.flags.writeable)
    return value.dtype, value.ndim, *flags


class SharedType(types.Type):
    """What numba knows of a `Shared`: the type of each field, and which of its words are the field's. Its name is
    short, for it is part of the name of every function that is given one."""

    def __init__(self, name: str, kinds: tuple[tuple[str, types.Type], ...]) -> None:
        self.places, at = dict[str, tuple[types.Type, int]](), 0
        for field, kind in kinds:
            self.places[field] = (kind, at)
            at += 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        super().__init__(name)


@cache
def _kind(name: str, looks: tuple[tuple[str, Any], ...]) -> SharedType:
    kinds = tuple((field, kind if isinstance(kind, SharedType) else _typed(*kind)) for field, kind in looks)
    return SharedType(f"{name}_{sha256(repr(kinds).encode()).hexdigest()[:12]}", kinds)


def _typed(dtype: np.dtype[Any], ndim: int, contiguous: bool, aligned: bool, writeable: bool) -> types.Type:
    """The type of an array, or of a record, which has no dimension."""
    if ndim == 0:
        return typeof(np.zeros(1, dtype)[0])  # type: ignore[no-untyped-call, no-any-return]
    kind = from_dtype(dtype)
    return types.Array(kind, ndim, "C" if contiguous else "A", readonly=not writeable, aligned=aligned)


@typeof_impl.register(Shared)
def _type_of(value: Any, context: object) -> SharedType:
    return value._numba_type_  # type: ignore[no-any-return]


register_model(SharedType)(models.OpaqueModel)


@unbox(SharedType)  # type: ignore[no-untyped-call, untyped-decorator]
def _place(kind: SharedType, value: Any, c: Any) -> NativeValue:
    """The pointer of a `Shared`."""
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer)  # type: ignore[no-untyped-call]


@infer_getattr
class _Fields(AttributeTemplate):
    key = SharedType

    def generic_resolve(self, kind: SharedType, name: str) -> types.Type | None:  # type: ignore[override]
        """The type of a field."""
        return kind.places[name][0] if name in kind.places else None


@lower_getattr_generic(SharedType)  # type: ignore[no-untyped-call, untyped-decorator]
def _load(context: Any, builder: Any, kind: SharedType, pointer: Any, name: str) -> Any:
    """The value of a field."""
    of, at = kind.places[name]

    def word(i: int, like: Any) -> Any:
        """No store changes it, which the compiler could not know."""
        table = builder.bitcast(pointer, like.as_pointer())
        loaded = builder.load(builder.gep(table, [ir.IntType(64)(at + i)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(of, types.Array):
        return word(0, context.get_value_type(of))
    n = of.ndim
    sizes = [word(1 + i, ir.IntType(64)) for i in range(2 * n)]
    data = word(0, context.get_data_type(of.dtype).as_pointer())
    return array_value(context, builder, of, data, sizes[:n], sizes[n:])
