"""Short ways from what kernels are made of to LLVM: items of arrays, loops over a range, arithmetic on numbers.

Wherever an item is read numba copies the seven fields of the array to memory and each one back; LLVM undoes that, so
the machine code is the same. But Python has to write it down, print it and have it parsed: with fields read off the
value itself half of the instructions are gone. All else, and everything under a bounds check, goes numba's way.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, imputils, lowering, types
from numba.core import ir as numba_ir
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering
from numba.np import arrayobj

from ._aggregates import DATA, NITEMS, SHAPE, STRIDES, array_value, field, put_together

__all__ = ["Lowering"]

# numba tells no types.
_Theirs: Any = lowering.Lower
_cgutils: Any = cgutils
_arrays: Any = arrayobj
_imputils: Any = imputils
_register: Any = register_pass

_OF_ARRAYS = {"size": NITEMS, "shape": SHAPE}
# What a constant on one side makes no difference to (it does to a power).
_ARITHMETIC = frozenset(
    {*(operator.add, operator.sub, operator.mul, operator.truediv), *(operator.eq, operator.ne)}
    | {operator.lt, operator.le, operator.gt, operator.ge}
)


class _Lower(_Theirs):  # type: ignore[misc]
    """numba's way from a typed function to LLVM, with the short ones."""

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Keep a value; of what was there before no reference is given back where none is counted."""
        if self._counted(name) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """A variable is no longer needed."""
        if self._counted(name):
            super().delvar(name)

    def _counted(self, name: str) -> bool:
        if self.flags.debuginfo:
            return True
        model = self.context.data_model_manager[self.typeof(name)]
        return bool(self.context.enable_nrt and model.contains_nrt_meminfo())

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place for a variable; its size, which LLVM would have to be asked, matters to debuggers only."""
        if self.flags.debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return _cgutils.alloca_once(self.builder, lltype, name=name)

    def lower_expr(self, resty: types.Type, expr: Any) -> Any:
        """The value of an expression."""
        short = _SHORT.get(expr.op)
        found = short(self, resty, expr) if short else None
        return super().lower_expr(resty, expr) if found is None else found

    def _getattr(self, resty: types.Type, expr: Any) -> Any:
        """The size or the shape of an array."""
        if type(self.typeof(expr.value.name)) is types.Array and expr.attr in _OF_ARRAYS:
            return field(self.builder, self.loadvar(expr.value.name), _OF_ARRAYS[expr.attr])
        return None

    def _static_getitem(self, resty: types.Type, expr: Any) -> Any:
        """An item at a place that is known, which is an item of an array like any other."""
        of_array = type(self.typeof(expr.value.name)) is types.Array
        if not of_array or expr.index_var is None or isinstance(expr.index, str):
            return None
        return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])

    def _pair_first(self, resty: types.Type, expr: Any) -> Any:
        if isinstance(resty, types.Number):
            return field(self.builder, self.loadvar(expr.value.name), 0)
        return None

    def _pair_second(self, resty: types.Type, expr: Any) -> Any:
        return field(self.builder, self.loadvar(expr.value.name), 1)

    def _getiter(self, resty: types.Type, expr: Any) -> Any:
        """The start of a loop over range(stop) or range(start, stop): how often, without a division by the step."""
        if not isinstance(resty, types.RangeIteratorType) or not self._by_ones(expr.value):
            return None
        builder, state = self.builder, self.loadvar(expr.value.name)
        start, stop, step = (field(builder, state, i) for i in range(3))
        left = builder.sub(stop, start)
        count = builder.select(builder.icmp_signed(">", left, left.type(0)), left, left.type(0))
        places = [_cgutils.alloca_once_value(builder, value) for value in (start, count)]
        return put_together(builder, self.context.get_value_type(resty), [places[0], stop, step, places[1]])

    def _by_ones(self, variable: numba_ir.Var) -> bool:
        """Whether a range was made without a step."""
        made = self.func_ir._definitions.get(variable.name, ())
        if len(made) != 1 or not isinstance(made[0], numba_ir.Expr) or made[0].op != "call":
            return False
        called = self.typeof(made[0].func.name)
        return getattr(called, "typing_key", None) is range and len(made[0].args) <= 2 and not made[0].vararg

    def _iternext(self, resty: types.Type, expr: Any) -> Any:
        """One more turn of a loop over a range, if there is one."""
        if not isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return None
        builder, state = self.builder, self.loadvar(expr.value.name)
        place, step, counter = (field(builder, state, i) for i in (0, 2, 3))
        count, value = builder.load(counter), builder.load(place)
        more = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(more):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), counter)
            builder.store(builder.add(value, step), place)
        return put_together(builder, self.context.get_value_type(resty), [value, more])

    def lower_binop(self, resty: types.Type, expr: Any, op: Any) -> Any:
        """Numbers are added and compared without asking first whether there is a shorter way for constants."""
        signature = self.fndesc.calltypes[expr]
        if op not in _ARITHMETIC or not all(map(_is_number, signature.args)):
            return super().lower_binop(resty, expr, op)
        does = self.context.get_function(op, signature)
        sides = [self._cast_var(side, kind) for side, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)]
        return self.context.cast(self.builder, does(self.builder, sides), signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An item of an array, or a view of what is left when the first indices are given."""
        kind, kinds = self._indexed(value, index)
        if kinds is None or resty != signature.return_type:
            return super().lower_getitem(resty, expr, value, index, signature)
        builder, context = self.builder, self.context
        array = self.loadvar(value.name)
        place, shape, strides = self._pointer(kind, array, kinds, self.loadvar(index.name))
        if len(kinds) == kind.ndim:
            item = _arrays.load_item(context, builder, kind, place)
        else:
            item = array_value(context, builder, resty, place, shape, strides, array)
        return _imputils.impl_ret_borrowed(context, builder, resty, item)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """A number becomes an item of an array."""
        kind, kinds = self._indexed(target_var, index_var)
        if kinds is None or len(kinds) < kind.ndim or not isinstance(kind.dtype, types.Number | types.Boolean):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array, index = self.loadvar(target_var.name), self.loadvar(index_var.name)
        place, _, _ = self._pointer(kind, array, kinds, index)
        value = self._cast_var(value_var, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], kind.dtype)
        _arrays.store_item(self.context, self.builder, kind, value, place)
        return None

    def _indexed(self, array: Any, index: Any) -> tuple[Any, tuple[types.Type, ...] | None]:
        """The types of an array and of its indices, None unless they are integers."""
        kind, of = self.typeof(array.name), self.typeof(index.name)
        kinds: tuple[types.Type, ...] = tuple(getattr(of, "types", (of,)))
        short = type(kind) is types.Array and not self.context.enable_boundscheck and 0 < len(kinds) <= kind.ndim
        return kind, kinds if short and all(isinstance(one, types.Integer) for one in kinds) else None

    def _pointer(
        self, kind: types.Array, array: Any, kinds: tuple[types.Type, ...], index: Any
    ) -> tuple[Any, list[Any], list[Any]]:
        """Where an item, or a view, begins; and the shape and the strides that are left."""
        builder, n = self.builder, len(kinds)
        shapes, steps = field(builder, array, SHAPE), field(builder, array, STRIDES)
        shape = [field(builder, shapes, i) for i in range(kind.ndim)]
        strides = [field(builder, steps, i) for i in range(kind.ndim)]
        alone = not isinstance(index.type, ir.ArrayType | ir.LiteralStructType)
        given = [index] if alone else [field(builder, index, i) for i in range(n)]
        fixed = [self._from_start(*each) for each in zip(given, kinds, shape, strict=False)]
        data = field(builder, array, DATA)
        place = _cgutils.get_item_pointer2(self.context, builder, data, shape, strides, kind.layout, fixed)
        return place, shape[n:], strides[n:]

    def _from_start(self, index: Any, kind: Any, size: Any) -> Any:
        """An index counted from the start, where a negative one counts from the end."""
        if isinstance(index, ir.Constant) and isinstance(index.constant, int) and index.constant >= 0:
            return self.context.cast(self.builder, index, kind, types.intp)
        return _arrays.fix_integer_index(self.context, self.builder, kind, index, size)


def _is_number(kind: types.Type) -> bool:
    return isinstance(kind, types.Number) and not isinstance(kind, types.Literal)


# By what is to be lowered; each gives None where its way is not the one to take.
_SHORT: dict[str, Callable[[_Lower, types.Type, Any], Any]] = {
    "getattr": _Lower._getattr,
    "static_getitem": _Lower._static_getitem,
    "getiter": _Lower._getiter,
    "iternext": _Lower._iternext,
    "pair_first": _Lower._pair_first,
    "pair_second": _Lower._pair_second,
}


@_register(mutates_CFG=True, analysis_only=False)
class Lowering(BaseNativeLowering):
    """The pass that takes the short ways."""

    _name = "keyhole_lowering"  # type: ignore[assignment]

    @property
    def lowering_class(self) -> type[_Lower]:
        """Who lowers."""
        return _Lower
