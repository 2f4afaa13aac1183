"""One pivot: the direction an event opens on the other side, the step along it, and the new basis."""

from ..._internal.numba._bare import apart, inner
from ..._internal.typing import Floats
from ._basis import ENTER, LEAVE, Basis, Work
from ._point import largest, times
from ._rows import Store, add_row, add_rows

__all__ = ["advance", "direction", "exchange", "step_to", "subtract"]


@inner
def direction(g: int, store: Store, basis: Basis, work: Work, m: int) -> float:
    """How side g moves by the event of the other side: an index enters its set, or a residual comes off its bound.

    ENTER j:  dx_j = s, dx = -s G^-1 H[R, j]  (g = 0; for g = 1 the same with G' and H'), so tight residuals stay so.
    LEAVE p:  dz_p = -sgn_p, the other tight residuals stay.
    Returns H at the crossing of the two events' indices, of use where both are to enter.
    """
    side = work.side[g]
    event = work.side[1 - g]
    dx = work.x[g, 2]
    dz = work.z[g, 2]
    v = work.v[g]
    which = event.which
    sign = 2.0 * g - 1.0
    s = sign * basis.sgn[1 - g, which] if event.kind == LEAVE else event.sign
    corner = 0.0
    for t in range(dz.size):
        dz[t] = 0.0
    size_x = 1e-300
    side.size_z = 1.0
    if event.kind == ENTER:
        add_row(store, g, which, sign * s, dz)
        for i in range(m):
            v[i] = sign * s * dz[basis.idx[1 - g, i]]
        corner = sign * s * dz[side.which]
        size_x = 1.0
        side.size_z = largest(dz, dz.size, 1e-300)
        times(g, basis.G_inv, m, v, dx)
    else:
        for i in range(m):
            dx[i] = basis.G_inv[which, i] if g == 1 else basis.G_inv[i, which]
    for i in range(m):
        dx[i] *= -s
    add_rows(store, g, basis.idx[g], dx, m, sign, dz)
    side.size_x = largest(dx, m, size_x)
    return corner


@inner
def step_to(f: int, work: Work) -> float:
    """Note the step t0 + mu t1 along side f's direction that makes its event true; the size of the pivot element."""
    side = work.side[f]
    i = side.which
    if side.kind == LEAVE:
        p: float = work.x[f, 2, i]
        side.t0 = -work.x[f, 0, i] / p
        side.t1 = -work.x[f, 1, i] / p
    else:
        p = work.z[f, 2, i]
        side.t0 = (side.sign * work.c[f, 0, i] - work.z[f, 0, i]) / p
        side.t1 = (side.sign * work.c[f, 1, i] - work.z[f, 1, i]) / p
    return abs(p)


@apart
def advance(y: Floats, n: int, t0: float, t1: float) -> None:
    """y += (t0 + mu t1) dy for every mu at once."""
    for t in range(n):
        y[0, t] += t0 * y[2, t]
        y[1, t] += t1 * y[2, t]


@apart
def put(f: int, p: int, j: int, s: float, x0: float, x1: float, basis: Basis, x: Floats) -> None:
    """Index j with sign s and coefficient x_0 + mu x_1 takes place p of side f."""
    basis.idx[f, p] = j
    basis.sgn[f, p] = s
    basis.pos[f, j] = p
    x[f, 0, p] = x0
    x[f, 1, p] = x1


@apart
def subtract(G_inv: Floats, m: int, u: Floats, v: Floats, p: float) -> None:
    """G^-1 -= u v' / p."""
    for i in range(m):
        a = u[i] / p
        for j in range(m):
            G_inv[i, j] -= a * v[j]


@inner
def border(basis: Basis, m: int, cp: int, rp: int, v: Floats, p: float, corner: float) -> None:
    """A new column of G at place cp and a new row at rp (-1: none), with the parts of the inverse that are theirs."""
    for i in range(m):
        if cp >= 0:
            basis.G[i, cp] = v[0, i]
            basis.G_inv[cp, i] = v[3, i] / p
        if rp >= 0:
            basis.G[rp, i] = v[1, i]
            basis.G_inv[i, rp] = v[2, i] / p
    if cp >= 0 and rp >= 0:
        basis.G[rp, cp] = corner
        basis.G_inv[cp, rp] = -1.0 / p


@inner
def shrink(basis: Basis, m: int, cp: int, rp: int) -> None:
    """Column cp and row rp of G are gone; the last ones take their places."""
    for j in range(m):
        basis.G_inv[cp, j] = basis.G_inv[m - 1, j]
        basis.G[rp, j] = basis.G[m - 1, j]
    for i in range(m):
        basis.G_inv[i, rp] = basis.G_inv[i, m - 1]
        basis.G[i, cp] = basis.G[i, m - 1]


@inner
def exchange(basis: Basis, work: Work, m: int, corner: float) -> int:
    """Apply the events of both sides to the basis; the new size.

    Two entering indices make it grow, two leaving ones shrink, else a column or a row is swapped; for the inverse
    each of the four is  G^-1 -= u v' / p  and a new row or column.
    """
    x = work.x
    v = work.v
    idx = basis.idx
    sides = work.side
    enter0 = sides[0].kind == ENTER
    enter1 = sides[1].kind == ENTER
    which0 = sides[0].which
    which1 = sides[1].which
    for i in range(m):
        v[2, i] = -sides[1].sign * x[0, 2, i] if enter1 else basis.G_inv[i, which1]
        v[3, i] = -sides[0].sign * x[1, 2, i] if enter0 else basis.G_inv[which0, i]
    both = enter0 and enter1
    p = sides[1].sign * work.z[0, 2, which0] if both else v[3, which1] if enter0 else v[2, which0]
    subtract(basis.G_inv, m, v[2], v[3], p)
    cp = m if enter0 else which0
    rp = m if enter1 else which1
    border(basis, m, cp if enter1 else -1, rp if enter0 else -1, v, p, corner)
    for f in range(2):
        if sides[f].kind == LEAVE:
            basis.pos[f, idx[f, sides[f].which]] = -1
    for f in range(2):
        here = sides[f]
        there = sides[1 - f]
        if there.kind == ENTER:
            s = there.sign
            put(f, cp if f == 0 else rp, there.which, s, s * here.t0, s * here.t1, basis, x)
        elif here.kind == LEAVE and not (enter0 or enter1) and here.which < m - 1:
            # The last index takes the place of the one that is gone.
            last = m - 1
            put(f, here.which, idx[f, last], basis.sgn[f, last], x[f, 0, last], x[f, 1, last], basis, x)
    if not (enter0 or enter1):
        shrink(basis, m, which0, which1)
        return m - 1
    return m + 1 if both else m
