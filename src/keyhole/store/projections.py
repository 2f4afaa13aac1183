"""What follows from the events: how each round stands, and the running totals. `check` folds them once more."""

from typing import NamedTuple

from .events import Event
from .models import Totals

__all__ = ["CHANGES", "Projection", "RoundRow", "count"]

CHANGES = {
    "predict": ("predicted", "prediction"),
    "abandon": ("status", "ended"),
    "tell": ("status", "ended", "told_at", "label", "scored", "loss", "idle"),
}
"""What an event changes of the round it belongs to."""


class RoundRow(NamedTuple):
    """How a round stands: a row of the table of rounds."""

    round: int
    key: str | None
    status: str
    asked: int
    asked_at: float
    price: float
    deadline: float | None = None
    predicted: int | None = None
    prediction: float | None = None
    ended: int | None = None
    told_at: float | None = None
    label: float | None = None
    scored: int | None = None
    loss: float | None = None
    idle: float | None = None

    @classmethod
    def asked_by(cls, event: Event) -> "RoundRow":
        """The round that an `ask` opened."""
        content = event.content
        key, price, deadline = content["key"], content["price"], content["deadline"]
        return cls(event.round, key, "open", event.number, event.at, price, deadline)  # type: ignore[arg-type]

    def after(self, event: Event, totals: Totals) -> "RoundRow":
        """How it stands after another event of the round; `totals` are those after it."""
        content = event.content
        if event.kind == "predict":
            return self._replace(predicted=event.number, prediction=float(content["prediction"]))  # type: ignore[arg-type]
        if event.kind == "abandon":
            return self._replace(status="abandoned", ended=event.number)
        label = float(content["y"])  # type: ignore[arg-type]
        told = self._replace(status="told", ended=event.number, told_at=event.at, label=label)
        if self.prediction is None:
            return told
        return told._replace(scored=totals.scored, loss=totals.loss, idle=totals.idle)

    def row(self, learner: int) -> dict[str, object]:
        """The row of the table."""
        return {"learner": learner, **self._asdict()}


def count(totals: Totals, event: Event, before: RoundRow | None) -> Totals:
    """The totals after an event; `before` is how its round stood (None: it was asked just now).

    Who buys nothing predicts the mean of the labels told before, and 0 before the first.
    """
    if event.kind == "ask":
        price = float(event.content["price"])  # type: ignore[arg-type]
        return totals._replace(asked=totals.asked + 1, spent=totals.spent + price)
    assert before is not None
    if event.kind == "abandon":
        return totals._replace(abandoned=totals.abandoned + 1)
    if event.kind == "predict":
        return totals
    y = float(event.content["y"])  # type: ignore[arg-type]
    scored, loss, idle = totals.scored, totals.loss, totals.idle
    if before.prediction is not None:
        mean = totals.labels / totals.told if totals.told else 0.0
        error, nothing = before.prediction - y, mean - y  # products, not powers: those raise where they overflow
        scored, loss, idle = scored + 1, loss + error * error, idle + nothing * nothing
    abandoned = totals.abandoned - (before.status == "abandoned")
    return Totals(totals.asked, totals.told + 1, abandoned, scored, loss, idle, totals.labels + y, totals.spent)


class Projection:
    """What the events of a learner come to, one after another: its totals, and its rounds that wait for a label."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.pending: dict[int, RoundRow] = {}

    def take(self, event: Event) -> RoundRow | None:
        """Count the next event; the round that it ends, if it tells a label."""
        before = self.pending.get(event.round)
        self.totals = count(self.totals, event, before)
        after = RoundRow.asked_by(event) if before is None else before.after(event, self.totals)
        self.pending[event.round] = after
        return self.pending.pop(event.round) if event.kind == "tell" else None
