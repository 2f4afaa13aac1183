"""One transaction on one learner: everything is checked, one event is written for each thing that happens."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from sqlalchemy import Connection

from .._internal.typing import Bools, Ints
from ..core import introspection, validation
from ..core.learner import Plain, Values
from ..core.round import Round
from ..errors import ProtocolError, StateError
from . import statements as sql
from .cached_learner import SNAPSHOT_EVERY, CachedLearner
from .events import Event, floats, nulls
from .models import Conflict, NoSuchRound, PredictionEvent, Totals
from .projections import RoundRow, count

__all__ = ["Available", "Extras", "LearnerTransaction", "RowPrices"]

Available: TypeAlias = "Bools | Sequence[bool] | Sequence[str] | None"
RowPrices: TypeAlias = "Mapping[str, float] | None"
Extras: TypeAlias = "Sequence[int] | Ints | None"
_LONGEST = 200


class LearnerTransaction:
    """The one writer of a learner for as long as its transaction lasts."""

    def __init__(self, connection: Connection, live: CachedLearner) -> None:
        self.connection, self.live, self._cursor = connection, live, sql.Cursor(connection)
        mine = self._cursor.run(sql.HEAD, {"me": live.id})
        assert mine is not None, "learners are never removed"
        head, self.checksum, *totals = mine
        self.totals = Totals(*totals)
        live.catch_up(connection, head)

    def close(self) -> None:
        """Before the transaction ends."""
        self._cursor.close()

    def ask(
        self, key: str | None, available: Available, deadline: float | None, prices: RowPrices = None
    ) -> tuple[RoundRow, Round]:
        """The round of this key, opened now if it is new."""
        if key is not None:
            before = self._by_key(_text(key))
            if before is not None:
                return before, self._round(before)
        given = _names(available, self.live.learner.names)
        deadline = None if deadline is None else validation.finite("the deadline", deadline)
        r = self.live.learner.ask(available=given, prices=prices)
        content: dict[str, Plain] = {"key": key, "available": given, "deadline": deadline}  # type: ignore[dict-item]
        if prices is not None:
            content["prices"] = {name: float(price) for name, price in prices.items()}
        content |= {"price": r.price, "round": r.plain()}  # type: ignore[dict-item]
        event = self._event("ask", r.index, content)
        standing = RoundRow.asked_by(event)
        self._cursor.run(sql.ADD_ROUND, standing.row(self.live.id))
        self._write(event, None)
        self.live.remember(standing, {})
        return standing, r

    def predict(self, given: "Round | int", values: Values) -> PredictionEvent:
        """The prediction of this moment, written down unless it says again what was said last."""
        standing = self._standing(given)
        if standing.status == "told":
            raise Conflict(f"round {standing.round} was told already; what was said before its label stands")
        r = self._open(standing, given)
        x = validation.values(values, r.names).tolist()
        prediction = validation.finite("the prediction", self.live.learner.predict(r, x))
        low, high = introspection.interval(self.live.learner, r, x)
        content: dict[str, Plain] = {"values": nulls(x), "prediction": prediction, "low": low, "high": high}
        if self._said(standing) != content:
            self._change(self._event("predict", standing.round, content), standing)
        return PredictionEvent(prediction, low, high)

    def tell(
        self, given: "Round | int", values: "Values | None", y: float, extra: Extras, extra_values: "Values | None"
    ) -> bool:
        """Close a round with its label; False where exactly this label was told before."""
        standing = self._standing(given)
        if standing.status == "told":
            self._same(standing, given, values, y, extra_values)
            return False
        r, learner = self._open(standing, given), self.live.learner
        x = self._values(standing, r, values)
        if extra is None and extra_values is not None:
            extra = r.extra
        label = validation.label(y)
        names = [learner.names[i] for i in r.extra]
        more = validation.values(extra_values, names).tolist() if extra_values is not None and r.extra.size else []
        learner.tell(r, x, label, extra, extra_values)
        self._change(self._event("tell", r.index, {"y": label, "values": nulls(x), "extra": nulls(more)}), standing)
        return True

    def abandon(self, given: "Round | int") -> bool:
        """Nobody waits for the label any more; the learner keeps the round, and takes the label if it comes."""
        standing = self._standing(given)
        if standing.status == "told":
            raise Conflict(f"round {standing.round} was told already; there is nothing to abandon")
        self._open(standing, given)
        if standing.status == "open":
            self._change(self._event("abandon", standing.round, {}), standing)
        return standing.status == "open"

    def index_of(self, key: str) -> int:
        """The round of a key."""
        found = self._by_key(_text(key))
        if found is None:
            raise NoSuchRound(f"no round was asked with the key '{key}'")
        return found.round

    # -- what was written before

    def _by_key(self, key: str) -> RoundRow | None:
        found = self._cursor.run(sql.BY_KEY, {"me": self.live.id, "this": key})
        return RoundRow(*found) if found else None

    def _standing(self, given: "Round | int") -> RoundRow:
        index = given.index if isinstance(given, Round) else given
        if index in self.live.recent:
            return self.live.recent[index][0]
        mine = {"me": self.live.id, "this": index}
        found = self._cursor.run(sql.BY_INDEX, mine) if 0 < index < 2**31 else None
        if found is None:
            raise NoSuchRound(f"round {index} was never asked; ask() opens a new one")
        return RoundRow(*found)

    def _open(self, standing: RoundRow, given: "Round | int") -> Round:
        """The round as the learner has it, if it is the one that was given."""
        r = self.live.learner._open[standing.round]
        if isinstance(given, Round):
            self.live.learner._check_open(given)
        return r

    def _round(self, standing: RoundRow) -> Round:
        return Round.from_plain(self._content(standing.asked)["round"])

    def _said(self, standing: RoundRow) -> dict[str, Plain]:
        """The last prediction of a round; empty for none."""
        recent = self.live.recent.get(standing.round)
        return self._content(standing.predicted) if recent is None else recent[1]

    def _content(self, number: int | None) -> dict[str, Plain]:
        """The body of an event; empty for none."""
        if number is None:
            return {}
        found = self._cursor.run(sql.BODY, {"me": self.live.id, "this": number})
        if found is None:
            raise StateError(f"learner '{self.live.name}' has lost its event {number}: run keyhole store check")
        content: dict[str, Plain] = json.loads(found[0])
        return content

    def _values(self, standing: RoundRow, r: Round, values: "Values | None") -> list[float]:
        """The values of a round: those of its prediction, which may be repeated but not replaced."""
        said = self._said(standing)
        if values is None:
            if not said:
                raise ProtocolError(f"round {standing.round} has no values yet; give them with its label")
            return floats(said["values"])
        x: list[float] = validation.values(values, r.names).tolist()
        if said and nulls(x) != said["values"]:
            raise Conflict(f"round {standing.round} was predicted from other values; predict again from these first")
        return x

    def _same(
        self, standing: RoundRow, given: "Round | int", values: "Values | None", y: float, extra: "Values | None"
    ) -> None:
        """A label told again, if it is the same."""
        before, r = self._content(standing.ended), self._round(standing)
        names = [self.live.learner.names[i] for i in r.extra]
        same = validation.label(y) == before["y"] and (not isinstance(given, Round) or given == r)
        same = same and (values is None or nulls(validation.values(values, r.names).tolist()) == before["values"])
        if extra is not None:
            same = same and nulls(validation.values(extra, names).tolist()) == before["extra"]
        if not same:
            raise Conflict(f"round {standing.round} was told already, with the label {before['y']!r}; labels are final")

    # -- writing

    def _event(self, kind: str, index: int, content: dict[str, Plain]) -> Event:
        return Event.chained(self.live.name, self.checksum, self.live.head + 1, kind, index, time.time(), content)

    def _change(self, event: Event, standing: RoundRow) -> None:
        """Write an event of a round that was there, and how the round stands now."""
        said = event.content if event.kind == "predict" else self._said(standing)
        self._write(event, standing)
        after = standing.after(event, self.totals)
        mine = {"me": self.live.id, "this": standing.round}
        self._cursor.run(sql.SET_ROUND[event.kind], mine | after._asdict())
        self.live.remember(after, said)

    def _write(self, event: Event, before: RoundRow | None) -> None:
        """The event itself, the totals, and now and then a snapshot."""
        live, number = self.live, event.number
        self._cursor.run(sql.ADD_EVENT, event.row(live.id))
        self.totals, self.checksum, live.head = count(self.totals, event, before), event.checksum, number
        row = {"me": live.id, "head": number, "checksum": event.checksum, **self.totals._asdict()}
        self._cursor.run(sql.SET_TOTALS, row)
        if number % SNAPSHOT_EVERY == 0:
            live.snapshot(self.connection)


def _names(available: Available, names: Sequence[str]) -> list[str] | None:
    """What can be bought, by name; anything odd goes to the learner as it is, which says what is wrong with it."""
    if available is None:
        return None
    given = available.tolist() if isinstance(available, np.ndarray) else list(available)
    if given and all(isinstance(a, bool | np.bool_) for a in given) and len(given) == len(names):
        return [name for name, there in zip(names, given, strict=True) if there]
    return given  # type: ignore[return-value]


def _text(key: str) -> str:
    """A key that both databases can hold."""
    if not isinstance(key, str) or not key.isprintable() or not 1 <= len(key) <= _LONGEST:
        raise ProtocolError(f"a key is 1 to {_LONGEST} printable characters, not {key!r:.60}")
    return key
