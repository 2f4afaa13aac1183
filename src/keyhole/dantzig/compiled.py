"""A round and its solve without leaving compiled code: for learners that play many rounds in one call.

What is rare (a basis that outgrows its arrays, a path that is lost) is left to `Sequence.solve`, which goes on from
where this stopped, so that the numbers are the same to the bit.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .._jit import inner
from .._shared import Shared
from .._types import Floats, Ints
from ._basis import Basis, Work
from ._pivot_loop import UPDATES, pivot_loop
from ._point import OPTIMAL, ZERO
from ._rows import Store
from ._update import STALE_INVERSE, update
from .problem import TOLERANCE

__all__ = ["Ending", "Parts", "Reached", "add_round", "follow", "solved"]

# How the loop ended, m, the pivots and the updates of the inverse, |w|_1, both residuals, the gap.
Ending: TypeAlias = tuple[int, int, int, int, float, float, float, float]


class Reached(NamedTuple):
    """Where compiled code stopped in the middle of a solve."""

    ending: Ending
    warm: bool
    """Whether it had begun at a basis."""


@dataclass(frozen=True)
class Parts(Shared):
    """The arrays of a `Sequence` whose H is dense and symmetric."""

    H: Floats
    b: Floats
    store: Store
    basis: Basis
    work: Work
    counts: Ints
    """m, the updates of the inverse since it was computed, and s."""


@inner
def add_round(parts: Parts, B: Ints, h: Floats, v: Floats) -> None:
    """H[B, B] += h, b[B] += v, s += 1, for a round whose indices are distinct, whose numbers are and whose h is
    symmetric."""
    counts = parts.counts
    lopsided = counts[0] < 0  # not the constant False, for which numba would compile `update` once more
    found = update(parts.H, parts.b, B, h, v, parts.basis, counts[0], parts.work.v, UPDATES - counts[1], lopsided)
    if found == STALE_INVERSE:
        counts[1] = UPDATES + 1
    else:
        counts[1] += found
    counts[2] += 1


@inner
def follow(parts: Parts, out: Floats) -> Ending:
    """Go on from the basis at hand to the solution at the widths in `work`; it is in `out`, if `solved` says so."""
    counts = parts.counts
    for f in range(2):
        for j in range(out.shape[1]):
            out[f, j] = 0.0
    if counts[0] == 0:
        counts[1] = 0
    scale = float(counts[2])
    seed = counts[0] - counts[0]  # nor is this the constant 0
    ending = pivot_loop(parts.store, parts.basis, parts.work, counts[0], parts.b, scale, out, seed, counts[1])
    counts[0] = ending[1]
    counts[1] = ending[3]
    if ending[0] == ZERO:
        pos = parts.basis.pos
        for f in range(2):
            for j in range(out.shape[1]):
                pos[f, j] = -1
        counts[0] = 0
        counts[1] = 0
    return ending


@inner
def solved(ending: Ending) -> bool:
    """Whether there is a solution, with its certificate."""
    proof = ending[5] <= TOLERANCE and ending[6] <= TOLERANCE and ending[7] <= TOLERANCE
    return ending[0] == ZERO or (ending[0] == OPTIMAL and proof)
