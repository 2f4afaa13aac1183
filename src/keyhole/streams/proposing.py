"""What columns of text could be: yes/no, dates, written numbers, categories; a proposal for the schema, no more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import FORMATS, Attribute
from .encoding import Wrong, as_days, as_words, fits, truth
from .table import Column, Table

__all__ = ["MOST_PROPOSED", "propose", "words_of"]

MOST_PROPOSED = 20
"""A column of text with more different values is not proposed as a category."""


@dataclass
class _Seen:
    """What the cells of a column have been so far: each thing it could be stays until a cell speaks against it."""

    count: int = 0
    values: set[str] = field(default_factory=set)
    is_truth: bool = True
    is_date: bool = True
    first: date | None = None
    forms: set[str] = field(default_factory=lambda: set(FORMATS))

    def add(self, cells: pa.Array) -> None:
        """Look at more cells; missing ones say nothing."""
        cells = cells.drop_null()
        if self.is_date:
            self._date(cells)
        words = as_words(cells).drop_null()
        self.count += len(words)
        if len(self.values) <= MOST_PROPOSED:
            self.values.update(pc.unique(words).to_pylist())
        if self.forms:
            self.forms &= fits(words)
        if self.is_truth:
            self.is_truth = _all_truth(words)

    def _date(self, cells: pa.Array) -> None:
        try:
            days = as_days(cells)
        except (Wrong, pa.ArrowException):
            self.is_date = False
            return
        days = days[~np.isnan(days)]
        if self.first is None and days.size:
            self.first = date(1970, 1, 1) + timedelta(days=float(np.floor(days[0])))

    def proposal(self, column: Column) -> Attribute | str:
        """The column's line of the schema, or why it cannot have one."""
        if not self.count:
            return "empty"
        if len(self.values) == 1:
            return "constant"
        if self.is_truth:
            return Attribute(column.name, type="yes/no")
        if self.is_date:
            return Attribute(column.name, type="date", origin=self.first)
        if form := next((f for f in FORMATS if f in self.forms), ""):
            return Attribute(column.name, numbers=form)
        if column.kind == "number":
            return Attribute(column.name)  # numbers, with a misprint that reading will name
        # As many values as half the rows are no kinds of rows, but names.
        if len(self.values) <= MOST_PROPOSED and 2 * len(self.values) <= self.count:
            return Attribute(column.name, type="category", values=tuple(sorted(self.values)))
        return "text"


def propose(table: Table, ignored: Iterable[str] = ()) -> Mapping[str, Attribute | str]:
    """For each column that is not plainly numbers: its line of the schema, or the word why it has none."""
    gone = set(ignored)
    columns = [c for c in table.columns if (c.written or c.kind == "time") and c.name not in gone]
    names = [c.name for c in columns]
    seen = {name: _Seen() for name in names}
    for piece in table.chunks(names, 0, cells=names) if names else ():
        for name in names:
            seen[name].add(piece.column(name))
    found: dict[str, Attribute | str] = {c.name: seen[c.name].proposal(c) for c in columns}
    return found | {c.name: "no numbers" for c in table.columns if c.kind == "other" and c.name not in gone}


def words_of(a: Attribute) -> str:
    """What a proposal says, in a few words; "" for plain numbers.

    >>> words_of(Attribute("sex", type="category", values=("f", "m")))
    'category: f, m'
    """
    if a.type == "category" and a.values:
        return f"category: {', '.join(a.values[:6])}" + (f", ... ({len(a.values)} values)" if len(a.values) > 6 else "")
    if a.type == "date":
        return f"date, as days since {a.origin}"
    return f"numbers written as {a.numbers}" if a.numbers else {"yes/no": "yes/no"}.get(a.type, "")


def _all_truth(words: pa.Array) -> bool:
    try:
        truth(words)
    except Wrong:
        return False
    return True
