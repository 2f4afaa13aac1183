"""Counters of values outside the schema: outside a range, or unknown values of a category."""

from typing import ClassVar

import numpy as np

from .._core import count_outside
from .._internal.typing import Floats, Ints
from ..core.state import CountCheck, NoCheck, Stateful, StateSchema
from .schema import Schema

__all__ = ["ClipCounter", "UnseenCategories"]


class ClipCounter(Stateful):
    """Counter, per attribute and for the label, of values outside low..high, with the smallest and largest value seen.

    `count` receives only the values that were bought. NaN and infinity are not counted. The counts are state: they are
    saved and restored with a run.

    >>> clips = ClipCounter(Schema.plain("y", ["a", "b"]))
    >>> clips.count(np.array([3.0, -1.0, 0.0]), np.array([0, 0, 1]))
    >>> clips.report()
    {'a': "'a' is outside its range -1..1 in 1 of 2 values (largest seen 3): clipped"}
    """

    _state: ClassVar[StateSchema] = {
        "outside": CountCheck(),
        "seen": CountCheck(),
        "smallest": NoCheck(),  # infinite at first
        "largest": NoCheck(),
    }

    def __init__(self, schema: Schema, then: str = "clipped") -> None:
        """`then` says in reports what happens to a value outside its range."""
        self.schema, self.then = schema, then
        columns = (*schema.encoded, schema.label)  # the label is the last one
        self.names = tuple(c.name for c in columns)
        self.low: Floats = np.array([c.low for c in columns])
        self.high: Floats = np.array([c.high for c in columns])
        self.outside: Ints = np.zeros(len(columns), dtype=np.int64)
        self.seen: Ints = np.zeros(len(columns), dtype=np.int64)
        self.smallest: Floats = np.full(len(columns), np.inf)
        self.largest: Floats = np.full(len(columns), -np.inf)

    def count(self, x: Floats, attributes: Ints) -> None:
        """Count raw values x (m,) of these attributes (m,)."""
        count_outside(
            np.ascontiguousarray(x),
            np.ascontiguousarray(attributes),
            self.low,
            self.high,
            self.seen,
            self.outside,
            self.smallest,
            self.largest,
        )

    def count_labels(self, y: Floats) -> None:
        """Count raw labels (n,)."""
        self.count(y, np.full(y.size, self.seen.size - 1))

    @property
    def constant(self) -> tuple[str, ...]:
        """The attributes seen more than once, always with the same value so far."""
        same = (self.seen > 1) & (self.smallest == self.largest)
        return tuple(self.names[i] for i in np.flatnonzero(same[:-1]))

    @property
    def extremes(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest value of each attribute seen so far."""
        return {
            self.names[i]: (float(self.smallest[i]), float(self.largest[i])) for i in np.flatnonzero(self.seen[:-1])
        }

    def report(self) -> dict[str, str]:
        """Return one sentence per clipped column, by its name."""
        return {self.names[i]: self._sentence(int(i)) for i in np.flatnonzero(self.outside)}

    def _sentence(self, i: int) -> str:
        extremes = []
        if self.smallest[i] < self.low[i]:
            extremes.append(f"smallest seen {self.smallest[i]:g}")
        if self.largest[i] > self.high[i]:
            extremes.append(f"largest seen {self.largest[i]:g}")
        range_ = f"{self.low[i]:g}..{self.high[i]:g}"
        count = f"{self.outside[i]} of {self.seen[i]} values"
        return f"'{self.names[i]}' is outside its range {range_} in {count} ({', '.join(extremes)}): {self.then}"


class UnseenCategories(Stateful):
    """Counter, per category, of rows whose value is not declared: all attributes of the category are 0 there.

    Every row is counted, bought or not. The counts are state: they are saved and restored with a run.

    >>> from keyhole.data.streams import Attribute, Range
    >>> sex = Attribute("sex", type="category", values=("f", "m"))
    >>> others = UnseenCategories(Schema(Range("y"), (Attribute("x"), sex)))
    >>> others.count(np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 0.0], [3.0, np.nan, np.nan]]))
    >>> others.report()
    {'sex': "'sex' had a value in 1 row that is not one of its values (f, m): it counts as other"}
    """

    _state: ClassVar[StateSchema] = {"counts": CountCheck()}

    def __init__(self, schema: Schema) -> None:
        self._places: list[tuple[str, tuple[str, ...], slice]] = []
        first = 0
        for a in schema.attributes:
            last = first + len(a.encoded())
            if a.type == "category":
                self._places.append((a.name, a.values or (), slice(first, last)))
            first = last
        self.counts: Ints = np.zeros(len(self._places), dtype=np.int64)

    def count(self, X: Floats) -> None:
        """Count in encoded rows (n, d)."""
        for i, (_, _, place) in enumerate(self._places):
            self.counts[i] += int((X[:, place] == 0.0).all(axis=1).sum())

    def report(self) -> dict[str, str]:
        """Return one sentence per category with undeclared values, by its name."""
        found = zip(self._places, self.counts.tolist(), strict=True)
        return {name: self._sentence(name, values, n) for (name, values, _), n in found if n}

    def _sentence(self, name: str, values: tuple[str, ...], n: int) -> str:
        known = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
        rows = "1 row" if n == 1 else f"{n} rows"
        return f"'{name}' had a value in {rows} that is not one of its values ({known}): it counts as other"
