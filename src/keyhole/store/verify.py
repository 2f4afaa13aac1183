"""Proof that a store holds what happened: every checksum, and a replay that must come to the same bytes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from .. import __version__
from ..core.learner import Learner, Plain
from ..core.registry.catalogue import from_config
from ..core.serialization import from_bytes, to_bytes
from ..errors import ProtocolError, StateError
from .cached_learner import events_after
from .database import Database
from .events import Event, first_checksum, floats, replay
from .models import Totals
from .projections import Projection, RoundRow
from .sql_tables import learners, rounds, snapshots
from .statements import STANDING, TOTALS

__all__ = ["Verdict", "check"]


@dataclass
class Verdict:
    """What the check of one learner found."""

    name: str
    events: int = 0
    replayed_from: int = 1
    """The first event that was replayed; an upgrade of the arithmetic moves it."""
    faults: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Nothing is wrong."""
        return not self.faults


def check(database: Database) -> Iterator[Verdict]:
    """Every learner's events, checksums, rounds, totals and snapshots; one learner after the other."""
    with database.reading() as connection:
        every = connection.execute(select(learners).order_by(learners.c.name)).mappings().all()
    for row in every:
        with database.reading() as connection:
            again = connection.execute(select(learners).where(learners.c.id == row["id"])).mappings().one()
            yield _Check(connection, dict(again)).run()


class _Check:
    """One learner, read once from its first event to its last."""

    def __init__(self, connection: Connection, row: dict[str, object]) -> None:
        self.connection, self.row = connection, row
        self.id, self.name = int(str(row["id"])), str(row["name"])
        self.verdict = Verdict(self.name)
        self.fold = Projection()
        self.head, self.checksum = 0, first_checksum(self.name, str(row["config"]))
        mine = select(snapshots).where(snapshots.c.learner == self.id).order_by(snapshots.c.number)
        self.kept = {s["number"]: dict(s) for s in connection.execute(mine).mappings()}
        self.start = max((n for n, s in self.kept.items() if s["start"]), default=0)
        self.verdict.replayed_from = self.start + 1

    def run(self) -> Verdict:
        try:
            self._replay()
        except (StateError, ProtocolError, KeyError, ValueError, TypeError) as fault:
            self._fault(f"event {self.head + 1} cannot be replayed: {fault}")
            return self.verdict
        if (self.head, self.checksum) != (self.row["head"], self.row["checksum"]):
            self._fault(f"the last event should be number {self.row['head']}; {self.head} were found")
        if self.fold.totals != Totals(*(self.row[c.name] for c in TOTALS)):  # type: ignore[arg-type]
            self._fault("the totals are not those of the events")
        self._compare(list(self.fold.pending.values()))
        self.verdict.events = self.head
        return self.verdict

    def _replay(self) -> None:
        learner = self._begin() if self.start == 0 else None
        ended: list[RoundRow] = []
        for event in events_after(self.connection, self.id, 0):
            if event.number > int(str(self.row["head"])):
                break  # on PostgreSQL: written while we read
            self._count(event, ended)
            if learner is not None:
                self._step(learner, event)
            elif event.number == self.start:
                learner = self._begin()
            self._snapshot(learner)
            if len(ended) == 500:
                self._compare(ended)
                ended = []
        self._compare(ended)

    def _begin(self) -> Learner:
        config: dict[str, Plain] = json.loads(str(self.row["config"]))
        return from_bytes(self.kept[self.start]["model"]) if self.start else from_config(config)

    def _count(self, event: Event, ended: list[RoundRow]) -> None:
        """The chain, the totals and how the round stands."""
        if event.number != self.head + 1:
            self._fault(f"event {self.head + 1} is missing")
        if event.sum(self.name, self.checksum) != event.checksum:
            self._fault(f"event {event.number} was changed: its checksum is wrong")
        self.head, self.checksum = event.number, event.checksum
        if done := self.fold.take(event):
            ended.append(done)

    def _step(self, learner: Learner, event: Event) -> None:
        """One event on the learner: it must ask for the same, and say the same."""
        if event.kind == "predict":
            content = event.content
            said = learner.predict(learner._open[event.round], floats(content["values"]))
            if said != content["prediction"]:
                self._fault(f"event {event.number}: the replay predicts {said!r}, not {content['prediction']!r}")
        elif not replay(learner, event):
            self._fault(f"event {event.number}: the replay asks for something else than was asked")

    def _snapshot(self, learner: Learner | None) -> None:
        kept = self.kept.get(self.head)
        if kept is None or learner is None or kept["start"]:
            return
        if to_bytes(learner) != kept["model"]:
            by = "" if kept["version"] == __version__ else f" (made by keyhole {kept['version']})"
            self._fault(f"the snapshot after event {self.head}{by} is not what a replay comes to")

    def _compare(self, standings: list[RoundRow]) -> None:
        """The rows of these rounds are what the events say."""
        which = rounds.c.round.in_([s.round for s in standings])
        found = self.connection.execute(select(*STANDING).where(rounds.c.learner == self.id, which))
        there = {row[0]: RoundRow(*row) for row in found}
        for standing in standings:
            if there.get(standing.round) != standing:
                self._fault(f"round {standing.round} does not stand as its events say")

    def _fault(self, text: str) -> None:
        """Only the first faults are worth reading: the rest follow from them."""
        if len(self.verdict.faults) < 5:
            self.verdict.faults.append(text)
