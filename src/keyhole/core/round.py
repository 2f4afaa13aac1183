"""A round as a plain value that can be stored, sent over a network, and answered late or out of order."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._internal.formatting import Facts, ReprMixin, join_names, short
from .._internal.typing import Ints
from ..errors import ProtocolError

__all__ = ["Acquisition", "Alarm", "Round"]


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
    """A round: what the learner asked for, and everything it needs from that moment when the label arrives.

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
    sources: tuple[str, ...] | None = None
    """The names of the sources to order; the attribute names if every attribute is its own source."""
    price: float = 0.0
    """The cost of the order including extras; 0 without prices."""
    prices: tuple[float, ...] = ()
    """The price of each ordered source in this row, extras last; empty if the usual prices apply."""
    memo: tuple[float, ...] = ()
    """Private data of the learner (such as inclusion probabilities), in a learner-specific layout."""

    def __post_init__(self) -> None:
        for array in (self.attributes, self.extra):
            array.flags.writeable = False
        if self.sources is None:
            object.__setattr__(self, "sources", self.names)

    def _facts(self) -> Facts:
        facts = [("round", str(self.index)), ("to", self.kind), ("order", join_names(self.sources or ()) or "-")]
        facts += [("price", short(self.price))] if self.price else []
        return [*facts, ("then", f"{self.extra.size} more")] if self.extra.size else facts

    def _key(self) -> tuple[object, ...]:
        same = (self.index, self.kind, self.names, self.learner, self.sources, self.price, self.prices, self.memo)
        return (*same, self.attributes.tobytes(), self.extra.tobytes())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Round) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def plain(self) -> dict[str, object]:
        """Return all fields as JSON-compatible data."""
        return {
            "index": self.index,
            "kind": self.kind,
            "attributes": self.attributes.tolist(),
            "names": list(self.names),
            "learner": self.learner,
            "extra": self.extra.tolist(),
            "sources": list(self.sources or ()),
            "price": self.price,
            "prices": list(self.prices),
            "memo": list(self.memo),
        }

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
                sources=tuple(map(_text, data["sources"])),
                price=float(data["price"]),
                prices=tuple(map(float, data["prices"])),
                memo=tuple(map(float, data["memo"])),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise _foreign(fault) from None


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
