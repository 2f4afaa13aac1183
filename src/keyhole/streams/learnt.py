"""What the first rows of a table tell before anything is bought: ranges for learners that need them, and a label
that never changes."""

import numpy as np

from .._types import Floats
from .schema import Attribute, Range, Schema
from .table import Batch, DataError, Table

__all__ = ["first_rows", "learn_ranges"]

FIRST = 1000


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
    """A schema with ranges as wide as twice those of the first rows, and a sentence that says so.

    Where all those values lie in [-1, 1] the table is taken to be scaled already, and nothing is said.
    """
    columns = np.column_stack([first.X, first.y])
    if not (np.abs(columns[np.isfinite(columns)]) > 1.0).any():
        return schema, []
    ends = [_range(column) for column in columns.T]
    attributes = tuple(Attribute(a.name, *e, price=a.price) for a, e in zip(schema.attributes, ends, strict=False))
    n = len(first.y)
    text = (
        f"this algorithm needs to know ranges, and no schema was given: they are twice those of the first {n} rows; "
        "what lies beyond is clipped and counted (keyhole diagnose writes a schema of all rows)"
    )
    return Schema(Range(schema.target, *ends[-1]), attributes, schema.ignored), [text]


def _range(column: Floats) -> tuple[float, float, float]:
    """(low, high, center): the values' range, widened by half of it on both sides, and their mean."""
    x = column[np.isfinite(column)]
    if not x.size:
        return -1.0, 1.0, 0.0
    low, high, mean = float(x.min()), float(x.max()), float(x.mean())
    reach = (high - low) / 2 or max(abs(mean), 1.0)
    return low - reach, high + reach, min(max(mean, low), high)
