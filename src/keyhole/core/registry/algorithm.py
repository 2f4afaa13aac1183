"""What a record of the catalogue is: an algorithm and its options, as values that programs read."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TypeAlias

from ...errors import ConfigError

__all__ = ["CONDITIONS", "Algorithm", "Option", "OptionValue"]

Default: TypeAlias = bool | int | float | str | None

CONDITIONS = {
    "a": "realizable",
    "b": "sparse",
    "c": "linearly independent features",
    "d": "compatibility",
    "e": "restricted isometry",
    "f": "Gaussian noise",
    "g": "bounded noise",
    "i": "i.i.d. rows",
}
"""What analyses assume, by the letters of the paper's tables."""


class OptionValue:
    """The base of an option given as an object, such as `Scaled(2)`: `str` gives the text that stands for it."""


@dataclass(frozen=True)
class Option:
    """One option of `make`, or of `--algorithm NAME[option=value]`."""

    name: str
    type: str
    """"number", "whole number", "yes or no", "choice", "schedule", "word", "list", "prices", "sources"."""
    default: Default
    meaning: str
    choices: tuple[str, ...] = ()
    """The words it may be; a schedule may be a rate too, and some choices a number."""

    def check(self, value: object) -> None:
        """A `ConfigError` where the value is of another type; what it may be in detail its algorithm knows."""
        fits = value is None and self.default is None
        if self.type in ("number", "whole number"):
            whole = isinstance(value, int) and not isinstance(value, bool)
            fits |= whole or (self.type == "number" and isinstance(value, float))
        elif self.type == "yes or no":
            fits |= isinstance(value, bool)
        elif self.type in ("choice", "schedule", "word"):
            fits |= isinstance(value, str | int | float) and not isinstance(value, bool)
        else:
            fits |= isinstance(value, list | tuple) or (self.type in ("prices", "sources") and isinstance(value, dict))
        try:
            fits = fits and (not isinstance(value, int | float) or isfinite(value))
        except OverflowError:
            raise ConfigError(f"{self.name} is a number too large to compute with") from None
        if not fits:
            raise ConfigError(f"{self.name} must be {self.wanted}, not {_short(value)}")

    @property
    def wanted(self) -> str:
        """What it must be, in words."""
        if self.type == "schedule":
            return "'squares', a rate such as '2 t^(-1/3)' or a share"
        if self.type == "choice":
            return f"one of {', '.join(map(repr, self.choices))}"
        return {
            "number": "a number",
            "whole number": "a whole number",
            "yes or no": "True or False",
            "word": "a word",
            "prices": "a list, or prices by name",
            "sources": "lists of attributes by name",
        }.get(self.type, "a list")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True)
class Algorithm:
    """What there is to know about an algorithm before running it."""

    name: str
    setting: str
    bound: str
    cost: str
    reference: str
    status: str
    """"verified" (read and checked), "reconstructed" (its steps are ours, its rate is theirs), "of another package"."""
    path: str
    """Where the learner is: "module:Class", imported when it is made."""
    buys_all: bool = False
    """Buys every attribute in every round: a reference, not a choice for a budget."""
    extras: bool = False
    """It buys after the label too, where k0 > 0."""
    needs_extras: bool = False
    """It cannot do without: k0 must be > 0."""
    raw_columns: bool = False
    """Learns shift and scale of raw columns by itself; the others want values within [-1, 1]."""
    told: bool = False
    """Is told what nobody knows (the true support): a reference."""
    conditions: str = ""
    """What it assumes, by the letters of `CONDITIONS`."""
    further: str = ""
    """What it assumes besides, and which k and k0 it needs, in words."""
    options: tuple[Option, ...] = ()
    """What `make` takes beyond the budget and the seed."""

    @property
    def assumptions(self) -> str:
        """All that it assumes, in words."""
        spelt = ", ".join(f"({letter}) {CONDITIONS[letter]}" for letter in self.conditions)
        return "; ".join(filter(None, [spelt, self.further]))

    def to_dict(self) -> dict[str, object]:
        """The record as plain data, without the module path."""
        options = [{**asdict(option), "choices": list(option.choices)} for option in self.options]
        plain = {key: value for key, value in asdict(self).items() if key != "path"}
        return plain | {"assumptions": self.assumptions, "options": options}
