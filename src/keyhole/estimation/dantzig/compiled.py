"""A round and its solve without leaving compiled code: for learners that play many rounds in one call.

What is rare (a basis that outgrows its arrays, a path that is lost) is left to `Sequence.solve`, which goes on from
where this stopped, so that the numbers are the same to the bit.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ..._internal.numba._jit import inner
from ..._internal.numba._shared import Shared
from ..._internal.typing import Floats, Ints
from ._basis import Basis, Records, Work
from ._pivot_loop import UPDATES, pivot_loop
from ._point import OPTIMAL, ZERO
from ._rows import Store
from ._update import STALE_INVERSE, update
from .problem import TOLERANCE

__all__ = ["COUNTS", "Ending", "Parts", "Reached", "add_round", "follow", "solved"]

# How the loop ended, m, the pivots and the updates of the inverse, |w|_1, both residuals, the gap.
Ending: TypeAlias = tuple[int, int, int, int, float, float, float, float]

# m, the updates of the inverse since it was computed, and the rounds.
COUNTS = np.dtype([("m", "i8"), ("updates", "i8"), ("s", "i8")])


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
    counts: Records
    """(1,) of `COUNTS`."""


@inner
def add_round(parts: Parts, B: Ints, h: Floats, v: Floats) -> None:
    """H[B, B] += h, b[B] += v, s += 1, for a round whose indices are distinct, whose numbers are and whose h is
    symmetric."""
    now = parts.counts[0]
    lopsided = now.m < 0  # not the constant False, for which numba would compile `update` once more
    found = update(parts.H, parts.b, B, h, v, parts.basis, now.m, parts.work.v, UPDATES - now.updates, lopsided)
    if found == STALE_INVERSE:
        now.updates = UPDATES + 1
    else:
        now.updates += found
    now.s += 1


@inner
def follow(parts: Parts, out: Floats) -> Ending:
    """Go on from the basis at hand to the solution at the widths in `work`; it is in `out`, if `solved` says so."""
    now = parts.counts[0]
    for f in range(2):
        for j in range(out.shape[1]):
            out[f, j] = 0.0
    if now.m == 0:
        now.updates = 0
    seed = now.m - now.m  # nor is this the constant 0
    ending = pivot_loop(parts.store, parts.basis, parts.work, now.m, parts.b, float(now.s), out, seed, now.updates)
    end, now.m, _, now.updates, _, _, _, _ = ending
    if end == ZERO:
        pos = parts.basis.pos
        for f in range(2):
            for j in range(out.shape[1]):
                pos[f, j] = -1
        now.m = 0
        now.updates = 0
    return ending


@inner
def solved(ending: Ending) -> bool:
    """Whether there is a solution, with its certificate."""
    end, _, _, _, _, primal, dual, gap = ending
    proof = primal <= TOLERANCE and dual <= TOLERANCE and gap <= TOLERANCE
    return end == ZERO or (end == OPTIMAL and proof)
