"""One look at a whole table: what can be used of it, the ranges, and the second moments of the scaled rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .._types import Bools, Floats, Ints
from ..errors import ConfigError
from .columns import Attribute, Range
from .schema import Schema
from .table import Batch, DataError, Table

__all__ = ["Profile", "moments"]

Progress: TypeAlias = Callable[[int], None]

# Fewer rows than this rise by chance too often to be told from numbers of the rows.
_RISING = 20


class Profile:
    """Counts, ranges and means of the columns of numbers of a table, over all its rows, in one pass.

    Columns of anything else, constant and empty ones, and those that just number the rows are `dropped`, with the
    reason; so are the `ignored` ones, without. An infinite value is a `DataError`.
    """

    def __init__(
        self, table: Table, target: str, ignored: Sequence[str] = (), progress: Progress | None = None
    ) -> None:
        table.require([target])
        for name in ignored:
            table.kind(name)
        self.table, self.target = table, target
        self.dropped = {c.name: _WORDS[c.kind] for c in table.columns if c.kind != "number"} | dict.fromkeys(
            ignored, ""
        )
        names = [c.name for c in table.columns if c.kind == "number" and c.name not in (target, *ignored)]
        self._look(names, progress or (lambda rows: None))
        self._drop(names)

    def _look(self, names: Sequence[str], progress: Progress) -> None:
        """Count everything; the label is the last column."""
        d = len(names) + 1
        self.rows = 0
        seen: Ints = np.zeros(d, dtype=np.int64)
        self.low, self.high, total = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d)
        self._rising: Bools = np.ones(d, dtype=np.bool_)
        last = np.full(d, -np.inf)
        for batch in _finite(self.table, names, self.target):
            block = np.column_stack([batch.X, batch.y])
            there = ~np.isnan(block)
            seen += there.sum(axis=0)
            total += np.where(there, block, 0.0).sum(axis=0)
            self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
            self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
            # Whole numbers, none missing, each larger than the one before (NaN compares as false).
            steps = np.diff(np.vstack([last, block]), axis=0) > 0
            self._rising &= steps.all(axis=0) & (block == np.floor(block)).all(axis=0)
            last = block[-1]
            self.rows += len(block)
            progress(self.rows)
        if not self.rows:
            raise DataError(f"{self.table.name} has no rows")
        self.missing = self.rows - seen
        self.mean = np.clip(total / np.maximum(seen, 1), self.low, self.high)

    def _drop(self, names: Sequence[str]) -> None:
        """Leave out what cannot help a prediction."""
        if self.missing[-1] == self.rows:
            raise DataError(f"{self.table.name}: the target '{self.target}' is missing in every row")
        self.used: list[int] = []
        for i, name in enumerate(names):
            if self.missing[i] == self.rows:
                self.dropped[name] = "empty"
            elif self.low[i] == self.high[i]:
                self.dropped[name] = "constant"
            elif self._rising[i] and self.rows >= _RISING:
                self.dropped[name] = "numbers the rows"
            else:
                self.used.append(i)
        self.names = tuple(names[i] for i in self.used)
        if not self.names:
            raise DataError(f"{self.table.name}: there is no usable column of numbers besides '{self.target}'")

    def schema(self, prices: Mapping[str, float] | None = None) -> Schema:
        """The schema these numbers suggest; prices of dropped columns are of no use, unknown ones are refused."""
        for name in prices or {}:
            if name != self.target and name not in self.names and name not in self.dropped:
                raise ConfigError(f"the prices name '{name}', which is not a column of {self.table.name}")
        ranges = [
            (float(self.low[i]), float(self.high[i]), float(self.mean[i]), (prices or {}).get(name, 1.0))
            for i, name in zip(self.used, self.names, strict=True)
        ]
        attributes = tuple(Attribute(name, *numbers) for name, numbers in zip(self.names, ranges, strict=True))
        label = Range(self.target, float(self.low[-1]), float(self.high[-1]), float(self.mean[-1]))
        return Schema(label, attributes, tuple(c.name for c in self.table.columns if c.name in self.dropped))

    def missing_share(self) -> dict[str, float]:
        """The share of missing values of each usable attribute that has any, largest first."""
        shares = {name: self.missing[i] / self.rows for i, name in zip(self.used, self.names, strict=True)}
        return {name: float(share) for name, share in sorted(shares.items(), key=lambda s: -s[1]) if share > 0}


def moments(table: Table, schema: Schema, progress: Progress | None = None) -> tuple[int, Floats]:
    """(n, C): C (d+1, d+1) is the mean of z z' over the n rows with a label, z the scaled row with the label last.

    Missing attributes count as their centre. Scaled about the means, C is a covariance matrix.
    """
    d, n, rows = len(schema.names), 0, 0
    C = np.zeros((d + 1, d + 1))
    for batch in table.batches(schema.names, schema.target):
        Z = np.column_stack([schema.scale(batch.X), schema.scale_label(batch.y)])
        Z = np.nan_to_num(Z[~np.isnan(Z[:, -1])], nan=0.0)
        C += Z.T @ Z
        n, rows = n + len(Z), rows + len(batch.X)
        (progress or (lambda rows: None))(rows)
    return n, C / max(n, 1)


_WORDS = {"text": "text", "time": "dates or times", "other": "no numbers"}


def _finite(table: Table, names: Sequence[str], target: str) -> Iterator[Batch]:
    """The batches of a table, or the error that names the first infinite value."""
    for batch in table.batches(names, target):
        block = np.column_stack([batch.X, batch.y])
        if np.isinf(block).any():
            i, j = (int(place) for place in np.argwhere(np.isinf(block))[0])
            name, row = [*names, target][j], batch.first + i + 1
            raise DataError(
                f"{table.name}: row {row} (without the header), column '{name}' is infinite; correct it, or leave it "
                "empty if the value is missing",
                row,
                name,
            )
        yield batch
