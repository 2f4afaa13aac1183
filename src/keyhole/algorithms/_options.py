"""Validation of learner options, and presets that supply defaults."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import TypeAlias

import numpy as np

from .._internal.typing import Ints
from ..errors import ConfigError
from ._dantzig_estimate import one_of

Presets: TypeAlias = Mapping[str, Mapping[str, float]]
"""A map from `tuning=` to the numbers of that preset."""


def preset(presets: Presets, tuning: str, **given: float | None) -> dict[str, float]:
    """Return the numbers of a preset, overridden by those given; all must be finite and >= 0.

    >>> preset({"theory": {"a": 1.0, "b": 2.0}}, "theory", a=None, b=3)
    {'a': 1.0, 'b': 3.0}
    """
    chosen = presets[one_of("tuning", tuning, tuple(presets))]
    return {key: number(key, chosen[key] if value is None else value) for key, value in given.items()}


def number(option: str, value: object, above: float = -inf) -> float:
    """Return a finite number >= 0 (and > `above`); otherwise raise `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ConfigError(f"{option} must be a number, not {value!r}")
    if value < 0 or value <= above:
        raise ConfigError(f"{option} must be {f'> {above:g}' if above >= 0 else '>= 0'}; it is {value}")
    return float(value)


def positive(option: str, value: object) -> float:
    """Return a finite number > 0; otherwise raise `ConfigError`."""
    return number(option, value, above=0.0)


def at_least(option: str, value: object, least: float) -> float:
    """Return a finite number >= `least`; otherwise raise `ConfigError`."""
    checked = number(option, value)
    if checked < least:
        raise ConfigError(f"{option} must be >= {least:g}; it is {value!r}")
    return checked


def whole(option: str, value: int, least: int, most: int) -> int:
    """Return an integer in [least, most]; otherwise raise `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{option} must be a whole number between {least} and {most}; it is {value!r}")
    return value


def is_theory(tuning: str) -> bool:
    """Parse `tuning=` of a published algorithm: "practical" (from `benchmarks/peers.py`) or "theory"."""
    return one_of("tuning", tuning, ("practical", "theory")) == "theory"


def yes_or_no(option: str, value: object) -> bool:
    """Return True or False; otherwise raise `ConfigError`."""
    if not isinstance(value, bool):
        raise ConfigError(f"{option} must be True or False, not {value!r}")
    return value


def places(option: str, given: Sequence[object], names: Sequence[str]) -> Ints:
    """Return attributes given by name or by number as ascending numbers without duplicates."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(f"{option} must be a list of attributes, by name or by number, not {given!r}")
    index = {name: i for i, name in enumerate(names)}
    found = [index.get(item, -1) if isinstance(item, str) else item for item in given]
    for item, i in zip(given, found, strict=True):
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < len(names):
            raise ConfigError(
                f"{option} has {item!r}, which is not an attribute: give names or numbers 0 to {len(names) - 1}"
            )
    if len(set(found)) < len(found):
        raise ConfigError(f"{option} lists an attribute twice: {list(given)}")
    return np.array(sorted(found), dtype=np.int64)  # type: ignore[type-var]  # all are int by now
