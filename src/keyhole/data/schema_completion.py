"""Completion of a schema from its table: category values, date origins and usual prices from all rows, ranges from the
first.
"""

from dataclasses import replace
from datetime import date, timedelta
from math import fsum
from typing import TypeVar

import numpy as np
import pyarrow.compute as pc

from .._internal.typing import Floats
from .cell_encoding import Wrong, as_days, as_words
from .columns import MOST_VALUES, Attribute, Label, Panel, Range
from .encoded_table import EncodedTable
from .schema import Schema
from .table import Batch, DataError, Table

__all__ = ["complete", "first_rows", "learn_ranges"]

FIRST = 1000
_R = TypeVar("_R", bound=Range)


def complete(schema: Schema, table: Table) -> Schema:
    """Return the schema with the values of its categories, the origins of its dates and the usual prices filled in;
    check all columns.

    Values are those of all rows, sorted; the origin is the earliest date; a usual price is the mean of its column. They
    are stored with the run and the model, so that the encoding is the same when a run is resumed and when other rows
    are predicted.
    """
    for name in (schema.target, *schema.columns, *schema.price_columns):
        table.kind(name)
    placed = {schema.target, *schema.columns, *schema.price_columns, *schema.ignored}
    for column in table.columns:
        if column.name not in placed:
            raise DataError(
                f"{table.name}: column '{column.name}' is missing from the schema; give it a line under [attributes], "
                "name it in the columns of a source, or list it under ignored",
                column=column.name,
            )
    label = schema.label
    if isinstance(label, Label) and not label.is_complete:
        schema = replace(schema, label=replace(label, negative=_other_word(label, table)))
    attributes = tuple(a if a.is_complete else _completed(a, table) for a in schema.attributes)
    return _priced(replace(schema, attributes=attributes), table)


def _priced(schema: Schema, table: Table) -> Schema:
    """Return the schema with the mean of its column as the price of each source that has a price column alone."""
    sources: tuple[Panel | Attribute, ...] = (*schema.panels, *schema.attributes)
    lacking = [source for source in sources if source.price_column and source.price is None]
    means: dict[str, float] = {}
    for column in dict.fromkeys(source.price_column for source in lacking):
        total, count = 0.0, 0
        for batch in EncodedTable(table, schema).batches([column]):
            given = batch.X[~np.isnan(batch.X)]
            total, count = fsum([total, *given.tolist()]), count + given.size
        if not count:
            text = f"the column of prices '{column}' is empty in every row; state price in the schema, or fill it in"
            raise DataError(f"{table.name}: {text}", column=column)
        means[column] = total / count
    return schema.with_prices({source.name: means[source.price_column] for source in lacking})


def _completed(a: Attribute, table: Table) -> Attribute:
    return replace(a, values=_values(a, table)) if a.type == "category" else replace(a, origin=_origin(a, table))


def _values(a: Attribute, table: Table) -> tuple[str, ...]:
    found: set[str] = set()
    for piece in table.chunks([a.name], 0, cells=[a.name]):
        found.update(v for v in pc.unique(as_words(piece.column(0))).to_pylist() if v is not None)
        if len(found) > MOST_VALUES:
            raise DataError(
                f"{table.name}: category '{a.name}' has more than {MOST_VALUES} different values; list those that "
                f"matter as values in [attributes.{a.name}], or ignore the column",
                column=a.name,
            )
    if not found:
        raise DataError(
            f"{table.name}: category '{a.name}' is empty in every row; list it under ignored", column=a.name
        )
    return tuple(sorted(found))


def _other_word(label: Label, table: Table) -> str:
    """Return the word of the label other than `positive`; there must be exactly one."""
    found: set[str] = set()
    for piece in table.chunks([label.name], 0, cells=[label.name]):
        found.update(v for v in pc.unique(as_words(piece.column(0))).to_pylist() if v is not None)
    others = sorted(found - {label.positive})
    if label.positive not in found or len(others) != 1:
        has = ", ".join(sorted(found)[:4])
        raise DataError(
            f"{table.name}: the target '{label.name}' must be '{label.positive}' or one other word; it has {has}",
            column=label.name,
        )
    return others[0]


def _origin(a: Attribute, table: Table) -> date:
    row = 0
    for piece in table.chunks([a.name], 0, cells=[a.name]):
        try:
            days = as_days(piece.column(0))
        except Wrong as wrong:
            row += wrong.place + 1
            text = f"row {row} (without the header), column '{a.name}': {wrong.value!r} is not {wrong.should}"
            raise DataError(f"{table.name}: {text}; correct it, or leave the cell empty", row, a.name) from None
        there = days[~np.isnan(days)]
        if there.size:
            return date(1970, 1, 1) + timedelta(days=float(np.floor(there[0])))
        row += len(days)
    raise DataError(f"{table.name}: the date '{a.name}' is empty in every row; list it under ignored", column=a.name)


def first_rows(table: Table, schema: Schema) -> Batch:
    """Return the first 1000 rows, raw; a label that is the same in every row of the table is a `DataError`.

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
    """Return the schema with estimated ranges where there are none, and a sentence about them.

    An estimated range is twice as wide as that of the first rows. If no column has a range and all first values lie in
    [-1, 1], the table is taken to be scaled already.
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
        if schema.transforms_label and schema.target in ends:  # widened as the learner sees it, inside the domain
            widened = _range(schema.transform_label(seen[schema.target]))
            ends[schema.target] = tuple(schema.untransform_label(np.array(widened)).tolist())

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
    """Return (low, high, center): the range of the values, widened by half of it on both sides, and their mean."""
    x = column[np.isfinite(column)]
    if not x.size:
        return -1.0, 1.0, 0.0
    low, high, mean = float(x.min()), float(x.max()), float(x.mean())
    reach = (high - low) / 2 or max(abs(mean), 1.0)
    return low - reach, high + reach, min(max(mean, low), high)
