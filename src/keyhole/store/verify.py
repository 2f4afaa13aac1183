"""Verification of a store: check every checksum, and replay all events, which must reproduce the same bytes.

The verification is made for damaged stores. Whatever the database contains, the result is one verdict per learner: the
first damaged event, and what can be saved.
"""

import json
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .. import __version__
from .._internal.escaping import printable
from ..core.serialization import to_bytes
from ..errors import KeyholeWarning
from .database import ROUND_COLUMNS, TOTAL_COLUMNS, Connection, Database, Row, create_statements
from .events import Event, events_after, first_checksum, floats, reason, replay
from .learner_row import VALID_NAME, learner_config, learner_note, new_learner
from .models import DamagedStore
from .projections import Projection
from .tokens import damaged_tokens

__all__ = ["Verdict", "check"]

_MAX_FAULTS = 5
_PAGE = 500
_KINDS = ("ask", "predict", "tell", "abandon", "past_rows", "model")
_OWNED = ("events", "rounds", "snapshots")
_BEFORE_ALL = -(2**63)  # less than the number of any event


@dataclass
class Verdict:
    """The result of the verification of one learner, or of what belongs to no learner."""

    name: str
    """The name of the learner ("learner number 2" if it cannot be read), or "the database"."""
    id: int | None = None
    """The number of the learner in the table of learners; None for the database."""
    events: int = 0
    """The number of events that were read."""
    sound: int = 0
    """The number of events before the first damaged one; these can be saved."""
    faults: list[str] = field(default_factory=list)
    row: dict[str, object] | None = None
    """What can be saved of the learner's row: name, config, note and created_at; None if nothing can be saved."""
    lost: list[str] = field(default_factory=list)
    """What cannot be saved."""

    @property
    def good(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def add(self, text: str) -> None:
        """Record a fault. Only the first ones are kept, because later ones usually follow from them."""
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(text)

    @contextmanager
    def part(self, where: str = "", lost: str | None = None) -> Iterator[None]:
        """Check one part: any error in it is a fault, after which the next part is still checked."""
        try:
            yield
        except Exception as fault:
            self.add(where + printable(reason(fault)))
            if lost is not None:
                self.lost.append(lost)


def check(database: Database) -> Iterator[Verdict]:
    """Verify the database, and every learner: its row, events, checksums, rounds, totals and snapshots.

    The verdict on the database itself comes first, and only if it has faults. Each learner is read in one transaction,
    so that a server may write meanwhile. Raises `StateError` only if the table of learners itself cannot be read.
    """
    verdict = Verdict("the database")
    for check_part in (_check_pages, _check_schema, _check_owners, _check_tokens):
        with database.reading() as connection, verdict.part():
            check_part(connection, verdict)
    if not verdict.good:
        yield verdict
    with database.reading() as connection:
        ids = [id for (id,) in connection.rows("SELECT id FROM keyhole_learners ORDER BY id")]
    for id in ids:
        verdict = Verdict(f"learner number {id}", id)
        with database.reading() as connection, verdict.part(lost="everything"):
            _LearnerCheck(connection, id, verdict).run()
        yield verdict


# -- the database


def _check_pages(connection: Connection, verdict: Verdict) -> None:
    """Let SQLite compare its pages and indexes."""
    if connection.sqlite:
        for (text,) in connection.rows(f"PRAGMA integrity_check({_MAX_FAULTS})"):
            if text != "ok":
                verdict.add(f"SQLite finds: {printable(str(text))}")


def _check_schema(connection: Connection, verdict: Verdict) -> None:
    """Compare the tables and indexes with those that keyhole creates; it recreates none in an existing store."""
    for statement in create_statements(connection.sqlite):
        definition = statement.replace("IF NOT EXISTS ", "")
        _, kind, name = definition.split()[:3]
        if connection.sqlite:
            found = connection.row("SELECT sql FROM sqlite_master WHERE name = :relation", {"relation": name})
            same = found is not None and _normal(str(found[0])) == _normal(definition)
        else:
            found = connection.row("SELECT to_regclass(:relation)::text", {"relation": name})
            found = None if found is None or found[0] is None else found
            same = found is not None
        if not same:
            verdict.add(f"the {kind.lower()} {name} is {'not as keyhole creates it' if found else 'missing'}")


def _normal(definition: str) -> str:
    """Return a definition without blanks and quotes, which SQLite adds when a table is renamed."""
    return re.sub(r'[\s"]', "", definition)


def _check_owners(connection: Connection, verdict: Verdict) -> None:
    """Check that everything belongs to a learner in the table of learners."""
    for table in _OWNED:
        owners = f"SELECT DISTINCT learner FROM keyhole_{table} WHERE learner NOT IN (SELECT id FROM keyhole_learners)"
        for (id,) in connection.rows(owners):
            verdict.add(f"there are {table} of learner number {id}, which is missing in the table of learners")
            verdict.lost.append(f"the {table} of learner number {id}")


def _check_tokens(connection: Connection, verdict: Verdict) -> None:
    for id in damaged_tokens(connection):
        verdict.add(f"the token {id!r:.40} is damaged; revoke it and create another")


# -- one learner


class _LearnerCheck:
    """The verification of one learner, which reads its events once from first to last."""

    def __init__(self, connection: Connection, id: int, verdict: Verdict) -> None:
        self.connection, self.id, self.verdict = connection, id, verdict
        self.name = str(self._column("name"))
        if not VALID_NAME.fullmatch(self.name):
            raise DamagedStore(f"its name {self.name!r:.80} is invalid")
        verdict.name = self.name
        self.config = str(self._column("config"))
        self.learner = new_learner(self.name, learner_config(self.name, self.config))
        self.projection = Projection(self.name)
        self.head, self.checksum = 0, first_checksum(self.name, self.config)
        self.all_sound = True
        """Whether every event so far is undamaged and gives the recorded state."""
        self.snapshots: dict[int, Row] = {}

    def run(self) -> None:
        verdict = self.verdict
        with verdict.part("the snapshots cannot be read: "):
            statement = "SELECT number, version, model FROM keyhole_snapshots WHERE learner = :learner"
            self.snapshots = {row[0]: row for row in self.connection.rows(statement, {"learner": self.id})}
        try:
            self._replay()
        except DamagedStore as fault:
            self._event_fault(str(fault))
        else:
            self._check_projections()
        self._check_row()

    def _column(self, column: str) -> object:
        """Return one column of the learner's row, so that damage to another column does not matter."""
        found = self.connection.row(f"SELECT {column} FROM keyhole_learners WHERE id = :learner", {"learner": self.id})
        if found is None:
            raise DamagedStore("its row is missing")
        return found[0]

    # -- its events

    def _replay(self) -> None:
        finished: list[dict[str, object]] = []
        self._check_snapshot()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KeyholeWarning)
            for event in events_after(self.connection, self.id, _BEFORE_ALL):
                self._check_chain(event)
                try:
                    done = self.projection.apply(event)
                    self._apply(event)
                except DamagedStore:
                    raise
                except Exception as fault:
                    raise DamagedStore(f"event {event.number} cannot be applied: {reason(fault)}") from None
                self.head, self.checksum = event.number, event.checksum
                self.verdict.sound = self.head if self.all_sound else self.verdict.sound
                self._check_snapshot()
                finished += [done] if done else []
                if len(finished) == _PAGE:
                    self._compare(finished)
                    finished = []
        self._compare(finished)

    def _check_chain(self, event: Event) -> None:
        self.verdict.events += 1
        n = self.head + 1
        if event.number != n:
            what = "is missing" if event.number > n else f"should come next; number {event.number} was found"
            raise DamagedStore(f"event {n} {what}")
        if event.kind not in _KINDS:
            raise DamagedStore(f"event {n} has the unknown kind {event.kind!r:.20}")
        if event.expected_checksum(self.name, self.checksum) != event.checksum:
            what = f"event {n}" if n > 1 else "event 1, or the name or the configuration of the learner,"
            raise DamagedStore(f"{what} was changed: its checksum is wrong")

    def _apply(self, event: Event) -> None:
        """Apply one event to the learner, which must ask for the same attributes and make the same prediction."""
        if event.kind == "predict":
            content = event.content
            prediction = self.learner.predict(self.learner._open[event.round], floats(content["values"]))
            if prediction != content["prediction"]:
                recorded = f"{content['prediction']!r:.40}"
                self._event_fault(f"event {event.number}: the replay predicts {prediction!r}, not {recorded}")
        elif not replay(self.learner, event):
            self._event_fault(f"event {event.number}: the replay asks for something else than was asked")

    def _event_fault(self, text: str) -> None:
        self.all_sound = False
        self.verdict.add(printable(text))

    def _check_snapshot(self) -> None:
        kept = self.snapshots.pop(self.head, None)
        if kept is not None and to_bytes(self.learner) != kept[2]:
            by = "" if kept[1] == __version__ else f" (made by keyhole {printable(kept[1]):.20})"
            self.verdict.add(f"the snapshot after event {self.head}{by} is not what a replay comes to")

    # -- what is computed from them

    def _check_projections(self) -> None:
        """Check the rounds and snapshots that were not met in the replay, and the totals."""
        self._compare(self.projection.pending)
        with self.verdict.part():
            statement = "SELECT count(*) FROM keyhole_rounds WHERE learner = :learner"
            ((n,),) = self.connection.rows(statement, {"learner": self.id})
            if n != self.projection.totals.n_asked:
                self.verdict.add(f"number of rounds: {n} in the table, {self.projection.totals.n_asked} in the events")
        for number in self.snapshots:
            self.verdict.add(f"there is a snapshot after event {number}, which does not exist")
        with self.verdict.part():
            statement = f"SELECT {TOTAL_COLUMNS} FROM keyhole_learners WHERE id = :learner"
            if self.connection.row(statement, {"learner": self.id}) != self.projection.totals:
                self.verdict.add("the totals are not those of the events")

    def _compare(self, expected: list[dict[str, object]]) -> None:
        """Compare the stored columns of these rounds with the columns computed from the events."""
        statement = (
            f"SELECT {', '.join(ROUND_COLUMNS)} FROM keyhole_rounds "
            f"WHERE learner = :learner AND round IN {self.connection.listed('indices')}"
        )
        indices = json.dumps([columns["round"] for columns in expected])
        with self.verdict.part("the table of rounds: "):
            rows = self.connection.rows(statement, {"learner": self.id, "indices": indices}, nullable=True)
            found = {row[0]: row for row in rows}
            for columns in expected:
                if found.get(columns["round"]) != tuple(columns[name] for name in ROUND_COLUMNS):
                    self.verdict.add(f"round {columns['round']} in the table differs from its events")

    # -- its row

    def _check_row(self) -> None:
        """Check the row of the learner, and keep what can be saved of it."""
        verdict, row = self.verdict, {"name": self.name, "config": self.config, "note": "{}", "created_at": 0.0}
        with verdict.part(lost="the note"):
            note = self._column("note")
            learner_note(self.name, str(note))
            row["note"] = note
        with verdict.part(lost="the time of creation"):
            created_at = self._column("created_at")
            if not isinstance(created_at, float) or not math.isfinite(created_at):
                raise DamagedStore(f"the time of creation is {created_at!r:.40}")
            row["created_at"] = created_at
        checksum = None
        with verdict.part():
            checksum = self._column("checksum")
            if self.all_sound and checksum != self.checksum:
                verdict.add("the checksum in the row of the learner is not that of its last event")
        with verdict.part():
            head = self._column("head")
            if self.all_sound and head != self.head:
                verdict.add(f"the last event should be number {head}; {self.head} were found")
                self.all_sound = int(str(head)) < self.head
        # Only an event, or the checksum of a learner without events, confirms the name and the configuration.
        if verdict.sound or (verdict.events == 0 and checksum == self.checksum):
            verdict.row = row
            if not self.all_sound:
                verdict.lost.append(f"the events after event {verdict.sound}")
        else:
            verdict.lost = ["everything"]
