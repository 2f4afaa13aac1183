"""Predictions of a frozen learner: it buys its support, predicts, and does not learn."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from .._internal.atomic_io import replacing
from .._internal.typing import Floats
from ..core.learner import Learner, ask_to_exploit
from ..core.serialization import content_of, from_bytes, note_in
from ..data.cell_encoding import regroup
from ..data.scaling import Scaling
from ..data.streams import Schema, Table
from ..data.table import DataError
from ..data.value_counts import ValueCounts, ValueRanges
from ..errors import ConfigError, StateError

__all__ = ["Frozen", "Written", "refuse_extension"]

_NAMES = ("row", "prediction", "low", "high", "price")
_PARQUET = (".parquet", ".pq")
_ROWS = 4096
# Values that lie this many ranges outside those seen in training are reported.
_FAR = 0.5


class Written(NamedTuple):
    """The result of predicting a table."""

    rows: int
    missing: int
    outside: tuple[str, ...]
    """One sentence per attribute with values outside its range."""


class Frozen:
    """A learner in its saved state, and its scaling of the columns of a table.

    Predictions are those of an exploitation round; the label is never revealed, so the learner does not change.
    """

    def __init__(self, learner: Learner, scaling: Scaling) -> None:
        self.learner, self.scaling = learner, scaling
        self.round = ask_to_exploit(learner)
        self.names = self.round.names

    @classmethod
    def read(cls, path: Path) -> "Frozen":
        """Read a model and the schema it was trained with; a foreign or damaged file is a `StateError`."""
        try:
            data = content_of(path)
            learner, note = from_bytes(data), note_in(data)
        except OSError as fault:
            raise ConfigError(f"{path} cannot be read ({fault.strerror}); give the model.kh of a run") from None
        except StateError as fault:
            raise StateError(f"{path}: {fault}") from None
        raw = Scaling(Schema.plain("label", learner.names), scaled=False, clip=False)
        return cls(learner, Scaling.from_note(note) if note else raw)

    @property
    def price(self) -> float:
        """The usual price of a row: that of the sources behind the purchases, each counted once."""
        schema, bought = self.scaling.schema, set(self.names)
        return sum(schema.source_prices[s] for s, brings in schema.sources.items() if bought.intersection(brings))

    def predict(self, X: Floats, level: float = 0.9) -> dict[str, Floats]:
        """Return `prediction`, and `low` and `high` if the learner has intervals, in the label's units, not rounded.

        X (n, |support|) holds raw values of the columns of the support.
        """
        wide = np.zeros((X.shape[0], self.learner.d))
        wide[:, self.round.attributes] = X
        seen = self.scaling.rows(wide)[:, self.round.attributes]
        found = {"prediction": np.array([self.learner.predict(self.round, row) for row in seen])}
        if self.learner.gives_intervals:
            ends = np.array([self.learner.interval(self.round, row, level) for row in seen]).reshape(-1, 2)
            found |= {"low": ends[:, 0], "high": ends[:, 1]}
        return {name: self.scaling.predictions(numbers) for name, numbers in found.items()}

    @property
    def ranges(self) -> ValueRanges:
        """The ranges of the schema, or else those seen in training, widened on both sides by half."""
        schema, clip = self.scaling.schema, self._clips
        ranges = ValueRanges.of(schema, clip)
        for i, name in enumerate(ranges.names):
            if not clip and name in self.scaling.seen:
                low, high = self.scaling.seen[name]
                reach = _FAR * (high - low)
                ranges.low[i], ranges.high[i] = low - reach, high + reach
        return ranges

    @property
    def _clips(self) -> bool:
        return self.scaling.clip or self.scaling.scaled

    def _blocks(self, table: Table, column: str | None) -> Iterator[tuple[int, Floats, pa.Array | None]]:
        """Yield the columns of the support and the identifying column; an empty support reads any one column."""
        inner = getattr(table, "table", table)
        names = iter(()) if column is None else regroup(inner.chunks([column], 0, cells=[column]), _ROWS)
        reading = table if self.names else inner
        columns = self.names or [c.name for c in inner.columns if c.kind == "number"][:1]
        for batch in reading.batches(columns, size=_ROWS):
            pieces = next(names, None)
            named = None if pieces is None else pa.chunked_array([p.column(0) for p in pieces]).combine_chunks()
            yield batch.first, batch.X[:, : len(self.names)], named

    def write(
        self, table: Table, path: Path, over: bool = False, column: str | None = None, level: float = 0.9
    ) -> "Written":
        """Predict every row of a table into a CSV or Parquet file; return the row count and the doubtful values.

        An existing file is replaced only with `over`; `column` is copied, to identify the rows.
        """
        rows = missing = 0
        ranges, bought = self.ranges, self.round.attributes
        counts = ValueCounts.zero(len(ranges.names))
        if column in _NAMES:
            raise ConfigError(
                f"--id {column}: the predictions have a column of that name already; rename it in the file"
            )
        if column is not None:
            getattr(table, "table", table).kind(column)
        blocks = self._blocks(table, column)
        writer = pq.ParquetWriter if path.suffix in _PARQUET else pc.CSVWriter
        try:
            with ExitStack() as stack:
                file, out = stack.enter_context(replacing(path, over=over)), None
                for first, X, named in blocks:
                    if np.isinf(X).any():
                        i, j = np.argwhere(np.isinf(X))[0]
                        at = f"{table.name}: row {first + i + 1} (without the header), column '{self.names[j]}'"
                        raise DataError(f"{at} is infinite; correct it, or leave the cell empty")
                    part = self._part(first, X, named, column, level)
                    out = out or stack.enter_context(writer(file, part.schema))
                    out.write_table(part)
                    rows, missing = rows + len(X), missing + int(np.isnan(X).sum())
                    counts += ranges.count(X.ravel(), np.tile(bought, len(X)))
        except OSError as fault:
            raise ConfigError(f"{path} cannot be written ({fault.strerror or fault}); choose another --out") from None
        then = "clipped" if self._clips else "used as they are; check them"
        return Written(rows, missing, tuple(ranges.sentences(counts, then).values()))

    def _part(self, first: int, X: Floats, named: pa.Array | None, column: str | None, level: float) -> pa.Table:
        columns: dict[str, object] = {} if column is None else {column: named}
        columns["row"] = np.arange(first + 1, first + 1 + len(X))
        return pa.table(columns | self.predict(X, level) | {"price": np.full(len(X), self.price)})


def refuse_extension(path: Path) -> None:
    """Raise a `ConfigError` if the file name does not end in .csv or .parquet."""
    if path.suffix not in (*_PARQUET, ".csv"):
        raise ConfigError(f"{path}: predictions are written as .csv or .parquet; give --out a name that ends in one")
