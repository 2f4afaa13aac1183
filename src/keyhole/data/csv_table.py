"""CSV files as tables: types are inferred from the first block, rows are streamed, a second pass locates faults."""

import codecs
import os
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from hashlib import sha256
from io import RawIOBase
from os import PathLike
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from .cell_encoding import hint, kind, quietly
from .table import Column, DataError, Table

__all__ = [
    "BLOCK",
    "FAULTS",
    "LARGE_FILES",
    "MAX_COLUMNS",
    "MAX_EXPANSION",
    "CsvTable",
    "Start",
    "check_width",
    "is_number",
    "noting",
    "read_start",
    "search",
    "separator",
    "unpack",
]


# Bytes parsed at a time. The first such block also decides which columns are numbers.
BLOCK = 1 << 20
# The number of rows wanted in the first look, estimated from the longest of the first lines; the limit in bytes.
_ROWS, _LINES, _MOST = 1100, 20, 1 << 25
# Bytes decompressed at a time, and the approximate limit of decompressed bytes in the first look.
_PIECE, _UNPACKED = 1 << 16, 1 << 23
# The file name endings by which pyarrow recognises compression.
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
# Limits against files that are made to exhaust memory or time; `keyhole --large-files` lifts them.
MAX_COLUMNS = 100_000
MAX_EXPANSION = 100  # times the size of the compressed file
_EXPANSION_FROM = 1 << 27  # bytes; smaller tables may be compressed by any factor
LARGE_FILES = "KEYHOLE_LARGE_FILES"
"""The environment variable that lifts the limits, also in the processes that a command starts."""


class Start(NamedTuple):
    """The first bytes of a file, from which its format is inferred."""

    data: bytes
    whole: bool
    """Whether these are all the bytes; otherwise the last row may be cut."""


def read_start(file: BinaryIO) -> Start:
    """Read one block and one byte, or, if lines are long, about a thousand lines."""
    data = file.read(BLOCK + 1)
    if len(data) <= BLOCK:
        return Start(data, True)
    line = max(map(len, data.split(b"\n", _LINES)[:_LINES]))
    data += file.read(max(0, min(_MOST, _ROWS * line) - len(data)))
    return Start(data, False)


def unpack(path: str, start: Start) -> Start:
    """Decompress the start of a file as far as possible; compressed files are recognised by their names."""
    packed = _codec(path)
    if packed is None:
        return start
    plain, whole = b"", start.whole
    try:
        with pa.input_stream(pa.BufferReader(start.data), compression=packed) as stream:
            while piece := stream.read(_PIECE):
                plain += piece
                if len(plain) > _UNPACKED:
                    return Start(plain, False)
    except FAULTS as fault:
        if not plain:
            raise DataError(
                f"{path} cannot be read; it may be cut short or damaged ({str(fault).splitlines()[0]})"
            ) from None
        whole = False
    return Start(plain, whole)


def _codec(path: str) -> str | None:
    return next((codec for ending, codec in _PACKED.items() if path.endswith(ending)), None)


class _BoundedStream(RawIOBase):
    """A stream that decompresses a file to at most `MAX_EXPANSION` times its size."""

    def __init__(self, path: str, codec: str) -> None:
        self._path, self._stream = path, pa.input_stream(path, compression=codec)
        self._size, self._unpacked = Path(path).stat().st_size, 0

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data: bytes = self._stream.read(size if size >= 0 else None)
        self._unpacked += len(data)
        check_expansion(self._path, self._unpacked, self._size, "unpack it yourself")
        return data

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def check_expansion(name: str, unpacked: int, size: int, advice: str) -> None:
    """Refuse a file of this size that unpacks to more than `MAX_EXPANSION` times as many bytes."""
    if unpacked > max(_EXPANSION_FROM, MAX_EXPANSION * size) and not os.environ.get(LARGE_FILES):
        raise DataError(
            f"{name} unpacks to more than {MAX_EXPANSION} times its size; {advice}, "
            "or lift the limit: keyhole --large-files ..."
        )


def check_width(name: str, columns: int) -> None:
    """Refuse a table with more than `MAX_COLUMNS` columns."""
    if columns > MAX_COLUMNS and not os.environ.get(LARGE_FILES):
        raise DataError(
            f"{name} has {columns} columns, more than {MAX_COLUMNS}; choose some of them, "
            "or lift the limit: keyhole --large-files ..."
        )


def separator(start: Start) -> str:
    """Return the candidate separator that occurs most often in the header."""
    header = start.data[: 1 << 16].split(b"\n", 1)[0]
    bare = re.sub(rb'"[^"]*"', b"", header)  # a quoted name may contain separators
    return max(",;\t|", key=lambda mark: bare.count(mark.encode()))


def _check_quotes(name: str, start: Start, delimiter: str) -> None:
    """Refuse a file that ends within a quoted cell, which would swallow all rows from there on.

    Only files that are held whole are checked; in others the faults that follow are reported. As in pyarrow, only a
    quote that begins a cell opens one.
    """
    if not start.whole:
        return
    cell = rb"(?:\A(?:\xef\xbb\xbf)?|(?<=[" + re.escape(delimiter.encode()) + rb'\r\n]))"(?:[^"]++|"")*+("?)'
    opened = next((found.start() for found in re.finditer(cell, start.data) if not found[1]), None)
    if opened is not None:
        line = len((start.data[:opened] + b'"').splitlines())
        raise DataError(f"{name}: line {line} opens a quote that is never closed; close the quote, or remove it")


# The exceptions that reading a damaged or missing file may raise.
FAULTS = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)
_BOOLEANS = ("1", "0", "True", "False", "TRUE", "FALSE", "true", "false")


def noting(delimiter: str, invalid: "list[csv.InvalidRow]") -> csv.ParseOptions:
    """Return parse options that skip rows with too few or too many cells and append them to `invalid`."""

    def note(row: csv.InvalidRow) -> str:
        invalid.append(row)
        return "skip"

    handler: Callable[[csv.InvalidRow], str] = note
    return csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handler)


def search(
    reader: csv.CSVStreamingReader, file: str, types: Mapping[str, pa.DataType], invalid: "list[csv.InvalidRow]"
) -> None:
    """Raise a `DataError` for the first row with the wrong number of cells, or with a cell that is not of its type.

    `reader` returns every cell as text, and appends the rows that it skips to `invalid`.
    """
    first = 1
    for rows in reader:
        faults = [(first + i, name) for name in types for i in _wrong(rows.column(name), types[name])]
        if invalid and (not faults or invalid[0].number - 1 <= min(faults)[0]):
            break
        if faults:
            row, name = min(faults)
            value = rows.column(name)[row - first].as_py()
            raise DataError(
                f"{file}: row {row} (without the header), column '{name}': '{value}' is not a number; {_fix(value)}",
                row,
                name,
            )
        first += rows.num_rows
    if invalid:
        row = invalid[0].number - 1  # the header is row 1
        cells = f"{invalid[0].actual_columns} cells where the header has {invalid[0].expected_columns}"
        raise DataError(f"{file}: row {row} (without the header) has {cells}; correct that row", row)


def is_number(text: str) -> bool:
    """Return whether pyarrow reads the text as a number: like Python, except for 1_000 and non-ASCII digits."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _wrong(texts: pa.StringArray, dtype: pa.DataType) -> list[int]:
    """Return the position of the first cell that cannot be read as the type, as a list of at most one."""
    if pa.types.is_boolean(dtype):
        wrong = pc.invert(pc.is_in(texts, pa.array(_BOOLEANS), skip_nulls=False))
        wrong = pc.and_(wrong, texts.is_valid())
        return [pc.index(wrong, True).as_py()] if pc.any(wrong).as_py() else []
    try:
        pc.cast(pc.utf8_trim_whitespace(texts), pa.float64())
    except pa.ArrowInvalid:
        return [next(i for i, text in enumerate(texts.to_pylist()) if text is not None and not is_number(text))]
    return []


def _fix(value: str) -> str:
    form = hint(value)
    if form:
        return f'declare numbers = "{form}" for it in the schema if that is how its numbers are written'
    return "correct it, or leave the cell empty if the value is missing"


# The maximum length of a row in bytes.
_LONGEST = 1 << 29
# How many values of a column that is not all numbers are examined to tell text from numbers with misprints.
_LOOK = 2000
# Bytes per cell and the largest block for wide tables, so that a block holds some dozens of rows.
_CELL, _WIDEST = 400, 1 << 25


class _Look(NamedTuple):
    """The result of examining the first block of a file."""

    parse: csv.ParseOptions
    types: dict[str, pa.DataType]
    columns: list[Column]
    block: int


# The result of the last look, by path, encoding and content.
_LOOKS: dict[tuple[str, str, int, tuple[int, int, str]], _Look] = {}


class CsvTable(Table):
    """A CSV file with a header; the separator is the comma, semicolon, tab or bar that is most frequent in the header.

    Empty cells and the usual spellings of a missing value (NA, NaN, null, ...) are missing. A column is text if more
    than half of the values in the first block are not numbers; in a column of numbers, other values are faults. The
    start of the file is kept in memory: the file is opened once to be examined and once to be played.
    """

    def __init__(self, path: "str | PathLike[str]", encoding: str, start: Start) -> None:
        """`start` holds the first bytes of the file: a megabyte, or the whole file."""
        self._path, self._name, self._encoding = str(path), str(path), _known_encoding(encoding)
        self._block = BLOCK
        key = (str(Path(path).resolve()), self._encoding, self._block, _stamp(self._path, start.data))
        self._start = unpack(self._path, start)
        look = _LOOKS.get(key) or self._look()
        self._parse, self._types, self._block = look.parse, look.types, look.block
        super().__init__(self._name, look.columns, None)
        _LOOKS.clear()
        _LOOKS[key] = look  # a command opens its file repeatedly, and a look at many columns takes seconds

    def _look(self) -> "_Look":
        # A quoted cell may contain a line break; supporting that costs no speed.
        delimiter = separator(self._start)
        _check_quotes(self._name, self._start, delimiter)
        check_width(self._name, self._start.data.partition(b"\n")[0].count(delimiter.encode()) + 1)
        self._parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        rows = _with_readable_names(self._first_look(), self._name)
        types = {field.name: _reading(field.type) for field in rows.schema}
        columns = [Column(f.name, _kind(rows, j), kind(f.type) == "text") for j, f in enumerate(rows.schema)]
        block = max(self._block, min(_WIDEST, _CELL * len(columns)))
        return _Look(self._parse, types, columns, block)

    def _first_look(self) -> pa.RecordBatch:
        """Return the first block with the types that pyarrow infers."""
        convert = csv.ConvertOptions(strings_can_be_null=True)
        if held := next(self._held(convert), None):
            return held
        try:
            with self._reader(convert) as reader:
                return reader.read_next_batch()
        except StopIteration:
            raise DataError(f"{self._name} has a header but no rows; it needs at least one") from None
        except FAULTS as fault:
            if self._widens(fault):
                return self._first_look()
            if "Empty CSV" in str(fault):  # a header without a line end
                raise DataError(f"{self._name} has a header but no rows; it needs at least one") from None
            self._explain(fault, [])

    def _reader(
        self,
        convert: csv.ConvertOptions,
        parse: csv.ParseOptions | None = None,
        threads: bool = True,
        held: bool = False,
    ) -> csv.CSVStreamingReader:
        """Open a reader at the first row; if `held`, it reads only the bytes that are held in memory."""
        source = pa.BufferReader(_arrow_memory(self._start.data)) if held else self._source()
        read = csv.ReadOptions(block_size=self._block, use_threads=threads, encoding=self._encoding)
        return csv.open_csv(source, read, parse or self._parse, convert)

    def _source(self) -> "str | _BoundedStream":
        codec = _codec(self._path)
        return self._path if codec is None else _BoundedStream(self._path, codec)

    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the rows, beginning with row `start`; the columns in `cells` are returned as text."""
        types = {name: pa.string() if name in cells else self._types[name] for name in names}
        convert = csv.ConvertOptions(column_types=types, include_columns=list(names), strings_can_be_null=True)
        if start == 0:
            start = yield from self._held(convert)
        while start >= 0:
            try:
                with self._reader(convert) as reader:
                    skip = start
                    for rows in reader:
                        start += max(0, rows.num_rows - skip)  # where to restart after a failed read
                        yield rows.slice(skip)
                        skip = max(0, skip - rows.num_rows)
                return
            except FAULTS as fault:
                if not self._widens(fault):
                    self._explain(fault, [name for name in names if name not in cells])

    def _held(self, convert: csv.ConvertOptions) -> Generator[pa.RecordBatch, None, int]:
        """Yield the complete rows held in memory; return the row at which to continue in the file, or -1 at its end."""
        given, last, complete = 0, None, self._start.whole
        try:
            with self._reader(convert, held=True) as reader:
                for rows in reader:
                    if last is not None:
                        given += last.num_rows
                        yield last
                    last = rows
        except FAULTS:  # in a cut row or in a faulty one: reading the file itself will tell which
            complete = False
        else:
            last = last if complete else None
        if last is not None:
            given += last.num_rows
            yield last
        return -1 if complete else given

    def _widens(self, fault: Exception) -> bool:
        """Enlarge the blocks if reading failed at a row or header longer than a block; return whether it did."""
        shorter = not self._start.whole or self._block < len(self._start.data)
        long = "straddling" in str(fault) or ("Empty CSV" in str(fault) and shorter)
        if not long or self._block >= _LONGEST:
            return False
        self._block *= 8
        return True

    def _explain(self, fault: Exception, names: Sequence[str]) -> NoReturn:
        """Read everything again as text, which is slow, and raise the error that locates the first fault."""
        invalid: list[csv.InvalidRow] = []
        convert = csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            include_columns=list(names),
            strings_can_be_null=True,
            check_utf8=False,
        )
        try:
            with quietly(), self._reader(convert, noting(self._parse.delimiter, invalid), threads=False) as reader:
                search(reader, self._name, {name: self._types[name] for name in names}, invalid)
        except FAULTS:
            pass  # if it cannot be read as text either, report pyarrow's own message
        why = str(fault).splitlines()[0]
        if "UTF8" in why:
            why = "its text is not UTF-8; save it as UTF-8, or say how it is encoded (such as latin-1)"
        raise DataError(f"{self._name} cannot be read as CSV: {why}") from None


def _arrow_memory(data: bytes) -> pa.Buffer:
    """Copy bytes into memory of Arrow.

    A thread of Arrow may release its input after the reader is closed. To release memory of Python it needs the GIL,
    and taking that while Python exits ends the process: "terminate called without an active exception".
    """
    stream = pa.BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def _with_readable_names(head: pa.RecordBatch, file: str) -> pa.RecordBatch:
    """Return the batch unchanged; raise a `DataError` if the header is not UTF-8."""
    try:
        head.schema.names  # noqa: B018 (decodes them)
        return head
    except UnicodeDecodeError:
        raise DataError(
            f"{file}: the names in its header are not UTF-8; save it as UTF-8, or give its encoding"
        ) from None


def _known_encoding(name: str) -> str:
    try:
        return codecs.lookup(name or "utf8").name
    except LookupError:
        raise DataError(f"there is no encoding '{name}'; there are utf-8, latin-1, cp1252, utf-16, ...") from None


def _stamp(path: str, head: bytes) -> tuple[int, int, str]:
    """Return size, date and a digest of the first bytes, so that a changed file is examined again."""
    stat = Path(path).stat()
    return stat.st_size, stat.st_mtime_ns, sha256(head).hexdigest()


def _reading(dtype: pa.DataType) -> pa.DataType:
    """Return the type to read a column as: boolean if it is one, otherwise float64."""
    return dtype if pa.types.is_boolean(dtype) else pa.float64()


def _kind(head: pa.RecordBatch, j: int) -> str:
    found = kind(head.schema.field(j).type)
    if found != "text":
        return found
    texts = head.column(j).drop_null()[:_LOOK].to_pylist()
    return "number" if 2 * sum(map(is_number, texts)) >= len(texts) else "text"
