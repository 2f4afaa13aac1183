"""What is known of a table beforehand: which columns are attributes, their ranges and prices, and the label's range."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from .._types import Floats
from ..errors import ConfigError
from . import _toml

__all__ = ["Attribute", "Range", "Schema"]


@dataclass(frozen=True)
class Range:
    """The values low..high of one column, with a centre in between.

    scaled(x) = (x - center) / max(high - center, center - low), which lies in [-1, 1] and is 0 at the centre. A
    learner without an intercept predicts 0 before it knows anything: with the mean as centre, that is the mean. A
    column with low = high is constant: it scales to 0.
    """

    name: str
    low: float = -1.0
    high: float = 1.0
    center: float | None = None
    """None: halfway between low and high."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise ConfigError(f"column '{self.name}': the range {self.low}..{self.high} must be finite and low <= high")
        if self.center is not None and not self.low <= self.center <= self.high:
            raise ConfigError(
                f"column '{self.name}': the centre {self.center} lies outside {self.low}..{self.high}; leave it out"
            )

    @property
    def middle(self) -> float:
        """The value that scales to 0."""
        return self.low / 2 + self.high / 2 if self.center is None else self.center

    @property
    def reach(self) -> float:
        """The distance from the middle that scales to 1; 0 for a constant column."""
        return max(self.high - self.middle, self.middle - self.low)


@dataclass(frozen=True)
class Attribute(Range):
    """A column that can be bought, and what reading it once costs."""

    price: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.price) and self.price >= 0):
            raise ConfigError(f"column '{self.name}': the price must be a finite number >= 0, not {self.price}")


@dataclass(frozen=True)
class Schema:
    """The columns of a table as `keyhole diagnose` wrote them down and `keyhole run` reads them.

    >>> attributes = (Attribute("age", 0.0, 80.0), Attribute("dose", -2.0, 2.0, price=7.0))
    >>> schema = Schema(Range("cost", 0.0, 100.0), attributes, ignored=("id",))
    >>> schema.scale(np.array([[60.0, 9.0]]))
    array([[0.5, 1. ]])
    >>> schema.unscale_label(schema.scale_label(np.array([25.0])))
    array([25.])
    >>> Schema.from_toml(schema.to_toml()) == schema
    True
    """

    label: Range
    attributes: tuple[Attribute, ...]
    ignored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in (self.target, *self.names, *self.ignored):
            if name in seen:
                raise ConfigError(f"column '{name}' occurs twice in the schema; keep one of the two entries")
            seen.add(name)
        if not self.attributes:
            raise ConfigError("the schema has no attributes; list at least one under [attributes]")

    @property
    def target(self) -> str:
        """The name of the label's column."""
        return self.label.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in the order of a learner's columns."""
        return tuple(a.name for a in self.attributes)

    @cached_property
    def prices(self) -> Floats:
        """The attributes' prices (d,)."""
        return np.array([a.price for a in self.attributes])

    @cached_property
    def low(self) -> Floats:
        """The attributes' smallest expected values (d,)."""
        return np.array([a.low for a in self.attributes])

    @cached_property
    def high(self) -> Floats:
        """The attributes' largest expected values (d,)."""
        return np.array([a.high for a in self.attributes])

    @classmethod
    def plain(cls, target: str, names: Iterable[str], ignored: Iterable[str] = ()) -> "Schema":
        """The schema of data that is scaled already: every range is [-1, 1], every price 1."""
        return cls(Range(target), tuple(Attribute(name) for name in names), tuple(ignored))

    # -- numbers

    def scale(self, X: Floats) -> Floats:
        """Rows (n, d) into [-1, 1]; beyond the range is clipped (see `Clips`). NaN and infinity stay what they are."""
        return _scale(X, self.low, self.high, self._middle, self._reach)

    def scale_label(self, y: Floats) -> Floats:
        """Labels into [-1, 1], clipped as the attributes are."""
        label = self.label
        return _scale(y, *(np.array(v) for v in (label.low, label.high, label.middle, label.reach)))

    def unscale_label(self, z: Floats) -> Floats:
        """Predictions made in [-1, 1] in the label's own units."""
        unscaled: Floats = self.label.middle + self.label.reach * np.asarray(z, dtype=np.float64)
        return unscaled

    @cached_property
    def _middle(self) -> Floats:
        return np.array([a.middle for a in self.attributes])

    @cached_property
    def _reach(self) -> Floats:
        return np.array([a.reach for a in self.attributes])

    # -- changes

    def with_prices(self, prices: Mapping[str, float]) -> "Schema":
        """The same schema with these prices; a name it does not have is refused."""
        for name in prices:
            if name not in self.names:
                raise ConfigError(f"the prices name '{name}', which is not an attribute; remove it or correct the name")
        return replace(self, attributes=tuple(replace(a, price=prices.get(a.name, a.price)) for a in self.attributes))

    def without(self, names: Sequence[str]) -> "Schema":
        """The same schema with these attributes ignored."""
        kept = tuple(a for a in self.attributes if a.name not in names)
        return replace(self, attributes=kept, ignored=(*self.ignored, *(n for n in names if n in self.names)))

    # -- files

    def to_toml(self) -> str:
        """The schema as TOML that `from_toml` reads back without loss."""
        return _toml.format_schema(self)

    @classmethod
    def from_toml(cls, text: str, where: str = "schema") -> "Schema":
        """The schema in a TOML text; `where` is named in messages."""
        content = _toml.parse_schema(text, where)
        try:
            return cls(Range(**content.label), tuple(Attribute(**a) for a in content.attributes), content.ignored)
        except ConfigError as fault:
            raise ConfigError(f"{where}: {fault}") from None

    def write(self, path: "str | PathLike[str]") -> None:
        """Write the schema to a file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    @classmethod
    def read(cls, path: "str | PathLike[str]") -> "Schema":
        """The schema in a file."""
        return cls.from_toml(_toml.read_text(path), str(path))


def _scale(x: Floats, low: Floats, high: Floats, middle: Floats, reach: Floats) -> Floats:
    """(clip(x, low, high) - middle) / reach, 0 where reach is 0; what is not finite stays."""
    x = np.asarray(x, dtype=np.float64)
    safe = np.where(reach > 0, reach, 1.0)
    scaled: Floats = (np.clip(x, low, high) - middle) / safe
    scaled *= reach > 0
    beyond = ~np.isfinite(x)
    return np.where(beyond, x, scaled) if beyond.any() else scaled
