"""The statements of every call, put together once: building them costs more than running them."""

from sqlalchemy import BindParameter, bindparam, select

from .books import Standing
from .entries import Totals
from .tables import events, learners, rounds

__all__ = ["ADD_EVENT", "ADD_ROUND", "AFTER", "BODY", "BY_INDEX", "BY_KEY", "HEAD", "SET_ROUND", "SET_TOTALS"]

STANDING = [rounds.c[name] for name in Standing.__dataclass_fields__]
TOTALS = [learners.c[name] for name in Totals.__dataclass_fields__]
_me: BindParameter[int] = bindparam("me")

# On PostgreSQL the row is the lock of the learner; SQLite has but one writer, and leaves the words out.
HEAD = select(learners.c.head, learners.c.checksum, *TOTALS).where(learners.c.id == _me).with_for_update()
BY_KEY = select(*STANDING).where(rounds.c.learner == _me, rounds.c.key == bindparam("this"))
BY_INDEX = select(*STANDING).where(rounds.c.learner == _me, rounds.c.round == bindparam("this"))
BODY = select(events.c.body).where(events.c.learner == _me, events.c.number == bindparam("this"))
AFTER = (
    select(events.c.number, events.c.kind, events.c.round, events.c.at, events.c.body, events.c.checksum)
    .where(events.c.learner == _me, events.c.number > bindparam("this"))
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
ADD_EVENT = events.insert()
ADD_ROUND = rounds.insert()
SET_ROUND = (
    rounds.update()
    .where(rounds.c.learner == _me, rounds.c.round == bindparam("this"))
    .values({name: bindparam(name) for name in Standing.__dataclass_fields__ if name != "round"})
)
SET_TOTALS = (
    learners.update()
    .where(learners.c.id == _me)
    .values({name: bindparam(name) for name in ("head", "checksum", *Totals.__dataclass_fields__)})
)
