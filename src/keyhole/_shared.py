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
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.np.arrayobj import get_itemsize, populate_array

__all__ = ["Shared"]


class Shared:
    """The base of a frozen dataclass of arrays, records and other `Shared`."""

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        words = np.array([word for value in values.values() for word in _words(value)], np.int64)
        kinds = tuple((name, typeof(value)) for name, value in values.items())  # type: ignore[no-untyped-call]
        hidden = {"_words": words, "_address": words.ctypes.data, "_numba_type_": _kind(type(self).__name__, kinds)}
        for name, value in hidden.items():
            object.__setattr__(self, name, value)


def _words(value: Any) -> tuple[int, ...]:
    """What compiled code has to know of a value beyond its type."""
    if isinstance(value, Shared):
        return (value._address,)  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray):
        return (value.ctypes.data, *value.shape, *value.strides)
    return (np.frombuffer(value, np.uint8).ctypes.data,)  # a record


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
def _kind(name: str, kinds: tuple[tuple[str, types.Type], ...]) -> SharedType:
    return SharedType(f"{name}_{sha256(repr(kinds).encode()).hexdigest()[:12]}", kinds)


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
    array, n = context.make_array(of)(context, builder), of.ndim
    sizes = [word(1 + i, ir.IntType(64)) for i in range(2 * n)]
    data, itemsize = word(0, array.data.type), get_itemsize(context, of)  # type: ignore[no-untyped-call]
    populate_array(array, data, sizes[:n], sizes[n:], itemsize, meminfo=None)  # type: ignore[no-untyped-call]
    return array._getvalue()
