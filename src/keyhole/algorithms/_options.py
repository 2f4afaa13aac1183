"""Options of a learner: numbers that are checked, and presets that fill in what was not given."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import TypeAlias

import numpy as np

from .._internal.typing import Ints
from ..errors import ConfigError
from ._dantzig_estimate import one_of

Presets: TypeAlias = Mapping[str, Mapping[str, float]]
"""tuning= -> the numbers it stands for."""


def preset(presets: Presets, tuning: str, **given: float | None) -> dict[str, float]:
    """The numbers of a preset, each replaced by the one that was given; all must be finite and >= 0.

    >>> preset({"theory": {"a": 1.0, "b": 2.0}}, "theory", a=None, b=3)
    {'a': 1.0, 'b': 3.0}
    """
    chosen = presets[one_of("tuning", tuning, tuple(presets))]
    return {key: number(key, chosen[key] if value is None else value) for key, value in given.items()}


def number(option: str, value: object, above: float = -inf) -> float:
    """A finite number >= 0 (and > `above`), or a `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ConfigError(f"{option} must be a number, not {value!r}")
    if value < 0 or value <= above:
        raise ConfigError(f"{option} must be {f'> {above:g}' if above >= 0 else '>= 0'}; it is {value}")
    return float(value)


def positive(option: str, value: object) -> float:
    """A finite number above zero, or a `ConfigError`."""
    return number(option, value, above=0.0)


def at_least(option: str, value: object, least: float) -> float:
    """A finite number not below `least`, or a `ConfigError`."""
    checked = number(option, value)
    if checked < least:
        raise ConfigError(f"{option} must be >= {least:g}; it is {value!r}")
    return checked


def whole(option: str, value: int, least: int, most: int) -> int:
    """A whole number in [least, most], or a `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{option} must be a whole number between {least} and {most}; it is {value!r}")
    return value


def is_theory(tuning: str) -> bool:
    """`tuning=` of a peer: "practical" (chosen by `benchmarks/peers.py`) or "theory" (what its analysis asks for)."""
    return one_of("tuning", tuning, ("practical", "theory")) == "theory"


def yes_or_no(option: str, value: object) -> bool:
    """True or False, or a `ConfigError`."""
    if not isinstance(value, bool):
        raise ConfigError(f"{option} must be True or False, not {value!r}")
    return value


def places(option: str, given: Sequence[object], names: Sequence[str]) -> Ints:
    """Attributes given by name or by number, as ascending numbers without repetition."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(f"{option} must be a list of attributes, by name or by number, not {given!r}")
    index = {name: i for i, name in enumerate(names)}
    found = [index.get(item, -1) if isinstance(item, str) else item for item in given]
    for item, i in zip(given, found, strict=True):
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < len(names):
            raise ConfigError(
                f"{option} has {item!r}, which is no attribute: give names or numbers 0 to {len(names) - 1}"
            )
    if len(set(found)) < len(found):
        raise ConfigError(f"{option} has an attribute twice: {list(given)}")
    return np.array(sorted(found), dtype=np.int64)  # type: ignore[type-var]  # all are int by now
