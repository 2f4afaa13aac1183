"""Value types that describe an algorithm and its options."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TypeAlias

from ...errors import ConfigError

__all__ = ["CONDITIONS", "Algorithm", "AlgorithmInfo", "Option", "OptionValue"]

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
"""The assumptions of the analyses, by the letters used in the paper's tables."""


class OptionValue:
    """The base class of options given as objects, such as `Scaled(2)`; `str` returns their text form."""


@dataclass(frozen=True)
class Option:
    """An option of `make`, or of `--algorithm NAME[option=value]`."""

    name: str
    type: str
    """"number", "whole number", "yes or no", "choice", "schedule", "word", "list", "prices", "sources"."""
    default: Default
    meaning: str
    choices: tuple[str, ...] = ()
    """The allowed words; a schedule may also be a rate, and some choices a number."""

    def check(self, value: object) -> None:
        """Raise a `ConfigError` if the value has the wrong type; the algorithm itself checks further constraints."""
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
        """Return a description of the allowed values."""
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


@dataclass(frozen=True, kw_only=True)
class AlgorithmInfo:
    """The facts about an algorithm that a learner's class declares in the class attribute `info`."""

    setting: str
    """The feedback model: what may be bought when, for example "k of d, then k0 more"."""
    bound: str
    """The regret bound from the literature."""
    cost: str
    """Time per round."""
    reference: str
    status: str
    """Origin: "verified" (read and checked), "reconstructed" (own steps, published rate) or "of another package"."""
    buys_all: bool = False
    """Whether it buys every attribute in every round (full information, for reference)."""
    takes_k0: bool = False
    """Whether it also buys after the label if k0 > 0."""
    needs_k0: bool = False
    """Whether it requires k0 > 0."""
    raw_columns: bool = False
    """Whether it learns the shift and scale of raw columns; other learners need values in [-1, 1]."""
    oracle: bool = False
    """Whether it uses the true support (for reference only)."""
    past_rows: str = ""
    """Which rows `learn` accepts: "any", only "complete" ones, or none."""
    binary_labels: bool = False
    """Whether it supports label="binary": labels are 0 or 1, predictions are probabilities."""
    conditions: str = ""
    """The assumptions, by the letters of `CONDITIONS`."""
    further: str = ""
    """Further assumptions and limits on k and k0, as text."""

    @property
    def assumptions(self) -> str:
        """All assumptions as text."""
        spelt = ", ".join(f"({letter}) {CONDITIONS[letter]}" for letter in self.conditions)
        return "; ".join(filter(None, [spelt, self.further]))


@dataclass(frozen=True, kw_only=True)
class Algorithm(AlgorithmInfo):
    """One entry of `kh.list_algorithms()`: the name, the facts and the options of an algorithm."""

    name: str
    path: str
    """The location of the learner's class: "module:Class"."""
    options: tuple[Option, ...] = ()
    """The keyword arguments of `kh.make` besides names, k, k0 and seed."""

    @property
    def takes(self) -> str:
        """Which of k0, sources, prices and money it supports, as short text; "-" for none."""
        names = {option.name for option in self.options}
        k0 = "k0 (required)" if self.needs_k0 else "k0" if self.takes_k0 else ""
        money = "money" if "error_cost" in names else ""
        return ", ".join(filter(None, [k0, *(n for n in ("sources", "prices") if n in names), money])) or "-"

    def to_dict(self) -> dict[str, object]:
        """Return the entry as plain data, without the module path."""
        options = [{**asdict(option), "choices": list(option.choices)} for option in self.options]
        plain = {key: value for key, value in asdict(self).items() if key != "path"}
        return plain | {"takes": self.takes, "assumptions": self.assumptions, "options": options}
