"""Projections of the event log: the status of each round and the running totals.

This module computes the projections and queries them for users, pages and charts. `verify` recomputes them.
"""

import json
from collections.abc import Sequence

from ..core.round import Round
from ..errors import StateError
from .database import Connection
from .events import Event, floats
from .models import History, LabelEvent, PredictionEvent, RoundRow, StoredRound, Totals

__all__ = [
    "CHANGED_COLUMNS",
    "Projection",
    "daily_spending",
    "find_rounds",
    "history",
    "loss_curve",
    "purchased_names",
    "round_after",
    "round_asked",
    "stored_round",
    "totals_after",
]

CHANGED_COLUMNS = {
    "predict": ("prediction_event", "prediction"),
    "abandon": ("status", "end_event"),
    "tell": ("status", "end_event", "told_at", "label", "n_scored", "loss", "baseline_loss"),
}
"""The columns of a round that each kind of event changes. Only these are updated, because databases rewrite the indexes
of every column that an update names."""


def round_asked(event: Event) -> RoundRow:
    """Return the row of the round that an `ask` event opens."""
    content = event.content
    key, price, deadline = content["key"], content["price"], content["deadline"]
    return RoundRow(event.round, key, "open", event.number, event.at, price, deadline)  # type: ignore[arg-type]


def round_after(row: RoundRow, event: Event, totals: Totals) -> RoundRow:
    """Return the row of a round after a further event; `totals` are the totals after that event."""
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
    """Return the totals after an event; `before` is the row of its round before the event (None for an `ask`).

    The baseline buys nothing. It predicts the mean of the previous labels, and 0 before the first label.
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
        error, baseline = before.prediction - y, mean - y  # products, because powers raise on overflow
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
    """The totals of a learner and its rounds that have no label, computed event by event."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.pending: dict[int, RoundRow] = {}

    def apply(self, event: Event) -> RoundRow | None:
        """Apply the next event; return the finished round if the event is a label."""
        if event.kind in ("past_rows", "model"):
            return None
        before = self.pending.get(event.round)
        self.totals = totals_after(self.totals, event, before)
        after = round_asked(event) if before is None else round_after(before, event, self.totals)
        self.pending[event.round] = after
        return self.pending.pop(event.round) if event.kind == "tell" else None


_SECONDS_PER_DAY = 86400.0
_COLUMNS = ", ".join(f"r.{name}" for name in RoundRow._fields)
_ROUNDS = (
    f"SELECT {_COLUMNS}, asked.body, predicted.body FROM keyhole_rounds r "
    "JOIN keyhole_events asked ON asked.learner = r.learner AND asked.number = r.ask_event "
    "LEFT JOIN keyhole_events predicted ON predicted.learner = r.learner AND predicted.number = r.prediction_event "
    "WHERE r.learner = :learner"
)


def stored_round(name: str, row: RoundRow, r: Round, prediction_body: str | None = None) -> StoredRound:
    """Build the public value of a round; `prediction_body` is the body of its last prediction event."""
    content = json.loads(prediction_body) if prediction_body else None
    return StoredRound(
        id=f"{name}:{r.index}",  # unique in the store, because names of learners contain no colon
        index=r.index,
        key=row.key,
        status=row.status,
        round=r,
        sources=tuple(r.sources or ()),
        price=row.price,
        asked_at=row.asked_at,
        deadline=row.deadline,
        last_prediction=PredictionEvent(content["prediction"], content["low"], content["high"]) if content else None,
        values=dict(zip(r.names, floats(content["values"]), strict=True)) if content else None,
        told_at=row.told_at,
        label=row.label,
    )


def find_rounds(
    connection: Connection,
    learner: int,
    name: str,
    *,
    index: int | None = None,
    status: str | None = None,
    after: int = 0,
    limit: int | None = None,
    newest: bool = False,
) -> tuple[StoredRound, ...]:
    """Return the rounds of a learner in the order they were asked, or the newest first."""
    statement, parameters = _ROUNDS, {"learner": learner, "after": after, "limit": limit}
    if index is not None:
        statement, parameters["round"] = f"{statement} AND r.round = :round", index
    if status is not None:
        statement, parameters["status"] = f"{statement} AND r.status = :status", status  # type: ignore[assignment]
    statement += f" AND r.round > :after ORDER BY r.round {'DESC' if newest else 'ASC'}"
    if limit is not None:
        statement += " LIMIT :limit"
    found = []
    for *columns, ask_body, prediction_body in connection.rows(statement, parameters):
        row = RoundRow(*columns)
        try:
            r = Round.from_plain(json.loads(ask_body)["round"])
            found.append(stored_round(name, row, r, prediction_body))
        except (KeyError, TypeError, ValueError, RecursionError) as fault:
            what = f"the events of round {row.round} of learner '{name}' are damaged ({fault})"
            raise StateError(f"{what}: run keyhole store check") from None
    return tuple(found)


def history(connection: Connection, learner: int, after: int, limit: int | None) -> History:
    """Return the labels in the order of their events, after event number `after`."""
    statement = (
        "SELECT round, key, told_at, label, prediction, price FROM keyhole_rounds "
        "WHERE learner = :learner AND status = 'told' AND end_event > :after ORDER BY end_event"
    )
    statement += "" if limit is None else " LIMIT :limit"
    rows = connection.rows(statement, {"learner": learner, "after": after, "limit": limit})
    return History(tuple(LabelEvent(i, key, at, y, p, _loss(p, y), price) for i, key, at, y, p, price in rows))


def _loss(prediction: float | None, y: float) -> float | None:
    return None if prediction is None else (prediction - y) * (prediction - y)


# -- queries for charts: they return a bounded number of rows, however long the history is


def loss_curve(connection: Connection, learner: int, at: Sequence[int]) -> list[tuple[int, float, float]]:
    """Return (n, loss, baseline loss), the sums of squared errors after the n-th scored label, for each n in `at`."""
    statement = (
        "SELECT n_scored, loss, baseline_loss FROM keyhole_rounds "
        f"WHERE learner = :learner AND n_scored IN {connection.listed('numbers')} ORDER BY n_scored"
    )
    rows = connection.rows(statement, {"learner": learner, "numbers": json.dumps(list(at))})
    return [(n, loss, baseline) for n, loss, baseline in rows]


def purchased_names(connection: Connection, learner: int, indices: Sequence[int]) -> list[tuple[int, list[str]]]:
    """Return (index, names of the attributes bought) for each of these rounds."""
    statement = (
        "SELECT r.round, e.body FROM keyhole_rounds r "
        "JOIN keyhole_events e ON e.learner = r.learner AND e.number = r.ask_event "
        f"WHERE r.learner = :learner AND r.round IN {connection.listed('numbers')}"
    )
    rows = connection.rows(statement, {"learner": learner, "numbers": json.dumps(list(indices))})
    return [(index, json.loads(body)["round"]["names"]) for index, body in rows]


def daily_spending(connection: Connection, learner: int, first_day: int) -> dict[int, float]:
    """Return the money spent per day since `first_day`; days are counted from 1970."""
    # CAST truncates in SQLite but rounds in PostgreSQL.
    day = "CAST(asked_at / :day AS INTEGER)" if connection.sqlite else "FLOOR(asked_at / :day)"
    statement = (
        f"SELECT {day}, sum(price) FROM keyhole_rounds WHERE learner = :learner AND asked_at >= :first GROUP BY 1"
    )
    parameters = {"learner": learner, "day": _SECONDS_PER_DAY, "first": first_day * _SECONDS_PER_DAY}
    return {int(day): float(spent) for day, spent in connection.rows(statement, parameters)}
