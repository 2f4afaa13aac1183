"""The facts of an algorithm and its options, as values."""

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


@dataclass(frozen=True, kw_only=True)
class AlgorithmInfo:
    """What a learner's class says about its algorithm, in the class attribute `info`."""

    setting: str
    """What may be bought when, for example "k of d, then k0 more"."""
    bound: str
    """The regret bound of the literature."""
    cost: str
    """Time per round."""
    reference: str
    status: str
    """"verified" (read and checked), "reconstructed" (steps ours, rate the authors'), or "of another package"."""
    buys_all: bool = False
    """Buys every attribute in every round: for reference, not for a limited budget."""
    takes_k0: bool = False
    """Buys after the label too if k0 > 0."""
    needs_k0: bool = False
    """Requires k0 > 0."""
    raw_columns: bool = False
    """Learns shift and scale of raw columns itself; other learners need values in [-1, 1]."""
    oracle: bool = False
    """Uses the true support: for reference only."""
    past_rows: str = ""
    """Which rows `learn` takes: "any", only "complete" ones, or none."""
    binary_labels: bool = False
    """Takes label="binary": labels are 0 or 1, predictions are probabilities."""
    conditions: str = ""
    """The assumptions, by the letters of `CONDITIONS`."""
    further: str = ""
    """Further assumptions and limits on k and k0, in words."""

    @property
    def assumptions(self) -> str:
        """All assumptions in words."""
        spelt = ", ".join(f"({letter}) {CONDITIONS[letter]}" for letter in self.conditions)
        return "; ".join(filter(None, [spelt, self.further]))


@dataclass(frozen=True, kw_only=True)
class Algorithm(AlgorithmInfo):
    """One entry of `kh.list_algorithms()`: the name, the facts and the options of an algorithm."""

    name: str
    path: str
    """Where the learner is defined: "module:Class"."""
    options: tuple[Option, ...] = ()
    """The keyword arguments of `kh.make` besides names, k, k0 and seed."""

    @property
    def takes(self) -> str:
        """Which of k0, sources, prices and money it takes, in a few words; "-" for none of them."""
        names = {option.name for option in self.options}
        k0 = "k0 (required)" if self.needs_k0 else "k0" if self.takes_k0 else ""
        money = "money" if "error_cost" in names else ""
        return ", ".join(filter(None, [k0, *(n for n in ("sources", "prices") if n in names), money])) or "-"

    def to_dict(self) -> dict[str, object]:
        """The entry as plain data, without the module path."""
        options = [{**asdict(option), "choices": list(option.choices)} for option in self.options]
        plain = {key: value for key, value in asdict(self).items() if key != "path"}
        return plain | {"takes": self.takes, "assumptions": self.assumptions, "options": options}
