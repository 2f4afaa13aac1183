"""Counts of values outside the schema: outside a range, or unknown values of a category."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._core import count_outside
from .._internal.typing import Floats, Ints
from ..core.state import CountCheck, NoCheck, Stateful, StateSchema
from .schema import Schema

__all__ = ["ValueCounts", "ValueRanges", "count_unseen", "unseen_sentences"]


@dataclass(eq=False)
class ValueCounts(Stateful):
    """Per column: how many values were seen, how many of them outside the range, the smallest and the largest.

    Counts of different rows are added with `+`.
    """

    _state: ClassVar[StateSchema] = {
        "seen": CountCheck(),
        "outside": CountCheck(),
        "smallest": NoCheck(),  # infinite at first
        "largest": NoCheck(),
    }

    seen: Ints
    outside: Ints
    smallest: Floats
    largest: Floats

    @classmethod
    def zero(cls, n: int) -> "ValueCounts":
        """Return the counts of no values in n columns."""
        nothing = np.zeros(n, dtype=np.int64)
        return cls(nothing, nothing.copy(), np.full(n, np.inf), np.full(n, -np.inf))

    def __add__(self, other: "ValueCounts") -> "ValueCounts":
        return ValueCounts(
            self.seen + other.seen,
            self.outside + other.outside,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
        )


@dataclass(frozen=True, eq=False)
class ValueRanges:
    """The names and ranges of the attributes and, last, of the label.

    >>> ranges = ValueRanges.of(Schema.plain("y", ["a", "b"]))
    >>> counts = ranges.count(np.array([3.0, -1.0, 0.0]), np.array([0, 0, 1]))
    >>> ranges.sentences(counts)
    {'a': "'a' is outside its range -1..1 in 1 of 2 values (largest seen 3): clipped"}
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats

    @classmethod
    def of(cls, schema: Schema, clip: bool = True) -> "ValueRanges":
        """Return the ranges of a schema; without `clip` no value is outside its range."""
        columns = (*schema.encoded, schema.label)
        low = np.array([c.low if clip else -np.inf for c in columns])
        high = np.array([c.high if clip else np.inf for c in columns])
        return cls(tuple(c.name for c in columns), low, high)

    def count(self, x: Floats, columns: Ints) -> ValueCounts:
        """Return the counts of raw values x (m,) of these columns (m,); NaN and infinity are not counted."""
        counts = ValueCounts.zero(len(self.names))
        count_outside(
            np.ascontiguousarray(x),
            np.ascontiguousarray(columns),
            self.low,
            self.high,
            counts.seen,
            counts.outside,
            counts.smallest,
            counts.largest,
        )
        return counts

    def constant(self, counts: ValueCounts) -> tuple[str, ...]:
        """Return the attributes that were seen more than once, always with the same value."""
        same = (counts.seen > 1) & (counts.smallest == counts.largest)
        return tuple(self.names[i] for i in np.flatnonzero(same[:-1]))

    def extremes(self, counts: ValueCounts) -> dict[str, tuple[float, float]]:
        """Return the smallest and the largest value of each attribute that was seen."""
        seen = np.flatnonzero(counts.seen[:-1])
        return {self.names[i]: (float(counts.smallest[i]), float(counts.largest[i])) for i in seen}

    def sentences(self, counts: ValueCounts, then: str = "clipped") -> dict[str, str]:
        """Return one sentence per column with values outside its range; `then` says what happens to these values."""
        return {self.names[i]: self._sentence(int(i), counts, then) for i in np.flatnonzero(counts.outside)}

    def _sentence(self, i: int, counts: ValueCounts, then: str) -> str:
        extremes = []
        if counts.smallest[i] < self.low[i]:
            extremes.append(f"smallest seen {counts.smallest[i]:g}")
        if counts.largest[i] > self.high[i]:
            extremes.append(f"largest seen {counts.largest[i]:g}")
        range_ = f"{self.low[i]:g}..{self.high[i]:g}"
        count = f"{counts.outside[i]} of {counts.seen[i]} values"
        return f"'{self.names[i]}' is outside its range {range_} in {count} ({', '.join(extremes)}): {then}"


def count_unseen(schema: Schema, X: Floats) -> Ints:
    """Return, per category of the schema, in how many encoded rows X (n, d) its value is not declared.

    All attributes of the category are 0 in such a row. Every row is counted, bought or not.

    >>> from keyhole.data.streams import Attribute, Range
    >>> sex = Attribute("sex", type="category", values=("f", "m"))
    >>> schema = Schema(Range("y"), (Attribute("x"), sex))
    >>> counts = count_unseen(schema, np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 0.0], [3.0, np.nan, np.nan]]))
    >>> unseen_sentences(schema, counts)
    {'sex': "'sex' had a value in 1 row that is not one of its values (f, m): it counts as other"}
    """
    counts, first = [], 0
    for a in schema.attributes:
        last = first + len(a.encoded())
        if a.type == "category":
            counts.append(int((X[:, first:last] == 0.0).all(axis=1).sum()))
        first = last
    return np.array(counts, dtype=np.int64)


def unseen_sentences(schema: Schema, counts: Ints) -> dict[str, str]:
    """Return one sentence per category with undeclared values, by its name."""
    categories = [a for a in schema.attributes if a.type == "category"]
    found = zip(categories, counts.tolist(), strict=True)
    return {a.name: _unseen_sentence(a.name, a.values or (), n) for a, n in found if n}


def _unseen_sentence(name: str, values: tuple[str, ...], n: int) -> str:
    known = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
    rows = "1 row" if n == 1 else f"{n} rows"
    return f"'{name}' had a value in {rows} that is not one of its values ({known}): it counts as other"
