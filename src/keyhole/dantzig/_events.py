"""What happens next on the way from mu = 1 to mu = 0, and what has to happen with it.

On side f a coefficient reaches 0 and its index LEAVEs the side's set, or a residual reaches its bound and its index
ENTERs the other side's set. An event of one side is paired with one of the other, found by a ratio test along the
direction the first one opens; or, for a leaving index, the residual jumps to its other bound (a flip).

`sgn`, `x`, `pos`, `z`, `c` are those of one side here; pos says which residuals are tight.
"""

import numpy as np

from .._jit import inner, once
from .._types import Floats, Ints
from ._settle import KIND, MU, SCALE_X, SCALE_Z, SIGN, TOL_X, TOL_Z, WHICH, Basis, Work, tolerances

__all__ = ["ENTER", "LEAVE", "NOTHING", "partner", "trigger"]

NOTHING, LEAVE, ENTER = 0, 1, 2

# A pivot element below this fraction of its direction's scale is not one.
PIVOT = 1e-9
# The share of a tolerance by which the first pass of Harris's ratio test is relaxed.
HARRIS = 0.1
# The minimiser of the first pass must pass the second, whatever the rounding of its own quotient.
AGAIN = 1.0 + 1e-12


@inner
def next_leave(sgn: Floats, x: Floats, m: int, tol: float) -> tuple[float, int]:
    """The largest mu at which a coefficient that is wrong at mu = 0 becomes 0, and its place (0 and -1: none)."""
    mu = 0.0
    place = -1
    for i in range(m):
        over = -sgn[i] * x[0, i]
        rate = sgn[i] * x[1, i]
        if over > tol and rate > 0.0 and over > mu * rate:
            mu = over / rate
            place = i
    return mu, place


@inner
def next_enter(pos: Ints, z: Floats, c: Floats, tol: float) -> tuple[float, int]:
    """The largest mu at which a residual that is too large at mu = 0 meets its bound, and its index."""
    mu = 0.0
    index = -1
    for t in range(pos.size):
        over = abs(z[0, t]) - c[0, t]
        if over > tol and pos[t] < 0:
            rate = c[1, t] - (z[1, t] if z[0, t] > 0.0 else -z[1, t])
            if rate > 0.0 and over > mu * rate:
                mu = over / rate
                index = t
    return mu, index


@once
def trigger(basis: Basis, work: Work, m: int) -> int:
    """Note the next event of each side; the side whose is first, that is, at the larger mu.

    At half the tolerance of `settle`, so that what that one refuses this one sees.
    """
    x, z, c, _, _, note = work
    tolerances(x, m, note)
    for f in range(2):
        mu, place = next_leave(basis[1][f], x[f], m, 0.5 * note[f, TOL_X])
        mu_enter, index = next_enter(basis[2][1 - f], z[f], c[f], 0.5 * note[f, TOL_Z])
        kind = NOTHING if place < 0 else LEAVE
        if mu_enter > mu:
            mu = mu_enter
            kind = ENTER
            place = index
        note[f, MU] = mu
        note[f, KIND] = kind
        note[f, WHICH] = place
        note[f, SIGN] = 1.0 if z[f, 0, place] > 0.0 else -1.0
    return 0 if note[0, MU] >= note[1, MU] else 1


@inner
def rooms(pos: Ints, z: Floats, c: Floats, mu: float, room: Floats) -> None:
    """For every residual its slope along the direction (0 where it is tight) and its distance to the bound ahead."""
    for t in range(pos.size):
        slope = z[2, t]
        ahead = z[0, t] + mu * z[1, t]
        left = c[0, t] + mu * c[1, t] - (ahead if slope > 0.0 else -ahead)
        room[0, t] = abs(slope) if pos[t] < 0 else 0.0
        room[1, t] = left if left > 0.0 else 0.0


@inner
def rooms_x(sgn: Floats, x: Floats, m: int, mu: float, room: Floats) -> None:
    """For every coefficient its slope towards 0 and its distance from it."""
    for i in range(m):
        left = sgn[i] * (x[0, i] + mu * x[1, i])
        room[0, i] = -sgn[i] * x[2, i]
        room[1, i] = left if left > 0.0 else 0.0


@inner
def shortest(room: Floats, n: int, least: float, relax: float, step: float) -> float:
    """The longest step, up to `step`, that exceeds no room by more than `relax`."""
    for t in range(n):
        slope = room[0, t]
        if slope > least and room[1, t] + relax < step * slope:
            step = (room[1, t] + relax) / slope
    return step


@inner
def steepest(room: Floats, n: int, least: float, step: float) -> tuple[float, int]:
    """Among those whose room ends within `step`, the one with the largest pivot element."""
    index = -1
    for t in range(n):
        slope = room[0, t]
        if slope > least and room[1, t] <= step * slope * AGAIN:
            least = slope
            index = t
    return least, index


@once
def partner(g: int, basis: Basis, work: Work, m: int, mu: float) -> float:
    """Note what stops a move of side g, and return the step: Harris's two passes, the largest pivot wins.

    The coefficients and the residuals of a direction have different units, so each is scaled by its own maximum.
    """
    x, z, c, v, room, note = work
    room_x = v[2:]
    unit_x = PIVOT * note[g, SCALE_X]
    unit_z = PIVOT * note[g, SCALE_Z]
    rooms_x(basis[1][g], x[g], m, mu, room_x)
    rooms(basis[2][1 - g], z[g], c[g], mu, room)
    step = shortest(room_x, m, unit_x, HARRIS * note[g, TOL_X], np.inf)
    step = shortest(room, room.shape[1], unit_z, HARRIS * note[g, TOL_Z], step)
    slope, which = steepest(room_x, m, unit_x, step)
    kind = NOTHING if which < 0 else LEAVE
    slope, index = steepest(room, room.shape[1], slope / unit_x * unit_z, step)
    if index >= 0:
        which = index
        kind = ENTER
    note[g, KIND] = kind
    note[g, WHICH] = which
    note[g, SIGN] = 1.0 if z[g, 2, which] > 0.0 else -1.0
    return step
