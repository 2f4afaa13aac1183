"""Many rounds of DS-POSLRC in one compiled call, as the protocol would play them; no value is read that was not bought.

The numbers of the generator that a round takes do not depend on what is learnt, so a block draws them beforehand.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .._internal.numba._jit import inner, jit
from .._internal.typing import Bools, Floats, Ints
from ..estimation import dantzig_width, sampling
from ..estimation.dantzig.compiled import Ending, Parts, Reached, add_round, follow, solved
from ..estimation.observed_products import dot_at
from ..estimation.top_k import pick_top
from ._dantzig_estimate import PATIENCE, DantzigEstimate, fill_round

if TYPE_CHECKING:
    from .ds_poslrc import DSPOSLRC

__all__ = ["complement", "is_due", "play_block"]

# Rows per call: a user who waits sees progress, and an interrupt is heard.
_BLOCK = 256
# How a compiled call ends: all rows are played; a solve needs help; w has been 0 for so long that it has to be said.
_DONE, _OPEN, _SILENT = 0, 1, 2
_NO_ENDING: Ending = (0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)

# Solves, those with w = 0, and whether it was said that there are no others.
TALLY = np.dtype([("solved", "i8"), ("zeros", "i8"), ("said", "i8")])


class Estimate(NamedTuple):
    """The arrays of a `DantzigEstimate`, and how it is played."""

    w_hat: Floats
    S: Ints
    order: Ints
    everything: Bools
    V: Floats
    """Of the self-tuned width; empty where the width is one number a round."""
    scale: float
    gammas: Floats
    """The widths at s, s + 1, ... of the first row, where they are numbers."""
    first: int
    every: int
    uniform: bool
    tally: npt.NDArray[np.void]
    """(1,) of `TALLY`."""


class Draws(NamedTuple):
    """The numbers of each row's SAMPLING; of no length where everything else is bought."""

    u: Floats
    others: Ints


@jit
def complement(order: Ints, S: Ints, pool: Bools) -> Ints:
    """What is in the pool and not in S, in the seeded order."""
    free, C, n = np.empty(pool.size, np.bool_), np.empty(order.size, np.int64), 0
    for i in range(pool.size):
        free[i] = pool[i]
    for i in S:
        free[i] = False
    for i in order:
        if free[i]:
            C[n] = i
            n += 1
    return C[:n]


@jit
def is_due(every: int, s: int) -> bool:
    """Whether DS(gamma_s) is solved after round s: at the powers of two where the period is 0."""
    return s & (s - 1) == 0 if every == 0 else s % every == 0 or s == 1


@inner
def choose(e: Estimate, draws: Draws, t: int, bought: Ints, P: Floats) -> None:
    """`DSPOSLRC._ask`: S and the extras of row t, and the probabilities of what is observed."""
    k = e.S.size
    C = complement(e.order, e.S, e.everything)
    n, m = C.size, bought.size - k
    w, q, drawn = np.empty(n), np.empty(n), np.empty(m, np.int64)
    for i in range(n):
        w[i] = 0.0 if e.uniform else e.w_hat[C[i]]
    sampling.fill_law(w, q)
    if m < n:
        sampling.join(q, draws.u[t], draws.others[t], drawn)
    else:
        for i in range(m):
            drawn[i] = i
    for i in range(k):
        bought[i] = e.S[i]
    q_B = np.empty(m)
    for i in range(m):
        bought[k + i] = C[drawn[i]]
        q_B[i] = q[drawn[i]]
    if m < n:
        sampling.fill_pairs(k, q_B, n, m, P)


@inner
def widen(e: Estimate, s: int, Gamma: Floats) -> None:
    """Gamma = s gamma_s."""
    if e.V.size > 0:
        dantzig_width.fill_widths(e.V, e.scale / s, Gamma)
        for i in range(Gamma.size):
            Gamma[i] *= float(s)
    else:
        for i in range(Gamma.size):
            Gamma[i] = e.gammas[s - e.first] * float(s)


@inner
def adopt(e: Estimate, w: Floats) -> None:
    """`DantzigEstimate.solve`, from the solution on: w_hat, S and what is counted."""
    zero = True
    k = e.S.size
    inside, places = np.empty(w.size, np.bool_), np.empty(w.size, np.int64)
    for i in range(w.size):
        e.w_hat[i] = w[i]
        inside[i] = False
        zero &= w[i] == 0.0
    for i in range(k):
        inside[e.S[i]] = True
    pick_top(e.w_hat, k, inside, e.order, places)
    for i in range(k):  # insertion: k is small
        place, j = places[i], i
        while j > 0 and e.S[j - 1] > place:
            e.S[j] = e.S[j - 1]
            j -= 1
        e.S[j] = place
    e.tally[0].solved += 1
    e.tally[0].zeros += zero


@jit
def _loop(
    e: Estimate, parts: Parts, draws: Draws, X: Floats, y: Floats, out: Floats, bought: Ints, t: int
) -> tuple[int, int, bool, Ending]:
    """Play the rows of X from t on: how it ended, after which row, and for an open solve how far that is."""
    d, n = X.shape[1], bought.shape[1]
    k = e.S.size
    x, v, deviation, solution = np.empty(n), np.empty(n), np.empty(n), np.empty((2, d))
    P, h = np.empty((n, n)), np.empty((n, n))
    for i in range(n):
        for j in range(n):
            P[i, j] = 1.0
    while t < y.size:
        B = bought[t]
        choose(e, draws, t, B, P)
        for i in range(n):
            x[i] = X[t, B[i]]
        out[t] = dot_at(e.w_hat, B[:k], x)
        label = y[t]
        t += 1
        if math.isnan(label):
            continue
        for i in range(n):
            v[i] = 0.0
            for j in range(n):
                h[i, j] = 0.0
        fill_round(e.w_hat, B, x, label, P, v, h, deviation)
        if e.V.size > 0:
            for i in range(n):
                e.V[B[i]] += deviation[i] ** 2
        add_round(parts, B, h, v)
        s = parts.counts[0].s
        if not is_due(e.every, s):
            continue
        widen(e, s, parts.work.c[0, 0])
        warm = parts.counts[0].m > 0
        ending = follow(parts, solution)
        if not solved(ending):
            return _OPEN, t, warm, ending
        adopt(e, solution[0])
        tally = e.tally[0]
        if tally.solved == tally.zeros >= PATIENCE and tally.said == 0:
            return _SILENT, t, warm, ending
    return _DONE, t, False, _NO_ENDING


def play_block(
    learner: "DSPOSLRC", parts: Parts, X: Floats, y: Floats, out: Floats, explored: Bools, levels: Floats
) -> tuple[Ints, Ints]:
    """Play some of the rows: what each bought, and how many before and after the label. There are no intervals, and so
    no `levels`."""
    n, m = min(y.size, _BLOCK), min(learner.k0, learner.d - learner.k)
    estimate, draws = learner.estimate, _draws(learner, n, m)
    bought, sizes = np.zeros((n, learner.k + m), np.int64), np.tile(np.array([learner.k, m]), (n, 1))
    end, t = _OPEN, 0
    while end != _DONE:
        arrays = _arrays(learner, estimate, n)
        end, t, warm, ending = _loop(arrays, parts, draws, X[:n], y[:n], out[:n], bought, t)
        estimate.seq.resume(parts)
        estimate.solved, estimate.zeros, _ = arrays.tally[0].item()
        if end == _OPEN:
            estimate.solve(Reached(ending, warm))
        elif end == _SILENT:
            estimate.say_if_silent(PATIENCE)
        parts = estimate.seq.parts() or parts
    explored[:n] = True
    learner.t += n
    return bought, sizes


def _draws(learner: "DSPOSLRC", n: int, m: int) -> Draws:
    """The numbers of n rounds, in the order in which the protocol would take them."""
    size = learner.d - learner.k
    if m == size:
        return Draws(np.empty(0), np.empty((0, 0), np.int64))
    numbers = [sampling.numbers(size, m, learner.rng) for _ in range(n)]
    return Draws(np.array([u for u, _ in numbers]), np.array([others for _, others in numbers]))


def _arrays(learner: "DSPOSLRC", e: DantzigEstimate, n: int) -> Estimate:
    """The estimate for the coming rounds; w_hat and S are copies, for a history may hold the ones at hand."""
    width, first = e.width, e.seq.s
    e.w_hat, e.S = e.w_hat.copy(), e.S.copy()
    V, scale, gammas = np.empty(0), 0.0, np.empty(0)
    if isinstance(width, dantzig_width.Empirical):
        V, scale = width.V, width.scale
    else:
        gammas = np.array([width.gamma(max(s, 1)) for s in range(first, first + n + 1)])
    tally = np.array([(e.solved, e.zeros, e.said)], TALLY)
    everything = np.ones(learner.d, np.bool_)
    return Estimate(e.w_hat, e.S, e.order, everything, V, scale, gammas, first, learner.every, learner.uniform, tally)
