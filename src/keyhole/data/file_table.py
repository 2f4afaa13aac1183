"""CSV and Parquet files and data frames as tables, streamed by pyarrow."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator, Sequence
from os import PathLike
from pathlib import Path

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from narwhals.typing import IntoDataFrame

from .cell_encoding import kind
from .csv_table import CsvTable, check_expansion, check_width, read_start
from .table import Column, DataError, Table, refuse_duplicates

__all__ = ["FrameTable", "ParquetTable", "open_file"]

_PARQUET, _ZIP = b"PAR1", b"PK"
# Rows decoded at a time; with the usual pages of 1 MB this bounds memory at about 1-2 MB per column read.
_ROWS = 4096


def open_file(path: "str | PathLike[str]", encoding: str = "") -> Table:
    """Open a CSV or Parquet file, distinguished by its first bytes, as a table; `encoding` applies to CSV."""
    try:
        with open(path, "rb") as file:
            start = read_start(file)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the name and the folder") from None
    except (OSError, ValueError) as fault:  # a name that contains a null character is a ValueError
        why = getattr(fault, "strerror", None) or fault
        raise DataError(f"{path} cannot be read ({why}); give a CSV or Parquet file") from None
    head = start.data[:4096]
    if head.startswith(_PARQUET):
        return ParquetTable(path)
    if head.startswith(_ZIP):
        raise DataError(f"{path} is a zip archive or a spreadsheet; unpack it, or save it as CSV or Parquet")
    if not head:
        raise DataError(f"{path} is empty; it needs a header and at least one row")
    if head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) and not encoding:
        raise DataError(f"{path} is text in UTF-16; say so (--encoding utf-16), or save it as UTF-8")
    binary = b"\0" in head and not str(path).endswith(".gz") and not encoding
    if binary or Path(path).suffix in (".parquet", ".pq"):
        raise DataError(f"{path} is neither Parquet nor CSV; save it as one of the two")
    return CsvTable(path, encoding, start)


class ParquetTable(Table):
    """A Parquet file; only the required row groups and columns are decoded, a few pages at a time."""

    def __init__(self, path: "str | PathLike[str]") -> None:
        self._path = path
        try:
            with self._open() as file:
                check_width(str(path), file.metadata.num_columns)
                fields, rows = list(file.schema_arrow), int(file.metadata.num_rows)
                self._check_expansion(8 * rows * file.metadata.num_columns)
                self._groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        except (pa.ArrowException, OSError) as fault:
            raise DataError(f"{path} cannot be read as Parquet: {_first_line(fault)}") from None
        values = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in fields}
        self._texts = {f.name: f.type for f in fields if kind(values[f.name]) == "text"}
        super().__init__(str(path), [Column(f.name, kind(f.type), kind(f.type) == "text") for f in fields], rows)

    def _open(self, texts: Collection[str] = ()) -> pq.ParquetFile:
        """Open the file; these columns are read as indices into their distinct values."""
        # A small buffer without read-ahead: otherwise a whole row group (often the whole file) is held in memory.
        return pq.ParquetFile(self._path, buffer_size=1 << 16, pre_buffer=False, read_dictionary=list(texts))

    def _check_expansion(self, unpacked: int) -> None:
        check_expansion(str(self._path), unpacked, Path(self._path).stat().st_size, "choose some rows or columns")

    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the rows, beginning with row `start`, in the types of the file."""
        group = 0
        while group < len(self._groups) and start >= self._groups[group]:
            start -= self._groups[group]
            group += 1
        groups = list(range(group, len(self._groups)))
        if not groups:  # pyarrow 18 fails on an empty list
            return
        texts, unpacked = [name for name in names if name in self._texts], 0
        try:
            with self._open(texts) as file:
                for rows in file.iter_batches(_ROWS, row_groups=groups, columns=list(names), use_threads=False):
                    for name in texts:  # a long text that all rows share takes little room until it is written out
                        unpacked += _bytes_of_text(rows[name])
                        self._check_expansion(unpacked)
                        if not pa.types.is_dictionary(self._texts[name]):
                            plain = rows[name].dictionary_decode().cast(self._texts[name])
                            rows = rows.set_column(names.index(name), name, plain)
                    yield rows.slice(start)
                    start = max(0, start - rows.num_rows)
        except (pa.ArrowException, OSError) as fault:
            raise DataError(f"{self.name} cannot be read as Parquet: {_first_line(fault)}") from None


def _bytes_of_text(column: pa.DictionaryArray) -> int:
    """Return the size of the texts of all rows, without writing them out."""
    return int(pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0)


def _first_line(fault: Exception) -> str:
    return str(fault).splitlines()[0]


_NAME, _FRAME_ROWS = "the data frame", 65_536


class FrameTable(Table):
    """A data frame in memory (pandas, polars, pyarrow, ...); a lazy frame is collected."""

    def __init__(self, frame: object) -> None:
        self._frame = _eager(frame)
        kinds = {name: _kind(dtype) for name, dtype in self._frame.schema.items()}
        columns = [Column(name, kind, kind == "text") for name, kind in kinds.items()]
        super().__init__(_NAME, columns, len(self._frame))

    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the rows, beginning with row `start`, in the types of the frame."""
        chosen = self._frame.select(list(names))
        for first in range(start, len(chosen), _FRAME_ROWS):
            yield from chosen[first : first + _FRAME_ROWS].to_arrow().to_batches()


def _eager(frame: object) -> nw.DataFrame[IntoDataFrame]:
    """Return the frame as an eager narwhals frame."""
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
