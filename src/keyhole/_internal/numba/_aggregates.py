"""Values of many fields in LLVM, put together and taken apart without a copy in memory: arrays, ranges, tuples."""

from functools import reduce
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import datamodel, types
from numba.np import arrayobj

__all__ = ["DATA", "NITEMS", "SHAPE", "STRIDES", "array_value", "field", "put_together"]

_models: Any = datamodel
_FIELDS: tuple[str, ...] = _models.default_manager[types.Array(types.float64, 1, "C")]._fields
MEMINFO, PARENT, NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = map(
    _FIELDS.index, ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
)


def field(builder: Any, value: Any, i: int) -> Any:
    """Field i of a value; itself, where the value was put together here."""
    while isinstance(value, ir.instructions.InsertValue) and value.indices[0] != i:
        value = value.aggregate
    if isinstance(value, ir.instructions.InsertValue) and len(value.indices) == 1:
        return value.value
    return builder.extract_value(value, i)


def put_together(builder: Any, kind: Any, values: list[Any]) -> Any:
    """A value of many fields."""
    whole = kind(ir.Undefined)
    for i, value in enumerate(values):
        whole = builder.insert_value(whole, value, i)
    return whole


def array_value(
    context: Any, builder: Any, kind: types.Array, data: Any, shape: list[Any], strides: list[Any], owner: Any = None
) -> Any:
    """An array, which belongs to whom `owner` does."""
    whole = context.get_value_type(kind)
    sizes = whole.elements[SHAPE]
    values: list[Any] = [None] * len(_FIELDS)
    for i in (MEMINFO, PARENT):
        values[i] = whole.elements[i](None) if owner is None else field(builder, owner, i)
    itemsize = whole.elements[ITEMSIZE]
    values[ITEMSIZE] = itemsize(_itemsize(context, kind)) if owner is None else field(builder, owner, ITEMSIZE)
    values[NITEMS] = reduce(lambda a, b: builder.mul(a, b, flags=["nsw"]), shape)
    values[DATA] = data
    values[SHAPE] = put_together(builder, sizes, shape)
    values[STRIDES] = put_together(builder, sizes, strides)
    return put_together(builder, whole, values)


_of_arrays: Any = arrayobj
_itemsizes: dict[types.Type, int] = {}


def _itemsize(context: Any, kind: types.Array) -> int:
    """The size of an item: LLVM is asked once for each type."""
    if kind.dtype not in _itemsizes:
        _itemsizes[kind.dtype] = _of_arrays.get_itemsize(context, kind)
    return _itemsizes[kind.dtype]
