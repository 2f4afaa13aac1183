"""Options of the learners: numbers in their range, and the two presets every peer has."""

from math import isfinite

from ..errors import ConfigError
from ._dantzig import one_of

__all__ = ["at_least", "is_theory", "positive", "whole"]


def is_theory(tuning: str) -> bool:
    """`tuning=` of a peer: "practical" (chosen by `benchmarks/peers.py`) or "theory" (what its analysis asks for)."""
    return one_of("tuning", tuning, ("practical", "theory")) == "theory"


def positive(option: str, value: float) -> float:
    """A finite number above zero, or a `ConfigError`."""
    if not _finite(value) or value <= 0:
        raise ConfigError(f"{option} must be a finite number > 0; it is {value!r}")
    return float(value)


def at_least(option: str, value: float, least: float) -> float:
    """A finite number not below `least`, or a `ConfigError`."""
    if not _finite(value) or value < least:
        raise ConfigError(f"{option} must be a finite number >= {least:g}; it is {value!r}")
    return float(value)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def whole(option: str, value: int, least: int, most: int) -> int:
    """A whole number in [least, most], or a `ConfigError`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{option} must be a whole number between {least} and {most}; it is {value!r}")
    return value
