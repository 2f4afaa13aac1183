"""A learner in a store: the protocol of a plain learner, for many processes at once."""

import json
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from ..core import introspection
from ..core.learner import Learner, Values
from ..core.round import Round
from ..errors import ConfigError, ProtocolError, StateError
from . import queries
from .cached_learner import CachedLearner
from .database import Connection, Database
from .events import Event, events_after
from .models import STATUSES, History, NoSuchRound, Outcome, PredictionEvent, Purchase, StoredRound, Totals
from .schema import TOTAL_COLUMNS
from .transaction import Available, Extras, LearnerTransaction, RowPrices

__all__ = ["StoredLearner"]

A = TypeVar("A")
B = TypeVar("B")
RoundLike: TypeAlias = "Round | StoredRound | int"


class StoredLearner:
    """One learner of a store. Every change is one transaction: it is committed when the call returns, or not at all."""

    def __init__(self, database: Database, cached: CachedLearner) -> None:
        self.database, self._cached = database, cached
        self.id, self.name, self.config = cached.id, cached.name, cached.config

    # -- the protocol

    def ask(
        self,
        key: str | None = None,
        available: Available = None,
        deadline: float | None = None,
        prices: RowPrices = None,
    ) -> Round:
        """Open a round; the same key always gives the same round.

        `deadline` (seconds since 1970) is for display; `prices` are those of this row, by source.
        """
        return self.open_round(key, available, deadline, prices).round

    def predict(self, r: RoundLike, values: Values) -> float:
        """The prediction from the bought values. It is recorded: the last one before the label counts."""
        return self.predict_interval(r, values).prediction

    def tell(
        self,
        r: RoundLike,
        values: "Values | None",
        y: float,
        extra_attributes: Extras = None,
        extra_values: "Values | None" = None,
    ) -> bool:
        """Close a round with its label, however late; False where exactly this label was told before.

        `values` may be None where they were given with the prediction.
        """
        given = _round_or_index(r)
        return self.transact(lambda transaction: transaction.tell(given, values, y, extra_attributes, extra_values))

    def abandon(self, r: RoundLike) -> bool:
        """Stop waiting for the label of a round; a label that comes later is still accepted.

        Returns False where the round was abandoned before.
        """
        given = _round_or_index(r)
        return self.transact(lambda transaction: transaction.abandon(given))

    def learn(self, X: object, y: object) -> bool:
        """Learn from rows that are known already, NaN where not observed; free, and in one transaction.

        Returns False where exactly these rows were learnt before, so that a call may be repeated.
        """
        return self.transact(lambda transaction: transaction.learn(X, y))

    def open_round(
        self,
        key: str | None = None,
        available: Available = None,
        deadline: float | None = None,
        prices: RowPrices = None,
    ) -> StoredRound:
        """`ask`, returning the stored round: what to order, its price, its status."""

        def ask(transaction: LearnerTransaction) -> StoredRound:
            row, r = transaction.ask(key, available, deadline, prices)
            if row.prediction_event is not None or row.end_event is not None:
                return queries.find_rounds(transaction.connection, self.id, self.name, index=row.round)[0]
            return queries.stored_round(self.name, row, r)

        return self.transact(ask)

    def predict_interval(self, r: RoundLike, values: Values) -> PredictionEvent:
        """`predict`, with the interval where the learner has one."""
        given = _round_or_index(r)
        return self.transact(lambda transaction: transaction.predict(given, values))

    def tell_many(self, labels: Iterable[tuple[str, float]]) -> list[Outcome]:
        """Many late labels by key, in one transaction; a refused label does not stop the others."""

        def tell(transaction: LearnerTransaction) -> list[Outcome]:
            return [_tell_one(transaction, key, y) for key, y in labels]

        return self.transact(tell)

    # -- queries

    def rounds(
        self, status: str | None = None, limit: int | None = None, newest: bool = False, after: int = 0
    ) -> tuple[StoredRound, ...]:
        """The rounds in the order asked (or the newest first), all or those `open`, `told` or `abandoned`."""
        if status is not None and status not in STATUSES:
            raise ConfigError(f"a round is {', '.join(STATUSES)}; not '{status}'")
        with self.database.reading() as connection:
            return queries.find_rounds(
                connection, self.id, self.name, status=status, after=after, limit=limit, newest=newest
            )

    def round(self, index: int) -> StoredRound:
        """One round, by its index, which counts from 1."""
        found: tuple[StoredRound, ...] = ()
        if 0 < index < 2**31:
            with self.database.reading() as connection:
                found = queries.find_rounds(connection, self.id, self.name, index=index)
        if not found:
            raise NoSuchRound(f"learner '{self.name}' has no round {index}")
        return found[0]

    def history(self, after: int = 0, limit: int | None = None) -> History:
        """The labels in the order they came, with the prediction before each."""
        with self.database.reading() as connection:
            return queries.history(connection, self.id, after, limit)

    def ledger(self) -> tuple[Purchase, ...]:
        """The sources that were ordered, with their prices, in the order of the rounds; before them past rows, free."""
        learner = self.learner()
        (created_at,) = self._columns("created_at")
        past = f"past rows: {learner.n_past_rows}, free"
        bought = [Purchase(0, None, created_at, past, 0.0)] if learner.n_past_rows else []
        for stored in self.rounds():
            for name, price in introspection.basket(learner, stored.round):
                bought.append(Purchase(stored.index, stored.key, stored.asked_at, name, price))
        return tuple(bought)

    def learner(self) -> Learner:
        """A copy of the learner as it is now, to save or explain; labels told to the copy do not reach the store."""
        from ..core.serialization import from_bytes, to_bytes

        return self.read(lambda learner: from_bytes(to_bytes(learner)))

    def totals(self) -> Totals:
        """Counts, loss and money so far."""
        return Totals(*self._columns(TOTAL_COLUMNS))

    @property
    def head(self) -> int:
        """The number of the last event."""
        (head,) = self._columns("head")
        return int(head)

    def events(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """The events after a number, oldest first."""
        with self.database.reading() as connection:
            return list(islice(events_after(connection, self.id, after), limit))

    def extra(self, r: Round) -> list[str]:
        """The names of the attributes that a round buys after its label (k0 > 0)."""
        names = self.config.get("names")
        return [str(names[i]) if isinstance(names, list) else f"x{i}" for i in r.extra]

    def warnings(self, now: float | None = None) -> list[str]:
        """Rounds beyond their deadline, and a state that a replay does not reproduce."""
        late = "SELECT count(*) FROM keyhole_rounds WHERE learner = :learner AND status = 'open' AND deadline < :now"
        with self.database.reading() as connection:
            row = connection.row(late, {"learner": self.id, "now": time.time() if now is None else now})
        n = 0 if row is None else row[0]
        found = [f"{n} open round{' is beyond its' if n == 1 else 's are beyond their'} deadline"] if n else []
        if self._cached.diverged:
            found.append("a replay asks for other attributes than were recorded: run keyhole store check")
        return found

    @property
    def note(self) -> dict[str, str]:
        """What a person reads beside the numbers: the label's name and unit, the currency."""
        (text,) = self._columns("note")
        note: dict[str, str] = json.loads(text)
        return note

    def read(self, look: Callable[[Learner], A]) -> A:
        """Call a function with the learner as it is now; the function must not change it."""
        with self._cached.lock, self.database.reading() as connection:
            self._cached.catch_up(connection)
            return look(self._cached.learner)

    def transact(self, act: Callable[[LearnerTransaction], A]) -> A:
        """Several changes in one transaction: all are committed, or none."""
        cached = self._cached
        with cached.lock:
            if not cached.loaded:
                with self.database.reading() as connection:
                    cached.catch_up(connection)  # not in the writing transaction, because it may take seconds
            head = cached.head
            try:
                with self.database.writing() as connection:
                    transaction = LearnerTransaction(connection, cached)
                    head = cached.head
                    return act(transaction)
            except BaseException as fault:
                # A refused call changes nothing; but changes before it in the same transaction were not committed.
                if not isinstance(fault, ProtocolError) or cached.head != head:
                    cached.forget()
                raise

    def query(self, query: "Callable[[Connection, int, B], A]", argument: B) -> A:
        """Run one of the `queries` on the rounds of this learner."""
        with self.database.reading() as connection:
            return query(connection, self.id, argument)

    def _columns(self, names: str) -> tuple[Any, ...]:
        """Columns of the row of this learner."""
        with self.database.reading() as connection:
            row = connection.row(f"SELECT {names} FROM keyhole_learners WHERE id = :learner", {"learner": self.id})
        if row is None:
            raise StateError(f"learner '{self.name}' was removed from the store by another program")
        return row


def _round_or_index(r: RoundLike) -> "Round | int":
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
