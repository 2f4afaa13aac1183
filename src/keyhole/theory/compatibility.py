"""The compatibility constant of a support."""

from collections.abc import Sequence
from typing import NamedTuple

from .._types import Floats, Ints

__all__ = ["Compatibility", "compatibility"]


class Compatibility(NamedTuple):
    """The constant and the vector that attains it."""

    delta_s: float
    minimiser: Floats


def compatibility(X: Floats, S: "Sequence[int] | Ints", alpha: float = 1.0) -> Compatibility:
    """delta_S^2 = min |S| |X w|^2 / (T |w_S|_1^2) over w != 0 with |w_{S^c}|_1 <= alpha |w_S|_1."""
    raise NotImplementedError
