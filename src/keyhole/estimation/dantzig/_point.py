"""The point a basis stands for, and whether it is optimal: the formulas are in `_basis.py`."""

import numpy as np

from ..._internal.numba._bare import apart, inner
from ..._internal.typing import Floats
from ._basis import Basis, Records, Work
from ._rows import Store, add_rows
from .problem import ROW

__all__ = ["OPEN", "OPTIMAL", "STALE", "ZERO", "evaluate", "largest", "report", "times", "tolerances"]

# What `evaluate` finds: w = 0 is optimal, the basis is optimal, it is not, its inverse is no longer one.
ZERO, OPTIMAL, OPEN, STALE = 2, 1, 0, -1

# The residual of the basic solve, before its refinement, above which the inverse has to be computed anew.
ACCURACY = 1e-7


@apart
def largest(v: Floats, n: int, top: float) -> float:
    """max(top, |v_0|, ..., |v_n-1|)."""
    for i in range(n):
        if abs(v[i]) > top:
            top = abs(v[i])
    return top


@apart
def times(side: int, M: Floats, m: int, v: Floats, out: Floats) -> None:
    """out = M v (side 0) or M' v (side 1), always reading rows of M."""
    for i in range(m):
        out[i] = 0.0
    for i in range(m):
        if side == 0:
            total = 0.0
            for j in range(m):
                total += M[i, j] * v[j]
            out[i] = total
        else:
            for j in range(m):
                out[j] += M[i, j] * v[i]


@apart
def basic(side: int, G: Floats, G_inv: Floats, m: int, v: Floats, x: Floats) -> float:
    """Solve G x = v_0 (or G' x = v_0) with one step of refinement; how far off the first try was, relative to v_0."""
    off = 0.0
    for i in range(m):
        v[1, i] = v[0, i]
        x[i] = 0.0
    for attempt in range(2):
        times(side, G_inv, m, v[1], v[2])
        for i in range(m):
            x[i] += v[2, i]
        if attempt == 0:
            times(side, G, m, x, v[1])
            for i in range(m):
                v[1, i] = v[0, i] - v[1, i]
                # The sum, unlike a maximum, is NaN if anything is.
                off += abs(v[1, i])
    return off / largest(v[0], m, 1e-300)


@apart
def excess(z: Floats, c: Floats) -> float:
    """max(0, max_t |z_t| - c_t)."""
    top = 0.0
    for t in range(z.size):
        over = abs(z[t]) - c[t]
        if over > top:
            top = over
    return top


@apart
def missed(b: Floats, gamma: Floats, r: Floats) -> bool:
    """Whether a constraint seems missed in its own units: `problem.kept` knows, from what cancels in it, if it is."""
    found = False
    for t in range(b.size):
        if abs(r[t]) - gamma[t] > ROW * (abs(b[t]) + gamma[t] + abs(b[t] - r[t])):
            found = True
    return found


@apart
def tolerances(x: Floats, m: int, b_max: float, side: Records) -> None:
    """How far a coefficient may be on the wrong side of 0 (a fraction of the largest, or the noise of b in w), and a
    residual beyond its bound."""
    primal = side[0]
    dual = side[1]
    primal.size_x = largest(x[0, 0], m, 1e-300)
    dual.size_x = largest(x[1, 0], m, 1e-300)
    primal.tol_x = 1e-11 * primal.size_x
    dual.tol_x = 1e-11 * dual.size_x
    noise = 1e-14 * b_max * dual.size_x
    if noise > primal.tol_x:
        primal.tol_x = noise
    primal.tol_z = 1e-11 * b_max
    dual.tol_z = 1e-10


@apart
def astray(sgn: Floats, x: Floats, m: int) -> float:
    """By how much the worst coefficient is on the wrong side of 0."""
    worst = 0.0
    for i in range(m):
        if sgn[i] * x[i] < -worst:
            worst = -sgn[i] * x[i]
    return worst


@inner
def evaluate(store: Store, basis: Basis, work: Work, m: int, b: Floats) -> int:
    """Compute the point of the basis and judge it. The excess it notes is computed from H: it is the certificate."""
    x = work.x
    z = work.z
    c = work.c
    v = work.v
    path = work.path[0]
    path.b_max = largest(b, b.size, 0.0)
    if excess(b, c[0, 0]) == 0.0:
        return ZERO
    for t in range(b.size):
        z[0, 0, t] = b[t]
        z[1, 0, t] = 0.0
    for f in range(2):
        for i in range(m):
            j = basis.idx[1 - f, i]
            v[0, i] = (1 - f) * b[j] + (2 * f - 1) * basis.sgn[1 - f, i] * c[f, 0, j]
        if not basic(f, basis.G, basis.G_inv, m, v, x[f, 0]) < ACCURACY:
            return STALE
        add_rows(store, f, basis.idx[f], x[f, 0], m, 2.0 * f - 1.0, z[f, 0])
        work.side[f].excess = excess(z[f, 0], c[f, 0])
    tolerances(x, m, path.b_max, work.side)
    for f in range(2):
        side = work.side[f]
        if side.excess > side.tol_z or astray(basis.sgn[f], x[f, 0], m) > side.tol_x:
            return OPEN
    return OPTIMAL


@inner
def report(basis: Basis, work: Work, m: int, b: Floats, scale: float, out: Floats) -> None:
    """Write w and scale l in full to `out`, and note |w|_1 (each |w_j| times its bound on side 1), the relative gap and
    the primal residual, that of the problem divided by `scale`; infinite where a row by itself seems missed."""
    x = work.x
    path = work.path[0]
    total = 0.0
    bound = 0.0
    for i in range(m):
        j = basis.idx[0, i]
        r = basis.idx[1, i]
        out[0, j] = x[0, 0, i]
        out[1, r] = scale * x[1, 0, i]
        total += work.c[1, 0, j] * abs(x[0, 0, i])
        bound += b[r] * x[1, 0, i] - work.c[0, 0, r] * abs(x[1, 0, i])
    path.objective = total
    path.gap = abs(total - bound) / (total if total > 1.0 else 1.0)
    work.side[0].excess /= scale if scale > path.b_max else path.b_max
    if missed(b, work.c[0, 0], work.z[0, 0]):
        work.side[0].excess = np.inf
