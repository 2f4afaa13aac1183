"""The point a basis stands for, and whether it is optimal.

A basis is a set A of columns with signs th and a set R of as many rows with signs sg; G = H[R, A]. Its point is

    w_A = G^-1 (b_R - sg Gamma_R),   l_R = G^-T th,   r = b - H[:, A] w_A,   y = H[R, :]' l_R,

and it is optimal iff  th w_A >= 0,  sg l_R >= 0,  |r| <= Gamma,  |y| <= 1. The two halves are mirror images, and the
kernels are written once, for a side f:

    side 0 (primal)  coefficients x = w on A,  residual z = r, tight on R,  bound c = Gamma,  dz = -H dx
    side 1 (dual)    coefficients x = l on R,  residual z = y, tight on A,  bound c = 1,      dz = +H' dx

Arrays carry the side first: idx (2, m), sgn (2, m), pos (2, d) the place of an index in idx or -1, and
x (2, 3, m), z (2, 3, d), c (2, 2, d) hold value at mu = 0, slope in mu and, for x and z, a direction.
GG is (G, G^-1); v (4, m) and room (2, d) are work space; note (2, COLUMNS) holds the numbers named below.
"""

from .._jit import inner, once
from .._types import Floats, Ints
from ._rows import Store, add_rows

__all__ = ["Basis", "Work", "largest", "report", "settle", "times", "tolerances"]

Basis = tuple[Ints, Floats, Ints, Floats]
Work = tuple[Floats, Floats, Floats, Floats, Floats, Floats]

# Columns of note: the excess of z over c; the tolerances of x and z; the scales of their directions; the event of the
# side: mu, kind, place or index, sign, the step (T, T + 1) that makes it happen; the sizes |b|_inf and |w|_1; the gap.
EXCESS, TOL_X, TOL_Z, SCALE_X, SCALE_Z, MU, KIND, WHICH, SIGN, T = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
SIZE, GAP, COLUMNS = 11, 12, 13

# What `settle` finds: w = 0 is optimal, the basis is optimal, it is not, its inverse is no longer one.
ZERO, OPTIMAL, OPEN, STALE = 2, 1, 0, -1

# The residual of the basic solve, before its refinement, above which the inverse has to be computed anew.
ACCURACY = 1e-7


@inner
def largest(v: Floats, n: int, top: float) -> float:
    """max(top, |v_0|, ..., |v_n-1|)."""
    for i in range(n):
        if abs(v[i]) > top:
            top = abs(v[i])
    return top


@inner
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


@inner
def basic(side: int, GG: Floats, m: int, v: Floats, x: Floats) -> float:
    """Solve G x = v_0 (or G' x = v_0) with one step of refinement; how far off the first try was, relative to v_0."""
    off = 0.0
    for i in range(m):
        v[1, i] = v[0, i]
        x[i] = 0.0
    for attempt in range(2):
        times(side, GG[1], m, v[1], v[2])
        for i in range(m):
            x[i] += v[2, i]
        if attempt == 0:
            times(side, GG[0], m, x, v[1])
            for i in range(m):
                v[1, i] = v[0, i] - v[1, i]
                # The sum, unlike a maximum, is NaN if anything is.
                off += abs(v[1, i])
    return off / largest(v[0], m, 1e-300)


@inner
def excess(z: Floats, c: Floats) -> float:
    """max(0, max_t |z_t| - c_t)."""
    top = 0.0
    for t in range(z.size):
        over = abs(z[t]) - c[t]
        if over > top:
            top = over
    return top


@inner
def tolerances(x: Floats, m: int, note: Floats) -> None:
    """How far a coefficient may be on the wrong side of 0 (a fraction of the largest, or the noise of b in w), and a
    residual beyond its bound."""
    for side in range(2):
        note[side, SCALE_X] = largest(x[side, 0], m, 1e-300)
        note[side, TOL_X] = 1e-11 * note[side, SCALE_X]
    noise = 1e-14 * note[0, SIZE] * note[1, SCALE_X]
    if noise > note[0, TOL_X]:
        note[0, TOL_X] = noise
    note[0, TOL_Z] = 1e-11 * note[0, SIZE]
    note[1, TOL_Z] = 1e-10


@inner
def astray(sgn: Floats, x: Floats, m: int) -> float:
    """By how much the worst coefficient is on the wrong side of 0."""
    worst = 0.0
    for i in range(m):
        if sgn[i] * x[i] < -worst:
            worst = -sgn[i] * x[i]
    return worst


@once
def settle(store: Store, basis: Basis, work: Work, m: int, b: Floats) -> int:
    """Compute the point of the basis and judge it. The excess it notes is computed from H: it is the certificate."""
    x, z, c, v, _, note = work
    idx, sgn, _, GG = basis
    note[0, SIZE] = largest(b, b.size, 0.0)
    if excess(b, c[0, 0]) == 0.0:
        return ZERO
    for t in range(b.size):
        z[0, 0, t] = b[t]
        z[1, 0, t] = 0.0
    for side in range(2):
        for i in range(m):
            j = idx[1 - side, i]
            v[0, i] = (1 - side) * b[j] + (2 * side - 1) * sgn[1 - side, i] * c[side, 0, j]
        if not basic(side, GG, m, v, x[side, 0]) < ACCURACY:
            return STALE
        add_rows(store, side, idx[side], x[side, 0], m, 2.0 * side - 1.0, z[side, 0])
        note[side, EXCESS] = excess(z[side, 0], c[side, 0])
    tolerances(x, m, note)
    for side in range(2):
        if note[side, EXCESS] > note[side, TOL_Z] or astray(sgn[side], x[side, 0], m) > note[side, TOL_X]:
            return OPEN
    return OPTIMAL


@once
def report(basis: Basis, work: Work, m: int, b: Floats, scale: float, out: Floats) -> None:
    """Write w and scale l in full to `out`, and note |w|_1, the relative gap and the primal residual, the latter that
    of the problem divided by `scale`."""
    x, _, c, _, _, note = work
    total = 0.0
    bound = 0.0
    for i in range(m):
        j = basis[0][0, i]
        r = basis[0][1, i]
        out[0, j] = x[0, 0, i]
        out[1, r] = scale * x[1, 0, i]
        total += abs(x[0, 0, i])
        bound += b[r] * x[1, 0, i] - c[0, 0, r] * abs(x[1, 0, i])
    note[1, SIZE] = total
    note[0, GAP] = abs(total - bound) / max(1.0, total)
    note[0, EXCESS] /= max(scale, note[0, SIZE])
