"""Frozen use of a trained learner: it buys its support, predicts, and learns nothing."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from .._types import Floats
from ..errors import ConfigError, StateError
from ..files import replacing
from ..loading import from_bytes, note_in
from ..protocol import Learner
from ..scaling import Scaling
from ..streams import Schema, Table

__all__ = ["Frozen"]

_SCHEMA = pa.schema([("row", pa.int64()), ("prediction", pa.float64())])


class Frozen:
    """A learner in the state it was saved in, and how it sees the columns of a table.

    The prediction is the learner's own, for a round that exploits; the round is never told, so nothing changes.
    """

    def __init__(self, learner: Learner, scaling: Scaling) -> None:
        self.learner, self.scaling = learner, scaling
        self.round = learner.ask(available=[learner.names[i] for i in learner.support])
        for _ in range(100):  # an exploration may come first; the learner is ours to ask again
            if self.round.kind == "exploit":
                break
            self.round = learner.ask(available=[learner.names[i] for i in learner.support])
        self.names = self.round.names

    @classmethod
    def read(cls, path: Path) -> "Frozen":
        """The model in a file, with the schema it was trained with; a foreign or damaged file is a `StateError`."""
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise ConfigError(f"{path} cannot be read ({fault.strerror}); give the model.kh of a run") from None
        try:
            learner, note = from_bytes(data), note_in(data)
        except StateError as fault:
            raise StateError(f"{path}: {fault}") from None
        raw = Scaling(Schema.plain("label", learner.names), scaled=False, clip=False)
        return cls(learner, Scaling.from_note(note) if note else raw)

    def predict(self, X: Floats) -> Floats:
        """The predictions for raw values of the support's columns, (n, |support|), in the label's own units."""
        wide = np.zeros((X.shape[0], self.learner.d))
        wide[:, self.round.attributes] = X
        seen = self.scaling.rows(wide)[:, self.round.attributes]
        return self.scaling.predictions(np.array([self.learner.predict(self.round, row) for row in seen]))

    def _bought(self, table: Table) -> Iterator[tuple[int, Floats]]:
        """The support's columns; where it is empty, any column of numbers tells how many rows there are."""
        if not self.names:
            table = getattr(table, "table", table)
        columns = self.names or [c.name for c in table.columns if c.kind == "number"][:1]
        for batch in table.batches(columns):
            yield batch.first, batch.X[:, : len(self.names)]

    def write(self, table: Table, path: Path, over: bool = False) -> tuple[int, int]:
        """Predict every row of a table into a CSV or Parquet file; gives how many rows, and missing values.

        A file that is there is replaced where `over` says so.
        """
        rows = missing = 0
        writer = pq.ParquetWriter if path.suffix in (".parquet", ".pq") else pc.CSVWriter
        try:
            with replacing(path, over=over) as file, writer(file, _SCHEMA) as out:
                for first, X in self._bought(table):
                    y_hat = self.predict(X)
                    number = np.arange(first + 1, first + 1 + y_hat.size)
                    out.write_table(pa.table({"row": number, "prediction": y_hat}, schema=_SCHEMA))
                    rows, missing = rows + y_hat.size, missing + int(np.isnan(X).sum())
        except OSError as fault:
            raise ConfigError(f"{path} cannot be written ({fault.strerror or fault}); choose another --out") from None
        return rows, missing
