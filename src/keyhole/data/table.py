"""Tables as streams of numeric batches, with row numbers for error messages."""

import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .._internal.escaping import printable
from .._internal.formatting import join_names
from .._internal.typing import Floats
from ..errors import ConfigError, KeyholeWarning

if TYPE_CHECKING:
    import pyarrow as pa

    from .schema import Schema

__all__ = ["Batch", "Column", "DataError", "Table", "open_table", "refuse_duplicates", "schema_beside", "suggestion"]

Carrier: TypeAlias = "str | PathLike[str] | object"

# Integers from here on are not all representable as floats.
_EXACT = 2.0**53


class DataError(ConfigError):
    """Raised when a table cannot be used; the message says where (file, row, column) and what to do.

    `row` counts data rows from 1 (the header is not a row); it is None if the fault is not in one row. The message is
    one line, with control characters from names and cells escaped.
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
    """Whether some cells are text that is not a plain number, whatever the kind."""


class Batch(NamedTuple):
    """Consecutive rows: attributes X (n, d) and labels y (n,), raw, NaN where missing."""

    first: int
    """The number of rows of the table before these."""
    X: Floats
    y: Floats
    """All NaN if no target was requested."""
    prices: Floats | None = None
    """(n, sources) the price of each source in each row; None: the usual prices."""


class Table(ABC):
    """Rows in a fixed order, read in batches; memory use does not grow with the number of rows.

    Construction checks the names (two equal names are a `DataError` with both positions) and reads at most
    a first block of rows.
    """

    name: str
    """The name in messages: the file as the user wrote it, or "the data frame"."""
    columns: tuple[Column, ...]
    rows: int | None
    """The number of rows if known without reading them (Parquet, data frames); None for CSV."""
    width: int
    """The number of columns of the file itself."""

    def __init__(self, name: str, columns: Sequence[Column], rows: int | None) -> None:
        self.name, self.columns, self.rows = name, tuple(columns), rows
        refuse_duplicates(name, [c.name for c in self.columns])
        self.width = len(self.columns)
        self._kinds = {c.name: c.kind for c in self.columns}
        self._rounded: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.columns)

    @abstractmethod
    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> "Iterator[pa.RecordBatch]":
        """Yield the rows, beginning with row `start`, in pieces of any length, with the columns of `names` as numbers.

        The columns in `cells` are returned as stored: as text from CSV, otherwise in their own type.
        """

    def batches(
        self, attributes: Sequence[str], target: str | None = None, start: int = 0, size: int = 4096
    ) -> Iterator[Batch]:
        """Yield rows `start`, `start` + 1, ... in batches of exactly `size` rows (the last may be shorter).

        Only the named columns are read. A value that is not a number is a `DataError` with file, row, column and value,
        raised after all complete batches before it.
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
        """Return the first non-empty cell of a column at or after a row, as stored, with its row number (from 1)."""
        for piece in self.chunks([name], row, cells=[name]):
            values = piece.column(0)
            for i, value in enumerate(values.to_pylist()):
                if value is not None:
                    return row + i + 1, value
            row += len(values)
        return None

    def report_rounded(self, X: Floats, names: Sequence[str], first: int) -> None:
        """Warn, once per column, if an integer is too large to be represented exactly."""
        large = np.abs(X) >= _EXACT
        for j in map(int, np.flatnonzero(large.any(axis=0))) if large.any() else ():
            if names[j] in self._rounded:
                continue
            found = self.cell(names[j], first + int(np.argmax(large[:, j])))
            self._rounded.add(names[j])
            if found is not None and str(found[1]).strip().lstrip("+-").isdigit():
                at = f"{self.name}: row {found[0]}, column '{names[j]}': {str(found[1])[:40]}"
                text = f"{at} is a whole number beyond 2^53, which a float cannot hold exactly: it is rounded"
                warnings.warn(text, KeyholeWarning, stacklevel=2)

    def usable(self, target: str | None, ignored: Sequence[str] = (), *, written: bool = False) -> tuple[str, ...]:
        """Return the number columns except the target and the ignored ones: the attributes of a run without a schema.

        Any other column that is not ignored is a `DataError`, as is an unknown name. With `written` (numbers in a
        declared format), text columns are allowed, since they may hold numbers.
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

    def require(self, names: Sequence[str], target: str | None = None, *, declared: bool = False) -> None:
        """Raise a `DataError` unless all these columns exist and hold numbers, as a schema may have `declared`."""
        for name in names:
            kind = self.kind(name)
            if kind != "number":
                raise self._refusal(name, kind, name == target, declared)

    def _refusal(self, name: str, kind: str, is_target: bool, declared: bool) -> DataError:
        """Return the error for a column without numbers: its content, the first such cell, and the remedy."""
        from .cell_encoding import hint

        what = {"text": "text", "time": "dates or times"}.get(kind, "no numbers")
        found = self.cell(name) if kind in ("text", "time") else None
        at = f" (row {found[0]}: {str(found[1])!r})" if found else ""
        form = hint(str(found[1])) if found else ""
        place = schema_beside(self.name)
        schema = f"there is {place}: give it with --schema" if place.is_file() else "keyhole diagnose writes one"
        fix = f"a schema must declare its type or ignore it, and {schema}"
        if form:
            fix = f'declare numbers = "{form}" for it in the schema if that is how its numbers are written'
        elif declared:
            fix = "the schema or the model takes it for numbers: correct the file, or declare its type and train again"
        elif is_target:
            fix = (
                f"a target of two words needs a schema that makes them yes and no, and {schema}; "
                "otherwise choose another target, or code it as a number"
            )
        text = f"{self.name}: {'the target' if is_target else 'column'} '{name}' holds {what}{at}"
        return DataError(f"{text}; {fix}", found[0] if found else None, name)

    def digest(self, attributes: Sequence[str], target: str | None, rows: int) -> str:
        """Return a digest of the first `rows` rows, to show that they are unchanged after a correction further down."""
        state, left = hashlib.sha256(), rows
        for batch in self.batches(attributes, target):
            n = min(left, len(batch.X))
            state.update(np.column_stack([batch.X[:n], batch.y[:n]]).tobytes())
            left -= n
            if left == 0:
                break
        return f"{rows - left}:{state.hexdigest()}"

    def kind(self, name: str) -> str:
        """Return the kind of a column; an unknown column is a `DataError`."""
        if name not in self._kinds:
            raise DataError(
                f"{self.name}: there is no column '{name}'; {suggestion(name, list(self._kinds))}", column=name
            )
        return self._kinds[name]


def open_table(source: Carrier, schema: "Schema | None" = None, encoding: str = "") -> Table:
    """Open a path to CSV (also .tsv, .csv.gz) or Parquet, or any data frame that narwhals supports, as a table.

    With a schema, the columns are the encoded attributes of the schema: categories as indicators, dates as days.
    """
    # Imported here because these modules import this one, and because pyarrow loads slowly.
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


def schema_beside(file: "str | PathLike[str]") -> Path:
    """Return the path where `keyhole diagnose` writes the schema of a file.

    >>> str(schema_beside("data/visits.csv.gz"))
    'data/visits.schema.toml'
    """
    path = Path(file)
    return path.with_name(f"{Path(path.name.removesuffix('.gz')).stem}.schema.toml")


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a hint at the intended name: a similar one, or one that begins with the given text.

    >>> suggestion("cost", ["id", "cost_next_year"])
    "did you mean 'cost_next_year'?"
    """
    near = get_close_matches(name, known, 1) or [k for k in known if name and k.lower().startswith(name.lower())]
    return f"did you mean '{near[0]}'?" if near else f"the columns are {join_names(known, quoted=True)}"


def refuse_duplicates(table: str, names: Sequence[str]) -> None:
    """Raise a `DataError` with the positions (from 1) if two columns have the same name or one has none."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{table}: column {j} has no name; give it one in the header (or remove the column)")
        if name in seen:
            raise DataError(f"{table}: columns {seen[name]} and {j} are both called '{name}'; rename one of them")
        seen[name] = j
