"""The parametric path: perturb until the basis at hand is optimal at mu = 1, then drive mu to 0.

    |r_i| <= Gamma_i + mu g_i,   |y_j| <= 1 + mu e_j,   and r, y are shifted where a coefficient has a wrong sign.

Every quantity is linear in mu between two pivots, so that the next event is a quotient.
"""

import numpy as np

from .._jit import inner, jit, once
from .._types import Floats, Ints
from ._events import ENTER, LEAVE, NOTHING, partner, trigger
from ._moves import advance, direction, exchange, step_to
from ._rows import ABSENT, Store, add_rows
from ._settle import KIND, MU, OPEN, OPTIMAL, SCALE_Z, SIZE, STALE, WHICH, Basis, T, Work, largest, report, settle

__all__ = ["CRAMPED", "EMPTY", "LOST", "MISSING", "STUCK", "UPDATES", "drive"]

# How `drive` ends, if not with a verdict of `settle`: with too many pivots or too large a basis; without a partner;
# and, to be called again, for want of a row of H, of room for a larger basis, of a perturbation of the empty one.
LOST, STUCK, MISSING, CRAMPED, EMPTY = 3, 4, 5, 6, 7

# The places of `way`.
MU_NOW, RESTARTS, SEED, MOST, WIDEST, WORN, SINCE, PLACES = 0, 1, 2, 3, 4, 5, 6, 7

# Rank-one updates after which the inverse is computed anew, and pivots after which the point is.
UPDATES, PIVOTS = 60, 40


@inner
def noise(t: int, seed: float) -> float:
    """A number in [0, 1) that looks random in t: what keeps equal data from being ties."""
    u = (t + 1.0) * 0.6180339887498949 + seed * 0.7548776662466927
    u = (u - np.floor(u)) * 9973.0
    xi: float = u - np.floor(u)
    return xi


@inner
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


@inner
def widen(pos: Ints, z: Floats, c: Floats, unit: float, jitter: float, seed: float) -> None:
    """Slopes of the bounds: the violation and 5 % more where there is one, else a jitter; none where it is tight."""
    for t in range(pos.size):
        xi = noise(t, seed)
        over = abs(z[0, t] + z[1, t]) - c[0, t]
        slope = unit * jitter * xi
        if over > 0.0 or abs(z[0, t]) > c[0, t]:
            slope = 0.05 * (0.1 + xi) * max(c[0, t], 1e-3 * unit) + max(over, 0.0)
        c[1, t] = slope if pos[t] < 0 else 0.0


@once
def tilt(store: Store, basis: Basis, work: Work, m: int, jitter: float, seed: float) -> None:
    """Perturb both sides so that the basis, which is not empty, is optimal at mu = 1."""
    for f in range(2):
        x = work[0][f]
        z = work[1][f]
        for t in range(z.shape[1]):
            z[1, t] = 0.0
        if retarget(basis[0][f], basis[1][f], x, m, seed):
            add_rows(store, f, basis[0][f], x[1], m, 2.0 * f - 1.0, z[1])
            for i in range(m):
                z[1, basis[0][1 - f, i]] = 0.0
        widen(basis[2][1 - f], z, work[2][f], 1.0 if f == 1 else work[5][0, SIZE], jitter, seed + f)


@once
def leap(f: int, basis: Basis, work: Work, mu: float, step: float) -> bool:
    """Is a leaving coefficient's residual at its other bound before `step`? Then it may jump there: note the jump."""
    _, _, c, _, _, note = work
    if note[f, KIND] != LEAVE:
        return False
    j = basis[0][f, int(note[f, WHICH])]
    for k in range(2):
        note[1 - f, T + k] = 2.0 * c[1 - f, k, j]
        note[f, T + k] = 0.0
    jump: bool = note[1 - f, T] + mu * note[1 - f, T + 1] < step
    return jump


@jit
def drive(
    store: Store, basis: Basis, work: Work, m: int, b: Floats, scale: float, out: Floats, way: Floats, seed: int
) -> tuple[int, int, int, float]:
    """Settle, perturb and pivot, again and again, until the basis is optimal or something is in the way.

    Returns (how it ended, m, pivots, |w|_1). `way` keeps how far it is: mu (below 0: settle first), the restarts so
    far, the pivots and the size of basis allowed, and the updates of the inverse since it was computed; `seed` >= 0
    starts anew. A start from a basis that wanders is lost early. A pivot changes nothing before its last lines, so that
    one broken off for want of a row or of room can be repeated; `note[0, SCALE_Z]` is then the missing row.

    This is one long function because splitting it further, in either way numba has, costs seconds of compilation.
    """
    x, z, _, _, _, note = work
    if seed >= 0:
        way[MU_NOW] = -1.0
        way[RESTARTS] = 0.0
        way[SINCE] = 0.0
        way[SEED] = seed
        way[MOST] = 3 * m + 40 if m > 0 else 2000 + 20 * b.size
        way[WIDEST] = 2 * m + 20 if m > 0 else b.size
    corner = 0.0
    pivots = 0
    while True:
        # The point of the basis; if it is not optimal, a perturbation under which it is.
        if way[MU_NOW] < 0.0:
            verdict = STALE if way[WORN] > UPDATES and m > 0 else settle(store, basis, work, m, b)
            if verdict != OPEN:
                if verdict == OPTIMAL:
                    report(basis, work, m, b, scale, out)
                return verdict, m, pivots, note[1, SIZE]
            if way[MOST] < 0.0 or m > way[WIDEST]:
                return LOST, m, pivots, 0.0
            way[RESTARTS] += 1.0
            way[MOST] -= 1.0
            way[MU_NOW] = 1.0
            if m == 0:
                return EMPTY, m, pivots, 0.0
            tilt(store, basis, work, m, 1e-5 if way[RESTARTS] <= 2.0 else 1e-3, way[SEED] + 101.0 * way[RESTARTS])
        # The next event on the way to mu = 0.
        f = trigger(basis, work, m)
        way[MU_NOW] = min(way[MU_NOW], note[f, MU])
        mu = way[MU_NOW]
        if note[f, KIND] == NOTHING or mu <= 1e-14:
            way[MU_NOW] = -1.0
            continue
        jump = False
        # Its partner: first the direction of the other side, which leads to the partner; then that of this side.
        for turn in range(2):
            side = abs(1 - turn - f)
            if note[1 - side, KIND] == ENTER and store[2][0, int(note[1 - side, WHICH])] == ABSENT:
                note[0, SCALE_Z] = note[1 - side, WHICH]
                return MISSING, m, pivots, 0.0
            corner = direction(side, store, basis, work, m)
            if turn == 0:
                step = partner(side, basis, work, m, mu)
                jump = leap(f, basis, work, mu, step)
                if jump:
                    break
                if note[side, KIND] == NOTHING:
                    return STUCK, m, pivots, 0.0
        # The steps that make both happen.
        if not jump:
            if note[0, KIND] == ENTER and note[1, KIND] == ENTER and m == x.shape[2]:
                return CRAMPED, m, pivots, 0.0
            for side in range(2):
                note[side, MU] = step_to(side, work)
            if not abs(note[0, MU] - note[1, MU]) <= 1e-7 * note[0, MU]:
                # Two values for one pivot: the inverse is worn.
                way[MU_NOW] = -1.0
                way[WORN] = UPDATES + 1.0
                continue
        # The pivot.
        for side in range(2):
            advance(x[side], m, note[side, T], note[side, T + 1])
            advance(z[side], z.shape[2], note[side, T], note[side, T + 1])
        if jump:
            basis[1][f, int(note[f, WHICH])] *= -1.0
        else:
            m = exchange(basis, work, m, corner)
        pivots += 1
        way[WORN] += 1.0
        way[MOST] -= 1.0
        way[SINCE] += 1.0
        if way[SINCE] >= PIVOTS or way[MOST] < 0.0 or m > way[WIDEST]:
            way[SINCE] = 0.0
            way[MU_NOW] = -1.0
