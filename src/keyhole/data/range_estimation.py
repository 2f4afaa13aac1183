"""What the first rows of a table tell before anything is bought: ranges for learners that need them, and a label
that never changes."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from .._internal.typing import Floats
from .columns import Range
from .schema import Schema
from .table import Batch, DataError, Table

__all__ = ["first_rows", "learn_ranges"]

FIRST = 1000
_R = TypeVar("_R", bound=Range)


def first_rows(table: Table, schema: Schema) -> Batch:
    """The first 1000 rows, raw; a label that is the same in every row of the table is a `DataError`.

    More rows are read only while all labels are the same.
    """
    first: Batch | None = None
    labels: set[float] = set()
    count = 0
    for batch in table.batches(schema.names, schema.target, size=FIRST):
        first = first or batch
        known = batch.y[~np.isnan(batch.y)]
        labels.update(np.unique(known).tolist())
        count += known.size
        if len(labels) > 1 or not count:
            return first
    if first is None:
        raise DataError(f"{table.name} has a header but no rows; it needs at least one")
    if count > 1:
        only = f"'{schema.target}' is {labels.pop():g} in all {count} rows that have it"
        raise DataError(f"{table.name}: the target {only}: there is nothing to predict; choose another target")
    return first


def learn_ranges(schema: Schema, first: Batch) -> tuple[Schema, list[str]]:
    """The schema with a range for every column without one, twice as wide as in the first rows; and a sentence on that.

    Where nothing has a range and all those values lie in [-1, 1] the table is taken to be scaled already.
    """
    if not schema.unbounded:
        return schema, []
    columns = np.column_stack([first.X, first.y])
    seen = dict(zip((*schema.names, schema.target), columns.T, strict=True))
    scaled = not (np.abs(columns[np.isfinite(columns)]) > 1.0).any()
    if scaled and len(schema.unbounded) == len(seen):
        ends = dict.fromkeys(seen, (-1.0, 1.0, 0.0))
    else:
        ends = {name: _range(seen[name]) for name in schema.unbounded}

    def bounded(column: _R) -> _R:
        if column.name not in ends or column.bounded:
            return column
        low, high, center = ends[column.name]
        return replace(column, low=low, high=high, center=center, estimated=True)

    attributes = tuple(bounded(a) if a.type in ("number", "date") else a for a in schema.attributes)
    text = (
        f"some algorithms need to know ranges, which were not given: those of {len(ends)} columns are twice as wide as "
        f"in the first {len(first.y)} rows; what lies beyond is clipped and counted (keyhole diagnose writes a schema)"
    )
    found = replace(schema, label=bounded(schema.label), attributes=attributes)
    return found, [] if scaled and len(schema.unbounded) == len(seen) else [text]


def _range(column: Floats) -> tuple[float, float, float]:
    """(low, high, center): the values' range, widened by half of it on both sides, and their mean."""
    x = column[np.isfinite(column)]
    if not x.size:
        return -1.0, 1.0, 0.0
    low, high, mean = float(x.min()), float(x.max()), float(x.mean())
    reach = (high - low) / 2 or max(abs(mean), 1.0)
    return low - reach, high + reach, min(max(mean, low), high)
