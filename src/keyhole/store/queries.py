"""Rows of a store as the values that a user gets."""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, select

from ..core.round import Round
from .events import floats
from .models import History, LabelEvent, PredictionEvent, StoredRound
from .projections import RoundRow
from .sql_tables import events, rounds

__all__ = ["entries", "entry", "fresh", "history", "identifier"]

_STANDING = [rounds.c[name] for name in RoundRow._fields]
_asked, _said = events.alias("asked"), events.alias("said")


def identifier(name: str, index: int) -> str:
    """The id of a round, unique in the store: a learner's name has no colon."""
    return f"{name}:{index}"


def fresh(name: str, standing: RoundRow, r: Round, said: str | None = None) -> StoredRound:
    """A round as it stands; `said` is the body of its last prediction."""
    content = json.loads(said) if said else None
    return StoredRound(
        id=identifier(name, r.index),
        index=r.index,
        key=standing.key,
        status=standing.status,
        round=r,
        sources=tuple(r.sources or ()),
        price=standing.price,
        asked_at=standing.asked_at,
        deadline=standing.deadline,
        said=PredictionEvent(content["prediction"], content["low"], content["high"]) if content else None,
        values=dict(zip(r.names, floats(content["values"]), strict=True)) if content else None,
        told_at=standing.told_at,
        label=standing.label,
    )


def entry(connection: Connection, learner_id: int, name: str, index: int) -> StoredRound:
    """One round."""
    return entries(connection, learner_id, name, [rounds.c.round == index], None, False)[0]


def entries(
    connection: Connection,
    learner_id: int,
    name: str,
    which: "Sequence[ColumnElement[bool]]",
    limit: int | None,
    newest: bool,
) -> tuple[StoredRound, ...]:
    """Rounds with what was asked and what was said last."""
    asked = and_(_asked.c.learner == rounds.c.learner, _asked.c.number == rounds.c.asked)
    said = and_(_said.c.learner == rounds.c.learner, _said.c.number == rounds.c.predicted)
    both = rounds.join(_asked, asked).outerjoin(_said, said)
    found = select(*_STANDING, _asked.c.body, _said.c.body).select_from(both)
    found = found.where(rounds.c.learner == learner_id, *which)
    found = found.order_by(rounds.c.round.desc() if newest else rounds.c.round).limit(limit)
    made = []
    for *standing, asked_body, said_body in connection.execute(found):
        r = Round.from_plain(json.loads(asked_body)["round"])
        made.append(fresh(name, RoundRow(*standing), r, said_body))
    return tuple(made)


def history(connection: Connection, learner_id: int, after: int, limit: int | None) -> History:
    """The labels in the order of their events, after that of a number."""
    c = rounds.c
    told = select(c.round, c.key, c.told_at, c.label, c.prediction, c.price)
    told = told.where(c.learner == learner_id, c.status == "told", c.ended > after).order_by(c.ended).limit(limit)
    rows = connection.execute(told).all()
    return History(tuple(LabelEvent(i, key, at, y, p, _loss(p, y), price) for i, key, at, y, p, price in rows))


def _loss(prediction: float | None, y: float) -> float | None:
    return None if prediction is None else (prediction - y) * (prediction - y)
