"""What Python and the compiled simplex (cpp/dantzig) agree on: how a solve ends, and the arrays of a sequence."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from ..._core import DantzigBasis, DantzigStore, DantzigWork
from ..._internal.typing import Floats, Ints

__all__ = ["SMALL", "UPDATES", "Ending", "Event", "Fault", "Parts", "Reached", "Verdict"]

# Rank-one updates after which the inverse is computed anew, and the size up to which the core does that itself.
UPDATES, SMALL = 60, 48

Ending: TypeAlias = tuple[int, int, int, int, float, float, float, float]
"""The verdict, m, the pivots and the updates of the inverse, |w|_1, both residuals, the gap."""


class Verdict(IntEnum):
    """How a solve, or a part of one, ended (cpp/dantzig/point.hpp)."""

    STALE = -1
    OPEN = 0
    OPTIMAL = 1
    ZERO = 2
    LOST = 3
    STUCK = 4
    MISSING = 5
    CRAMPED = 6
    EMPTY = 7


class Event(IntEnum):
    """What happens next on a side of the problem (cpp/dantzig/basis.hpp)."""

    NOTHING = 0
    LEAVE = 1
    ENTER = 2


class Fault(IntEnum):
    """What is wrong with a round (cpp/dantzig/update.hpp); and that the inverse has to be computed anew."""

    BAD_INDEX = -1
    BAD_VALUE = -2
    ASYMMETRIC = -3
    STALE_INVERSE = -4


class Reached(NamedTuple):
    """Where compiled code stopped in the middle of a solve."""

    ending: Ending
    warm: bool
    """Whether it had begun at a basis."""


@dataclass(frozen=True)
class Parts:
    """The arrays of a `Sequence` whose H is dense and symmetric."""

    H: Floats
    b: Floats
    store: DantzigStore
    basis: DantzigBasis
    work: DantzigWork
    counts: Ints
    """(3,) m, the updates of the inverse since it was computed, and the rounds."""
