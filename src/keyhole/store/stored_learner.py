"""A learner that lives in a store: the protocol of a plain one, for many processes at once."""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice
from typing import TypeAlias, TypeVar

from sqlalchemy import ColumnElement, func, select

from ..core import introspection
from ..core.learner import Learner, Values
from ..core.round import Round
from ..errors import ConfigError, ProtocolError
from . import queries
from .cached_learner import CachedLearner, events_after
from .database import Database
from .events import Event
from .models import STATUSES, History, NoSuchRound, Outcome, PredictionEvent, Purchase, StoredRound, Totals
from .sql_tables import learners, rounds
from .transaction import Available, Extras, LearnerTransaction, RowPrices

__all__ = ["StoredLearner"]

A = TypeVar("A")
Given: TypeAlias = "Round | StoredRound | int"


class StoredLearner:
    """One learner of a store. Every change is one transaction: it is committed when the call returns, or not at all."""

    def __init__(self, database: Database, live: CachedLearner) -> None:
        self.database, self._live = database, live
        self.id, self.name, self.config = live.id, live.name, live.config

    # -- the protocol

    def ask(
        self,
        key: str | None = None,
        available: Available = None,
        deadline: float | None = None,
        prices: RowPrices = None,
    ) -> Round:
        """Open a round; the same key gives the same round for ever.

        `deadline` (seconds since 1970) is for display; `prices` are those of this row, by source.
        """
        return self.order(key, available, deadline, prices).round

    def predict(self, r: Given, values: Values) -> float:
        """The prediction from the bought values, written down: the last one before the label counts."""
        return self.say(r, values).prediction

    def tell(
        self,
        r: Given,
        values: "Values | None",
        y: float,
        extra_attributes: Extras = None,
        extra_values: "Values | None" = None,
    ) -> bool:
        """Close a round with its label, however late; False where exactly this label was told before.

        `values` may be None where they were given with the prediction.
        """
        return self.transact(lambda transaction: transaction.tell(_plain(r), values, y, extra_attributes, extra_values))

    def abandon(self, r: Given) -> bool:
        """Take a round off the list of open ones; its label is still taken if it comes. False where it was off."""
        return self.transact(lambda transaction: transaction.abandon(_plain(r)))

    def order(
        self,
        key: str | None = None,
        available: Available = None,
        deadline: float | None = None,
        prices: RowPrices = None,
    ) -> StoredRound:
        """`ask`, with what to order, its price, and how the round stands."""

        def ask(transaction: LearnerTransaction) -> StoredRound:
            standing, r = transaction.ask(key, available, deadline, prices)
            if standing.predicted is not None or standing.ended is not None:
                return queries.entry(transaction.connection, self._live.id, self.name, standing.round)
            return queries.fresh(self.name, standing, r)

        return self.transact(ask)

    def say(self, r: Given, values: Values) -> PredictionEvent:
        """`predict`, with the interval where the learner has one."""
        return self.transact(lambda transaction: transaction.predict(_plain(r), values))

    def tell_many(self, labels: Iterable[tuple[str, float]]) -> list[Outcome]:
        """Many late labels by key, in one transaction; a refused one stops none of the others."""

        def tell(transaction: LearnerTransaction) -> list[Outcome]:
            return [_tell_one(transaction, key, y) for key, y in labels]

        return self.transact(tell)

    # -- what there is to know

    def rounds(
        self, status: str | None = None, limit: int | None = None, newest: bool = False, after: int = 0
    ) -> tuple[StoredRound, ...]:
        """The rounds in the order asked (or the newest first), all or those `open`, `told` or `abandoned`."""
        if status is not None and status not in STATUSES:
            raise ConfigError(f"a round is {', '.join(STATUSES)}; not '{status}'")
        which = [rounds.c.round > after] + ([] if status is None else [rounds.c.status == status])
        return self._entries(*which, limit=limit, newest=newest)

    def round(self, index: int) -> StoredRound:
        """One round, by the number that counts from 1."""
        found = self._entries(rounds.c.round == index) if 0 < index < 2**31 else ()
        if not found:
            raise NoSuchRound(f"learner '{self.name}' has no round {index}")
        return found[0]

    def history(self, after: int = 0, limit: int | None = None) -> History:
        """The labels in the order they came, with what was said before each."""
        with self.database.reading() as connection:
            return queries.history(connection, self._live.id, after, limit)

    def ledger(self) -> tuple[Purchase, ...]:
        """Everything that was ordered, with its price, in the order of the rounds."""
        learner = self.learner()
        bought = []
        for entry in self.rounds():
            for name, price in introspection.basket(learner, entry.round):
                bought.append(Purchase(entry.index, entry.key, entry.asked_at, name, price))
        return tuple(bought)

    def learner(self) -> Learner:
        """A copy of the learner as it is now, to save or explain; what is told to the copy stays in the copy."""
        from ..core.serialization import from_bytes, to_bytes

        return self.read(lambda learner: from_bytes(to_bytes(learner)))

    def totals(self) -> Totals:
        """Rounds, loss and money so far."""
        mine = select(*(learners.c[name] for name in Totals._fields)).where(learners.c.id == self._live.id)
        with self.database.reading() as connection:
            return Totals(*connection.execute(mine).one())

    @property
    def head(self) -> int:
        """The number of the last event."""
        with self.database.reading() as connection:
            head: int = connection.execute(select(learners.c.head).where(learners.c.id == self._live.id)).scalar_one()
        return head

    def events(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """What was written after the event of a number, oldest first."""
        with self.database.reading() as connection:
            return list(islice(events_after(connection, self._live.id, after), limit))

    def extra(self, r: Round) -> list[str]:
        """The names of what a round buys after the label."""
        names = self.config.get("names")
        return [str(names[i]) if isinstance(names, list) else f"x{i}" for i in r.extra]

    def warnings(self, now: float | None = None) -> list[str]:
        """What a person should know: rounds beyond their deadline, a state that a replay does not come to."""
        late = select(func.count()).where(rounds.c.learner == self._live.id, rounds.c.status == "open")
        late = late.where(rounds.c.deadline < (time.time() if now is None else now))
        with self.database.reading() as connection:
            n = connection.execute(late).scalar_one()
        words = "1 open round is beyond its deadline" if n == 1 else f"{n} open rounds are beyond their deadline"
        found = [words] if n else []
        if self._live.diverged:
            found.append("a replay asks otherwise than was recorded: run keyhole store check")
        return found

    @property
    def note(self) -> dict[str, str]:
        """What a person should read beside the numbers: the label's name and unit, the currency."""
        with self.database.reading() as connection:
            text = connection.execute(select(learners.c.note).where(learners.c.id == self._live.id)).scalar_one()
        note: dict[str, str] = json.loads(text)
        return note

    def read(self, look: Callable[[Learner], A]) -> A:
        """Look at the learner as it is now, without copying it and without changing it."""
        with self._live.lock, self.database.reading() as connection:
            self._live.catch_up(connection)
            return look(self._live.learner)

    def transact(self, act: Callable[[LearnerTransaction], A]) -> A:
        """Several things in one transaction: all are committed, or none."""
        with self._live.lock:
            if self._live.cold:
                with self.database.reading() as connection:
                    self._live.catch_up(connection)
            head = self._live.head
            try:
                with (
                    self.database.writing() as connection,
                    closing(LearnerTransaction(connection, self._live)) as transaction,
                ):
                    head = self._live.head
                    return act(transaction)
            except BaseException as fault:
                # A refusal changes nothing; but what was done before it in this transaction was not committed either.
                if not isinstance(fault, ProtocolError) or self._live.head != head:
                    self._live.forget()
                raise

    # -- inside

    def _entries(
        self, *which: "ColumnElement[bool]", limit: int | None = None, newest: bool = False
    ) -> tuple[StoredRound, ...]:
        with self.database.reading() as connection:
            return queries.entries(connection, self._live.id, self.name, which, limit, newest)


def _plain(r: Given) -> "Round | int":
    if isinstance(r, StoredRound):
        return r.round
    if isinstance(r, Round) or (isinstance(r, int) and not isinstance(r, bool)):
        return r
    raise ProtocolError(f"expected the Round that ask() gave, not {type(r).__name__}")


def _tell_one(transaction: LearnerTransaction, key: str, y: float) -> Outcome:
    try:
        new = transaction.tell(transaction.index_of(key), None, y, None, None)
    except ProtocolError as fault:
        return Outcome(key, "refused", str(fault))
    return Outcome(key, "told" if new else "known already")
