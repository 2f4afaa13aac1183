"""The public interface of the store: learners by name, shared by all processes that open it."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

from ..core import introspection
from ..core.learner import Learner, Plain, Values
from ..core.round import STATUSES, Round
from ..errors import ConfigError, ProtocolError, StateError
from . import projections
from .cached_learner import CachedLearner
from .database import TOTAL_COLUMNS, Connection, Database, DuplicateRow
from .events import Event, events_after, first_checksum, reason
from .learner_row import VALID_NAME, learner_config, learner_note
from .models import DamagedStore, LabelHistory, NoSuchLearner, NoSuchRound, Outcome, Purchase, Taken, Totals
from .transaction import Available, Extras, LearnerTransaction, RowPrices

__all__ = ["Store", "StoredLearner", "Summary", "add_learner"]

A = TypeVar("A")
B = TypeVar("B")


class StoredLearner:
    """A learner in a store. Every change is one transaction: it is committed when the call returns, or not at all."""

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

        `deadline` (seconds since 1970) is for display only; `prices` are the prices of this row, by source.
        """
        return self.transact(lambda transaction: transaction.ask(key, available, deadline, prices))

    def predict(self, r: "Round | int", values: Values) -> float:
        """Predict from the bought values. The prediction is recorded; the last one before the label counts."""
        return cast(float, self.predict_interval(r, values).prediction)

    def tell(
        self,
        r: "Round | int",
        values: "Values | None",
        y: float,
        extra_attributes: Extras = None,
        extra_values: "Values | None" = None,
    ) -> bool:
        """Close a round with its label, however late; return False if the same label was told before.

        `values` may be None if they were given with the prediction.
        """
        return self.change(lambda transaction: transaction.tell(r, values, y, extra_attributes, extra_values))[1]

    def abandon(self, r: "Round | int") -> bool:
        """Stop waiting for the label of a round; a later label is still accepted.

        Returns False if the round was already abandoned.
        """
        return self.change(lambda transaction: transaction.abandon(r))[1]

    def learn(self, X: object, y: object) -> bool:
        """Learn from past rows (NaN for values that were not observed), without cost and in one transaction.

        Returns False if the same rows were learnt before, so that a call may be repeated.
        """
        return self.transact(lambda transaction: transaction.learn(X, y))

    def predict_interval(self, r: "Round | int", values: Values) -> Round:
        """Predict like `predict`, and return the round: its `prediction`, `low` and `high`."""
        return self.transact(lambda transaction: transaction.predict(r, values))

    def tell_many(self, labels: Iterable[tuple[str, float]]) -> list[Outcome]:
        """Tell many late labels by key, in one transaction; a refused label does not stop the others."""

        def tell(transaction: LearnerTransaction) -> list[Outcome]:
            return [_tell_one(transaction, key, y) for key, y in labels]

        return self.transact(tell)

    # -- queries

    def rounds(
        self, status: str | None = None, limit: int | None = None, newest: bool = False, after: int = 0
    ) -> tuple[Round, ...]:
        """Return the rounds in the order asked, or the newest first; `status` is open, labelled or abandoned."""
        if status is not None and status not in STATUSES:
            raise ConfigError(f"status must be one of {', '.join(STATUSES)}, not '{status}'")
        _check_page(after, limit)
        with self.database.reading() as connection:
            return projections.find_rounds(
                connection, self.id, self.name, status=status, after=after, limit=limit, newest=newest
            )

    def round(self, index: int) -> Round:
        """Return one round by its index, which counts from 1."""
        found: tuple[Round, ...] = ()
        if isinstance(index, int) and 0 < index < 2**31:
            with self.database.reading() as connection:
                found = projections.find_rounds(connection, self.id, self.name, round=index)
        if not found:
            raise NoSuchRound(f"learner '{self.name}' has no round {index!r:.40}")
        return found[0]

    def history(self, after: int = 0, limit: int | None = None) -> LabelHistory:
        """Return the labels in order of arrival, each with the last prediction before it."""
        _check_page(after, limit)
        with self.database.reading() as connection:
            return projections.label_history(connection, self.id, after, limit)

    def ledger(self) -> tuple[Purchase, ...]:
        """Return the ordered sources with their prices, in the order of the rounds, after the past rows (free)."""
        learner = self.learner()
        past = f"past rows: {learner.n_past_rows}, free"
        with self.database.reading() as connection:
            (created_at,) = self._row(connection, "created_at")
            bought = [Purchase(0, None, created_at, past, 0.0)] if learner.n_past_rows else []
            for r in projections.find_rounds(connection, self.id, self.name):
                try:
                    basket = introspection.basket(learner, r)
                except Exception as fault:  # a damaged round may buy attributes that do not exist
                    what = f"round {r.index} of learner '{self.name}' has no valid order"
                    raise DamagedStore(f"{what}: {reason(fault)}") from None
                bought += [Purchase(r.index, r.key, r.asked_at, name, price) for name, price in basket]
        return tuple(bought)

    def learner(self) -> Learner:
        """Return a copy of the current learner, to save or explain; labels told to the copy do not reach the store."""
        from ..core.serialization import from_bytes, to_bytes

        return self.read(lambda learner: from_bytes(to_bytes(learner)))

    def totals(self) -> Totals:
        """Return the counts, the losses and the money spent so far."""
        return Totals(*self._columns(TOTAL_COLUMNS))

    @property
    def head(self) -> int:
        """Return the number of the last event."""
        (head,) = self._columns("head")
        return int(head)

    def events(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """Return the events after event number `after`, oldest first."""
        _check_page(after, limit)
        with self.database.reading() as connection:
            self._row(connection, "head")  # raises if the learner was removed
            return list(islice(events_after(connection, self.id, after), limit))

    def warnings(self, now: float | None = None) -> list[str]:
        """Return warnings: rounds past their deadline, and a state that a replay does not reproduce."""
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
        """Return the texts shown beside the numbers: the label's name and unit, and the currency."""
        with self.database.reading() as connection:
            return learner_note(self.name, self._row(connection, "note")[0])

    def read(self, look: Callable[[Learner], A]) -> A:
        """Call a function with the current learner; the function must not change it."""
        with self._cached.lock, self.database.reading() as connection:
            self._cached.catch_up(connection)
            return look(self._cached.learner)

    def transact(self, act: Callable[[LearnerTransaction], A]) -> A:
        """Make several changes in one transaction: all are committed, or none."""
        cached = self._cached
        with cached.lock:
            if not cached.loaded:
                with self.database.reading() as connection:
                    cached.catch_up(connection)  # outside the writing transaction, because it may take seconds
            head = cached.head
            try:
                with self.database.writing() as connection:
                    transaction = LearnerTransaction(connection, cached)
                    head = cached.head
                    return act(transaction)
            except BaseException as fault:
                # The refused call changed nothing, but earlier changes of the same transaction were rolled back.
                if not isinstance(fault, ProtocolError) or cached.head != head:
                    cached.forget()
                raise

    def change(self, act: Callable[[LearnerTransaction], Round]) -> tuple[Round, bool]:
        """Change one round; return it, and whether anything was recorded, which is not so if a call is repeated."""

        def both(transaction: LearnerTransaction) -> tuple[Round, bool]:
            return act(transaction), transaction.n_written > 0

        return self.transact(both)

    def query(self, query: "Callable[[Connection, int, B], A]", argument: B) -> A:
        """Run one of the `queries` on the rounds of this learner."""
        with self.database.reading() as connection:
            return query(connection, self.id, argument)

    def _columns(self, names: str) -> tuple[Any, ...]:
        """Return columns from the row of this learner."""
        with self.database.reading() as connection:
            return self._row(connection, names)

    def _row(self, connection: Connection, names: str) -> tuple[Any, ...]:
        row = connection.row(f"SELECT {names} FROM keyhole_learners WHERE id = :learner", {"learner": self.id})
        if row is None:
            raise StateError(f"learner '{self.name}' was removed from the store by another program")
        return row


def _check_page(after: int, limit: int | None) -> None:
    """Check the bounds of a query; databases disagree about negative ones."""
    for name, given in (("after", after), ("limit", limit)):
        if given is not None and (not isinstance(given, int) or given < 0 or given >= 2**63):
            raise ConfigError(f"{name} must be a number from 0 on, not {given!r:.40}")


def _tell_one(transaction: LearnerTransaction, key: str, y: float) -> Outcome:
    before = transaction.n_written
    try:
        transaction.tell(transaction.index_of(key), None, y)
    except ProtocolError as fault:
        return Outcome(key, "refused", str(fault))
    return Outcome(key, "labelled" if transaction.n_written > before else "known already")


_ADD_LEARNER = (
    f"INSERT INTO keyhole_learners (name, config, note, created_at, head, checksum, {TOTAL_COLUMNS}) "
    f"VALUES (:name, :config, :note, :created_at, 0, :checksum, {', '.join(f':{name}' for name in Totals._fields)})"
)


@dataclass(frozen=True)
class Summary:
    """The summary of a learner in a list, read without loading its state."""

    name: str
    algorithm: str
    head: int
    totals: Totals
    note: dict[str, str]


class Store:
    """A store, as `kh.open_store(url)` returns it: a mapping from names to learners; `create` adds new ones."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.database.open()
        self._cached: dict[str, CachedLearner] = {}

    def create(
        self, name: str, algorithm: str, *, note: Mapping[str, str] | None = None, **arguments: object
    ) -> StoredLearner:
        """Create a learner with the arguments of `kh.make`, or return the existing one of equal configuration.

        `note` (`label`, `unit`, `currency`) is for display. If no seed is given, one is drawn; in the comparison of
        configurations a missing seed equals any seed.
        """
        from ..core.registry.catalogue import make

        config = make(algorithm, **arguments).config  # type: ignore[arg-type]  # `make` checks each
        _check_names(name, config)
        if not all(isinstance(value, str) for value in (note or {}).values()):
            raise ConfigError(f"the values of a note must be texts, not {dict(note or {})!r:.80}")
        text = json.dumps(config, sort_keys=True)
        if self._find(name) is None:
            with suppress(DuplicateRow), self.database.writing() as connection:
                add_learner(connection, name, text, json.dumps(dict(note or {})), time.time())
        found = self[name]
        if not _equal(found.config, config, arguments.get("seed") is not None):
            raise Taken(f"there is a learner '{name}' with another configuration; choose another name")
        return found

    def create_from_model(self, name: str, model: bytes, *, note: Mapping[str, str] | None = None) -> StoredLearner:
        """Create a learner in the state of a model file, such as `keyhole plan` writes; the call may be repeated.

        Raises `Taken` if a learner of this name has another configuration, and `Conflict` if it has rounds of its own.
        """
        from ..core.serialization import from_bytes

        config = dict(from_bytes(model).config)
        options, algorithm = config.pop("options"), config.pop("name")
        stored = self.create(name, str(algorithm), note=note, **config, **options)  # type: ignore[arg-type]
        stored.transact(lambda transaction: transaction.start_from(model))
        return stored

    def __getitem__(self, name: str) -> StoredLearner:
        cached = self._find(name)
        if cached is None:
            raise NoSuchLearner(f"there is no learner '{name}' in this store")
        return StoredLearner(self.database, cached)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.heads()))

    def __len__(self) -> int:
        return len(self.heads())

    def summaries(self) -> list[Summary]:
        """Return all learners with their totals, sorted by name, with one query."""
        with self.database.reading() as connection:
            rows = connection.rows(
                f"SELECT name, config, note, head, {TOTAL_COLUMNS} FROM keyhole_learners ORDER BY name"
            )
            return [
                Summary(name, str(learner_config(name, c)["name"]), head, Totals(*totals), learner_note(name, note))
                for name, c, note, head, *totals in rows
            ]

    def heads(self) -> dict[str, int]:
        """Return the number of the last event of each learner."""
        with self.database.reading() as connection:
            return dict(connection.rows("SELECT name, head FROM keyhole_learners"))

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, name: str) -> CachedLearner | None:
        """Return the cached state of a learner, or None if the store has no such learner."""
        if name not in self._cached:
            if not isinstance(name, str) or not VALID_NAME.fullmatch(name):
                return None
            with self.database.reading() as connection:
                found = connection.row("SELECT id, config FROM keyhole_learners WHERE name = :name", {"name": name})
                if found is None:
                    return None
                self._cached.setdefault(name, CachedLearner(found[0], name, learner_config(name, found[1])))
        return self._cached[name]


def add_learner(connection: Connection, name: str, config: str, note: str, created_at: float) -> int:
    """Add a learner without events and return its id."""
    row: dict[str, object] = {"name": name, "config": config, "note": note, "created_at": created_at}
    connection.run(_ADD_LEARNER, row | {"checksum": first_checksum(name, config), **Totals()._asdict()})
    found = connection.row("SELECT id FROM keyhole_learners WHERE name = :name", {"name": name})
    if found is None:
        raise StateError(f"learner '{name}' was not added to the store")
    return int(found[0])


def _check_names(name: str, config: dict[str, Plain]) -> None:
    if not isinstance(name, str) or not VALID_NAME.fullmatch(name):
        what = "1 to 64 letters, digits, spaces and . - _, a letter or digit first"
        raise ConfigError(f"a learner's name must be {what}, not {name!r:.80}")
    for attribute in config.get("names") or ():  # type: ignore[union-attr]
        if not str(attribute).isprintable() or len(str(attribute)) > 200:
            raise ConfigError(f"an attribute's name must have at most 200 printable characters, not {attribute!r:.80}")


def _equal(there: dict[str, Plain], wanted: dict[str, Plain], seeded: bool) -> bool:
    if not seeded:
        wanted = wanted | {"seed": there["seed"]}
    return json.dumps(there, sort_keys=True) == json.dumps(wanted, sort_keys=True)
