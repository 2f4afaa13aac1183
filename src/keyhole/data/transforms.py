"""Transforms of a column: skewed amounts become numbers that a linear prediction can use."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats
from ..errors import ConfigError

__all__ = ["TRANSFORMS", "Transform", "check_transform"]


class Transform(NamedTuple):
    """A growing function, its inverse, and the smallest number it takes."""

    forward: Callable[[Floats], Floats]
    inverse: Callable[[Floats], Floats]
    takes: Callable[[Floats], Bools]
    should: str
    """What a number must be, for a message."""


TRANSFORMS: dict[str, Transform] = {
    "log1p": Transform(np.log1p, np.expm1, lambda x: x > -1.0, "a number above -1, as log1p needs"),
    "log": Transform(np.log, np.exp, lambda x: x > 0.0, "a number above 0, as log needs"),
    "sqrt": Transform(np.sqrt, lambda z: np.maximum(z, 0.0) ** 2, lambda x: x >= 0.0, "a number >= 0, as sqrt needs"),
}


def check_transform(name: str, place: str) -> None:
    """A `ConfigError` unless there is such a transform; "" is none."""
    if name and name not in TRANSFORMS:
        raise ConfigError(f"{place}: transform must be one of {', '.join(TRANSFORMS)}, not '{name}'")
