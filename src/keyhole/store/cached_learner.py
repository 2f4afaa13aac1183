"""The state of a learner in this process: the last snapshot plus the events after it, caught up whenever it is used."""

import copy
import threading
import warnings
from collections.abc import Iterator

from sqlalchemy import Connection, select
from sqlalchemy.engine import Row

from .. import __version__
from ..core import introspection
from ..core.learner import Learner, Plain
from ..errors import KeyholeWarning
from .events import Event, replay
from .projections import RoundRow
from .sql_tables import snapshots
from .statements import AFTER

__all__ = ["SNAPSHOT_EVERY", "CachedLearner", "event_of", "events_after"]

SNAPSHOT_EVERY = 1000
_PAGE = 1000
_RECENT = 1000


class CachedLearner:
    """One learner with the number of the last event it has seen. Whoever uses it holds `lock`."""

    def __init__(self, id: int, name: str, config: dict[str, Plain]) -> None:
        self.id, self.name, self.config = id, name, config
        self.lock = threading.RLock()
        self.head = 0
        self._learner: Learner | None = None
        self.diverged = False
        self.recent: dict[int, tuple[RoundRow, dict[str, Plain]]] = {}
        """How rounds stand as of `head`, and what was said of them last: those that were changed here just now."""

    @property
    def learner(self) -> Learner:
        """The learner as of `head`."""
        assert self._learner is not None, "catch up first"
        return self._learner

    @property
    def cold(self) -> bool:
        """Whether there is no state in this process yet."""
        return self._learner is None

    def forget(self) -> None:
        """Drop the state: it may be ahead of what was committed."""
        self._learner, self.head = None, 0
        self.recent.clear()

    def remember(self, standing: RoundRow, said: dict[str, Plain]) -> None:
        """A round that was just written: its next call need not read it."""
        if len(self.recent) >= _RECENT:
            self.recent.clear()
        self.recent[standing.round] = (standing, said)

    def warm_up(self, connection: Connection) -> None:
        """Read the state, and let a copy of it play a round, before anybody has to wait for us.

        The first calls of a process bring the compiled code; in a transaction that writes they would keep all others
        out for as long as that takes.
        """
        self.catch_up(connection)
        trial = copy.deepcopy(self.learner)
        r = trial.ask()
        x = [0.0] * r.attributes.size
        trial.predict(r, x)
        introspection.interval(trial, r, x)
        trial.tell(r, x, 0.0, r.extra if r.extra.size else None, [0.0] * r.extra.size if r.extra.size else None)

    def catch_up(self, connection: Connection, head: int | None = None) -> None:
        """Let everything happen that was committed since; nothing is read where `head` was reached already."""
        try:
            if self._learner is None:
                self._recall(connection)
            if head is None or head > self.head:
                for event in events_after(connection, self.id, self.head):
                    self.recent.pop(event.round, None)  # another process changed it
                    self._diverge_unless(replay(self.learner, event), event)
                    self.head = event.number
        except BaseException:
            self.forget()
            raise

    def snapshot(self, connection: Connection, start: bool = False) -> None:
        """Write the state down, in place of the snapshot before; those where replays begin stay."""
        old = (snapshots.c.learner == self.id) & ~snapshots.c.start
        connection.execute(
            snapshots.delete().where(old | (snapshots.c.number == self.head) & (snapshots.c.learner == self.id))
        )
        from ..core.serialization import to_bytes

        model = to_bytes(self.learner)
        row = {"learner": self.id, "number": self.head, "start": start, "version": __version__, "model": model}
        connection.execute(snapshots.insert().values(row))

    def _recall(self, connection: Connection) -> None:
        from ..core.registry.catalogue import from_config  # brings the compiler: not before somebody needs a learner
        from ..core.serialization import from_bytes

        newest = select(snapshots.c.number, snapshots.c.model).where(snapshots.c.learner == self.id)
        found = connection.execute(newest.order_by(snapshots.c.number.desc()).limit(1)).first()
        self._learner = from_bytes(found.model) if found else from_config(self.config)
        self.head = found.number if found else 0

    def _diverge_unless(self, same: bool, event: Event) -> None:
        if not same and not self.diverged:
            self.diverged = True
            text = (
                f"learner '{self.name}' would ask otherwise at event {event.number} than was recorded; the record holds"
            )
            warnings.warn(
                f"{text}. After a change of version, keyhole store upgrade marks the place", KeyholeWarning, 4
            )


def events_after(connection: Connection, learner: int, number: int) -> Iterator[Event]:
    """The events after a number, page by page."""
    while True:
        page = connection.execute(AFTER, {"me": learner, "this": number, "most": _PAGE}).all()
        for row in page:
            yield event_of(row)
        if len(page) < _PAGE:
            return
        number = page[-1].number


def event_of(row: "Row[int, str, int, float, str, str]") -> Event:
    """A row of the table of events."""
    return Event(row.number, row.kind, row.round, row.at, row.body, row.checksum)
