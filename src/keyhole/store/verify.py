"""Verification of a store: check every checksum, and replay all events, which must reproduce the same bytes.

The verification is made for damaged stores. Whatever the database contains, the result is one verdict per learner: the
first damaged event, and what can be saved.
"""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from .. import __version__
from ..core.learner import Learner, Plain
from ..core.registry.catalogue import from_config
from ..core.serialization import to_bytes
from ..errors import KeyholeWarning, StateError
from .database import ROUND_COLUMNS, TOTAL_COLUMNS, Connection, Database, Row
from .events import Event, events_after, first_checksum, floats, replay
from .models import StoreUnavailable, Totals
from .projections import Projection

__all__ = ["Verdict", "check"]

_MAX_FAULTS = 5
_PAGE = 500
_KINDS = ("ask", "predict", "tell", "abandon", "past_rows", "model")


@dataclass
class Verdict:
    """The result of the verification of one learner."""

    name: str
    events: int = 0
    """The number of events that were read."""
    sound: int = 0
    """The number of events before the first fault; these can be saved."""
    faults: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


def check(database: Database) -> Iterator[Verdict]:
    """Verify every learner: events, checksums, rounds, totals and snapshots.

    Raises `StateError` only if the table of learners itself cannot be read.
    """
    with database.reading() as connection:
        names = connection.rows("SELECT id, name FROM keyhole_learners ORDER BY name")
    for id, name in names:
        verdict = Verdict(str(name))
        try:
            with database.reading() as connection:
                _LearnerCheck(connection, id, str(name), verdict).run()
        except StoreUnavailable:
            raise
        except Exception as fault:  # any damage is a fault of this learner only; the next one is still checked
            at = f" after event {verdict.events}" if verdict.events else ""
            verdict.faults.append(f"the store cannot be read{at}: {fault}")
        yield verdict


class _LearnerCheck:
    """The verification of one learner, which reads its events once from first to last."""

    def __init__(self, connection: Connection, id: int, name: str, verdict: Verdict) -> None:
        self.connection, self.id, self.name, self.verdict = connection, id, name, verdict
        columns = f"SELECT config, head, checksum, {TOTAL_COLUMNS} FROM keyhole_learners WHERE id = :learner"
        found = connection.row(columns, {"learner": id})
        if found is None:
            raise StateError(f"learner '{name}' was removed")
        self.config, self.recorded_head, self.recorded_checksum = str(found[0]), int(found[1]), found[2]
        self.recorded_totals = Totals(*found[3:])
        self.projection = Projection(name)
        self.head, self.checksum = 0, first_checksum(name, self.config)
        self.snapshots: dict[int, Row] = {}

    def run(self) -> None:
        try:
            rows = self.connection.rows(
                "SELECT number, version, model FROM keyhole_snapshots WHERE learner = :learner", {"learner": self.id}
            )
            self.snapshots = {row[0]: row for row in rows}
        except StateError as fault:
            self._fault(f"the snapshots cannot be read: {fault}")
        try:
            self._replay()
        except Exception as fault:
            self._fault(f"the replay stops at event {max(self.head, 1)}: {fault}")
            return
        if (self.head, self.checksum) != (self.recorded_head, self.recorded_checksum):
            self._fault(f"the last event should be number {self.recorded_head}; {self.head} were found")
        if self.projection.totals != self.recorded_totals:
            self._fault("the totals are not those of the events")
        self._compare(self.projection.pending)
        for number in self.snapshots.keys() - {self.head}:
            if number > self.head:
                self._fault(f"there is a snapshot after event {number}, which does not exist")

    def _replay(self) -> None:
        try:
            config: dict[str, Plain] = json.loads(self.config)
            learner = from_config(config)
        except Exception as fault:
            raise StateError(f"the configuration cannot be used ({fault})") from None
        finished: list[dict[str, object]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KeyholeWarning)
            for event in events_after(self.connection, self.id, 0):
                if event.number > self.recorded_head:
                    break  # PostgreSQL: this event was written while we were reading
                self._check_chain(event)
                if done := self.projection.apply(event):
                    finished.append(done)
                self._apply(learner, event)
                self._check_snapshot(learner)
                if not self.verdict.faults:
                    self.verdict.sound = self.head
                if len(finished) == _PAGE:
                    self._compare(finished)
                    finished = []
        self._compare(finished)

    def _check_chain(self, event: Event) -> None:
        if event.number != self.head + 1:
            self._fault(f"event {self.head + 1} is missing")
        if event.kind not in _KINDS:
            self._fault(f"event {event.number} has the unknown kind {event.kind!r:.20}")
        if event.expected_checksum(self.name, self.checksum) != event.checksum:
            self._fault(f"event {event.number} was changed: its checksum is wrong")
        self.head, self.checksum = event.number, event.checksum
        self.verdict.events = event.number

    def _apply(self, learner: Learner, event: Event) -> None:
        """Apply one event to the learner, which must ask for the same attributes and make the same prediction."""
        if event.kind == "predict":
            content = event.content
            prediction = learner.predict(learner._open[event.round], floats(content["values"]))
            if prediction != content["prediction"]:
                self._fault(f"event {event.number}: the replay predicts {prediction!r}, not {content['prediction']!r}")
        elif not replay(learner, event):
            self._fault(f"event {event.number}: the replay asks for something else than was asked")

    def _check_snapshot(self, learner: Learner) -> None:
        kept = self.snapshots.get(self.head)
        if kept is not None and to_bytes(learner) != kept[2]:
            by = "" if kept[1] == __version__ else f" (made by keyhole {kept[1]})"
            self._fault(f"the snapshot after event {self.head}{by} is not what a replay comes to")

    def _compare(self, expected: list[dict[str, object]]) -> None:
        """Compare the stored columns of these rounds with the columns computed from the events."""
        if not expected:
            return
        names = ", ".join(ROUND_COLUMNS)
        statement = (
            f"SELECT {names} FROM keyhole_rounds "
            f"WHERE learner = :learner AND round IN {self.connection.listed('indices')}"
        )
        indices = json.dumps([columns["round"] for columns in expected])
        rows = self.connection.rows(statement, {"learner": self.id, "indices": indices})
        found = {row[0]: row for row in rows}
        for columns in expected:
            if found.get(columns["round"]) != tuple(columns[name] for name in ROUND_COLUMNS):
                self._fault(f"round {columns['round']} in the table differs from its events")

    def _fault(self, text: str) -> None:
        """Record a fault. Only the first ones are kept, because later ones usually follow from them."""
        if len(self.verdict.faults) < _MAX_FAULTS:
            self.verdict.faults.append(text)
