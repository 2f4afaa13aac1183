"""Arrow columns as numbers."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from .._internal.typing import Floats

__all__ = ["kind", "matrix", "quietly", "regroup"]


def kind(dtype: pa.DataType) -> str:
    """What `Column.kind` calls an Arrow type; a column of nothing but nulls counts as numbers, all missing."""
    if is_.is_integer(dtype) or is_.is_floating(dtype) or is_.is_decimal(dtype) or is_.is_boolean(dtype):
        return "number"
    if is_.is_null(dtype):
        return "number"
    if is_.is_dictionary(dtype):
        return "text"
    if is_.is_temporal(dtype):
        return "time"
    return "text" if is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype) else "other"


def regroup(chunks: Iterator[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    """The same rows in pieces that have exactly `size` together (the last ones may have fewer); nothing is copied."""
    held: list[pa.RecordBatch] = []
    count = 0
    for chunk in chunks:
        while chunk.num_rows:
            held.append(chunk.slice(0, size - count))
            chunk = chunk.slice(held[-1].num_rows)
            count += held[-1].num_rows
            if count == size:
                yield held
                held, count = [], 0
    if held:
        yield held


def matrix(pieces: Sequence[pa.RecordBatch], names: Sequence[str]) -> Floats:
    """The named columns of at least one row as an array (n, len(names)), NaN where missing."""
    dense = [_dense(rows, names) for rows in pieces]
    return dense[0] if len(dense) == 1 else np.concatenate(dense)


def _dense(rows: pa.RecordBatch, names: Sequence[str]) -> Floats:
    if not names:
        return np.empty((rows.num_rows, 0))
    # By place: looking a column up by its name takes a time that grows with their number.
    place = {name: i for i, name in enumerate(rows.schema.names)}
    arrays = [_numbers(rows.column(place[name])) for name in names]
    numbers = pa.RecordBatch.from_arrays(arrays, names=list(names))
    # One call without Python in it: meanwhile another thread can play.
    dense: Floats = numbers.to_tensor(null_to_nan=True, row_major=True).to_numpy()
    return dense


def _numbers(column: pa.Array) -> pa.Array:
    return column if is_.is_float64(column.type) else column.cast(pa.float64(), safe=False)


@contextmanager
def quietly() -> Iterator[None]:
    """pyarrow prints a traceback where a row that it hands over is not UTF-8; nobody can catch it."""
    sys.unraisablehook, hook = lambda _: None, sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook
