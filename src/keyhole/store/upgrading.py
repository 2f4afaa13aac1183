"""From the schema of an earlier version to this one, in one transaction; and from an earlier version's arithmetic."""

import json
from collections.abc import Callable

from sqlalchemy import Connection, func, select

from .. import __version__
from ..errors import StateError
from .cached_learner import CachedLearner
from .database import Database
from .sql_tables import SCHEMA, about, learners, snapshots

__all__ = ["plan", "upgrade", "upgrade_schema"]

_STEPS: dict[int, tuple[str, Callable[[Connection], None]]] = {}
"""From schema n to n + 1: what it does, in words and in SQL. Schema 1 is the first."""


def upgrade_schema(database: Database) -> list[str]:
    """Bring the tables to this version's schema; what was done."""
    done = []
    with database.writing() as connection:
        mine = about.c.name == "schema"
        found = int(connection.execute(select(about.c.value).where(mine).with_for_update()).scalar_one())
        for number in range(found, SCHEMA):
            if number not in _STEPS:
                raise StateError(f"{database.shown} has schema {number}, which this version cannot upgrade")
            words, step = _STEPS[number]
            step(connection)
            done.append(f"schema {number} -> {number + 1}: {words}")
        if found < SCHEMA:
            connection.execute(about.update().where(mine).values(value=str(SCHEMA)))
    return done


def plan(database: Database) -> list[str]:
    """What `upgrade` would do, in words; empty where there is nothing to do."""
    found = database.schema()
    steps = [f"schema {n} -> {n + 1}: {_STEPS[n][0]}" for n in range(found or SCHEMA, SCHEMA)]
    return steps + [
        f"learner '{name}': replays begin after its last event" for _, name, _ in _of_other_versions(database)
    ]


def upgrade(database: Database) -> list[str]:
    """Bring a store to this version: its schema, and a fresh start of replays where another version computed.

    A learner of another version may compute the last bits otherwise. Its state is taken over as recorded, written down
    as a snapshot by this version, and from there on a replay must come to the same bytes again.
    """
    done = upgrade_schema(database)
    for id, name, config in _of_other_versions(database):
        live = CachedLearner(id, name, json.loads(config))
        with database.writing() as connection:
            head = connection.execute(select(learners.c.head).where(learners.c.id == id).with_for_update()).scalar_one()
            live.catch_up(connection, head)
            live.snapshot(connection, start=True)
        done.append(f"learner '{name}': replays begin after event {head}")
    return done


def _of_other_versions(database: Database) -> list[tuple[int, str, str]]:
    """Learners whose newest snapshot was made by another version."""
    newest = select(snapshots.c.learner, func.max(snapshots.c.number).label("number")).group_by(snapshots.c.learner)
    last = newest.subquery()
    both = snapshots.join(last, (snapshots.c.learner == last.c.learner) & (snapshots.c.number == last.c.number))
    mine = select(learners.c.id, learners.c.name, learners.c.config)
    mine = mine.select_from(both.join(learners, learners.c.id == snapshots.c.learner))
    with database.reading() as connection:
        found = connection.execute(mine.where(snapshots.c.version != __version__).order_by(learners.c.name)).all()
    return [(id, name, config) for id, name, config in found]
