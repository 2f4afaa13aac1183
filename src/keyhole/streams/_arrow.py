"""Arrow columns as numbers."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from .._types import Floats

__all__ = ["kind", "matrix"]


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


def matrix(rows: "pa.RecordBatch | pa.Table", names: Sequence[str]) -> Floats:
    """The named columns as an array (n, len(names)), NaN where missing."""
    out = np.empty((rows.num_rows, len(names)))
    for j, name in enumerate(names):
        column = rows.column(name)
        if not is_.is_float64(column.type):
            column = column.cast(pa.float64(), safe=False)
        out[:, j] = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    return out
