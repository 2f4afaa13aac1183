"""Tables as streams: numbers in batches, whatever carries them, with row numbers for messages."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import NamedTuple, TypeAlias

from .._types import Floats
from ..errors import ConfigError

__all__ = ["Batch", "Column", "DataError", "Table", "open_table"]


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
    """"number" (integers, floats, decimals and booleans as 0 and 1), "text", "time" or "other"."""


class Batch(NamedTuple):
    """Some rows in a row: attributes X (n, d) and labels y (n,), raw, NaN where missing."""

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

    @abstractmethod
    def batches(
        self, attributes: Sequence[str], target: str | None = None, start: int = 0, size: int = 4096
    ) -> Iterator[Batch]:
        """Rows `start`, `start` + 1, ... in batches of exactly `size` rows (the last may be shorter).

        Only the named columns are read. A value that is no number is a `DataError` with file, row, column and value,
        raised after the whole batches before it have been given.
        """

    def usable(self, target: str | None, ignored: Sequence[str] = ()) -> tuple[str, ...]:
        """The number columns but the target and the ignored: a run's attributes where there is no schema.

        A text column that is not ignored is a `DataError`, as are names that are not there.
        """
        raise NotImplementedError

    def require(self, names: Sequence[str]) -> None:
        """`DataError` unless all these columns exist and hold numbers (e.g. a schema's names, a model's support)."""
        raise NotImplementedError

    def digest(self, attributes: Sequence[str], target: str | None, rows: int) -> str:
        """A digest of the first `rows` rows' values: after a fix further down, those rows can be shown unchanged."""
        raise NotImplementedError


Source: TypeAlias = "str | PathLike[str] | object"


def open_table(source: Source) -> Table:
    """The table behind a path to CSV (also .csv.gz, .tsv) or Parquet, or any data frame that narwhals knows."""
    raise NotImplementedError
