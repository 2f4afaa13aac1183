"""The description of an algorithm; its options are read from its constructor's signature, types and docstring."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from ...errors import ConfigError

__all__ = ["COMMON", "CONDITIONS", "Algorithm", "AlgorithmInfo", "Option", "OptionValue", "options_of_class"]

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
        """Which of k0, sources, prices, money and raw columns it supports, as short text; "-" for none."""
        names = {option.name for option in self.options}
        k0 = "k0 (required)" if self.needs_k0 else "k0" if self.takes_k0 else ""
        money = "money" if "error_cost" in names else ""
        raw = "raw columns" if self.raw_columns else ""
        return ", ".join(filter(None, [k0, *(n for n in ("sources", "prices") if n in names), money, raw])) or "-"

    def to_dict(self) -> dict[str, object]:
        """Return the entry as plain data, without the module path."""
        options = [{**asdict(option), "choices": list(option.choices)} for option in self.options]
        plain = {key: value for key, value in asdict(self).items() if key != "path"}
        return plain | {"takes": self.takes, "assumptions": self.assumptions, "options": options}


# -- options


COMMON = ("names", "k", "k0", "seed")
"""The parameters that every constructor takes first."""


@cache
def options_of_class(cls: type) -> tuple[Option, ...]:
    """Return the options in the order of the constructor's signature."""
    hints, meanings = get_type_hints(cls.__init__, include_extras=True), _meanings(cls)  # type: ignore[misc]
    found = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in COMMON:
            default = None if parameter.default is inspect.Parameter.empty else parameter.default
            kind, choices = _kind(hints.get(name, type(default)))
            found.append(Option(name, kind, default, meanings.get(name, ""), choices))
    return tuple(found)


def _kind(hint: Any) -> tuple[str, tuple[str, ...]]:
    """Return the type of an option as text, and the words it allows."""
    if get_origin(hint) is Annotated:
        return str(hint.__metadata__[0]), ()
    parts = [part for part in _parts(hint) if part is not NoneType]
    words = tuple(str(word) for part in parts if get_origin(part) is Literal for word in get_args(part))
    if words:
        objects = [part for part in parts if isinstance(part, type) and issubclass(part, OptionValue)]
        return "choice", (*words, *(f"{part.__name__.lower()}(c)" for part in objects))
    if bool in parts:
        return "yes or no", ()
    if str in parts:
        return ("schedule" if float in parts else "word"), ()
    if float in parts or int in parts:
        return ("number" if float in parts else "whole number"), ()
    origins = [get_origin(part) for part in parts]
    if Mapping in origins:
        return ("prices" if Sequence in origins else "sources"), ()
    return "list", ()


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _meanings(cls: type) -> dict[str, str]:
    """Return the text of each parameter in the docstring of the class that defines the constructor."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(vars(base).get("__doc__") or "")
        section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.S)
        for names, meaning in re.findall(r"^(\w[\w, ]*)\n((?:[ ]+.*(?:\n|\Z))+)", section[1] if section else "", re.M):
            found |= dict.fromkeys(re.split(r",\s*", names), " ".join(meaning.split()))
    return found
