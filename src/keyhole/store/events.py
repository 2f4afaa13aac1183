"""What is written: one immutable event for each thing that happened, each with a checksum that covers all before it.

    checksum_n = SHA-256(checksum_{n-1}, learner, n, kind, round, at, body),    checksum_0 = SHA-256(configuration)

so that a changed, a missing and a moved event are all noticed. Bodies are JSON; NaN is null there.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property

from ..core.learner import Learner, Plain
from ..core.round import Round

__all__ = ["Event", "first_checksum", "floats", "nulls", "replay"]

_BODY = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Event:
    """One line of a learner's history."""

    number: int
    """Counts from 1 per learner, without gaps."""
    kind: str
    """"ask", "predict", "tell" or "abandon"."""
    round: int
    at: float
    body: str
    checksum: str = ""

    @cached_property
    def content(self) -> dict[str, Plain]:
        """The body as data."""
        content: dict[str, Plain] = json.loads(self.body)
        return content

    @classmethod
    def chained(
        cls, name: str, before: str, number: int, kind: str, round: int, at: float, content: dict[str, Plain]
    ) -> "Event":
        """A new event with its checksum, which covers `before`, the one of the event before it."""
        body = _BODY.encode(content)
        event = cls(number, kind, round, at, body, _sum(name, before, number, kind, round, at, body))
        vars(event)["content"] = content  # known here: it need not be read from the body
        return event

    def row(self, learner: int) -> dict[str, object]:
        """The row of the table."""
        own = {"learner": learner, "number": self.number, "kind": self.kind, "round": self.round}
        return own | {"at": self.at, "body": self.body, "checksum": self.checksum}

    def sum(self, name: str, before: str) -> str:
        """The checksum this event must have."""
        return _sum(name, before, self.number, self.kind, self.round, self.at, self.body)


def _sum(name: str, before: str, number: int, kind: str, round: int, at: float, body: str) -> str:
    parts = [before, name, number, kind, round, float(at).hex(), body]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def first_checksum(name: str, config: str) -> str:
    """Where the chain of a learner begins."""
    return hashlib.sha256(json.dumps([name, config]).encode()).hexdigest()


def replay(learner: Learner, event: Event) -> bool:
    """Let it happen once more; False where the learner asks for something else than it did then.

    What was asked then is what was bought, so the recorded round is put in its place: a state that was computed on
    another processor (whose last bits may differ) or by another version stays usable, and `check` reports it.
    """
    if event.kind == "ask":
        content = event.content
        recorded = Round.from_plain(content["round"])
        asked = learner.ask(content["available"], content.get("prices"))  # type: ignore[arg-type]  # written by `ask`
        if asked != recorded:
            learner._open.pop(asked.index, None)
            learner._open[recorded.index] = recorded
        return asked == recorded
    if event.kind == "tell":
        content = event.content
        r = learner._open[event.round]
        extra = floats(content["extra"])
        learner.tell(r, floats(content["values"]), content["y"], r.extra if r.extra.size else None, extra or None)  # type: ignore[arg-type]
    return True  # a prediction changes nothing, and an abandoned round stays open in the learner


def floats(numbers: Plain) -> list[float]:
    """Numbers as JSON has them, with NaN for null."""
    assert isinstance(numbers, list)
    return [math.nan if x is None else float(x) for x in numbers]  # type: ignore[arg-type]


def nulls(numbers: "list[float]") -> list[Plain]:
    """Numbers for JSON, with null for NaN."""
    return [None if math.isnan(x) else x for x in numbers]
