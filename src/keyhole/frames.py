"""Frames in, frames out: pandas, polars and pyarrow alike, columns matched by name.

A frame is told by its type's home, so that none of the three is imported before somebody brings one.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._types import Bools, Floats, Ints
from .errors import ConfigError

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["column_names", "is_frame", "is_series", "labels_of", "matrix_of", "to_frame"]

T = TypeVar("T")

_HOMES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


def _from(thing: object, kinds: Sequence[str]) -> bool:
    return any(cls.__module__.split(".")[0] in _HOMES and cls.__name__ in kinds for cls in type(thing).__mro__)


def is_frame(thing: object) -> bool:
    """Whether this is a table with named columns."""
    return _from(thing, ("DataFrame", "Table", "RecordBatch"))


def is_series(thing: object) -> bool:
    """Whether this is one column of such a table."""
    return _from(thing, ("Series", "ChunkedArray", "Array"))


def _narwhals(frame: object) -> "nw.DataFrame[Any]":
    try:
        import narwhals as nw
    except ImportError:  # pragma: no cover - it is a dependency
        raise ConfigError("a frame needs narwhals: pip install narwhals") from None
    if type(frame).__name__ == "RecordBatch":
        import pyarrow as pa

        frame = pa.Table.from_batches([frame])
    wrapped: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    return wrapped


def column_names(frame: object) -> list[str]:
    """The names of the columns; two of one name are a `ConfigError`."""
    home = type(frame).__module__.split(".")[0]
    raw: Iterable[object] = frame.columns if home == "pandas" else _narwhals(frame).columns  # type: ignore[attr-defined]
    names = [str(name) for name in raw]
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ConfigError(f"the frame has two columns '{twice}'; names must be distinct")
    return names


def matrix_of(frame: object, names: Sequence[str], what: str = "X", only: bool = True) -> Floats:
    """The named columns as numbers, (rows, len(names)), in the order of `names`, whatever order the frame has.

    `only`: a column that is not among `names` is a `ConfigError` too; missing entries are NaN.
    """
    there = column_names(frame)
    present, asked = set(there), set(names)
    lacking = [n for n in names if n not in present]
    if lacking:
        raise ConfigError(f"{what} has no column '{lacking[0]}'{_among(lacking[1:])}; it has {_some(there)}")
    extra = [n for n in there if n not in asked] if only else []
    if extra:
        raise ConfigError(f"{what} has a column '{extra[0]}'{_among(extra[1:])} that is no attribute; leave it away")
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
        raise ConfigError(f"column '{name}' of {what} is {kind}, not numbers; encode it first, or leave it away")
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def labels_of(y: T) -> "T | Floats":
    """A column as an array, missing entries NaN; anything else as it is."""
    if not is_series(y):
        return y
    try:
        return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"y must be numbers: {fault}") from None


def to_frame(columns: "Mapping[str, Sequence[object] | Floats | Ints | Bools]") -> object:
    """Named columns as a frame of whichever library is in use already, else of whichever is installed."""
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


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{n}'" for n in names[:5])
    return f"{shown}, ..." if len(names) > 5 else shown or "none"
