"""One transaction on one learner: it validates the call, applies it to the learner and writes one event."""

import base64
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np

from .._internal.typing import Bools, Ints
from ..core import introspection, validation
from ..core.learner import Plain, Values
from ..core.round import Round
from ..errors import ProtocolError, StateError
from .cached_learner import SNAPSHOT_EVERY, CachedLearner
from .database import ROUND_COLUMNS, TOTAL_COLUMNS, Connection
from .events import ADD_EVENT, Event, json_object, nulls, take_model
from .models import Conflict, DamagedStore, NoSuchRound, Totals
from .projections import asked_round, changed_columns, find_rounds, round_after, totals_after

__all__ = ["ADD_ROUND", "SET_TOTALS", "Available", "Extras", "LearnerTransaction", "RowPrices"]

Available: TypeAlias = "Bools | Sequence[bool] | Sequence[str] | None"
RowPrices: TypeAlias = "Mapping[str, float] | None"
Extras: TypeAlias = "Sequence[int] | Ints | None"
_MAX_KEY_LENGTH = 200


_HEAD = f"SELECT head, checksum, {TOTAL_COLUMNS} FROM keyhole_learners WHERE id = :learner"
_SAME_PAST_ROWS = (
    "SELECT number FROM keyhole_events WHERE learner = :learner AND kind = 'past_rows' AND body LIKE :digest"
)
MOST_PAST_CELLS = 5_000_000
_BODY = "SELECT body FROM keyhole_events WHERE learner = :learner AND number = :number"
ADD_ROUND = (
    f"INSERT INTO keyhole_rounds (learner, {', '.join(ROUND_COLUMNS)}) "
    f"VALUES (:learner, {', '.join(f':{name}' for name in ROUND_COLUMNS)})"
)


def _assignments(names: Iterable[str]) -> str:
    return ", ".join(f"{name} = :{name}" for name in names)


SET_TOTALS = f"UPDATE keyhole_learners SET {_assignments(('head', 'checksum', *Totals._fields))} WHERE id = :learner"


@cache
def _set_round(columns: tuple[str, ...]) -> str:
    return f"UPDATE keyhole_rounds SET {_assignments(columns)} WHERE learner = :learner AND round = :round"


class LearnerTransaction:
    """A transaction on a learner, which has no other writer while the transaction lasts."""

    def __init__(self, connection: Connection, cached: CachedLearner) -> None:
        self.connection, self.cached = connection, cached
        found = connection.row(connection.for_update(_HEAD), {"learner": cached.id})
        if found is None:
            raise StateError(f"learner '{cached.name}' was removed from the store by another program")
        head, self.checksum, *totals = found
        self.totals = Totals(*totals)
        self.n_written = 0
        """The number of events that this transaction has written."""
        cached.catch_up(connection, head)
        if cached.head != head:
            raise DamagedStore(f"learner '{cached.name}' has {head} events, but the last one is number {cached.head}")

    def ask(
        self,
        key: str | None = None,
        available: Available = None,
        deadline: float | None = None,
        prices: RowPrices = None,
    ) -> Round:
        """Return the round of this key; open a new one if the key is new."""
        before = None if key is None else self._round_by_key(key)
        if before is not None:
            return before
        given = _available_names(available, self.cached.learner.names)
        deadline = None if deadline is None else validation.finite("the deadline", deadline)
        r = self.cached.learner.ask(available=given, prices=prices)
        content: dict[str, Plain] = {"key": key, "available": given, "deadline": deadline}  # type: ignore[dict-item]
        if prices is not None:
            content["prices"] = {name: float(price) for name, price in prices.items()}
        content["round"] = r.plain()  # type: ignore[assignment]
        event = self._event("ask", r.index, content)
        return self._record(event, None, asked_round(r, event, self.cached.name))

    def predict(self, given: "Round | int", values: Values) -> Round:
        """Predict from these values; the prediction is recorded unless it repeats the last one."""
        r = self._round(given)
        if r.status == "labelled":
            raise Conflict(f"round {r.index} already has its label; its prediction can no longer change")
        asked, learner = self._open_round(given), self.cached.learner
        x = validation.values(values, r.names).tolist()
        prediction = validation.finite("the prediction", learner.predict(asked, x))
        low, high = introspection.interval(learner, asked, x)
        content: dict[str, Plain] = {"values": nulls(x), "prediction": prediction, "low": low, "high": high}
        if _equal(r.values, x) and (r.prediction, r.low, r.high) == (prediction, low, high):
            return r
        return self._change(r, "predict", content)

    def tell(
        self,
        given: "Round | int",
        values: "Values | None",
        y: float,
        extra: Extras = None,
        extra_values: "Values | None" = None,
    ) -> Round:
        """Close a round with its label; nothing is recorded if the same label was told before."""
        r = self._round(given)
        if r.status == "labelled":
            self._check_same_label(r, given, values, y, extra_values)
            return r
        asked, learner = self._open_round(given), self.cached.learner
        x = self._values(r, values)
        if extra is None and extra_values is not None:
            extra = r.extra
        label, more = validation.label(y), list[float]()
        if extra_values is not None and r.extra.size:
            more = validation.values(extra_values, r.extra_names).tolist()
        learner.tell(asked, x, label, extra, extra_values)
        return self._change(r, "tell", {"y": label, "values": nulls(x), "extra": nulls(more)})

    def abandon(self, given: "Round | int") -> Round:
        """Stop waiting for the label; the learner keeps the round open and still accepts the label."""
        r = self._round(given)
        if r.status == "labelled":
            raise Conflict(f"round {r.index} already has its label; it cannot be abandoned")
        self._open_round(given)
        return self._change(r, "abandon", {}) if r.status == "open" else r

    def learn(self, X: object, y: object) -> bool:
        """Learn from past rows; return False if the same rows were learnt before."""
        learner = self.cached.learner
        table, labels = validation.past_table(X, y, learner.names)
        if table.size > MOST_PAST_CELLS:
            raise ProtocolError(
                f"{table.size} cells are too many for one call, which takes {MOST_PAST_CELLS}: give fewer rows, or "
                "learn them beforehand with keyhole plan"
            )
        learnt = hashlib.sha256(table.tobytes() + labels.tobytes() + str(table.shape).encode()).hexdigest()
        same = {"learner": self.cached.id, "digest": f'%"digest":"{learnt}"%'}
        if self.connection.row(_SAME_PAST_ROWS, same) is not None:
            return False
        learner.learn(table, labels)
        rows: list[Plain] = [nulls(row) for row in table.tolist()]
        content: dict[str, Plain] = {"digest": learnt, "rows": rows, "labels": nulls(labels.tolist())}
        self._write(self._event("past_rows", 0, content))
        return True

    def start_from(self, model: bytes) -> bool:
        """Set a learner without events to the state of a model; return False if it already started from this model."""
        text = base64.b64encode(model).decode()
        if self.cached.head:
            if self._content(1).get("model") == text:
                return False
            raise Conflict(f"learner '{self.cached.name}' already has rounds; load the model into a new one")
        take_model(self.cached.learner, text)
        self._write(self._event("model", 0, {"model": text}))
        return True

    def index_of(self, key: str) -> int:
        """Return the index of the round with this key."""
        found = self._round_by_key(key)
        if found is None:
            raise NoSuchRound(f"there is no round with the key '{key}'")
        return found.index

    # -- reading

    def _round_by_key(self, key: str) -> Round | None:
        cached = self.cached
        found = find_rounds(self.connection, cached.id, cached.name, key=_valid_key(key))
        return found[0] if found else None

    def _round(self, given: "Round | int") -> Round:
        """Return a round as it is recorded."""
        index, cached = _index(given), self.cached
        recent = cached.recent.get(index)
        if recent is not None:
            return recent
        found = find_rounds(self.connection, cached.id, cached.name, round=index) if 0 < index < 2**31 else ()
        if not found:
            raise NoSuchRound(f"round {index} was never asked; ask() opens a new one")
        return found[0]

    def _open_round(self, given: "Round | int") -> Round:
        """Return the learner's open round, after checking that it equals the given one."""
        index = _index(given)
        r = self.cached.learner._open.get(index)
        if r is None:
            raise DamagedStore(f"learner '{self.cached.name}' has lost its open round {index}")
        if isinstance(given, Round):
            self.cached.learner._check_open(given)
        return r

    def _content(self, number: int) -> dict[str, Plain]:
        """Return the content of an event."""
        found = self.connection.row(_BODY, {"learner": self.cached.id, "number": number})
        if found is None:
            raise DamagedStore(f"learner '{self.cached.name}' has lost its event {number}")
        return json_object(found[0], f"event {number} of learner '{self.cached.name}'")

    def _values(self, r: Round, values: "Values | None") -> list[float]:
        """Return the values of a round. They may repeat the values of its prediction, but not replace them."""
        if values is None:
            if r.values is None:
                raise ProtocolError(f"round {r.index} has no values yet; give them with its label")
            return list(r.values.values())
        x: list[float] = validation.values(values, r.names).tolist()
        if r.values is not None and not _equal(r.values, x):
            raise Conflict(f"round {r.index} was predicted from other values; predict again from these first")
        return x

    def _check_same_label(
        self, r: Round, given: "Round | int", values: "Values | None", y: float, extra: "Values | None"
    ) -> None:
        same = validation.label(y) == r.label and (not isinstance(given, Round) or given == r)
        same = same and (values is None or _equal(r.values, validation.values(values, r.names).tolist()))
        if extra is not None:
            same = same and _equal(r.extra_values, validation.values(extra, r.extra_names).tolist())
        if not same:
            raise Conflict(f"round {r.index} already has a label, {r.label!r}; labels are final")

    # -- writing

    def _event(self, kind: str, index: int, content: dict[str, Plain]) -> Event:
        return Event.chained(self.cached.name, self.checksum, self.cached.head + 1, kind, index, time.time(), content)

    def _change(self, before: Round, kind: str, content: dict[str, Plain]) -> Round:
        """Record a further event of a round and return the round after it."""
        event = self._event(kind, before.index, content)
        return self._record(event, before, round_after(before, event, self.cached.name))

    def _record(self, event: Event, before: Round | None, after: Round) -> Round:
        """Write an event, the columns of its round that it changes, and the totals."""
        self.totals = totals_after(self.totals, before, after)
        columns = changed_columns(after, event, self.totals)
        if before is None:
            self.connection.run(ADD_ROUND, {"learner": self.cached.id, **columns})
        else:
            statement = _set_round(tuple(columns))
            self.connection.run(statement, {"learner": self.cached.id, "round": after.index, **columns})
        self._write(event)
        self.cached.remember(after)
        return after

    def _write(self, event: Event) -> None:
        """Write the event and the totals, and a snapshot every `SNAPSHOT_EVERY` events."""
        cached = self.cached
        self.connection.run(ADD_EVENT, event.row(cached.id))
        self.checksum, self.n_written = event.checksum, self.n_written + 1
        cached.head = event.number
        row = {"learner": cached.id, "head": event.number, "checksum": event.checksum, **self.totals._asdict()}
        self.connection.run(SET_TOTALS, row)
        if event.number % SNAPSHOT_EVERY == 0:
            cached.snapshot(self.connection)


def _index(given: "Round | int") -> int:
    if isinstance(given, Round):
        return given.index
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise ProtocolError(f"expected the Round that ask() gave, not {type(given).__name__}")


def _equal(recorded: dict[str, float] | None, x: list[float]) -> bool:
    """Whether these values were recorded; NaN equals NaN."""
    return recorded is not None and nulls(list(recorded.values())) == nulls(x)


def _available_names(available: Available, names: Sequence[str]) -> list[str] | None:
    """Convert a mask to names; the learner refuses anything that is neither names nor a mask."""
    if available is None:
        return None
    given = available.tolist() if isinstance(available, np.ndarray) else list(available)
    if given and all(isinstance(a, bool | np.bool_) for a in given) and len(given) == len(names):
        return [name for name, there in zip(names, given, strict=True) if there]
    return given  # type: ignore[return-value]


def _valid_key(key: str) -> str:
    """Return the key after checking that both databases can store it."""
    if not isinstance(key, str) or not key.isprintable() or not 1 <= len(key) <= _MAX_KEY_LENGTH:
        raise ProtocolError(f"a key must be 1 to {_MAX_KEY_LENGTH} printable characters, not {key!r:.60}")
    return key
