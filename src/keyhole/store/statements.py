"""The statements of every call, put together and compiled once: that costs more than running them."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, Connection, Dialect, bindparam, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import Executable

from .models import Totals
from .projections import CHANGES, RoundRow
from .sql_tables import events, learners, rounds

__all__ = [
    "ADD_EVENT",
    "ADD_ROUND",
    "AFTER",
    "BODY",
    "BY_INDEX",
    "BY_KEY",
    "HEAD",
    "SET_ROUND",
    "SET_TOTALS",
    "Cursor",
    "Statement",
]


Arrange: TypeAlias = "Callable[[Mapping[str, object]], Any]"


class Statement:
    """A statement in the words of each database."""

    def __init__(self, clause: Executable) -> None:
        self.clause = clause
        self._words: dict[str, tuple[str, Arrange]] = {}

    def words(self, dialect: Dialect) -> "tuple[str, Arrange]":
        """The text, and what puts named values in the form that the driver takes."""
        found = self._words.get(dialect.name)
        if found is None:
            compiled = self.clause.compile(dialect=dialect)  # type: ignore[attr-defined]
            order = compiled.positiontup
            found = self._words[dialect.name] = (str(compiled), dict if order is None else _in_order(order))
        return found


class Cursor:
    """Runs statements by the driver itself, in the transaction of a connection.

    What SQLAlchemy does around every execution takes several times as long as the statement; a dozen of them make a
    round. Faults come out as SQLAlchemy's all the same.
    """

    def __init__(self, connection: Connection) -> None:
        self._dialect = connection.dialect
        self._cursor = connection.connection.cursor()

    def run(self, statement: Statement, given: Mapping[str, object]) -> tuple[Any, ...] | None:
        """Run it; its first row, if it has any."""
        text, arrange = statement.words(self._dialect)
        try:
            self._cursor.execute(text, arrange(given))
            row: tuple[Any, ...] | None = self._cursor.fetchone() if self._cursor.description is not None else None
        except self._dialect.loaded_dbapi.Error as fault:
            kind = self._dialect.loaded_dbapi.Error
            raise DBAPIError.instance(text, None, fault, kind, dialect=self._dialect) from fault
        return row

    def close(self) -> None:
        """Nothing of the last statement stays open."""
        self._cursor.close()


def _in_order(names: "list[str]") -> "Arrange":
    if len(names) == 1:  # of one name `itemgetter` gives the value itself
        return lambda given: (given[names[0]],)
    return itemgetter(*names)


STANDING = [rounds.c[name] for name in RoundRow._fields]
TOTALS = [learners.c[name] for name in Totals._fields]
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
# Only what an event changes: an index is written again for every column that is named, changed or not.
SET_ROUND = {
    kind: Statement(
        rounds.update()
        .where(rounds.c.learner == _me, rounds.c.round == bindparam("this"))
        .values({name: bindparam(name) for name in names})
    )
    for kind, names in CHANGES.items()
}
SET_TOTALS = Statement(
    learners.update()
    .where(learners.c.id == _me)
    .values({name: bindparam(name) for name in ("head", "checksum", *Totals._fields)})
)
