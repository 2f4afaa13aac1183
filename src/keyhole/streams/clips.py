"""How often a value lay beyond the schema's range, and the furthest seen."""

from typing import ClassVar

import numpy as np

from .._types import Bools, Floats, Ints
from ..state import Stateful
from .schema import Schema

__all__ = ["Clips"]


class Clips(Stateful):
    """Counts, per attribute and for the label, of values outside low..high, with the smallest and largest seen.

    `count(X, bought)` looks only where the mask `bought` (n, d) is true: what was not bought is not looked at. NaN and
    infinity are not counted. The counts are state: they are saved and restored with a run.

    >>> clips = Clips(Schema.plain("y", ["a", "b"]))
    >>> clips.count(np.array([[3.0, 9.0], [-1.0, 0.0]]), np.array([[True, False], [True, True]]))
    >>> clips.report()
    ["'a' is outside its range -1..1 in 1 of 2 values (largest seen 3): clipped"]
    """

    _fields: ClassVar[tuple[str, ...]] = ("outside", "seen", "smallest", "largest")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        columns = (*schema.attributes, schema.label)  # the label is the last one
        self.names = tuple(c.name for c in columns)
        self.low: Floats = np.array([c.low for c in columns])
        self.high: Floats = np.array([c.high for c in columns])
        self.outside: Ints = np.zeros(len(columns), dtype=np.int64)
        self.seen: Ints = np.zeros(len(columns), dtype=np.int64)
        self.smallest: Floats = np.full(len(columns), np.inf)
        self.largest: Floats = np.full(len(columns), -np.inf)

    def count(self, X: Floats, bought: Bools | None = None) -> None:
        """Take note of raw rows X (n, d) where `bought` is true (None: everywhere)."""
        columns = np.arange(X.shape[1]) if bought is None else np.flatnonzero(bought.any(axis=0))
        x = X[:, columns]
        looked = np.isfinite(x) if bought is None else bought[:, columns] & np.isfinite(x)
        self._count(np.where(looked, x, np.nan), columns)

    def count_labels(self, y: Floats) -> None:
        """Take note of raw labels (n,)."""
        self._count(np.where(np.isfinite(y), y, np.nan)[:, None], np.array([-1]))

    @property
    def total(self) -> int:
        """How many values were outside their range, in all."""
        return int(self.outside.sum())

    @property
    def constant(self) -> tuple[str, ...]:
        """The attributes seen more than once, and always with the same value so far."""
        same = (self.seen > 1) & (self.smallest == self.largest)
        return tuple(self.names[i] for i in np.flatnonzero(same[:-1]))

    def report(self) -> list[str]:
        """One sentence per column that was clipped."""
        return [self._sentence(int(i)) for i in np.flatnonzero(self.outside)]

    def _count(self, values: Floats, part: Ints) -> None:
        """Add a block of columns; NaN is what is not looked at, and compares as false."""
        self.seen[part] += (~np.isnan(values)).sum(axis=0)
        self.outside[part] += ((values < self.low[part]) | (values > self.high[part])).sum(axis=0)
        self.smallest[part] = np.fmin(self.smallest[part], np.fmin.reduce(values, axis=0, initial=np.inf))
        self.largest[part] = np.fmax(self.largest[part], np.fmax.reduce(values, axis=0, initial=-np.inf))

    def _sentence(self, i: int) -> str:
        extremes = []
        if self.smallest[i] < self.low[i]:
            extremes.append(f"smallest seen {self.smallest[i]:g}")
        if self.largest[i] > self.high[i]:
            extremes.append(f"largest seen {self.largest[i]:g}")
        range_ = f"{self.low[i]:g}..{self.high[i]:g}"
        count = f"{self.outside[i]} of {self.seen[i]} values"
        return f"'{self.names[i]}' is outside its range {range_} in {count} ({', '.join(extremes)}): clipped"
