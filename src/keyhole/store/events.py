"""The event log: one immutable event for each change, each with a checksum that covers all events before it.

    checksum_n = SHA-256(checksum_{n-1}, learner, n, kind, round, at, body),    checksum_0 = SHA-256(configuration)

so that `verify` detects events that were changed, removed or moved. Bodies are JSON, with null for NaN.
"""

import base64
import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..core.learner import Learner, Plain
from ..core.round import Round
from ..errors import ConfigError, ProtocolError, StateError
from .database import Connection
from .models import DamagedStore, StoreUnavailable

__all__ = ["ADD_EVENT", "Event", "events_after", "first_checksum", "floats", "json_object", "nulls", "reason", "replay"]

ADD_EVENT = (
    "INSERT INTO keyhole_events (learner, number, kind, round, at, body, checksum) "
    "VALUES (:learner, :number, :kind, :round, :at, :body, :checksum)"
)
_AFTER = (
    "SELECT number, kind, round, at, body, checksum FROM keyhole_events "
    "WHERE learner = :learner AND number > :number ORDER BY number LIMIT :limit"
)
_PAGE = 1000
_BODY = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Event:
    """One event in the log of a learner."""

    number: int
    """Counts from 1 per learner, without gaps."""
    kind: str
    """"ask", "predict", "tell" or "abandon"; "past_rows" and "model" belong to no round, and their `round` is 0."""
    round: int
    at: float
    body: str
    checksum: str = ""

    @cached_property
    def content(self) -> dict[str, Plain]:
        """The parsed body."""
        return json_object(self.body, f"the body of event {self.number}")

    @classmethod
    def chained(
        cls, name: str, before: str, number: int, kind: str, round: int, at: float, content: dict[str, Plain]
    ) -> "Event":
        """Create an event whose checksum covers `before`, the checksum of the previous event."""
        body = _BODY.encode(content)
        event = cls(number, kind, round, at, body, _checksum(name, before, number, kind, round, at, body))
        vars(event)["content"] = content  # so that it is not parsed again
        return event

    def row(self, learner: int) -> dict[str, object]:
        """Return the event as a row of the table."""
        own = {"learner": learner, "number": self.number, "kind": self.kind, "round": self.round}
        return own | {"at": self.at, "body": self.body, "checksum": self.checksum}

    def expected_checksum(self, name: str, before: str) -> str:
        """Return the checksum that this event must have if `before` is the checksum of the previous event."""
        return _checksum(name, before, self.number, self.kind, self.round, self.at, self.body)


def _checksum(name: str, before: str, number: int, kind: str, round: int, at: float, body: str) -> str:
    parts = [before, name, number, kind, round, float(at).hex(), body]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def first_checksum(name: str, config: str) -> str:
    """Return the start of a learner's chain of checksums, before its first event."""
    return hashlib.sha256(json.dumps([name, config]).encode()).hexdigest()


def events_after(connection: Connection, learner: int, number: int) -> Iterator[Event]:
    """Yield the events of a learner after event `number`, read page by page.

    A page with a damaged event is read one by one, so that every event before it is yielded.
    """
    limit = _PAGE
    while True:
        try:
            page = connection.rows(_AFTER, {"learner": learner, "number": number, "limit": limit})
        except DamagedStore as fault:
            if limit == 1 or not connection.sqlite:  # PostgreSQL answers nothing more in this transaction
                raise DamagedStore(f"event {max(number, 0) + 1} cannot be read: {fault}") from None
            limit = 1
            continue
        for row in page:
            yield Event(*row)
        if len(page) < limit:
            return
        number = page[-1][0]


def replay(learner: Learner, event: Event) -> bool:
    """Apply a recorded event to a learner; return False if the learner now asks for a different round.

    The recorded round was paid for, so it replaces the round that the learner asks for now. A state that was computed
    on another processor (whose last bits may differ) therefore stays usable, and `verify` reports the difference.
    """
    content = event.content
    try:
        if event.kind == "ask":
            recorded = Round.from_plain(content["round"])
            asked = learner.ask(content["available"], content.get("prices"))  # type: ignore[arg-type]
            if asked != recorded:
                if asked.index != recorded.index or not learner._may_own(recorded):
                    raise StateError(f"its round {recorded.index} is not one of this learner")
                learner._open[recorded.index] = recorded
            return asked == recorded
        if event.kind == "tell":
            r = learner._open[event.round]
            extra = floats(content["extra"])
            learner.tell(r, floats(content["values"]), content["y"], r.extra if r.extra.size else None, extra or None)  # type: ignore[arg-type]
        if event.kind == "past_rows":
            learner.learn([floats(row) for row in content["rows"]], floats(content["labels"]))  # type: ignore[union-attr]
        if event.kind == "model":
            take_model(learner, str(content["model"]))
    except Exception as fault:  # a damaged event can make a learner raise anything
        what = f"event {event.number} ({event.kind:.20} of round {event.round})"
        raise DamagedStore(f"{what} cannot be applied: {reason(fault)}") from None
    return True  # a prediction changes nothing, and an abandoned round stays open in the learner


def json_object(text: str, what: str) -> dict[str, Plain]:
    """Return the JSON object in a text from the database; `what` names the text."""
    try:
        content: dict[str, Plain] = json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedStore(f"{what} is not JSON") from None
    if not isinstance(content, dict):
        raise DamagedStore(f"{what} is not a JSON object")
    return content


def reason(fault: Exception) -> str:
    """Return why a value from the database cannot be used; only our own errors are sentences."""
    if isinstance(fault, StoreUnavailable):
        raise fault
    if isinstance(fault, ConfigError | ProtocolError | StateError):
        return str(fault)
    return f"{fault} is missing" if isinstance(fault, KeyError) else "its content has another form"


def take_model(learner: Learner, text: str) -> None:
    """Set a new learner to the state of a model file (base64) with the same configuration."""
    from ..core.serialization import from_bytes

    model = from_bytes(base64.b64decode(text, validate=True))
    if model.config != learner.config or model.open_rounds:
        raise StateError("the model has another configuration than the learner, or open rounds")
    learner.set_state(model.get_state())
    learner.rng.bit_generator.state = model.rng.bit_generator.state


def floats(numbers: Plain) -> list[float]:
    """Convert numbers from JSON: null becomes NaN."""
    if not isinstance(numbers, list):
        raise StateError(f"expected a list of numbers in an event, found {type(numbers).__name__}")
    return [math.nan if x is None else float(x) for x in numbers]  # type: ignore[arg-type]


def nulls(numbers: "list[float]") -> list[Plain]:
    """Convert numbers for JSON: NaN becomes null."""
    return [None if math.isnan(x) else x for x in numbers]
