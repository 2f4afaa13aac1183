"""Conversion from and to data frames of pandas, polars and pyarrow, with columns matched by name.

A frame is recognised by the module of its type, so that none of the three libraries is imported before it is used.
"""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ..errors import ConfigError
from .escaping import printable
from .formatting import join_names, repeated, short
from .typing import Bools, Floats, Ints

if TYPE_CHECKING:
    import narwhals as nw
    import narwhals.typing

__all__ = ["Names", "Records", "column_names", "is_frame", "is_series", "labels_of", "matrix_of", "row_of", "to_frame"]

Names: TypeAlias = "Sequence[str] | nw.typing.IntoDataFrame"
"""Names of attributes: a list of names, the columns of a frame, or the frame itself."""

T = TypeVar("T")
R = TypeVar("R", covariant=True)

_HOMES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


def _home(thing: object) -> str:
    return type(thing).__module__.split(".")[0]


def _from(thing: object, kinds: Sequence[str]) -> bool:
    return any(cls.__module__.split(".")[0] in _HOMES and cls.__name__ in kinds for cls in type(thing).__mro__)


def is_frame(thing: object) -> bool:
    """Whether this is a data frame: a table with named columns."""
    return _from(thing, ("DataFrame", "LazyFrame", "Table", "RecordBatch"))


def is_series(thing: object) -> bool:
    """Whether this is a series: one column of a data frame."""
    return _from(thing, ("Series", "ChunkedArray", "Array", "ExtensionArray"))


def _narwhals(frame: object) -> "nw.DataFrame[Any]":
    try:
        import narwhals as nw
    except ImportError:  # pragma: no cover - it is a dependency
        raise ConfigError("a frame needs narwhals: pip install narwhals") from None
    if type(frame).__name__ == "RecordBatch":
        import pyarrow as pa

        frame = pa.Table.from_batches([frame])
    elif type(frame).__name__ == "LazyFrame":
        frame = frame.collect()  # type: ignore[attr-defined]
    elif _home(frame) == "pandas":
        frame = frame.set_axis(column_names(frame), axis=1)  # type: ignore[attr-defined]  # 0, 1, ... become text
    wrapped: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    return wrapped


def column_names(frame: object) -> list[str]:
    """Return the names of the columns; raise `ConfigError` if two are equal."""
    raw: Iterable[object] = frame.columns if _home(frame) == "pandas" else _narwhals(frame).columns  # type: ignore[attr-defined]
    names = [str(name) for name in raw]
    if (twice := repeated(names)) is not None:
        raise ConfigError(f"the frame has two columns '{twice}'; names must be distinct")
    return names


def matrix_of(frame: object, names: Sequence[str], what: str = "X", only: bool = True) -> Floats:
    """Return the named columns as numbers, (rows, len(names)), in the order of `names`; missing entries are NaN.

    Raises `ConfigError` if a column is missing and, with `only`, if the frame has a column that is not in `names`.
    """
    there = column_names(frame)
    present, asked = set(there), set(names)
    lacking = [n for n in names if n not in present]
    if lacking:
        has = join_names(there, quoted=True) or "none"
        raise ConfigError(f"{what} has no column '{lacking[0]}'{_among(lacking[1:])}; it has {has}")
    extra = [n for n in there if n not in asked] if only else []
    if extra:
        raise ConfigError(f"{what} has a column '{extra[0]}'{_among(extra[1:])} that is not an attribute; omit it")
    table = _narwhals(frame)
    out = np.empty((len(table), len(names)))
    for i, name in enumerate(names):
        out[:, i] = _numbers(table, name, what)
    return out


def _numbers(table: "nw.DataFrame[Any]", name: str, what: str) -> Floats:
    import narwhals as nw

    column = table.get_column(name)
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        kind = str(column.dtype).lower()
        raise ConfigError(f"column '{name}' of {what} is {kind}, not numbers; encode it first, or omit it")
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def row_of(thing: object) -> dict[str, float] | None:
    """Return a row as a mapping from names: a frame with one row, or a pandas series indexed by names; otherwise None.

    A series with the default index 0, 1, ... of pandas has no names: its values are in the order of the request.
    """
    if is_frame(thing):
        names = column_names(thing)
        rows = matrix_of(thing, names, "the row")
        if len(rows) != 1:
            raise ConfigError(f"expected one row, not a frame of {len(rows)}; learner.predict_rows takes many")
        return dict(zip(names, rows[0].tolist(), strict=True))
    index = getattr(thing, "index", None)
    if not is_series(thing) or index is None or type(index).__name__ == "RangeIndex":
        return None
    return dict(zip(map(str, index), thing, strict=True))  # type: ignore[call-overload]


def labels_of(y: T) -> "T | Floats":
    """Convert a series or a frame with one column to an array, NaN for missing entries; return others unchanged."""
    if is_frame(y):
        names = column_names(y)
        if len(names) != 1:
            raise ConfigError(f"y must be one column, not a frame of {len(names)}: {join_names(names, quoted=True)}")
        return matrix_of(y, names, "y")[:, 0]
    if not is_series(y):
        return y
    try:
        return _column(y)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"y must be numbers: {fault}") from None


def _column(column: object) -> Floats:
    """Return the entries of a series, or of an array of one of the libraries, with NaN for missing ones."""
    if _from(column, ("Array",)):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)  # type: ignore[attr-defined]
    if _from(column, ("ExtensionArray",)):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))  # type: ignore[attr-defined]
    import narwhals as nw

    series: nw.Series[Any] = nw.from_native(column, series_only=True)
    if series.dtype == nw.String:  # as in a column of X, the text "1.5" is not a number
        raise TypeError("they are text; convert them to numbers first")
    numeric = series.dtype.is_numeric() or series.dtype == nw.Boolean
    return np.asarray((series.cast(nw.Float64) if numeric else series).to_numpy(), dtype=np.float64)


class Records(tuple[R, ...]):
    """A tuple of records of one type, which notebooks show as a table."""

    def to_frame(self) -> object:
        """Convert to a data frame with one row per record and one column per field."""
        if not self:
            raise ConfigError("there are no records to make a data frame from")
        names = [field.name for field in fields(self[0])]  # type: ignore[arg-type]
        return to_frame({name: [_cell(getattr(record, name)) for record in self] for name in names})

    def __repr__(self) -> str:
        """A table for a terminal; a field with several parts, or without a finite value, has no column."""
        if not self:
            return "no records"
        names = [field.name for field in fields(self[0])]  # type: ignore[arg-type]
        columns = {name: [getattr(record, name) for record in self] for name in names}
        columns = {name: values for name, values in columns.items() if any(map(_fits_a_cell, values))}
        texts = [[name, *(_plain(v) for v in values)] for name, values in columns.items()]
        wide = [max(map(len, column)) for column in texts]
        left = [isinstance(values[0], str) for values in columns.values()]
        rows = zip(*texts, strict=True)
        lines = [
            "  ".join(c.ljust(w) if at else c.rjust(w) for c, w, at in zip(r, wide, left, strict=True)) for r in rows
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        names = [field.name for field in fields(self[0])] if self else []  # type: ignore[arg-type]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(f'<td>{_shown(getattr(r, name))}</td>' for name in names)}</tr>" for r in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> object:
    """Convert a field to a cell of a frame: fields with several parts become lists."""
    return list(value) if isinstance(value, tuple) else value


def _fits_a_cell(value: object) -> bool:
    return math.isfinite(value) if isinstance(value, float) else not isinstance(value, tuple)


def _plain(value: object) -> str:
    """A value in a cell of a terminal's table."""
    if isinstance(value, float):
        return short(value) if math.isfinite(value) else "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else printable(str(value))


def _shown(value: object) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return escape(", ".join(short(v) if isinstance(v, float) else str(v) for v in parts))


def to_frame(columns: "Mapping[str, Sequence[object] | Floats | Ints | Bools]") -> object:
    """Build a data frame from named columns, with a library that is already imported or else with an installed one."""
    for library in (*(m for m in ("pandas", "polars", "pyarrow") if m in sys.modules), "pandas", "polars", "pyarrow"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        make = module.table if library == "pyarrow" else module.DataFrame
        made: object = make({name: list(v) if isinstance(v, tuple) else v for name, v in columns.items()})
        return made
    raise ConfigError("a frame needs pandas, polars or pyarrow; pip install pandas")


def _among(more: Sequence[str]) -> str:
    return f" (and {len(more)} more)" if more else ""
