"""Projections of the event log: the state of each round and the running totals. `verify` computes them again."""

from ..errors import StateError
from .events import Event
from .models import RoundRow, Totals

__all__ = ["CHANGED_COLUMNS", "Projection", "round_after", "round_asked", "totals_after"]

CHANGED_COLUMNS = {
    "predict": ("prediction_event", "prediction"),
    "abandon": ("status", "end_event"),
    "tell": ("status", "end_event", "told_at", "label", "n_scored", "loss", "baseline_loss"),
}
"""The columns of a round that an event changes. Databases rewrite an index for every column that is named."""


def round_asked(event: Event) -> RoundRow:
    """The round that an `ask` opened."""
    content = event.content
    key, price, deadline = content["key"], content["price"], content["deadline"]
    return RoundRow(event.round, key, "open", event.number, event.at, price, deadline)  # type: ignore[arg-type]


def round_after(row: RoundRow, event: Event, totals: Totals) -> RoundRow:
    """The round after another of its events; `totals` are those after the event."""
    content = event.content
    if event.kind == "predict":
        return row._replace(prediction_event=event.number, prediction=float(content["prediction"]))  # type: ignore[arg-type]
    if event.kind == "abandon":
        return row._replace(status="abandoned", end_event=event.number)
    label = float(content["y"])  # type: ignore[arg-type]
    told = row._replace(status="told", end_event=event.number, told_at=event.at, label=label)
    if row.prediction is None:
        return told
    return told._replace(n_scored=totals.n_scored, loss=totals.loss, baseline_loss=totals.baseline_loss)


def totals_after(totals: Totals, event: Event, before: RoundRow | None) -> Totals:
    """The totals after an event; `before` is its round before the event (None for an `ask`).

    The baseline buys nothing. It predicts the mean of the labels before, and 0 before the first.
    """
    if event.kind in ("past_rows", "model"):
        return totals
    if event.kind == "ask":
        price = float(event.content["price"])  # type: ignore[arg-type]
        return totals._replace(n_asked=totals.n_asked + 1, spent=totals.spent + price)
    if before is None:
        raise StateError(f"event {event.number} ({event.kind}) is about round {event.round}, which was never asked")
    if event.kind == "abandon":
        return totals._replace(n_abandoned=totals.n_abandoned + 1)
    if event.kind == "predict":
        return totals
    y = float(event.content["y"])  # type: ignore[arg-type]
    n_scored, loss, baseline_loss = totals.n_scored, totals.loss, totals.baseline_loss
    if before.prediction is not None:
        mean = totals.label_sum / totals.n_labels if totals.n_labels else 0.0
        error, baseline = before.prediction - y, mean - y  # products, not powers: those raise where they overflow
        n_scored, loss, baseline_loss = n_scored + 1, loss + error * error, baseline_loss + baseline * baseline
    return totals._replace(
        n_labels=totals.n_labels + 1,
        n_abandoned=totals.n_abandoned - (before.status == "abandoned"),
        n_scored=n_scored,
        loss=loss,
        baseline_loss=baseline_loss,
        label_sum=totals.label_sum + y,
    )


class Projection:
    """The totals of a learner and its rounds without a label, computed event by event."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.pending: dict[int, RoundRow] = {}

    def apply(self, event: Event) -> RoundRow | None:
        """Apply the next event; the finished round if the event is a label."""
        if event.kind in ("past_rows", "model"):
            return None
        before = self.pending.get(event.round)
        self.totals = totals_after(self.totals, event, before)
        after = round_asked(event) if before is None else round_after(before, event, self.totals)
        self.pending[event.round] = after
        return self.pending.pop(event.round) if event.kind == "tell" else None
