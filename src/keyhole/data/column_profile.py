"""One pass over a whole table: usable columns, ranges, and second moments of the scaled rows."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError
from .columns import TRANSFORMS, Attribute, Label
from .encoded_table import EncodedTable
from .schema import Schema
from .schema_inference import ROWS, propose, propose_transform, words_of
from .schema_toml import quoted
from .table import Batch, DataError, Table

__all__ = ["Profile", "ProposedPanel", "covariance", "proposed_schema"]

Progress: TypeAlias = Callable[[int], None]

# Minimum number of shared gaps for two columns to be proposed as a panel; the separators that end a name's prefix.
_SAME_GAPS = 5
_WORD = re.compile(r"(\w+?)[_ .:-]")

# With fewer rows than this, a column that increases by chance cannot be told from a row number.
_RISING = 20


class ProposedPanel(NamedTuple):
    """Columns that may be ordered together, and the reason for the proposal."""

    name: str
    columns: tuple[str, ...]
    why: str


def _panel_name(names: Sequence[str], columns: Sequence[str], others: Sequence[ProposedPanel]) -> str:
    """Return the common prefix of the names, or a numbered name; never the name of a column or of another panel."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    start = "".join(letters[0] for letters in same).rstrip("_ .:-")
    name = start if len(start) > 1 else f"panel {len(others) + 1}"
    taken = {*columns, *(panel.name for panel in others)}
    return name if name not in taken else f"{name} panel"


class Profile:
    """Counts, ranges and means of a table over all its rows, and the schema that they suggest.

    Columns that are not plain numbers are examined first (`propose`): yes/no, dates, formatted numbers and categories
    are `proposed`; all others are `dropped` with the reason, as are constant and empty columns and columns that only
    number the rows. `ignored` columns are dropped without a reason. The format of `numbers` is inferred unless it is
    given. An infinite value is a `DataError`.
    """

    def __init__(
        self,
        table: Table,
        target: str,
        ignored: Sequence[str] = (),
        progress: Progress | None = None,
        numbers: str = "",
        na: Sequence[str] = (),
    ) -> None:
        for name in (target, *ignored):
            table.kind(name)
        self.table, self.target = table, target
        # Text may appear late in a column of numbers; such a column is then examined cell by cell as well.
        late: list[str] = []
        while True:
            try:
                self._propose(ignored, progress or (lambda rows: None), numbers, na, late)
                return
            except DataError as fault:
                if fault.column is None or fault.column in late or "is not a number" not in str(fault):
                    raise
                late.append(fault.column)

    def _propose(
        self, ignored: Sequence[str], progress: Progress, numbers: str, na: Sequence[str], late: Sequence[str]
    ) -> None:
        """Examine the cells of the columns that are not plain numbers, then the numbers of all columns."""
        table, target = self.table, self.target
        found, self.bad_cells = propose(table, ignored, na, late)
        self.label = _label(table, target, found.get(target), numbers)
        self.dropped = {name: why for name, why in found.items() if isinstance(why, str)} | dict.fromkeys(ignored, "")
        left = [c.name for c in table.columns if c.name != target and c.name not in self.dropped]
        if not left:
            raise DataError(f"{table.name}: there is no usable column besides '{target}'")
        lines = ((name, found.get(name)) for name in left)
        columns = tuple(line if isinstance(line, Attribute) else Attribute(name) for name, line in lines)
        self._draft = Schema(self.label, columns, tuple(self.dropped)).written(numbers).with_missing(na)
        self.label = replace(self.label, missing=self._draft.label.missing)
        self.encoded = EncodedTable(table, self._draft)
        self._look(progress)
        self._drop()
        if self._zero_or_one and not self.label.numbers:
            self.label = replace(self.label, type="yes/no")
        self._propose_transforms()

    def _look(self, progress: Progress) -> None:
        """Compute counts, ranges and means of each attribute; the label comes last."""
        d = len(self._draft.names) + 1
        self.rows = 0
        seen: Ints = np.zeros(d, dtype=np.int64)
        self.low, self.high, total = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d)
        self._rising: Bools = np.ones(d, dtype=np.bool_)
        last = np.full(d, -np.inf)
        # Two columns with the same sum of per-row random numbers over their gaps have gaps in the same rows.
        rng, gaps = np.random.default_rng(0), np.zeros(d, dtype=np.int64)
        self._zero_or_one = True
        sample: list[Floats] = []
        for batch in _finite(self.encoded, self._draft.names, self.target):
            block = np.column_stack([batch.X, batch.y])
            self._zero_or_one &= bool(np.isin(batch.y[~np.isnan(batch.y)], (0.0, 1.0)).all())
            if self.rows < ROWS:
                sample.append(block)
            there = ~np.isnan(block)
            gaps += rng.integers(1 << 40, size=len(block)) @ (~there).astype(np.int64)
            seen += there.sum(axis=0)
            total += np.where(there, block, 0.0).sum(axis=0)
            self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
            self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
            # Row numbers: integers, none missing, strictly increasing (NaN compares as false).
            steps = np.diff(np.vstack([last, block]), axis=0) > 0
            self._rising &= steps.all(axis=0) & (block == np.floor(block)).all(axis=0)
            last = block[-1]
            self.rows += len(block)
            progress(self.rows)
        if not self.rows:
            raise DataError(f"{self.table.name} has no rows")
        self._sample = np.concatenate(sample)
        self.missing, self._gaps = self.rows - seen, gaps
        mean = [float(f"{m:.6g}") for m in total / np.maximum(seen, 1)]  # six digits: a person reads and edits them
        self.mean = np.clip(mean, self.low, self.high)

    def _drop(self) -> None:
        """Drop the columns that cannot help to predict, and set the ranges of the others."""
        if self.missing[-1] == self.rows:
            raise DataError(f"{self.table.name}: the target '{self.target}' is missing in every row; choose another")
        if self.low[-1] == self.high[-1]:
            only = f"'{self.target}' is {self.low[-1]:g} in all {self.rows - self.missing[-1]} rows that have it"
            raise DataError(f"{self.table.name}: the target {only}: there is nothing to predict; choose another target")
        first = 0
        self.used: list[Attribute] = []
        self._missing: dict[str, int] = {}
        self._mark: dict[str, int] = {}
        for a in self._draft.attributes:
            if why := self._reason(first, a):
                self.dropped[a.name] = why
            else:
                self.used.append(self._ranged(first, a))
                self._missing[a.name] = int(self.missing[first])
                self._mark[a.name] = int(self._gaps[first])
            first += len(a.encoded())
        if not self.used:
            raise DataError(f"{self.table.name}: there is no usable column besides '{self.target}'")

    def _propose_transforms(self) -> None:
        """Give each skewed column the transform that explains the label better, and adapt its range."""
        place = {name: i for i, name in enumerate(self._draft.names)}
        labels = self._sample[:, -1]
        for j, a in enumerate(self.used):
            if a.type != "number":
                continue
            x = self._sample[:, place[a.name]]
            if name := propose_transform(x, labels):
                forward = TRANSFORMS[name].forward
                low, high = float(forward(np.array(a.low))), float(forward(np.array(a.high)))
                center = float(np.clip(np.nanmean(forward(x)), low, high))
                self.used[j] = replace(a, transform=name, low=low, high=high, center=center)
        del self._sample

    def _reason(self, i: int, a: Attribute) -> str:
        """Return why the column whose first attribute is i cannot help a prediction; "" if it may."""
        if self.missing[i] == self.rows:
            return "empty"
        if self.low[i] == self.high[i] and a.type != "category":
            return "constant"
        return "numbers the rows" if self._rising[i] and a.type == "number" and self.rows >= _RISING else ""

    def _ranged(self, i: int, a: Attribute) -> Attribute:
        if a.type not in ("number", "date"):
            return a
        return replace(a, low=float(self.low[i]), high=float(self.high[i]), center=float(self.mean[i]), estimated=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the usable attributes."""
        return tuple(e.name for a in self.used for e in a.encoded())

    @property
    def proposed(self) -> dict[str, str]:
        """A short description of the proposed type of each column that is not plain numbers."""
        return {a.name: words for a in self.used if (words := words_of(a))}

    def schema(self, prices: Mapping[str, float] | None = None) -> Schema:
        """Return the suggested schema; prices of dropped columns are ignored, unknown names are refused."""
        ends = (float(self.low[-1]), float(self.high[-1]), float(self.mean[-1]))
        ranged = replace(self.label, low=ends[0], high=ends[1], center=ends[2], estimated=True)
        label = self.label if self.label.is_binary else ranged
        ignored = tuple(c.name for c in self.table.columns if c.name in self.dropped)
        found = Schema(label, tuple(self.used), ignored)
        for name in prices or {}:
            if name not in ("*", self.target, *found.columns, *self.dropped):
                raise ConfigError(
                    f"the prices name '{name}', which is not a column of {self.table.name}; a source of several "
                    "columns is declared in the schema, and priced when that is used"
                )
        return found.with_prices(
            {name: price for name, price in (prices or {}).items() if name in ("*", *found.columns)}
        )

    def panels(self) -> list[ProposedPanel]:
        """Return columns that may be ordered together: missing in the same rows, or with a common name prefix."""
        found: list[ProposedPanel] = []
        columns = [a.name for a in self.used]
        marks = {name: self._mark[name] for name in columns if self._missing[name] >= _SAME_GAPS}
        for mark in dict.fromkeys(marks.values()):
            together = tuple(name for name in marks if marks[name] == mark)
            if 1 < len(together) < len(columns):
                why = f"missing in the same {self._missing[together[0]]} rows"
                found.append(ProposedPanel(_panel_name(together, columns, found), together, why))
        placed = {name for panel in found for name in panel.columns}
        starts: dict[str, list[str]] = {}
        for name in columns:
            word = None if name in placed else _WORD.match(name)
            if word is not None and len(word[1]) > 1:
                starts.setdefault(word[1], []).append(name)
        for start, names in starts.items():
            if 1 < len(names) < len(columns):
                why = f"names begin with '{start}'"
                found.append(ProposedPanel(_panel_name(names, columns, found), tuple(names), why))
        return found

    def missing_share(self) -> dict[str, float]:
        """Return the share of missing values of each usable column that has any, largest first."""
        shares = {name: missing / self.rows for name, missing in self._missing.items()}
        return {name: share for name, share in sorted(shares.items(), key=lambda s: -s[1]) if share > 0}


def _label(table: Table, target: str, found: "Attribute | str | None", numbers: str) -> Label:
    """Return the label that the cells of its column suggest: numbers, or yes/no if there are exactly two words."""
    if isinstance(found, Attribute) and found.type == "yes/no":
        return Label(target, type="yes/no")
    if isinstance(found, Attribute) and found.type == "category" and found.values and len(found.values) == 2:
        return Label(target, type="yes/no", negative=found.values[0], positive=found.values[1])
    if isinstance(found, str) or (isinstance(found, Attribute) and found.type != "number"):
        table.require([target], target)
    said = found if isinstance(found, Attribute) else Attribute(target)
    words = {"missing": said.missing, "below": said.below, "above": said.above}
    return Label(target, numbers=numbers or said.numbers, **words)  # type: ignore[arg-type]


def covariance(table: Table, schema: Schema, progress: Progress | None = None) -> tuple[int, Floats]:
    """Return (n, C), where C (d+1, d+1) is the covariance of the scaled rows with the label last.

    Only the n rows with a label count. Missing attributes count as their centre.
    """
    d, n, rows = len(schema.names), 0, 0
    C, total = np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    for batch in EncodedTable(table, schema).batches(schema.names, schema.target):
        Z = np.column_stack([schema.scale(batch.X), schema.scale_label(batch.y)])
        Z = np.nan_to_num(Z[~np.isnan(Z[:, -1])], nan=0.0)
        C += Z.T @ Z
        total += Z.sum(axis=0)
        n, rows = n + len(Z), rows + len(batch.X)
        (progress or (lambda rows: None))(rows)
    mean = total / max(n, 1)
    return n, C / max(n, 1) - np.outer(mean, mean)


def scaled_first_rows(table: Table, schema: Schema, most: int) -> Floats:
    """Return the first labelled rows, at most `most`, as (n, d+1), scaled as in `covariance`, centred, label last."""
    found: list[Floats] = []
    for batch in EncodedTable(table, schema).batches(schema.names, schema.target):
        Z = np.column_stack([schema.scale(batch.X), schema.scale_label(batch.y)])
        found.append(np.nan_to_num(Z[~np.isnan(Z[:, -1])], nan=0.0))
        if sum(map(len, found)) >= most:
            break
    rows = np.concatenate([np.empty((0, len(schema.names) + 1)), *found])[:most]
    return rows - rows.mean(axis=0) if len(rows) else rows


def _finite(table: Table, names: Sequence[str], target: str) -> Iterator[Batch]:
    """Yield the batches of a table; raise a `DataError` that names the first infinite value."""
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


_MONEY = """\
# What things cost. Remove the marks and write your own numbers:
# [money]
# currency = "EUR"
"""
_SOURCE = """\
# [sources.{name}]    # {why}
# price = 1.0
# columns = [{columns}]
"""
_ATTRIBUTES = "# One line per column. Add price = 2.5 to what is ordered alone, free = true to what is there anyway."


def proposed_schema(schema: Schema, panels: Sequence[ProposedPanel]) -> str:
    """Return the schema as TOML with commented [money] and [sources]; `Schema.from_toml` reads it back."""
    head, mark, attributes = schema.to_toml().partition("\n[attributes]\n")
    if not schema.unit:
        head += '# unit = "mmHg"    # the unit of the label\n'
    blocks = [] if schema.currency else [_MONEY]
    for panel in panels:
        columns = ", ".join(map(quoted, panel.columns))
        blocks.append(_SOURCE.format(name=quoted(panel.name), why=panel.why, columns=columns))
    return "\n".join([head, *blocks, f"{_ATTRIBUTES}{mark}{attributes}"])
