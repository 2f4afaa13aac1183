"""Tables as streams: numbers in batches, whatever carries them, with row numbers for messages."""

import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .._internal.escaping import printable
from .._internal.formatting import join_names
from .._internal.typing import Floats
from ..errors import ConfigError, KeyholeWarning

if TYPE_CHECKING:
    import pyarrow as pa

    from .schema import Schema

__all__ = ["Batch", "Column", "DataError", "Table", "open_table", "refuse_duplicates", "suggestion"]

Carrier: TypeAlias = "str | PathLike[str] | object"

# From here on not every whole number is a float.
_EXACT = 2.0**53


class DataError(ConfigError):
    """Something in a table is not usable: the message says where (file, row, column) and what to do.

    `row` counts data rows from 1 (the header is not a row); None where the fault is not in one row. Names and cells
    may hold anything: what a terminal would obey is written out, and it stays one line.
    """

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(printable(message).replace("\n", "\\n"))
        self.row, self.column = row, column


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str
    """"number" (integers, floats, decimals, booleans as 0 and 1), "text", "time" or "other"."""
    written: bool = False
    """Whether some of it is text that is no plain number, whatever its kind."""


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
    width: int
    """How many columns the file itself has."""

    def __init__(self, name: str, columns: Sequence[Column], rows: int | None) -> None:
        self.name, self.columns, self.rows = name, tuple(columns), rows
        refuse_duplicates(name, [c.name for c in self.columns])
        self.width = len(self.columns)
        self._kinds = {c.name: c.kind for c in self.columns}
        self._rounded: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(c.name for c in self.columns)

    @abstractmethod
    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> "Iterator[pa.RecordBatch]":
        """The rows from `start` on, in pieces of any length; the columns of `names`, as numbers.

        Those in `cells` come as the file has them: from CSV as text, elsewhere in their own type.
        """

    def batches(
        self, attributes: Sequence[str], target: str | None = None, start: int = 0, size: int = 4096
    ) -> Iterator[Batch]:
        """Rows `start`, `start` + 1, ... in batches of exactly `size` rows (the last may be shorter).

        Only the named columns are read. A value that is no number is a `DataError` with file, row, column and value,
        raised after the whole batches before it have been given.
        """
        from .cell_encoding import matrix, regroup

        names = [*attributes] if target is None else [*attributes, target]
        self.require(names)
        for pieces in regroup(self.chunks(names, start), size):
            X = matrix(pieces, attributes)
            self.report_rounded(X, attributes, start)
            yield Batch(start, X, np.full(len(X), np.nan) if target is None else matrix(pieces, [target])[:, 0])
            start += len(X)

    def cell(self, name: str, row: int = 0) -> tuple[int, object] | None:
        """The first cell of a column from a row on that is not empty, with its row (from 1), as the file has it."""
        for piece in self.chunks([name], row, cells=[name]):
            values = piece.column(0)
            for i, value in enumerate(values.to_pylist()):
                if value is not None:
                    return row + i + 1, value
            row += len(values)
        return None

    def report_rounded(self, X: Floats, names: Sequence[str], first: int) -> None:
        """Warn, once a column, where a whole number is too large to be held exactly."""
        large = np.abs(X) >= _EXACT
        for j in map(int, np.flatnonzero(large.any(axis=0))) if large.any() else ():
            if names[j] in self._rounded:
                continue
            found = self.cell(names[j], first + int(np.argmax(large[:, j])))
            self._rounded.add(names[j])
            if found is not None and str(found[1]).strip().lstrip("+-").isdigit():
                at = f"{self.name}: row {found[0]}, column '{names[j]}': {str(found[1])[:40]}"
                text = f"{at} is a whole number beyond 2^53: such are rounded to what a float can hold"
                warnings.warn(text, KeyholeWarning, stacklevel=2)

    def usable(self, target: str | None, ignored: Sequence[str] = (), *, written: bool = False) -> tuple[str, ...]:
        """The number columns but the target and the ignored: a run's attributes where there is no schema.

        A column of anything else that is not ignored is a `DataError`, as are names that are not there; where numbers
        are `written` in some way of their own, what looks like text may be numbers.
        """
        for name in (*ignored, *(() if target is None else (target,))):
            self.kind(name)
        gone = {*ignored, target}
        left = [c for c in self.columns if c.name not in gone]
        if not written:
            self.require([*([] if target is None else [target]), *(c.name for c in left)], target)
        if not left:
            raise DataError(f"{self.name}: there is no column of numbers besides '{target}' to buy")
        return tuple(c.name for c in left)

    def require(self, names: Sequence[str], target: str | None = None) -> None:
        """`DataError` unless all these columns exist and hold numbers (a schema's names, a model's support)."""
        for name in names:
            kind = self.kind(name)
            if kind != "number":
                raise self._refusal(name, kind, name == target)

    def _refusal(self, name: str, kind: str, is_target: bool) -> DataError:
        """What a column that holds no numbers holds, with the first such cell, and what to do."""
        from .cell_encoding import hint

        what = {"text": "text", "time": "dates or times"}.get(kind, "no numbers")
        found = self.cell(name) if kind in ("text", "time") else None
        at = f" (row {found[0]}: {str(found[1])!r})" if found else ""
        form = hint(str(found[1])) if found else ""
        fix = "declare its type, or list it under `ignored`, in the schema (keyhole diagnose writes one)"
        if form:
            fix = f'declare numbers = "{form}" for it in the schema if that is how its numbers are written'
        elif is_target:
            fix = (
                "the target must be a number, or yes or no: for two values keyhole diagnose proposes a schema; "
                "otherwise choose another target, or code it as a number"
            )
        text = (
            f"{self.name}: {'the target' if is_target else 'column'} '{name}' holds {what}{at}, which is never encoded"
        )
        return DataError(f"{text} silently; {fix}", found[0] if found else None, name)

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
        if name not in self._kinds:
            raise DataError(
                f"{self.name}: there is no column '{name}'; {suggestion(name, list(self._kinds))}", column=name
            )
        return self._kinds[name]


def open_table(source: Carrier, schema: "Schema | None" = None, encoding: str = "") -> Table:
    """The table behind a path to CSV (also .tsv, .csv.gz) or Parquet, or any data frame that narwhals knows.

    With a schema, its columns are the schema's attributes, encoded: categories as indicators, dates as days.
    """
    # Inside: these modules import this one, and pyarrow takes its time.
    try:
        from .encoded_table import EncodedTable
        from .file_table import FrameTable, open_file
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"reading tables needs {missing.name}, which is not installed: pip install 'keyhole[cli]'"
        ) from None
    encoding = encoding or (schema.encoding if schema is not None else "")
    table = open_file(source, encoding) if isinstance(source, str | PathLike) else FrameTable(source)
    return table if schema is None else EncodedTable(table, schema)


def suggestion(name: str, known: Sequence[str]) -> str:
    """What was meant, perhaps: a name that is near, or that begins with what was written.

    >>> suggestion("cost", ["id", "cost_next_year"])
    "did you mean 'cost_next_year'?"
    """
    near = get_close_matches(name, known, 1) or [k for k in known if name and k.lower().startswith(name.lower())]
    return f"did you mean '{near[0]}'?" if near else f"the columns are {join_names(known, quoted=True)}"


def refuse_duplicates(table: str, names: Sequence[str]) -> None:
    """`DataError` with the positions (from 1) where two columns have the same name, or one has none."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{table}: column {j} has no name; give it one in the header (or leave the column away)")
        if name in seen:
            raise DataError(f"{table}: columns {seen[name]} and {j} are both called '{name}'; rename one of them")
        seen[name] = j
