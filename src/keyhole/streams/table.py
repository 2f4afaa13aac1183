"""Tables as streams: numbers in batches, whatever carries them, with row numbers for messages."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .._types import Floats
from ..errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "Column", "DataError", "Table", "open_table"]

Source: TypeAlias = "str | PathLike[str] | object"


class DataError(ConfigError):
    """Something in a table is not usable: the message says where (file, row, column) and what to do.

    `row` counts data rows from 1 (the header is not a row); None where the fault is not in one row.
    """

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.row, self.column = row, column


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str
    """"number" (integers, floats, decimals, booleans as 0 and 1), "text", "time" or "other"."""


class Batch(NamedTuple):
    """Consecutive rows: attributes X (n, d) and labels y (n,), raw, NaN where missing."""

    first: int
    """How many rows of the table come before these."""
    X: Floats
    y: Floats
    """NaN throughout where no target was asked for."""


class Table(ABC):
    """Rows in an order that stays, read in batches; memory does not grow with the number of rows.

    Making one checks the names (two equal ones are a `DataError` with both positions) and reads no rows beyond a
    first look.
    """

    name: str
    """What messages call it: the file as the user wrote it, or "the data frame"."""
    columns: tuple[Column, ...]
    rows: int | None
    """How many rows there are, where that is known without reading them (Parquet, frames); None for CSV."""

    def __init__(self, name: str, columns: Sequence[Column], rows: int | None) -> None:
        self.name, self.columns, self.rows = name, tuple(columns), rows
        refuse_duplicates(name, [c.name for c in self.columns])

    @abstractmethod
    def _chunks(self, names: Sequence[str], start: int) -> "Iterator[pa.RecordBatch]":
        """The rows from `start` on, in pieces of any length; the columns of `names`, all of numbers."""

    def batches(
        self, attributes: Sequence[str], target: str | None = None, start: int = 0, size: int = 4096
    ) -> Iterator[Batch]:
        """Rows `start`, `start` + 1, ... in batches of exactly `size` rows (the last may be shorter).

        Only the named columns are read. A value that is no number is a `DataError` with file, row, column and value,
        raised after the whole batches before it have been given.
        """
        from ._arrow import matrix, regroup

        names = [*attributes] if target is None else [*attributes, target]
        self.require(names)
        for pieces in regroup(self._chunks(names, start), size):
            X = matrix(pieces, attributes)
            yield Batch(start, X, np.full(len(X), np.nan) if target is None else matrix(pieces, [target])[:, 0])
            start += len(X)

    def usable(self, target: str | None, ignored: Sequence[str] = ()) -> tuple[str, ...]:
        """The number columns but the target and the ignored: a run's attributes where there is no schema.

        A column of anything else that is not ignored is a `DataError`, as are names that are not there.
        """
        for name in (*ignored, *(() if target is None else (target,))):
            self.kind(name)
        left = [c for c in self.columns if c.name != target and c.name not in ignored]
        self.require([c.name for c in left if c.name != target] + ([] if target is None else [target]))
        if not left:
            raise DataError(f"{self.name}: there is no column of numbers besides '{target}' to buy")
        return tuple(c.name for c in left)

    def require(self, names: Sequence[str]) -> None:
        """`DataError` unless all these columns exist and hold numbers (a schema's names, a model's support)."""
        for name in names:
            kind = self.kind(name)
            if kind != "number":
                what = {"text": "text", "time": "dates or times"}.get(kind, "no numbers")
                raise DataError(
                    f"{self.name}: column '{name}' holds {what}, which is never encoded silently; make it numbers, "
                    "or list it under `ignored` in the schema (keyhole diagnose writes one)",
                    column=name,
                )

    def digest(self, attributes: Sequence[str], target: str | None, rows: int) -> str:
        """A digest of the first `rows` rows' values: after a fix further down, those rows can be shown unchanged."""
        state, left = hashlib.sha256(), rows
        for batch in self.batches(attributes, target):
            n = min(left, len(batch.X))
            state.update(np.column_stack([batch.X[:n], batch.y[:n]]).tobytes())
            left -= n
            if left == 0:
                break
        return f"{rows - left}:{state.hexdigest()}"

    def kind(self, name: str) -> str:
        """The kind of a column, or the error that it does not exist."""
        kinds = dict(self.columns)
        if name not in kinds:
            near = get_close_matches(name, kinds, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the columns are {_some(list(kinds))}"
            raise DataError(f"{self.name}: there is no column '{name}'; {hint}", column=name)
        return kinds[name]


def open_table(source: Source) -> Table:
    """The table behind a path to CSV (also .tsv, .csv.gz) or Parquet, or any data frame that narwhals knows."""
    # Inside: these modules import this one, and pyarrow takes its time.
    try:
        from ._files import open_file
        from ._frame import FrameTable
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"reading tables needs {missing.name}, which is not installed: pip install 'keyhole[cli]'"
        ) from None
    return open_file(source) if isinstance(source, str | PathLike) else FrameTable(source)


def refuse_duplicates(table: str, names: Sequence[str]) -> None:
    """`DataError` with both positions (from 1) where two columns have the same name."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in seen:
            raise DataError(f"{table}: columns {seen[name]} and {j} are both called '{name}'; rename one of them")
        seen[name] = j


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:8])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 8 else shown
