"""Projections of the event log: the status of each round and the running totals.

This module computes the projections and queries them for users, pages and charts. `verify` recomputes them.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..core.round import Round
from ..errors import ProtocolError
from .database import ROUND_COLUMNS, Connection
from .events import Event, floats, json_object, reason
from .models import DamagedStore, LabelHistory, Totals

__all__ = [
    "Projection",
    "asked_round",
    "changed_columns",
    "daily_spending",
    "find_rounds",
    "label_history",
    "loss_curve",
    "purchased_names",
    "round_after",
    "totals_after",
]

_NOT_SET: dict[str, object] = dict.fromkeys(ROUND_COLUMNS)


def round_after(before: Round | None, event: Event, learner: str) -> Round:
    """Return a round after one of its events; `before` is None for an `ask`, which opens it.

    All rounds that come from the database are made here; `learner` is the name of their learner.
    """
    content: dict[str, Any] = event.content
    if event.kind == "ask":
        return asked_round(Round.from_plain(content["round"]), event, learner)
    if before is None:
        raise DamagedStore(f"event {event.number} ({event.kind}) is about round {event.round}, which was never asked")
    if event.kind == "abandon":
        return before.recorded(status="abandoned")
    values = dict(zip(before.names, floats(content["values"]), strict=True))
    if event.kind == "predict":
        prediction, low, high = content["prediction"], content["low"], content["high"]
        return before.recorded(values=values, prediction=prediction, low=low, high=high)
    extra = dict(zip(before.extra_names, floats(content["extra"]), strict=True))
    label = float(content["y"])
    return before.recorded(status="labelled", labelled_at=event.at, label=label, values=values, extra_values=extra)


def asked_round(r: Round, event: Event, learner: str) -> Round:
    """Return the round that a learner asked for, as the `ask` event records it."""
    # The id is unique in the store, because names of learners contain no colon.
    content: dict[str, Any] = event.content
    return r.recorded(id=f"{learner}:{r.index}", key=content["key"], asked_at=event.at, deadline=content["deadline"])


def changed_columns(after: Round, event: Event, totals: Totals) -> dict[str, object]:
    """Return the columns of a round that an event sets; an `ask` sets them all. `totals` are those after the event.

    Other columns are not updated, because databases rewrite the indexes of every column that an update names.
    """
    if event.kind == "ask":
        asked = {"asked_at": after.asked_at, "price": after.price, "deadline": after.deadline}
        named = {"round": after.index, "key": after.key, "status": after.status, "ask_event": event.number}
        return _NOT_SET | named | asked
    if event.kind == "predict":
        return {"prediction": after.prediction, "prediction_event": event.number}
    ended: dict[str, object] = {"status": after.status, "end_event": event.number}
    if event.kind == "abandon":
        return ended
    ended |= {"labelled_at": after.labelled_at, "label": after.label}
    if after.prediction is None or not totals.n_scored:
        return ended
    return ended | {"n_scored": totals.n_scored, "loss": totals.loss, "baseline_loss": totals.baseline_loss}


def totals_after(totals: Totals, before: Round | None, after: Round) -> Totals:
    """Return the totals after an event that changed a round; `before` is None if the event opened it.

    The baseline buys nothing and predicts the mean of the previous labels. The first label enters no loss, because
    before it there is no mean and nothing is known.
    """
    if before is None:
        return totals._replace(n_asked=totals.n_asked + 1, spent=totals.spent + after.price)
    if after.status == before.status:
        return totals
    if after.label is None:
        return totals._replace(n_abandoned=totals.n_abandoned + 1)
    y, n_scored, loss, baseline_loss = after.label, totals.n_scored, totals.loss, totals.baseline_loss
    if after.loss is not None and totals.n_labels:
        mean = totals.label_sum / totals.n_labels
        n_scored, loss, baseline_loss = n_scored + 1, loss + after.loss, baseline_loss + (mean - y) * (mean - y)
    return totals._replace(
        n_labels=totals.n_labels + 1,
        n_abandoned=totals.n_abandoned - (before.status == "abandoned"),
        n_scored=n_scored,
        loss=loss,
        baseline_loss=baseline_loss,
        label_sum=totals.label_sum + y,
    )


class Projection:
    """The totals of a learner and the columns of its rounds that have no label, computed event by event."""

    def __init__(self, learner: str) -> None:
        self.learner, self.totals = learner, Totals()
        self._pending: dict[int, tuple[Round, dict[str, object]]] = {}

    @property
    def pending(self) -> list[dict[str, object]]:
        """The columns of the rounds that have no label."""
        return [columns for _, columns in self._pending.values()]

    def apply(self, event: Event) -> dict[str, object] | None:
        """Apply the next event; return the columns of the finished round if the event is a label."""
        if event.kind in ("past_rows", "model"):
            return None
        before, columns = self._pending.pop(event.round, (None, {}))
        after = round_after(before, event, self.learner)
        self.totals = totals_after(self.totals, before, after)
        columns = columns | changed_columns(after, event, self.totals)
        if event.kind == "tell":
            return columns
        self._pending[event.round] = after, columns
        return None


# -- queries


_SECONDS_PER_DAY = 86400.0
_EVENTS = ("asked", "predicted", "ended")
_EVENT_COLUMNS = ("number", "kind", "round", "at", "body")
_ROUNDS = (
    f"SELECT r.round, {', '.join(f'{event}.{name}' for event in _EVENTS for name in _EVENT_COLUMNS)} "
    "FROM keyhole_rounds r LEFT JOIN keyhole_events asked ON asked.learner = r.learner AND asked.number = r.ask_event "
    "LEFT JOIN keyhole_events predicted ON predicted.learner = r.learner AND predicted.number = r.prediction_event "
    "LEFT JOIN keyhole_events ended ON ended.learner = r.learner AND ended.number = r.end_event "
    "WHERE r.learner = :learner AND r.round > :after"
)


def find_rounds(
    connection: Connection,
    learner: int,
    name: str,
    *,
    after: int = 0,
    limit: int | None = None,
    newest: bool = False,
    **equal: "str | int | None",
) -> tuple[Round, ...]:
    """Return the rounds of a learner in the order they were asked, or the newest first.

    `equal` selects rounds by the value of a column (`round`, `key`, `status`); None stands for any value.
    """
    statement, wanted = _ROUNDS, {column: value for column, value in equal.items() if value is not None}
    for column in wanted:
        statement += f" AND r.{column} = :{column}"
    statement += f" ORDER BY r.round {'DESC' if newest else 'ASC'}" + ("" if limit is None else " LIMIT :limit")
    parameters = {"learner": learner, "after": after, "limit": limit, **wanted}
    return tuple([_folded(row, name) for row in connection.rows(statement, parameters, nullable=True)])


def _folded(row: Sequence[Any], name: str) -> Round:
    """Return the round after its events: the `ask`, and the last prediction and the end if there are any."""
    index, *columns = row
    n, r = len(_EVENT_COLUMNS), None
    if columns[0] is None:
        raise DamagedStore(f"learner '{name}' has lost the first event of round {index}")
    try:
        for i in range(0, len(columns), n):
            if columns[i] is not None:
                if None in columns[i : i + n]:
                    raise DamagedStore(f"event {columns[i]} has an empty column")
                r = round_after(r, Event(*columns[i : i + n]), name)
        return cast(Round, r)
    except Exception as fault:  # whatever the content of a damaged event makes Python raise
        raise DamagedStore(f"the events of round {index} of learner '{name}' are damaged: {reason(fault)}") from None


def label_history(connection: Connection, learner: int, after: int, limit: int | None) -> LabelHistory:
    """Return the labels in the order of their events, after event number `after`."""
    statement = (
        "SELECT round, key, labelled_at, label, prediction, price FROM keyhole_rounds "
        "WHERE learner = :learner AND status = 'labelled' AND end_event > :after ORDER BY end_event"
    )
    statement += "" if limit is None else " LIMIT :limit"
    rows = connection.rows(statement, {"learner": learner, "after": after, "limit": limit})
    rounds, keys, *numbers = zip(*rows, strict=True) if rows else ((),) * 6
    labelled_at, labels, predictions, price = (np.array(column, dtype=np.float64) for column in numbers)
    return LabelHistory(np.array(rounds, dtype=np.int64), keys, labelled_at, labels, predictions, price)


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
    try:
        return [(i, list(Round.from_plain(json_object(body, f"round {i}")["round"]).names)) for i, body in rows]
    except (KeyError, ProtocolError) as fault:
        raise DamagedStore(f"a round is damaged: {reason(fault)}") from None


def daily_spending(connection: Connection, learner: int, first_day: int) -> dict[int, float]:
    """Return the money spent per day since `first_day`; days are counted from 1970."""
    # CAST truncates in SQLite but rounds in PostgreSQL.
    day = "CAST(asked_at / :day AS INTEGER)" if connection.sqlite else "FLOOR(asked_at / :day)"
    what = f"SELECT {day}, sum(price) AS price FROM keyhole_rounds"
    statement = f"{what} WHERE learner = :learner AND asked_at >= :first GROUP BY 1"
    parameters = {"learner": learner, "day": _SECONDS_PER_DAY, "first": first_day * _SECONDS_PER_DAY}
    return {int(day): float(spent) for day, spent in connection.rows(statement, parameters)}
