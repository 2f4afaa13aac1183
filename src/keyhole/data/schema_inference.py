"""Inference of column types (yes/no, date, formatted number, category, transform) as proposals for the schema."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._internal.typing import Floats
from .cell_encoding import Wrong, as_days, as_words, fits, is_plain_number, is_some_number, truth
from .columns import FORMATS, TRANSFORMS, Attribute
from .table import Column, Table

__all__ = ["MOST_PROPOSED", "ROWS", "BadCells", "limits_of", "propose", "propose_transform", "words_of"]

ROWS = 20_000
"""The number of rows to examine."""
# A column is skewed if its standardised third moment is at least this; a transform must raise R2 by a tenth, and by
# more than chance: four standard errors of a correlation, squared.
_SKEWED, _RAISES, _CHANCE = 1.0, 1.1, 16.0


def propose_transform(x: Floats, y: Floats) -> str:
    """Return the transform under which a column explains the label best, or "" if it is not skewed or gains too little.

    >>> rng = np.random.default_rng(0)
    >>> x = np.exp(2.0 * rng.normal(size=500))
    >>> propose_transform(x, np.log(x) + rng.normal(size=500)), propose_transform(x, rng.normal(size=500))
    ('log', '')
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if x.size < 50 or x.min() < 0.0 or _skewness(x) < _SKEWED:
        return ""
    plain = _r2(x, y)
    able = {name: t for name, t in TRANSFORMS.items() if bool(np.asarray(t.takes(x)).all())}
    found = {name: _r2(t.forward(x), y) for name, t in able.items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] > _RAISES * plain and found[best] - plain > _CHANCE / x.size else ""


def _skewness(x: Floats) -> float:
    off = x - x.mean()
    deviation = float(np.sqrt((off**2).mean()))
    return float((off**3).mean()) / deviation**3 if deviation > 0.0 else 0.0


def _r2(x: Floats, y: Floats) -> float:
    if x.std() == 0.0 or y.std() == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1] ** 2)


MOST_PROPOSED = 20
"""A text column with more distinct values is not proposed as a category."""
MOST_ODD = 50
"""A column with more distinct words that are not numbers is text."""
_LIMIT = re.compile(r"([<>≤≥])\s*(\d+(?:[.,]\d+)?)")
_POINTED, _THOUSANDS = "1.234,56", r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"
"""The form in which a point separates thousands, and the pattern of such a number without decimals."""


@dataclass
class _Seen:
    """The types that a column may have, given the cells so far; a type is ruled out by the first contrary cell."""

    na: frozenset[str] = frozenset()
    count: int = 0
    values: set[str] = field(default_factory=set)
    is_truth: bool = True
    is_date: bool = True
    first: date | None = None
    forms: set[str] = field(default_factory=lambda: set(FORMATS))
    is_plain: bool = True
    """Whether every number so far is plain."""
    odd: Counter[str] = field(default_factory=Counter)
    """How often each word that is not a number in any form occurred; only a few distinct ones are kept."""
    n_odd: int = 0

    def add(self, cells: pa.Array) -> None:
        """Examine more cells; missing cells are skipped."""
        cells = cells.drop_null()
        if self.na and (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
            cells = cells.filter(pc.invert(pc.is_in(as_words(cells), pa.array(sorted(self.na), pa.string()))))
        if self.is_date:
            self._date(cells)
        words = as_words(cells).drop_null()
        self.count += len(words)
        if len(self.values) <= MOST_PROPOSED:
            self.values.update(pc.unique(words).to_pylist())
        if self.is_truth:
            self.is_truth = _all_truth(words)
        self._numbers(words)

    def _numbers(self, words: pa.Array) -> None:
        """Determine which words are numbers, in which forms, and which are not."""
        good = is_some_number(words)
        strange, words = words.filter(pc.invert(good)), words.filter(good)
        self.n_odd += len(strange)
        if len(self.odd) <= MOST_ODD:
            self.odd.update({item["values"]: item["counts"] for item in pc.value_counts(strange).to_pylist()})
        if self.forms:
            self.forms &= fits(words)
        self.is_plain = self.is_plain and pc.all(is_plain_number(words)).as_py() is not False

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
        """Return the schema entry of the column, or the reason why it has none."""
        if not self.count:
            return "empty"
        if len(self.values) == 1:
            return "constant"
        if self.is_truth:
            return Attribute(column.name, type="yes/no")
        if self.is_date:
            return Attribute(column.name, type="date", origin=self.first)
        if 2 * self.n_odd <= self.count and len(self.odd) <= MOST_ODD:
            form = "" if self.is_plain else next((f for f in FORMATS if f in self.forms), None)
            if form is None:
                return "numbers written in several ways"
            below, above = limits_of(self.odd)
            missing = tuple(word for word in self.odd if word not in below and word not in above)
            words = {"missing": missing, "below": tuple(below.items()), "above": tuple(above.items())}
            return Attribute(column.name, numbers=form, **words)  # type: ignore[arg-type]
        # If the number of distinct values exceeds half the rows, they are identifiers, not categories.
        if len(self.values) <= MOST_PROPOSED and 2 * len(self.values) <= self.count:
            return Attribute(column.name, type="category", values=tuple(sorted(self.values)))
        return "text"


def limits_of(words: Iterable[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the words for values beyond the limits of measurement: "<0.3" becomes half of it, ">600" the limit itself.

    >>> limits_of(["<0.3", "> 600", "hemolyzed"])
    ({'<0.3': 0.15}, {'> 600': 600.0})
    """
    below, above = {}, {}
    for word in words:
        if match := _LIMIT.fullmatch(word):
            number = float(match[2].replace(",", "."))
            if match[1] in "<≤":
                below[word] = number / 2
            else:
                above[word] = number
    return below, above


class BadCells(NamedTuple):
    """The cells in a column of numbers that are not numbers."""

    column: str
    counts: Mapping[str, int]
    """How often each one occurred, the most frequent first."""


def propose(
    table: Table, ignored: Iterable[str] = (), na: Iterable[str] = (), also: Iterable[str] = ()
) -> tuple[Mapping[str, Attribute | str], list[BadCells]]:
    """Return the schema entry of each column that is not plain numbers, or why it has none; and the bad cells.

    `na` are words that mean "missing" in every column; `also` are further columns to read cell by cell. "12.591" is a
    plain number, unless other numbers of the file are written as 1.234,56.
    """
    gone, more, empty = set(ignored), set(also), frozenset(na)
    columns = [c for c in table.columns if (c.written or c.kind == "time" or c.name in more) and c.name not in gone]
    names = [c.name for c in columns]
    seen = {name: _Seen(empty) for name in names}
    for piece in table.chunks(names, 0, cells=names) if names else ():
        for name in names:
            seen[name].add(piece.column(name))
    found: dict[str, Attribute | str] = {c.name: seen[c.name].proposal(c) for c in columns}
    if any(isinstance(a, Attribute) and a.numbers == _POINTED for a in found.values()):
        plain = [c.name for c in table.columns if c.kind == "number" and not c.written and c.name not in gone]
        found |= {name: Attribute(name, numbers=_POINTED) for name in _pointed(table, plain)}
    bad = [
        BadCells(name, dict(seen[name].odd.most_common()))
        for name, line in found.items()
        if isinstance(line, Attribute) and line.type == "number" and name in seen and seen[name].odd
    ]
    return found | {c.name: "no numbers" for c in table.columns if c.kind == "other" and c.name not in gone}, bad


def _pointed(table: Table, names: list[str]) -> list[str]:
    """Return the columns in which a point occurs, and always before exactly three digits."""
    points = dict.fromkeys(names, 0)
    for piece in table.chunks(names, 0, cells=names) if names else ():
        for name in tuple(points):
            cells = piece.column(name).drop_null()
            if not pa.types.is_string(cells.type):  # not a text file: its numbers are typed
                del points[name]
                continue
            cells = cells.filter(pc.match_substring(cells, "."))
            if pc.all(pc.match_substring_regex(cells, _THOUSANDS)).as_py() is False:
                del points[name]
            else:
                points[name] += len(cells)
    return [name for name, count in points.items() if count]


def words_of(a: Attribute) -> str:
    """Return a short description of a proposal; "" for plain numbers.

    >>> words_of(Attribute("sex", type="category", values=("f", "m")))
    'category: f, m'
    """
    if a.type == "category" and a.values:
        return f"category: {', '.join(a.values[:6])}" + (f", ... ({len(a.values)} values)" if len(a.values) > 6 else "")
    if a.type == "date":
        return f"date, as days since {a.origin}"
    words = [f"numbers written as {a.numbers}"] if a.numbers else ["yes/no"] if a.type == "yes/no" else []
    return "; ".join([*words, *([f"transform = {a.transform}"] if a.transform else [])])


def _all_truth(words: pa.Array) -> bool:
    try:
        truth(words)
    except Wrong:
        return False
    return True
