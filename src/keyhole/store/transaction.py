"""One transaction on one learner: it validates the call, applies it to the learner and writes one event."""

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .._internal.typing import Bools, Ints
from ..core import introspection, validation
from ..core.learner import Plain, Values
from ..core.round import Round
from ..errors import ProtocolError, StateError
from .cached_learner import SNAPSHOT_EVERY, CachedLearner
from .database import ROUND_COLUMNS, TOTAL_COLUMNS, Connection
from .events import ADD_EVENT, Event, floats, nulls, take_model
from .models import Conflict, NoSuchRound, PredictionEvent, RoundRow, Totals
from .projections import CHANGED_COLUMNS, round_after, round_asked, totals_after

__all__ = ["ADD_ROUND", "SET_TOTALS", "Available", "Extras", "LearnerTransaction", "RowPrices"]

Available: TypeAlias = "Bools | Sequence[bool] | Sequence[str] | None"
RowPrices: TypeAlias = "Mapping[str, float] | None"
Extras: TypeAlias = "Sequence[int] | Ints | None"
_MAX_KEY_LENGTH = 200


def _assignments(names: Sequence[str]) -> str:
    return ", ".join(f"{name} = :{name}" for name in names)


_HEAD = f"SELECT head, checksum, {TOTAL_COLUMNS} FROM keyhole_learners WHERE id = :learner"
_ROUND = f"SELECT {ROUND_COLUMNS} FROM keyhole_rounds WHERE learner = :learner AND"
_BY_KEY, _BY_INDEX = f"{_ROUND} key = :key", f"{_ROUND} round = :round"
_SAME_PAST_ROWS = (
    "SELECT number FROM keyhole_events WHERE learner = :learner AND kind = 'past_rows' AND body LIKE :digest"
)
MOST_PAST_CELLS = 5_000_000
_BODY = "SELECT body FROM keyhole_events WHERE learner = :learner AND number = :number"
ADD_ROUND = (
    f"INSERT INTO keyhole_rounds (learner, {ROUND_COLUMNS}) "
    f"VALUES (:learner, {', '.join(f':{name}' for name in RoundRow._fields)})"
)
_SET_ROUND = {
    kind: f"UPDATE keyhole_rounds SET {_assignments(names)} WHERE learner = :learner AND round = :round"
    for kind, names in CHANGED_COLUMNS.items()
}
SET_TOTALS = f"UPDATE keyhole_learners SET {_assignments(('head', 'checksum', *Totals._fields))} WHERE id = :learner"


class LearnerTransaction:
    """A transaction on a learner, which has no other writer while the transaction lasts."""

    def __init__(self, connection: Connection, cached: CachedLearner) -> None:
        self.connection, self.cached = connection, cached
        found = connection.row(connection.for_update(_HEAD), {"learner": cached.id})
        if found is None:
            raise StateError(f"learner '{cached.name}' was removed from the store by another program")
        head, self.checksum, *totals = found
        self.totals = Totals(*totals)
        cached.catch_up(connection, head)

    def ask(
        self, key: str | None, available: Available, deadline: float | None, prices: RowPrices = None
    ) -> tuple[RoundRow, Round]:
        """Return the round of this key; open a new one if the key is new."""
        if key is not None:
            before = self._row_by_key(key)
            if before is not None:
                return before, self._recorded_round(before)
        given = _available_names(available, self.cached.learner.names)
        deadline = None if deadline is None else validation.finite("the deadline", deadline)
        r = self.cached.learner.ask(available=given, prices=prices)
        content: dict[str, Plain] = {"key": key, "available": given, "deadline": deadline}  # type: ignore[dict-item]
        if prices is not None:
            content["prices"] = {name: float(price) for name, price in prices.items()}
        content |= {"price": r.price, "round": r.plain()}  # type: ignore[dict-item]
        event = self._event("ask", r.index, content)
        row = round_asked(event)
        self.connection.run(ADD_ROUND, {"learner": self.cached.id, **row._asdict()})
        self._write(event, None)
        self.cached.remember(row, {})
        return row, r

    def predict(self, given: "Round | int", values: Values) -> PredictionEvent:
        """Predict from these values; the prediction is recorded unless it repeats the last one."""
        row = self._row(given)
        if row.status == "told":
            raise Conflict(f"round {row.round} already has its label; its prediction can no longer change")
        r = self._open_round(row, given)
        x = validation.values(values, r.names).tolist()
        prediction = validation.finite("the prediction", self.cached.learner.predict(r, x))
        low, high = introspection.interval(self.cached.learner, r, x)
        content: dict[str, Plain] = {"values": nulls(x), "prediction": prediction, "low": low, "high": high}
        if self._last_prediction(row) != content:
            self._change(self._event("predict", row.round, content), row)
        return PredictionEvent(prediction, low, high)

    def tell(
        self, given: "Round | int", values: "Values | None", y: float, extra: Extras, extra_values: "Values | None"
    ) -> bool:
        """Close a round with its label; return False if the same label was told before."""
        row = self._row(given)
        if row.status == "told":
            self._check_same_label(row, given, values, y, extra_values)
            return False
        r, learner = self._open_round(row, given), self.cached.learner
        x = self._values(row, r, values)
        if extra is None and extra_values is not None:
            extra = r.extra
        label = validation.label(y)
        names = [learner.names[i] for i in r.extra]
        more = validation.values(extra_values, names).tolist() if extra_values is not None and r.extra.size else []
        learner.tell(r, x, label, extra, extra_values)
        self._change(self._event("tell", r.index, {"y": label, "values": nulls(x), "extra": nulls(more)}), row)
        return True

    def abandon(self, given: "Round | int") -> bool:
        """Stop waiting for the label; the learner keeps the round open and still accepts the label."""
        row = self._row(given)
        if row.status == "told":
            raise Conflict(f"round {row.round} already has its label; it cannot be abandoned")
        self._open_round(row, given)
        if row.status == "open":
            self._change(self._event("abandon", row.round, {}), row)
        return row.status == "open"

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
        self._write(self._event("past_rows", 0, content), None)
        return True

    def start_from(self, model: bytes) -> bool:
        """Set a learner without events to the state of a model; return False if it already started from this model."""
        text = base64.b64encode(model).decode()
        if self.cached.head:
            if self._content(1).get("model") == text:
                return False
            raise Conflict(f"learner '{self.cached.name}' already has rounds; load the model into a new one")
        take_model(self.cached.learner, text)
        self._write(self._event("model", 0, {"model": text}), None)
        return True

    def index_of(self, key: str) -> int:
        """Return the index of the round with this key."""
        found = self._row_by_key(key)
        if found is None:
            raise NoSuchRound(f"there is no round with the key '{key}'")
        return found.round

    # -- reading

    def _row_by_key(self, key: str) -> RoundRow | None:
        found = self.connection.row(_BY_KEY, {"learner": self.cached.id, "key": _valid_key(key)})
        return None if found is None else RoundRow(*found)

    def _row(self, given: "Round | int") -> RoundRow:
        index = given.index if isinstance(given, Round) else given
        recent = self.cached.recent.get(index)
        if recent is not None:
            return recent[0]
        parameters = {"learner": self.cached.id, "round": index}
        found = self.connection.row(_BY_INDEX, parameters) if 0 < index < 2**31 else None
        if found is None:
            raise NoSuchRound(f"round {index} was never asked; ask() opens a new one")
        return RoundRow(*found)

    def _open_round(self, row: RoundRow, given: "Round | int") -> Round:
        """Return the learner's open round, after checking that it equals the given one."""
        r = self.cached.learner._open.get(row.round)
        if r is None:
            raise StateError(
                f"learner '{self.cached.name}' has lost its open round {row.round}: run keyhole store check"
            )
        if isinstance(given, Round):
            self.cached.learner._check_open(given)
        return r

    def _recorded_round(self, row: RoundRow) -> Round:
        return Round.from_plain(self._content(row.ask_event)["round"])

    def _last_prediction(self, row: RoundRow) -> dict[str, Plain]:
        """Return the content of the last prediction of a round; empty if there is none."""
        recent = self.cached.recent.get(row.round)
        return self._content(row.prediction_event) if recent is None else recent[1]

    def _content(self, number: int | None) -> dict[str, Plain]:
        """Return the content of an event; empty if `number` is None."""
        if number is None:
            return {}
        found = self.connection.row(_BODY, {"learner": self.cached.id, "number": number})
        if found is None:
            raise StateError(f"learner '{self.cached.name}' has lost its event {number}: run keyhole store check")
        try:
            content: dict[str, Plain] = json.loads(found[0])
        except (ValueError, TypeError):
            raise StateError(
                f"event {number} of learner '{self.cached.name}' is not JSON: run keyhole store check"
            ) from None
        return content

    def _values(self, row: RoundRow, r: Round, values: "Values | None") -> list[float]:
        """Return the values of a round. They may repeat the values of its prediction, but not replace them."""
        recorded = self._last_prediction(row)
        if values is None:
            if not recorded:
                raise ProtocolError(f"round {row.round} has no values yet; give them with its label")
            return floats(recorded["values"])
        x: list[float] = validation.values(values, r.names).tolist()
        if recorded and nulls(x) != recorded["values"]:
            raise Conflict(f"round {row.round} was predicted from other values; predict again from these first")
        return x

    def _check_same_label(
        self, row: RoundRow, given: "Round | int", values: "Values | None", y: float, extra: "Values | None"
    ) -> None:
        recorded, r = self._content(row.end_event), self._recorded_round(row)
        names = [self.cached.learner.names[i] for i in r.extra]
        same = validation.label(y) == recorded["y"] and (not isinstance(given, Round) or given == r)
        same = same and (values is None or nulls(validation.values(values, r.names).tolist()) == recorded["values"])
        if extra is not None:
            same = same and nulls(validation.values(extra, names).tolist()) == recorded["extra"]
        if not same:
            raise Conflict(f"round {row.round} already has a label, {recorded['y']!r}; labels are final")

    # -- writing

    def _event(self, kind: str, index: int, content: dict[str, Plain]) -> Event:
        return Event.chained(self.cached.name, self.checksum, self.cached.head + 1, kind, index, time.time(), content)

    def _change(self, event: Event, row: RoundRow) -> None:
        """Write an event of an existing round, and the columns of the round that it changes."""
        prediction = event.content if event.kind == "predict" else self._last_prediction(row)
        self._write(event, row)
        after = round_after(row, event, self.totals)
        names = (*CHANGED_COLUMNS[event.kind], "round")
        parameters = {name: getattr(after, name) for name in names}
        self.connection.run(_SET_ROUND[event.kind], {"learner": self.cached.id, **parameters})
        self.cached.remember(after, prediction)

    def _write(self, event: Event, before: RoundRow | None) -> None:
        """Write the event and the totals, and a snapshot every `SNAPSHOT_EVERY` events."""
        cached = self.cached
        self.connection.run(ADD_EVENT, event.row(cached.id))
        self.totals, self.checksum = totals_after(self.totals, event, before), event.checksum
        cached.head = event.number
        row = {"learner": cached.id, "head": event.number, "checksum": event.checksum, **self.totals._asdict()}
        self.connection.run(SET_TOTALS, row)
        if event.number % SNAPSHOT_EVERY == 0:
            cached.snapshot(self.connection)


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
