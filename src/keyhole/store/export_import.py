"""Export of a store to Parquet files, and import: learners and events; everything else is computed from them."""

import json
import os
import warnings
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from .._internal.escaping import printable
from ..errors import ConfigError, KeyholeWarning, StateError
from .cached_learner import CachedLearner
from .database import SCHEMA_VERSION, Connection, Database
from .events import ADD_EVENT, Event, events_after, first_checksum, reason
from .models import DamagedStore
from .projections import Projection
from .store import add_learner
from .transaction import ADD_ROUND, SET_TOTALS
from .verify import check

__all__ = ["export_store", "import_store"]

_LEARNERS = pa.schema(
    [("name", pa.string()), ("config", pa.string()), ("note", pa.string()), ("created_at", pa.float64())]
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
_PAGE = 10_000


def export_store(database: Database, folder: Path, sound_only: bool = False) -> int:
    """Write all learners and events, but no tokens, into a new folder.

    Parameters
    ----------
    sound_only : of a damaged store, write all that is sound: of each learner the events before the first damaged one.
        A warning names each part that is not written.

    Returns
    -------
    The number of events.

    Raises
    ------
    StateError : the store is damaged, and `sound_only` was not given.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ConfigError(f"{folder} exists; export into a new folder") from None
    except OSError as fault:
        raise ConfigError(f"cannot write {folder}: {fault.strerror}") from None
    total, sound = 0, _sound_learners(database) if sound_only else None
    try:
        with database.reading() as connection:
            learners = _all_learners(connection) if sound is None else sound
            rows = [row for _, _, row in learners]
            pq.write_table(pa.Table.from_pylist(rows, schema=_LEARNERS), folder / "learners.parquet")
            with pq.ParquetWriter(folder / "events.parquet", _EVENTS) as writer:
                for id, head, row in learners:
                    total += _export_events(connection, writer, id, str(row["name"]), head)
        # Written last: a folder without it is not a complete export.
        (folder / "store.json").write_text(json.dumps({"schema": SCHEMA_VERSION, "events": total}) + "\n")
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        raise ConfigError(
            f"the export to {folder} is not complete: {reason}; remove the folder and try again"
        ) from None
    return total


_Exported: TypeAlias = "list[tuple[int, int, dict[str, object]]]"
"""The id, the number of events to export, and the row of each learner."""


def _all_learners(connection: Connection) -> _Exported:
    """Return all learners after checking that every event belongs to one of them."""
    columns = ", ".join(_LEARNERS.names)
    rows = connection.rows(f"SELECT id, head, {columns} FROM keyhole_learners ORDER BY name")
    ((n,),) = connection.rows("SELECT count(*) FROM keyhole_events")
    recorded = sum(head for _, head, *_ in rows)
    if n != recorded:
        raise DamagedStore(f"it has {n} events, but its learners have {recorded}; keyhole store export --sound")
    return [(id, head, dict(zip(_LEARNERS.names, row, strict=True))) for id, head, *row in rows]


def _sound_learners(database: Database) -> _Exported:
    """Return the learners that can be saved; warn of every part that cannot."""
    verdicts = list(check(database))
    for verdict in verdicts:
        if verdict.lost:
            what = f"{verdict.name}: {' and '.join(verdict.lost)} cannot be saved ({verdict.faults[0]})"
            warnings.warn(printable(what), KeyholeWarning, 4)
    return [(v.id, v.sound, v.row) for v in verdicts if v.id is not None and v.row is not None]


def import_store(database: Database, folder: Path) -> int:
    """Import an exported folder in one transaction, and verify every checksum.

    The store must not have a learner of the same name as one in the export.

    Returns
    -------
    The number of events.
    """
    try:
        written = json.loads((folder / "store.json").read_text())["schema"]
        learner_rows = pq.read_table(folder / "learners.parquet", schema=_LEARNERS).to_pylist()
        file = pq.ParquetFile(folder / "events.parquet")
    except (OSError, KeyError, TypeError, ValueError, RecursionError, pa.ArrowException) as fault:
        raise ConfigError(f"{folder} is not what keyhole store export wrote: {fault}") from None
    if written != SCHEMA_VERSION:
        raise StateError(f"{folder} has schema version {written!r:.20}; this keyhole reads {SCHEMA_VERSION} only")
    with database.writing() as connection:
        try:
            return _import_learners(connection, learner_rows, file)
        except Exception as fault:  # files that somebody made up can make a learner or a decoder raise anything
            if isinstance(fault, ConfigError | StateError) and not isinstance(fault, DamagedStore):
                raise
            raise StateError(f"{folder} is damaged: {reason(fault)}; export again") from None


def _import_learners(connection: Connection, learner_rows: list[dict[str, object]], file: pq.ParquetFile) -> int:
    imports = {row["name"]: _LearnerImport(connection, row) for row in learner_rows}
    for batch in file.iter_batches(_PAGE):
        for line in batch.to_pylist():
            imports[line.pop("learner")].add(Event(**line))
    for one in imports.values():
        one.finish()
    return sum(one.head for one in imports.values())


def _export_events(connection: Connection, writer: pq.ParquetWriter, learner: int, name: str, head: int) -> int:
    page: list[dict[str, object]] = []
    n = 0
    for n, event in enumerate(islice(events_after(connection, learner, 0), head), 1):
        if event.number != n:
            raise DamagedStore(f"event {n} of learner '{name}' is missing")
        page.append(event.row(learner) | {"learner": name})
        if len(page) == _PAGE:
            writer.write_table(pa.Table.from_pylist(page, schema=_EVENTS))
            page = []
    if n != head:
        raise DamagedStore(f"learner '{name}' should have {head} events; {n} were found")
    writer.write_table(pa.Table.from_pylist(page, schema=_EVENTS))
    return n


class _LearnerImport:
    """The import of one learner: its rounds, totals and snapshot are recomputed from its events."""

    def __init__(self, connection: Connection, row: dict[str, object]) -> None:
        self.connection, self.name, self.config = connection, str(row["name"]), str(row["config"])
        if connection.row("SELECT id FROM keyhole_learners WHERE name = :name", {"name": self.name}):
            raise ConfigError(f"the store has a learner '{self.name}' already; import into another store")
        self.projection, self.head, self.checksum = Projection(self.name), 0, first_checksum(self.name, self.config)
        self.id = add_learner(connection, self.name, self.config, str(row["note"]), float(str(row["created_at"])))
        self.events: list[dict[str, object]] = []
        self.rounds: list[dict[str, object]] = []

    def add(self, event: Event) -> None:
        """Add an event after checking that it is the next one and unchanged."""
        if event.number != self.head + 1 or event.expected_checksum(self.name, self.checksum) != event.checksum:
            raise StateError(f"learner '{self.name}', event {event.number}: lost or changed on the way; export again")
        if finished := self.projection.apply(event):
            self.rounds.append({"learner": self.id, **finished})
        self.events.append(event.row(self.id))
        self.head, self.checksum = event.number, event.checksum
        if len(self.events) == _PAGE:
            self._flush()

    def finish(self) -> None:
        """Write the open rounds, the totals, and a snapshot of the final state."""
        self.rounds += [{"learner": self.id, **columns} for columns in self.projection.pending]
        self._flush()
        row = {"learner": self.id, "head": self.head, "checksum": self.checksum, **self.projection.totals._asdict()}
        self.connection.run(SET_TOTALS, row)
        cached = CachedLearner(self.id, self.name, json.loads(self.config))
        cached.catch_up(self.connection, self.head)
        cached.snapshot(self.connection)

    def _flush(self) -> None:
        for statement, rows in ((ADD_EVENT, self.events), (ADD_ROUND, self.rounds)):
            if rows:
                self.connection.run_many(statement, rows)
                rows.clear()
