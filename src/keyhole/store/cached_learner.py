"""The state of a learner in this process: the last snapshot plus the events after it."""

import threading
import warnings

from .. import __version__
from ..core.learner import Learner, Plain
from ..core.round import Round
from ..errors import KeyholeWarning, StateError
from .database import Connection
from .events import Event, events_after, replay
from .learner_row import new_learner
from .models import DamagedStore

__all__ = ["SNAPSHOT_EVERY", "CachedLearner"]

SNAPSHOT_EVERY = 1000
_MAX_RECENT = 1000
_NEWEST = "SELECT number, model FROM keyhole_snapshots WHERE learner = :learner ORDER BY number DESC LIMIT 1"


class CachedLearner:
    """A learner and the number of the last event applied to it. Callers must hold `lock` while they use it."""

    def __init__(self, id: int, name: str, config: dict[str, Plain]) -> None:
        self.id, self.name, self.config = id, name, config
        self.lock = threading.RLock()
        self.head = 0
        self._learner: Learner | None = None
        self.diverged = False
        self.recent: dict[int, Round] = {}
        """The rounds without a label that this process changed most recently, as of `head`."""

    @property
    def learner(self) -> Learner:
        """The learner as of `head`; call `catch_up` first to load it."""
        if self._learner is None:
            raise RuntimeError("call catch_up first")
        return self._learner

    @property
    def loaded(self) -> bool:
        """Whether this process has the state in memory."""
        return self._learner is not None

    def forget(self) -> None:
        """Discard the state, because it may be ahead of the committed events."""
        self._learner, self.head = None, 0
        self.recent.clear()

    def remember(self, r: Round) -> None:
        """Cache a round that was just written, so that the next call need not read it, until it has its label."""
        self.recent.pop(r.index, None)
        if r.status != "labelled":
            if len(self.recent) >= _MAX_RECENT:
                del self.recent[next(iter(self.recent))]  # the one that was changed longest ago
            self.recent[r.index] = r

    def catch_up(self, connection: Connection, head: int | None = None) -> None:
        """Apply the events committed since the last call; if `head` is already reached, nothing is read."""
        try:
            if self._learner is None:
                self._load_snapshot(connection)
            if head is None or head > self.head:
                for event in events_after(connection, self.id, self.head):
                    self.recent.pop(event.round, None)  # another process changed it
                    self._apply(event)
        except BaseException:
            self.forget()
            raise

    def snapshot(self, connection: Connection) -> None:
        """Write the state as a snapshot, which replaces the previous one."""
        from ..core.serialization import to_bytes

        connection.run("DELETE FROM keyhole_snapshots WHERE learner = :learner", {"learner": self.id})
        connection.run(
            "INSERT INTO keyhole_snapshots (learner, number, version, model) "
            "VALUES (:learner, :number, :version, :model)",
            {"learner": self.id, "number": self.head, "version": __version__, "model": to_bytes(self.learner)},
        )

    def _load_snapshot(self, connection: Connection) -> None:
        from ..core.serialization import from_bytes

        found = connection.row(_NEWEST, {"learner": self.id})
        try:
            self._learner = from_bytes(found[1]) if found else new_learner(self.name, self.config)
        except DamagedStore:
            raise
        except StateError as fault:
            raise DamagedStore(f"the snapshot of learner '{self.name}' cannot be used: {fault}") from None
        self.head = found[0] if found else 0

    def _apply(self, event: Event) -> None:
        try:
            same = replay(self.learner, event)
        except DamagedStore as fault:
            raise DamagedStore(f"learner '{self.name}': {fault}") from None
        if not same and not self.diverged:
            self.diverged = True
            warnings.warn(
                f"learner '{self.name}' would ask for other attributes at event {event.number} than were recorded, "
                "because another processor or version computed it; the recorded ones are used",
                KeyholeWarning,
                4,
            )
        self.head = event.number
