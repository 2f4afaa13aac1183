"""Completion of a schema from all rows of its table."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pyarrow.compute as pc

from .cell_encoding import Wrong, as_days, as_words
from .columns import MOST_VALUES, Attribute, Label
from .schema import Schema
from .table import DataError, Table

__all__ = ["complete"]


def complete(schema: Schema, table: Table) -> Schema:
    """Return the schema with the values of its categories and the origins of its dates filled in; check all columns.

    Values are those of all rows, sorted; the origin is the earliest date. They are stored with the run and the model,
    so that the encoding is the same when a run is resumed and when other rows are predicted.
    """
    for name in (schema.target, *schema.columns):
        table.kind(name)
    placed = {schema.target, *schema.columns, *schema.ignored}
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
    return replace(schema, attributes=tuple(a if a.is_complete else _completed(a, table) for a in schema.attributes))


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
