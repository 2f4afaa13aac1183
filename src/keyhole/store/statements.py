"""The statements of every call, put together and compiled once: that costs more than running them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import Executable

from .books import Standing
from .entries import Totals
from .tables import events, learners, rounds

__all__ = ["ADD_EVENT", "ADD_ROUND", "AFTER", "BODY", "BY_INDEX", "BY_KEY", "HEAD", "SET_ROUND", "SET_TOTALS"]


class Statement:
    """A statement in the words of each database, run by the driver itself.

    What SQLAlchemy does around every execution takes several times as long as the statement; sixteen of them make a
    round. Faults come out as SQLAlchemy's all the same.
    """

    def __init__(self, clause: Executable) -> None:
        self.clause = clause
        self._words: dict[str, tuple[str, list[str] | None]] = {}

    def run(self, connection: Connection, given: Mapping[str, object]) -> tuple[Any, ...] | None:
        """Run it in the transaction of the connection; its first row, if it has any."""
        dialect = connection.dialect
        if dialect.name not in self._words:
            compiled = self.clause.compile(dialect=dialect)  # type: ignore[attr-defined]
            self._words[dialect.name] = (str(compiled), compiled.positiontup)
        text, order = self._words[dialect.name]
        cursor = connection.connection.cursor()
        try:
            cursor.execute(text, dict(given) if order is None else [given[name] for name in order])
            row: tuple[Any, ...] | None = cursor.fetchone() if cursor.description is not None else None
        except dialect.loaded_dbapi.Error as fault:
            raise DBAPIError.instance(text, None, fault, dialect.loaded_dbapi.Error, dialect=dialect) from fault
        finally:
            cursor.close()
        return row


STANDING = [rounds.c[name] for name in Standing.__dataclass_fields__]
TOTALS = [learners.c[name] for name in Totals.__dataclass_fields__]
_me: BindParameter[int] = bindparam("me")

# On PostgreSQL the row is the lock of the learner; SQLite has but one writer, and leaves the words out.
HEAD = Statement(select(learners.c.head, learners.c.checksum, *TOTALS).where(learners.c.id == _me).with_for_update())
BY_KEY = Statement(select(*STANDING).where(rounds.c.learner == _me, rounds.c.key == bindparam("this")))
BY_INDEX = Statement(select(*STANDING).where(rounds.c.learner == _me, rounds.c.round == bindparam("this")))
BODY = Statement(select(events.c.body).where(events.c.learner == _me, events.c.number == bindparam("this")))
AFTER = (
    select(events.c.number, events.c.kind, events.c.round, events.c.at, events.c.body, events.c.checksum)
    .where(events.c.learner == _me, events.c.number > bindparam("this"))
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
ADD_EVENT = Statement(events.insert())
ADD_ROUND = Statement(rounds.insert())
SET_ROUND = Statement(
    rounds.update()
    .where(rounds.c.learner == _me, rounds.c.round == bindparam("this"))
    .values({name: bindparam(name) for name in Standing.__dataclass_fields__ if name != "round"})
)
SET_TOTALS = Statement(
    learners.update()
    .where(learners.c.id == _me)
    .values({name: bindparam(name) for name in ("head", "checksum", *Totals.__dataclass_fields__)})
)
