"""Any data frame as a table, through narwhals."""

from collections.abc import Collection, Iterator, Sequence

import narwhals as nw
import pyarrow as pa
from narwhals.typing import IntoDataFrame

from .table import Column, DataError, Table, refuse_duplicates

__all__ = ["FrameTable"]

_NAME, _ROWS = "the data frame", 65_536


class FrameTable(Table):
    """A data frame in memory (pandas, polars, pyarrow, ...); a lazy one is collected."""

    def __init__(self, frame: object) -> None:
        self._frame = _eager(frame)
        kinds = {name: _kind(dtype) for name, dtype in self._frame.schema.items()}
        columns = [Column(name, kind, kind == "text") for name, kind in kinds.items()]
        super().__init__(_NAME, columns, len(self._frame))

    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """The rows from `start` on, in the frame's own types."""
        chosen = self._frame.select(list(names))
        for first in range(start, len(chosen), _ROWS):
            yield from chosen[first : first + _ROWS].to_arrow().to_batches()


def _eager(frame: object) -> nw.DataFrame[IntoDataFrame]:
    """The frame as narwhals sees it, in memory."""
    try:
        found = nw.from_native(frame)  # type: ignore[call-overload]  # anything may come; what is no frame raises
    except nw.exceptions.DuplicateError:
        refuse_duplicates(_NAME, [str(n) for n in getattr(frame, "column_names", getattr(frame, "columns", []))])
        raise
    except TypeError:
        kind = type(frame).__name__
        raise DataError(f"expected a path or a data frame (pandas, polars, pyarrow, ...), not {kind}") from None
    return found.collect() if isinstance(found, nw.LazyFrame) else found


def _kind(dtype: nw.dtypes.DType) -> str:
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "number"
    if dtype.is_temporal():
        return "time"
    return "text" if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else "other"
