"""The parametric path: perturb until the basis at hand is optimal at mu = 1, then take mu to 0.

    |r_i| <= Gamma_i + mu g_i,   |y_j| <= 1 + mu e_j,   and r, y are shifted where a coefficient has a wrong sign.

Every quantity is linear in mu between two pivots, so that the next event is a quotient.
"""

import numpy as np

from ..._internal.numba._bare import apart, inner, jit
from ..._internal.typing import Floats, Ints
from ._basis import ENTER, LEAVE, NOTHING, Basis, Work
from ._events import next_event, ratio_test
from ._inverse import SMALL, invert
from ._pivot import advance, direction, exchange, step_to
from ._point import OPEN, OPTIMAL, STALE, evaluate, largest, report
from ._rows import ABSENT, Store, add_rows

__all__ = ["CRAMPED", "EMPTY", "LOST", "MISSING", "STUCK", "UPDATES", "pivot_loop"]

# How `pivot_loop` ends, if not with a verdict of `evaluate`: with too many pivots or too large a basis; without a
# partner; and, to be called again, for want of a row of H, of capacity for a larger basis, of a perturbation of the
# empty one.
LOST, STUCK, MISSING, CRAMPED, EMPTY = 3, 4, 5, 6, 7

# Rank-one updates after which the inverse is computed anew, and pivots after which the point is.
UPDATES, PIVOTS = 60, 40


@inner
def noise(t: int, seed: float) -> float:
    """A number in [0, 1) that looks random in t: what keeps equal data from being ties."""
    u = (t + 1.0) * 0.6180339887498949 + seed * 0.7548776662466927
    u = (u - np.floor(u)) * 9973.0
    xi: float = u - np.floor(u)
    return xi


@apart
def retarget(idx: Ints, sgn: Floats, x: Floats, m: int, seed: float) -> bool:
    """Slopes that give a coefficient of the wrong sign a small value of the right one at mu = 1; is there any?"""
    unit = largest(x[0], m, 1e-300) / m
    found = False
    for i in range(m):
        x[1, i] = 0.0
        if sgn[i] * x[0, i] < 0.0:
            x[1, i] = sgn[i] * unit * (0.05 + 0.1 * noise(idx[i], seed)) - x[0, i]
            found = True
    return found


@apart
def widen(pos: Ints, z: Floats, c: Floats, unit: float, jitter: float, seed: float) -> None:
    """Slopes of the bounds: the violation and 5 % more where there is one, else a jitter; none where it is tight."""
    for t in range(pos.size):
        xi = noise(t, seed)
        over = abs(z[0, t] + z[1, t]) - c[0, t]
        slope = unit * jitter * xi
        if over > 0.0 or abs(z[0, t]) > c[0, t]:
            least = c[0, t] if c[0, t] > 1e-3 * unit else 1e-3 * unit
            slope = 0.05 * (0.1 + xi) * least + (over if over > 0.0 else 0.0)
        c[1, t] = slope if pos[t] < 0 else 0.0


@inner
def perturb(store: Store, basis: Basis, work: Work, m: int, jitter: float, seed: float) -> None:
    """Perturb both sides so that the basis, which is not empty, is optimal at mu = 1."""
    for f in range(2):
        x = work.x[f]
        z = work.z[f]
        for t in range(z.shape[1]):
            z[1, t] = 0.0
        if retarget(basis.idx[f], basis.sgn[f], x, m, seed):
            add_rows(store, f, basis.idx[f], x[1], m, 2.0 * f - 1.0, z[1])
            for i in range(m):
                z[1, basis.idx[1 - f, i]] = 0.0
        widen(basis.pos[1 - f], z, work.c[f], 1.0 if f == 1 else work.path[0].b_max, jitter, seed + f)


@inner
def flips(f: int, basis: Basis, work: Work, mu: float, step: float) -> bool:
    """Is a leaving coefficient's residual at its other bound before `step`? Then it may go there: note that step."""
    here = work.side[f]
    there = work.side[1 - f]
    if here.kind != LEAVE:
        return False
    j = basis.idx[f, here.which]
    there.t0 = 2.0 * work.c[1 - f, 0, j]
    there.t1 = 2.0 * work.c[1 - f, 1, j]
    here.t0 = 0.0
    here.t1 = 0.0
    before: bool = there.t0 + mu * there.t1 < step
    return before


@inner
def follow(
    store: Store, basis: Basis, work: Work, m: int, b: Floats, scale: float, out: Floats, seed: int
) -> tuple[int, int]:
    """Evaluate, perturb and pivot, again and again, until the basis is optimal or something is in the way.

    Returns how it ended, and m. `work.path` keeps how far it is; `seed` >= 0 starts anew. A start from a basis that
    wanders is lost early. A pivot changes nothing before its last lines, so that one broken off for want of a row or of
    capacity can be repeated.

    This is one long function because splitting it further, in either way numba has, costs seconds of compilation.
    """
    path = work.path[0]
    sides = work.side
    if seed >= 0:
        path.mu = -1.0
        path.restarts = 0
        path.since = 0
        path.pivots = 0
        path.seed = seed
        path.pivots_left = 3 * m + 40 if m > 0 else 2000 + 20 * b.size
        path.widest = 2 * m + 20 if m > 0 else b.size
    corner = 0.0
    while True:
        # The point of the basis; if it is not optimal, a perturbation under which it is.
        if path.mu < 0.0:
            verdict = STALE if path.updates > UPDATES and m > 0 else evaluate(store, basis, work, m, b)
            if verdict != OPEN:
                if verdict == OPTIMAL:
                    report(basis, work, m, b, scale, out)
                return verdict, m
            if path.pivots_left < 0 or m > path.widest:
                return LOST, m
            path.restarts += 1
            path.pivots_left -= 1
            path.mu = 1.0
            if m == 0:
                return EMPTY, m
            perturb(store, basis, work, m, 1e-5 if path.restarts <= 2 else 1e-3, path.seed + 101.0 * path.restarts)
        # The next event on the way to mu = 0.
        f = next_event(basis, work, m)
        if sides[f].mu < path.mu:
            path.mu = sides[f].mu
        if sides[f].kind == NOTHING or path.mu <= 1e-14:
            path.mu = -1.0
            continue
        flip = False
        # Its partner: first the direction of the other side, which leads to the partner; then that of this side.
        for turn in range(2):
            g = abs(1 - turn - f)
            event = sides[1 - g]
            if event.kind == ENTER and store.place[event.which] == ABSENT:
                path.missing = event.which
                return MISSING, m
            corner = direction(g, store, basis, work, m)
            if turn == 0:
                flip = flips(f, basis, work, path.mu, ratio_test(g, basis, work, m, path.mu))
                if flip:
                    break
                if sides[g].kind == NOTHING:
                    return STUCK, m
        # The steps that make both happen.
        if not flip:
            if sides[0].kind == ENTER and sides[1].kind == ENTER and m == basis.idx.shape[1]:
                return CRAMPED, m
            for g in range(2):
                sides[g].mu = step_to(g, work)
            if not abs(sides[0].mu - sides[1].mu) <= 1e-7 * sides[0].mu:
                # Two values for one pivot: the inverse is worn.
                path.mu = -1.0
                path.updates = UPDATES + 1
                continue
        # The pivot.
        for g in range(2):
            advance(work.x[g], m, sides[g].t0, sides[g].t1)
            advance(work.z[g], b.size, sides[g].t0, sides[g].t1)
        if flip:
            basis.sgn[f, sides[f].which] *= -1.0
        else:
            m = exchange(basis, work, m, corner)
        path.pivots += 1
        path.updates += 1
        path.pivots_left -= 1
        path.since += 1
        if path.since >= PIVOTS or path.pivots_left < 0 or m > path.widest:
            path.since = 0
            path.mu = -1.0


@jit
def pivot_loop(
    store: Store, basis: Basis, work: Work, m: int, b: Floats, scale: float, out: Floats, seed: int, updates: int
) -> tuple[int, int, int, int, float, float, float, float]:
    """`follow`, for Python: how it ended, m, the pivots and the updates of the inverse, |w|_1, both residuals, the gap.

    The inverse of a small basis is computed anew on the way. One that is worn again right after that is singular: then,
    and where the basis is larger, it ends with STALE.
    """
    path = work.path[0]
    path.updates = updates
    before = -1
    while True:
        end, m = follow(store, basis, work, m, b, scale, out, seed)
        if end != STALE or m > SMALL or path.pivots == before:
            break
        before = path.pivots
        path.updates = 0
        seed = -1
        if not invert(basis.G, basis.G_inv, m, work.v[0]):
            break
    primal = work.side[0].excess
    dual = work.side[1].excess
    return end, m, path.pivots, path.updates, path.objective, primal, dual, path.gap
