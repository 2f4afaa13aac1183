"""Many rounds of DS-POSLRC in one compiled call, identical to the protocol; no unbought value is read.

The random numbers of a round do not depend on what is learnt, so a block draws them in advance.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core import poslrc_block
from .._internal.typing import Floats, Ints
from ..core.learner import PlayedRows
from ..estimation import dantzig_width, sampling
from ..estimation.dantzig.problem import TOLERANCE
from ..estimation.dantzig.simplex import Parts, Reached
from ._dantzig_estimate import PATIENCE, DantzigEstimate

if TYPE_CHECKING:
    from .ds_poslrc import DSPOSLRC

__all__ = ["is_due", "play_block"]

# Rows per call: small enough to show progress and to react to an interrupt.
_BLOCK = 256
# How a compiled call ends: all rows are played; a solve needs help; w has been 0 for so long that a warning is due.
_DONE, _OPEN, _SILENT = 0, 1, 2


class Draws(NamedTuple):
    """The random numbers of each row's SAMPLING; empty if all other attributes are bought."""

    u: Floats
    others: Ints


def is_due(every: int, s: int) -> bool:
    """Return whether DS(gamma_s) is solved after round s; a period of 0 means at powers of two."""
    return s & (s - 1) == 0 if every == 0 else s % every == 0 or s == 1


def play_block(learner: "DSPOSLRC", parts: Parts, X: Floats, y: Floats) -> PlayedRows:
    """Play the first of the rows; this learner has no intervals."""
    n, m = min(y.size, _BLOCK), min(learner.k0, learner.d - learner.k)
    estimate, draws = learner.estimate, _draws(learner, n, m)
    bought, sizes = np.zeros((n, learner.k + m), np.int64), np.tile(np.array([learner.k, m]), (n, 1))
    predictions, end, t = np.empty(n), _OPEN, 0
    while end != _DONE:
        # Copies, because a history may hold the present arrays.
        estimate.w_hat, estimate.S = estimate.w_hat.copy(), estimate.S.copy()
        first, (V, scale, gammas) = estimate.seq.s, _widths(estimate, n)
        tally = np.array([estimate.solved, estimate.zeros])
        end, t, warm, ending = poslrc_block(
            w_hat=estimate.w_hat,
            S=estimate.S,
            permutation=estimate.order,
            V=V,
            scale=scale,
            gammas=gammas,
            first=first,
            every=learner.every,
            uniform=learner.uniform,
            tally=tally,
            H=parts.H,
            b=parts.b,
            store=parts.store,
            basis=parts.basis,
            work=parts.work,
            counts=parts.counts,
            u=draws.u,
            others=draws.others,
            X=X[:n],
            y=np.ascontiguousarray(y[:n]),
            y_hat=predictions,
            bought=bought,
            t=t,
            patience=PATIENCE,
            tolerance=TOLERANCE,
        )
        estimate.seq.resume(parts)
        estimate.solved, estimate.zeros = tally.tolist()
        if end == _OPEN:
            estimate.solve(Reached(ending, warm))
        elif end == _SILENT:
            estimate.warn_that_estimate_is_zero()
        parts = estimate.seq.parts() or parts
    learner.t += n
    return PlayedRows(predictions, np.ones(n, dtype=np.bool_), np.full(n, np.nan), bought, sizes)


def _draws(learner: "DSPOSLRC", n: int, m: int) -> Draws:
    """Return the random numbers of n rounds, in the order in which the protocol would draw them."""
    size = learner.d - learner.k
    if m == size:
        return Draws(np.empty(0), np.empty((0, 0), np.int64))
    numbers = [sampling.numbers(size, m, learner.rng) for _ in range(n)]
    return Draws(np.array([u for u, _ in numbers]), np.array([others for _, others in numbers]))


def _widths(e: DantzigEstimate, n: int) -> tuple[Floats, float, Floats]:
    """Return V and the scale of the self-tuned width, or the fixed widths of the next n rounds."""
    width, first = e.width, e.seq.s
    if isinstance(width, dantzig_width.Empirical):
        return width.V, width.scale, np.empty(0)
    return np.empty(0), 0.0, np.array([width.gamma(max(s, 1)) for s in range(first, first + n + 1)])
