"""A round as a plain value: it can be stored, sent over a wire, answered late and out of order."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._internal.formatting import Facts, Shown, a_few, short
from .._internal.typing import Ints
from ..errors import ProtocolError

__all__ = ["Acquisition", "Alarm", "Round"]


@dataclass(frozen=True)
class Alarm:
    """A change that a learner noticed: at which label (the first is 1), and what changed."""

    row: int
    what: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.what}"


def _nothing() -> Ints:
    return np.empty(0, dtype=np.int64)


class Acquisition(NamedTuple):
    """What a learner decides when asked; the base class makes a `Round` of it."""

    kind: str
    attributes: Ints
    extra: Ints = np.empty(0, dtype=np.int64)
    memo: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Round(Shown):
    """What a learner asked for, and everything it will need of that moment when the label arrives.

    >>> r = Round(1, "explore", np.array([3, 0]), ("x3", "x0"), "demo")
    >>> Round.from_json(r.to_json()) == r
    True
    """

    index: int
    """Counts from 1 in the order of `ask()`."""
    kind: str
    """"explore" or "exploit"."""
    attributes: Ints
    """The attributes bought before the prediction: unique, at most k."""
    names: tuple[str, ...]
    """Their names, in the same order."""
    learner: str
    """Whose round this is."""
    extra: Ints = field(default_factory=_nothing)
    """The attributes to be bought after the label, drawn already: read them with `learner.ask_more(r)`."""
    sources: tuple[str, ...] | None = None
    """What to order, by name; where every attribute is bought by itself, the names."""
    price: float = 0.0
    """What the order costs, extras included; 0 without prices."""
    prices: tuple[float, ...] = ()
    """What each source of the order costs in this row, those of the extras last; empty where the usual prices hold."""
    memo: tuple[float, ...] = ()
    """The learner's own note to itself (inclusion probabilities and the like), in a layout of its own."""

    def __post_init__(self) -> None:
        for array in (self.attributes, self.extra):
            array.flags.writeable = False
        if self.sources is None:
            object.__setattr__(self, "sources", self.names)

    def _facts(self) -> Facts:
        facts = [("round", str(self.index)), ("to", self.kind), ("order", a_few(self.sources or ()))]
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
        """All of it, in what JSON has."""
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
        """One line of JSON that loses nothing."""
        return json.dumps(self.plain())

    @classmethod
    def from_json(cls, text: str) -> "Round":
        """The round that `to_json` wrote; anything else is a `ProtocolError`."""
        try:
            data = json.loads(text)
        except (TypeError, ValueError, RecursionError) as fault:
            raise _foreign(fault) from None
        return cls.from_plain(data)

    @classmethod
    def from_plain(cls, data: object) -> "Round":
        """The round that `plain` took apart; anything else is a `ProtocolError`."""
        try:
            if not isinstance(data, dict):
                raise TypeError("an object is something else")
            return cls(
                index=_whole(data["index"]),
                kind=_text(data["kind"]),
                attributes=_indices(data["attributes"]),
                names=tuple(map(_text, data["names"])),
                learner=_text(data["learner"]),
                extra=_indices(data["extra"]),
                sources=tuple(map(_text, data["sources"])) if "sources" in data else None,  # 0.1.0 had none
                price=float(data.get("price", 0.0)),
                prices=tuple(map(float, data.get("prices", ()))),
                memo=tuple(map(float, data["memo"])),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise _foreign(fault) from None


def _foreign(fault: Exception) -> ProtocolError:
    what = f"{type(fault).__name__}: {str(fault)[:80]}"
    return ProtocolError(f"this is not the JSON of a round ({what}); pass what r.to_json() gave")


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number is something else")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is something else")
    return value


def _indices(value: object) -> Ints:
    """Indices as an array; a float among them is not rounded but refused."""
    if not isinstance(value, list):
        raise TypeError("a list of attributes is something else")
    return np.array([_whole(item) for item in value], dtype=np.int64)
