"""A round as a plain value that can be stored, sent over a network, and answered late or out of order."""

import json
import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._internal.formatting import Facts, ReprMixin, join_names, short
from .._internal.typing import Ints
from ..errors import ProtocolError

__all__ = ["STATUSES", "Acquisition", "Alarm", "Round"]

STATUSES = ("open", "labelled", "abandoned")
_NUMBERS = ("deadline", "prediction", "low", "high", "labelled_at", "label")
_VALUES = ("values", "extra_values")


@dataclass(frozen=True)
class Alarm:
    """A detected change: the number of the label at which it was detected (from 1) and what changed."""

    row: int
    what: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.what}"


def _nothing() -> Ints:
    return np.empty(0, dtype=np.int64)


class Acquisition(NamedTuple):
    """The decision of a learner's `_ask`, from which the base class builds a `Round`."""

    kind: str
    attributes: Ints
    extra: Ints = np.empty(0, dtype=np.int64)
    memo: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Round(ReprMixin):
    """A round: what the learner asked for, everything it needs when the label arrives, and what was recorded since.

    A learner fills in the request. A store adds the record: key, status, prediction and label. Rounds are equal if
    their requests are equal, so a round can be told with any copy of it.

    >>> r = Round(1, "explore", np.array([3, 0]), ("x3", "x0"), "demo")
    >>> Round.from_json(r.to_json()) == r
    True
    """

    index: int
    """The number of the round, counted from 1 in the order of `ask()`."""
    kind: str
    """The kind of round: "explore" or "exploit"."""
    attributes: Ints
    """The attributes bought before the prediction: unique, at most k."""
    names: tuple[str, ...]
    """The names of the attributes, in the same order."""
    learner: str
    """The identity of the learner that opened the round."""
    extra: Ints = field(default_factory=_nothing)
    """The attributes to buy after the label, already drawn; read them with `learner.ask_more(r)`."""
    extra_names: tuple[str, ...] = ()
    """The names of the extra attributes, in the same order."""
    sources: tuple[str, ...] | None = None
    """The names of the sources to order; the attribute names if every attribute is its own source."""
    price: float = 0.0
    """The cost of the order including extras; 0 without prices."""
    prices: tuple[float, ...] = ()
    """The price of each ordered source in this row, extras last; empty if the usual prices apply."""
    memo: tuple[float, ...] = ()
    """Private data of the learner (such as inclusion probabilities), in a learner-specific layout."""
    _: KW_ONLY
    id: str = ""
    """The name of the round in a store, such as "icu:17"; empty outside a store, which records the fields below."""
    key: str | None = None
    """The user's own name of the round."""
    status: str = "open"
    """"open", "labelled" or "abandoned"; a store still accepts the label of an abandoned round."""
    asked_at: float = 0.0
    """Seconds since 1970, UTC, like the other times; 0 outside a store."""
    deadline: float | None = None
    """For display only: a later label is still accepted."""
    values: dict[str, float] | None = None
    """The values of the last prediction or of the label, by name; NaN for a value that was not observed."""
    prediction: float | None = None
    """The last recorded prediction."""
    low: float | None = None
    """The lower end of its interval; None if the learner provides no interval."""
    high: float | None = None
    labelled_at: float | None = None
    label: float | None = None
    extra_values: dict[str, float] | None = None
    """The values bought after the label, by name."""

    def __post_init__(self) -> None:
        for array in (self.attributes, self.extra):
            array.flags.writeable = False
        if self.sources is None:
            object.__setattr__(self, "sources", self.names)

    @property
    def loss(self) -> float | None:
        """The squared error of the last prediction; None without a prediction or a label."""
        if self.prediction is None or self.label is None:
            return None
        return (self.prediction - self.label) * (self.prediction - self.label)  # a power raises on overflow

    def recorded(self, **record: "str | float | dict[str, float] | None") -> "Round":
        """Return a copy with these fields of the record changed; four times as fast as `dataclasses.replace`."""
        changed = object.__new__(Round)
        vars(changed).update(vars(self), **record)
        return changed

    def _facts(self) -> Facts:
        facts = [("round", str(self.index)), ("to", self.kind), ("order", join_names(self.sources or ()) or "-")]
        facts += [("price", short(self.price))] if self.price else []
        facts += [("then", f"{self.extra.size} more")] if self.extra.size else []
        return [*facts, ("is", self.status)] if self.id else facts

    def _request(self) -> tuple[object, ...]:
        bought = (self.attributes.tobytes(), self.names, self.extra.tobytes(), self.extra_names, self.sources)
        return (self.index, self.kind, self.learner, *bought, self.price, self.prices, self.memo)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Round) and self._request() == other._request())

    def __hash__(self) -> int:
        return hash(self._request())

    def plain(self) -> dict[str, object]:
        """Return all fields as JSON-compatible data; a round without a store has no record."""
        request: dict[str, object] = {
            "index": self.index,
            "kind": self.kind,
            "attributes": self.attributes.tolist(),
            "names": list(self.names),
            "learner": self.learner,
            "extra": self.extra.tolist(),
            "extra_names": list(self.extra_names),
            "sources": list(self.sources or ()),
            "price": self.price,
            "prices": list(self.prices),
            "memo": list(self.memo),
        }
        if not self.id:
            return request
        record = {name: getattr(self, name) for name in ("id", "key", "status", "asked_at", *_NUMBERS)}
        return request | record | {name: _nulls(getattr(self, name)) for name in _VALUES}

    def to_json(self) -> str:
        """Return the round as one line of lossless JSON."""
        return json.dumps(self.plain())

    @classmethod
    def from_json(cls, text: str) -> "Round":
        """Return the round written by `to_json`; any other text raises `ProtocolError`."""
        try:
            data = json.loads(text)
        except (TypeError, ValueError, RecursionError) as fault:
            raise _foreign(fault) from None
        return cls.from_plain(data)

    @classmethod
    def from_plain(cls, data: object) -> "Round":
        """Return the round represented by the output of `plain`; anything else raises `ProtocolError`."""
        try:
            if not isinstance(data, dict):
                raise TypeError("a value that must be an object is not one")
            return cls(
                index=_whole(data["index"]),
                kind=_text(data["kind"]),
                attributes=_indices(data["attributes"]),
                names=tuple(map(_text, data["names"])),
                learner=_text(data["learner"]),
                extra=_indices(data["extra"]),
                extra_names=tuple(map(_text, data["extra_names"])),
                sources=tuple(map(_text, data["sources"])),
                price=float(data["price"]),
                prices=tuple(map(float, data["prices"])),
                memo=tuple(map(float, data["memo"])),
                **_record(data),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise _foreign(fault) from None


def _record(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a store records; none if the round is not from a store."""
    if not data.get("id"):
        return {}
    if data["status"] not in STATUSES:
        raise ValueError(f"a status is {', '.join(STATUSES)}")
    named = {"id": _text(data["id"]), "key": None if data["key"] is None else _text(data["key"])}
    numbers = {name: None if data[name] is None else float(data[name]) for name in _NUMBERS}
    values = {name: _by_name(data[name]) for name in _VALUES}
    return {**named, "status": data["status"], "asked_at": float(data["asked_at"]), **numbers, **values}


def _nulls(values: dict[str, float] | None) -> dict[str, float | None] | None:
    return None if values is None else {name: None if math.isnan(x) else x for name, x in values.items()}


def _by_name(values: Any) -> dict[str, float] | None:
    """Return values from JSON, where null stands for NaN."""
    if values is None:
        return None
    return {_text(name): math.nan if x is None else float(x) for name, x in dict(values).items()}


def _foreign(fault: Exception) -> ProtocolError:
    what = f"{type(fault).__name__}: {str(fault)[:80]}"
    return ProtocolError(f"this is not the JSON of a round ({what}); pass the text that r.to_json() returned")


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a value that must be a whole number is not one")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a value that must be text is not")
    return value


def _indices(value: object) -> Ints:
    """Return indices as an array; a float is rejected, not rounded."""
    if not isinstance(value, list):
        raise TypeError("a value that must be a list of attributes is not one")
    return np.array([_whole(item) for item in value], dtype=np.int64)
