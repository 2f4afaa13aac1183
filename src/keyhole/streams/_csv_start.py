"""How a file begins, read once: enough to tell what it is, to type its columns and to serve its first rows."""

import re
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from ._csv_faults import FAULTS
from .table import DataError

__all__ = ["BLOCK", "Start", "read_start", "separator", "unpack"]

# Bytes parsed at a time. The first such block also decides which columns are numbers.
BLOCK = 1 << 20
# As many rows are wanted, judged by the longest of the first lines; but no more bytes than that.
_ROWS, _LINES, _MOST = 1100, 20, 1 << 25
# Unpacked so many bytes at a time, and hardly more than so many in all.
_PIECE, _UNPACKED = 1 << 16, 1 << 23
# The endings by which pyarrow knows what is compressed.
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class Start(NamedTuple):
    """How a file begins."""

    data: bytes
    whole: bool
    """Whether that is all of it; else the last row is cut somewhere."""


def read_start(file: BinaryIO) -> Start:
    """A block and a byte more, or, where lines are long, about as much as a thousand of them."""
    data = file.read(BLOCK + 1)
    if len(data) <= BLOCK:
        return Start(data, True)
    line = max(map(len, data.split(b"\n", _LINES)[:_LINES]))
    data += file.read(max(0, min(_MOST, _ROWS * line) - len(data)))
    return Start(data, False)


def unpack(path: str, start: Start) -> Start:
    """The same in plain bytes, as far as it can be; compressed files are told by their names."""
    packed = next((codec for ending, codec in _PACKED.items() if path.endswith(ending)), None)
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


def separator(start: Start) -> str:
    """The mark that the header has most of."""
    header = start.data[: 1 << 16].split(b"\n", 1)[0]
    bare = re.sub(rb'"[^"]*"', b"", header)  # a name in quotes may hold any of them
    return max(",;\t|", key=lambda mark: bare.count(mark.encode()))
