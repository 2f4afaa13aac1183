"""A store as Parquet files, and back: learners and events; the rest follows from them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, select

from ..errors import ConfigError, StateError
from .cached_learner import CachedLearner, events_after
from .database import Database
from .events import Event, first_checksum
from .projections import Projection
from .sql_tables import SCHEMA, learners, snapshots
from .statements import ADD_EVENT, ADD_ROUND, SET_TOTALS

__all__ = ["export", "import_"]

_LEARNERS = pa.schema(
    [("name", pa.string()), ("config", pa.string()), ("note", pa.string()), ("made_at", pa.float64())]
)
_EVENTS = pa.schema(
    [
        ("learner", pa.string()),
        ("number", pa.int64()),
        ("kind", pa.string()),
        ("round", pa.int64()),
        ("at", pa.float64()),
        ("body", pa.string()),
        ("checksum", pa.string()),
    ]
)
_STARTS = pa.schema(
    [("learner", pa.string()), ("number", pa.int64()), ("version", pa.string()), ("model", pa.binary())]
)
_PAGE = 10_000


def export(database: Database, folder: Path) -> int:
    """Write learners, events and the snapshots where replays begin; tokens stay. Gives the number of events."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ConfigError(f"{folder} exists; export into a new folder") from None
    total = 0
    with database.reading() as connection:
        people = connection.execute(select(learners).order_by(learners.c.name)).mappings().all()
        rows = [{name: row[name] for name in _LEARNERS.names} for row in people]
        pq.write_table(pa.Table.from_pylist(rows, schema=_LEARNERS), folder / "learners.parquet")
        with pq.ParquetWriter(folder / "events.parquet", _EVENTS) as writer:
            for row in people:
                total += _export_events(connection, writer, row["id"], row["name"], row["head"])
        mine = select(learners.c.name.label("learner"), *(snapshots.c[n] for n in _STARTS.names[1:]))
        starts = connection.execute(mine.join_from(snapshots, learners).where(snapshots.c.start)).mappings().all()
        pq.write_table(pa.Table.from_pylist([dict(s) for s in starts], schema=_STARTS), folder / "starts.parquet")
    (folder / "store.json").write_text(json.dumps({"schema": SCHEMA, "events": total}) + "\n")
    return total


def import_(database: Database, folder: Path) -> int:
    """Read an export into a store that has none of its learners, in one transaction; every checksum is checked."""
    try:
        written = json.loads((folder / "store.json").read_text())["schema"]
        people = pq.read_table(folder / "learners.parquet", schema=_LEARNERS).to_pylist()
        starts = pq.read_table(folder / "starts.parquet", schema=_STARTS).to_pylist()
        file = pq.ParquetFile(folder / "events.parquet")
    except (OSError, KeyError, ValueError, pa.ArrowInvalid) as fault:
        raise ConfigError(f"{folder} is not what keyhole store export wrote: {fault}") from None
    if written > SCHEMA:
        raise StateError(f"{folder} has schema {written}, this version knows {SCHEMA}; install a newer keyhole")
    with database.writing() as connection:
        loads = {row["name"]: _Load(connection, row) for row in people}
        for batch in file.iter_batches(_PAGE):
            for line in batch.to_pylist():
                loads[line.pop("learner")].add(Event(**line))
        for load in loads.values():
            load.finish([s for s in starts if s["learner"] == load.name])
    return sum(load.head for load in loads.values())


def _export_events(connection: Connection, writer: pq.ParquetWriter, learner: int, name: str, head: int) -> int:
    page: list[dict[str, object]] = []
    for event in events_after(connection, learner, 0):
        if event.number > head:
            break
        page.append(event.row(learner) | {"learner": name})
        if len(page) == _PAGE:
            writer.write_table(pa.Table.from_pylist(page, schema=_EVENTS))
            page = []
    writer.write_table(pa.Table.from_pylist(page, schema=_EVENTS))
    return head


class _Load:
    """One learner on its way in: what follows from its events is worked out again."""

    def __init__(self, connection: Connection, row: dict[str, object]) -> None:
        self.connection, self.name, self.config = connection, str(row["name"]), str(row["config"])
        if connection.execute(select(learners.c.id).where(learners.c.name == self.name)).first():
            raise ConfigError(f"the store has a learner '{self.name}' already; import into another store")
        self.fold, self.head, self.checksum = Projection(), 0, first_checksum(self.name, self.config)
        new = {**row, "head": 0, "checksum": self.checksum, **self.fold.totals._asdict()}
        key = connection.execute(learners.insert().values(new)).inserted_primary_key
        assert key is not None
        self.id: int = key[0]
        self.events: list[dict[str, object]] = []
        self.rounds: list[dict[str, object]] = []

    def add(self, event: Event) -> None:
        """One event, if it is the next and nobody changed it."""
        if event.number != self.head + 1 or event.sum(self.name, self.checksum) != event.checksum:
            raise StateError(f"learner '{self.name}', event {event.number}: lost or changed on the way; export again")
        if ended := self.fold.take(event):
            self.rounds.append(ended.row(self.id))
        self.events.append(event.row(self.id))
        self.head, self.checksum = event.number, event.checksum
        if len(self.events) == _PAGE:
            self._flush()

    def finish(self, starts: list[dict[str, object]]) -> None:
        """The open rounds, the totals, and a snapshot of the last state."""
        self.rounds += [standing.row(self.id) for standing in self.fold.pending.values()]
        self._flush()
        for start in starts:
            row = {**start, "learner": self.id, "start": True}
            self.connection.execute(snapshots.insert().values(row))
        row = {"me": self.id, "head": self.head, "checksum": self.checksum, **self.fold.totals._asdict()}
        self.connection.execute(SET_TOTALS.clause, row)
        live = CachedLearner(self.id, self.name, json.loads(self.config))
        live.catch_up(self.connection, self.head)
        if self.head not in [start["number"] for start in starts]:
            live.snapshot(self.connection)

    def _flush(self) -> None:
        for statement, rows in ((ADD_EVENT.clause, self.events), (ADD_ROUND.clause, self.rounds)):
            if rows:
                self.connection.execute(statement, rows)
                rows.clear()
