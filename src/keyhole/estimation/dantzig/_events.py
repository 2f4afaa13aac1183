"""What happens next on the way from mu = 1 to mu = 0, and what has to happen with it.

On side f a coefficient reaches 0 and its index LEAVEs the side's set, or a residual reaches its bound and its index
ENTERs the other side's set. An event of one side is paired with one of the other, found by a ratio test along the
direction the first one opens; or, for a leaving index, the residual goes on to its other bound (a flip).

`sgn`, `x`, `pos`, `z`, `c` are those of one side here; pos says which residuals are tight.
"""

import numpy as np

from ..._internal.numba._bare import apart, inner
from ..._internal.typing import Floats, Ints
from ._basis import ENTER, LEAVE, NOTHING, Basis, Work
from ._point import tolerances

__all__ = ["next_event", "ratio_test"]

# A pivot element below this fraction of its direction's scale is not one.
PIVOT = 1e-9
# The share of a tolerance by which the first pass of Harris's ratio test is relaxed.
HARRIS = 0.1
# The minimiser of the first pass must pass the second, whatever the rounding of its own quotient.
AGAIN = 1.0 + 1e-12


@apart
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


@apart
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


@inner
def next_event(basis: Basis, work: Work, m: int) -> int:
    """Note the next event of each side; the side whose is first, that is, at the larger mu.

    At half the tolerance of `evaluate`, so that what that one refuses this one sees.
    """
    tolerances(work.x, m, work.path[0].b_max, work.side)
    for f in range(2):
        side = work.side[f]
        mu, which = next_leave(basis.sgn[f], work.x[f], m, 0.5 * side.tol_x)
        mu_enter, index = next_enter(basis.pos[1 - f], work.z[f], work.c[f], 0.5 * side.tol_z)
        kind = NOTHING if which < 0 else LEAVE
        if mu_enter > mu:
            mu = mu_enter
            kind = ENTER
            which = index
        side.mu = mu
        side.kind = kind
        side.which = which
        side.sign = 1.0 if work.z[f, 0, which] > 0.0 else -1.0
    return 0 if work.side[0].mu >= work.side[1].mu else 1


@apart
def bounds_ahead(pos: Ints, z: Floats, c: Floats, mu: float, ahead: Floats) -> None:
    """For every residual its slope along the direction (0 where it is tight) and its distance to the bound ahead."""
    for t in range(pos.size):
        slope = z[2, t]
        now = z[0, t] + mu * z[1, t]
        left = c[0, t] + mu * c[1, t] - (now if slope > 0.0 else -now)
        ahead[0, t] = abs(slope) if pos[t] < 0 else 0.0
        ahead[1, t] = left if left > 0.0 else 0.0


@apart
def zeros_ahead(sgn: Floats, x: Floats, m: int, mu: float, ahead: Floats) -> None:
    """For every coefficient its slope towards 0 and its distance from it."""
    for i in range(m):
        left = sgn[i] * (x[0, i] + mu * x[1, i])
        ahead[0, i] = -sgn[i] * x[2, i]
        ahead[1, i] = left if left > 0.0 else 0.0


@apart
def shortest(ahead: Floats, n: int, least: float, relax: float, step: float) -> float:
    """The longest step, up to `step`, that oversteps no bound by more than `relax`."""
    for t in range(n):
        slope = ahead[0, t]
        if slope > least and ahead[1, t] + relax < step * slope:
            step = (ahead[1, t] + relax) / slope
    return step


@apart
def steepest(ahead: Floats, n: int, least: float, step: float) -> tuple[float, int]:
    """Among those whose bound is within `step`, the one with the largest pivot element."""
    index = -1
    for t in range(n):
        slope = ahead[0, t]
        if slope > least and ahead[1, t] <= step * slope * AGAIN:
            least = slope
            index = t
    return least, index


@inner
def ratio_test(g: int, basis: Basis, work: Work, m: int, mu: float) -> float:
    """Note what stops a move of side g, and return the step: Harris's two passes, the largest pivot wins.

    The coefficients and the residuals of a direction have different units, so each is scaled by its own maximum.
    """
    side = work.side[g]
    ahead = work.ahead
    ahead_x = work.v[2:]
    unit_x = PIVOT * side.size_x
    unit_z = PIVOT * side.size_z
    zeros_ahead(basis.sgn[g], work.x[g], m, mu, ahead_x)
    bounds_ahead(basis.pos[1 - g], work.z[g], work.c[g], mu, ahead)
    step = shortest(ahead_x, m, unit_x, HARRIS * side.tol_x, np.inf)
    step = shortest(ahead, ahead.shape[1], unit_z, HARRIS * side.tol_z, step)
    slope, which = steepest(ahead_x, m, unit_x, step)
    kind = NOTHING if which < 0 else LEAVE
    slope, index = steepest(ahead, ahead.shape[1], slope / unit_x * unit_z, step)
    if index >= 0:
        which = index
        kind = ENTER
    side.kind = kind
    side.which = which
    side.sign = 1.0 if work.z[g, 2, which] > 0.0 else -1.0
    return step
