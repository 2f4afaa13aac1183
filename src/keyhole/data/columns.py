"""The declarations of one column, of the label and of a panel, and transforms."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from .._internal.formatting import repeated
from .._internal.typing import Bools, Floats
from ..errors import ConfigError

__all__ = [
    "FORMATS",
    "MOST_VALUES",
    "TRANSFORMS",
    "TYPES",
    "Attribute",
    "Label",
    "Panel",
    "Range",
    "Transform",
    "check_transform",
]


class Transform(NamedTuple):
    """An increasing function, its inverse, and its domain."""

    forward: Callable[[Floats], Floats]
    inverse: Callable[[Floats], Floats]
    takes: Callable[[Floats], Bools]
    should: str
    """The condition on a number, for error messages."""


TRANSFORMS: dict[str, Transform] = {
    "log1p": Transform(np.log1p, np.expm1, lambda x: x > -1.0, "a number above -1, as log1p needs"),
    "log": Transform(np.log, np.exp, lambda x: x > 0.0, "a number above 0, as log needs"),
    "sqrt": Transform(np.sqrt, lambda z: np.maximum(z, 0.0) ** 2, lambda x: x >= 0.0, "a number >= 0, as sqrt needs"),
}


def check_transform(name: str, place: str) -> None:
    """Raise a `ConfigError` unless the transform exists; "" means no transform."""
    if name and name not in TRANSFORMS:
        raise ConfigError(f"{place}: transform must be one of {', '.join(TRANSFORMS)}, not '{name}'")


TYPES = ("number", "category", "yes/no", "date")
FORMATS = ("1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56")
"""The supported number formats other than the plain one, by example: thousands and decimal separators."""
MOST_VALUES = 1000
"""The maximum number of values of a category."""


@dataclass(frozen=True)
class Range:
    """The range low..high of one column, with a centre in between; without low and high nothing is clipped.

    scaled(x) = (x - center) / max(high - center, center - low), which lies in [-1, 1] and is 0 at the centre. A
    learner without an intercept predicts 0 before it knows anything: with the mean as centre, that is the mean. A
    column with low = high is constant: it scales to 0. A column without both ends is only shifted to its centre.
    """

    name: str
    low: float = -inf
    high: float = inf
    center: float | None = None
    """None: halfway between low and high, or 0 if either is missing."""
    estimated: bool = field(default=False, kw_only=True)
    """Whether low, high and center were computed from the rows of the table itself, not stated by a person."""
    missing: tuple[str, ...] = field(default=(), kw_only=True)
    """Words that mark a missing value, in addition to an empty cell and NA: "hemolyzed"."""
    below: tuple[tuple[str, float], ...] = field(default=(), kw_only=True)
    """Words for values below the limit of measurement, each with the number that replaces it: ("<0.3", 0.15)."""
    above: tuple[tuple[str, float], ...] = field(default=(), kw_only=True)
    """Words for values above the limit of measurement: (">600", 600.0)."""

    def __post_init__(self) -> None:
        if not self.low <= self.high or self.low == inf or self.high == -inf:
            raise ConfigError(f"{self._place}: low must not be above high, but low is {self.low}, high {self.high}")
        if self.center is not None and not (isfinite(self.center) and self.low <= self.center <= self.high):
            raise ConfigError(f"{self._place}: center {self.center} lies outside {self.low}..{self.high}; omit it")

    @property
    def _place(self) -> str:
        """The table of the schema file that declares the column, for error messages."""
        return f"[attributes.{self.name}]"

    @property
    def replaced(self) -> dict[str, float]:
        """The number that replaces each word in `below` and `above`."""
        return {**dict(self.below), **dict(self.above)}

    @property
    def bounded(self) -> bool:
        """Whether both ends are known, so that the column can be scaled into [-1, 1]."""
        return isfinite(self.low) and isfinite(self.high)

    @property
    def middle(self) -> float:
        """The value that scales to 0."""
        if self.center is not None:
            return self.center
        return self.low / 2 + self.high / 2 if self.bounded else 0.0

    @property
    def stated_center(self) -> float | None:
        """The centre that a person stated; None if there is none or if it was computed from the rows."""
        return None if self.estimated else self.center

    @property
    def reach(self) -> float:
        """The distance from the middle that scales to 1; 0 for a constant column."""
        return max(self.high - self.middle, self.middle - self.low) if self.bounded else 1.0


@dataclass(frozen=True)
class Label(Range):
    """The column to predict: its range, its unit, and the format of its numbers ("": plain).

    With type "yes/no" it is 1 for yes, true, 1 or the word `positive`, and 0 for no, false, 0 or the word `negative`.
    """

    unit: str = ""
    numbers: str = ""
    type: str = "number"
    """"number" or "yes/no"."""
    positive: str = ""
    """The word that counts as 1, if the two values are words other than yes and no."""
    negative: str = ""
    """The word that counts as 0; "": the other word of the table, filled in on completion."""
    transform: str = ""
    """The transform that is predicted instead of the label: log1p, log or sqrt; predictions are transformed back."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.numbers, self._place)
        check_transform(self.transform, self._place)
        if self.type not in ("number", "yes/no"):
            raise ConfigError(f"{self._place}: type must be number or yes/no, not '{self.type}'")
        if self.type == "number" and (self.positive or self.negative):
            raise ConfigError(f'{self._place}: positive and negative are for type = "yes/no"; remove them')
        if self.type == "yes/no" and (self.numbers or self.transform):
            raise ConfigError(f"{self._place}: a label of type yes/no has no numbers and no transform")
        if self.negative and (not self.positive or self.positive == self.negative):
            raise ConfigError(f"{self._place}: positive and negative must be two different words")

    @property
    def is_binary(self) -> bool:
        """Whether the label is 0 or 1."""
        return self.type == "yes/no"

    @property
    def is_complete(self) -> bool:
        """Whether the word that counts as 0 is known."""
        return not self.positive or bool(self.negative)

    @property
    def _place(self) -> str:
        return "[label]"


@dataclass(frozen=True)
class Attribute(Range):
    """A column of the table and its encoding: numbers as they are, a category as one indicator per value.

    `low`, `high` and `center` are those of the number it becomes (of a date: days since its origin).
    """

    unit: str = field(default="", kw_only=True)
    """The unit of the values, for display."""
    price: float | None = None
    """The price of reading the column once; None: not given (counts as 1). In a panel, only the panel has a price."""
    price_column: str = field(default="", kw_only=True)
    """The column of the table that holds the price of each row; `price` is then the usual price."""
    free: bool = False
    """Whether the value is known before anything is ordered: it has no price and does not count in a budget."""
    type: str = "number"
    numbers: str = ""
    """The format of the numbers; "": plain."""
    values: tuple[str, ...] | None = None
    """The values of a category; None: those in the table, filled in on completion."""
    origin: date | None = None
    """Day 0 of a date; None: the first date in the table, filled in on completion."""
    transform: str = ""
    """The transform of the numbers: log1p, log or sqrt; `low`, `high` and `center` refer to the result."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_price(self.price, self._place)
        if self.type not in TYPES:
            raise ConfigError(f"{self._place}: type must be one of {', '.join(TYPES)}, not '{self.type}'")
        if self.free and self.price is not None:
            raise ConfigError(f"{self._place}: a free attribute has no price; remove free or price")
        if self.free and self.price_column:
            raise ConfigError(f"{self._place}: a free attribute has no price; remove free or price_column")
        self._refuse_strangers()
        _check_format(self.numbers, self._place)
        check_transform(self.transform, self._place)
        if self.values is not None:
            self._check_values(self.values)

    def _refuse_strangers(self) -> None:
        """Refuse keys that belong to another type, since they are probably mistakes."""
        if self.type == "number" and self.values is None and self.origin is None:
            return  # a fast exit: a table may have 80 000 of these
        ranged = (self.low, self.high, self.center) != (-inf, inf, None)
        given = {"low, high and center": ranged, "numbers": bool(self.numbers)}
        given |= {"below": bool(self.below), "above": bool(self.above)}
        given |= {"values": self.values is not None, "origin": self.origin is not None}
        given["transform"] = bool(self.transform)
        allowed = {
            "number": "low, high and center numbers below above transform",
            "date": "low, high and center origin",
            "category": "values",
        }
        for key, is_given in given.items():
            if is_given and key not in allowed.get(self.type, ""):
                raise ConfigError(f"{self._place}: a column of type {self.type} has no {key}; remove that key")

    def _check_values(self, values: tuple[str, ...]) -> None:
        if not 1 <= len(values) <= MOST_VALUES:
            raise ConfigError(f"{self._place}: values must be 1 to {MOST_VALUES} words, not {len(values)}")
        if (twice := repeated(values)) is not None:
            raise ConfigError(f"{self._place}: values has '{twice}' twice; keep one")
        if wrong := [v for v in values if v != v.strip() or not v]:
            raise ConfigError(
                f"{self._place}: values has '{wrong[0]}'; a value is neither empty nor begins with a space"
            )

    @property
    def is_complete(self) -> bool:
        """Whether the attributes that the column becomes are known."""
        return not ((self.type == "category" and self.values is None) or (self.type == "date" and self.origin is None))

    def encoded(self) -> tuple[Range, ...]:
        """Return the encoded attributes: `sex` = f or m becomes `sex=f` and `sex=m`, each 0 or 1; others give one."""
        return self._encoded

    @cached_property
    def _encoded(self) -> tuple[Range, ...]:
        if not self.is_complete:
            raise ConfigError(f"{self._place}: its values are not known yet; complete the schema with its table first")
        if self.type == "category":
            return tuple(Range(f"{self.name}={value}", 0.0, 1.0, 0.0) for value in self.values or ())
        if self.type == "yes/no":
            return (Range(self.name, 0.0, 1.0, 0.0),)
        return (Range(self.name, self.low, self.high, self.center, estimated=self.estimated),)


@dataclass(frozen=True)
class Panel:
    """A source of several columns, which are ordered together at one price."""

    name: str
    columns: tuple[str, ...]
    price: float | None = None
    price_column: str = ""
    """The column of the table that holds the price of each row; `price` is then the usual price."""

    def __post_init__(self) -> None:
        _check_price(self.price, f"[sources.{self.name}]")
        if not self.columns:
            raise ConfigError(f"[sources.{self.name}]: columns must name at least one column")
        if (twice := repeated(self.columns)) is not None:
            raise ConfigError(f"[sources.{self.name}]: columns has '{twice}' twice; keep one")


def _check_price(price: float | None, place: str) -> None:
    if price is not None and not (isfinite(price) and price >= 0):
        raise ConfigError(f"{place}: the price must be a finite number >= 0, not {price}")


def _check_format(numbers: str, place: str) -> None:
    if numbers and numbers not in FORMATS:
        known = ", ".join(f'"{form}"' for form in FORMATS)
        raise ConfigError(f'{place}: numbers must be one of {known}, not "{numbers}"')
