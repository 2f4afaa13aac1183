"""What figures are drawn from: a bounded number of rows, however long the history is."""

import json
from collections.abc import Sequence

from sqlalchemy import Integer, cast, func, select

from .sql_tables import events, rounds
from .stored_learner import StoredLearner

__all__ = ["curve", "money", "orders"]

DAY = 86400.0


def curve(learner: StoredLearner, places: Sequence[int]) -> list[tuple[int, float, float]]:
    """(n, loss, idle): the two sums of squared errors after the n-th scored label, at these n."""
    c = rounds.c
    mine = select(c.scored, c.loss, c.idle).where(c.learner == learner.id, c.scored.in_(places)).order_by(c.scored)
    with learner.database.reading() as connection:
        return [(row.scored, row.loss, row.idle) for row in connection.execute(mine)]


def orders(learner: StoredLearner, places: Sequence[int]) -> list[tuple[int, list[str]]]:
    """(index, names): what these rounds bought."""
    asked = (rounds.c.learner == events.c.learner) & (rounds.c.asked == events.c.number)
    mine = select(rounds.c.round, events.c.body).join_from(rounds, events, asked)
    mine = mine.where(rounds.c.learner == learner.id, rounds.c.round.in_(places))
    with learner.database.reading() as connection:
        return [(row.round, json.loads(row.body)["round"]["names"]) for row in connection.execute(mine)]


def money(learner: StoredLearner, first: int) -> dict[int, float]:
    """What was ordered for, by day (counted from 1970), from the first day on."""
    day = cast(func.floor(rounds.c.asked_at / DAY), Integer).label("day")
    mine = select(day, func.sum(rounds.c.price).label("spent")).group_by(day)
    mine = mine.where(rounds.c.learner == learner.id, rounds.c.asked_at >= first * DAY)
    with learner.database.reading() as connection:
        return {int(row.day): float(row.spent) for row in connection.execute(mine)}
