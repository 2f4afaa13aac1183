"""One pivot: the direction an event opens on the other side, the step along it, and the new basis."""

from .._jit import inner, once
from .._types import Floats
from ._events import ENTER, LEAVE
from ._rows import Store, add_row, add_rows
from ._settle import KIND, SCALE_X, SCALE_Z, SIGN, WHICH, Basis, T, Work, largest, times

__all__ = ["advance", "direction", "exchange", "step_to"]


@once
def direction(g: int, store: Store, basis: Basis, work: Work, m: int) -> float:
    """How side g moves by the event of the other side: an index enters its set, or a residual comes off its bound.

    ENTER j:  dx_j = s, dx = -s G^-1 H[R, j]  (g = 0; for g = 1 the same with G' and H'), so tight residuals stay so.
    LEAVE p:  dz_p = -sgn_p, the other tight residuals stay.
    Returns H at the crossing of the two events' indices, of use where both are to enter.
    """
    idx, sgn, _, GG = basis
    note = work[5]
    dx = work[0][g, 2]
    dz = work[1][g, 2]
    v = work[3][g]
    which = int(note[1 - g, WHICH])
    sign = 2.0 * g - 1.0
    s = sign * sgn[1 - g, which] if note[1 - g, KIND] == LEAVE else note[1 - g, SIGN]
    corner = 0.0
    for t in range(dz.size):
        dz[t] = 0.0
    note[g, SCALE_X] = 1e-300
    note[g, SCALE_Z] = 1.0
    if note[1 - g, KIND] == ENTER:
        add_row(store, g, which, sign * s, dz)
        for i in range(m):
            v[i] = sign * s * dz[idx[1 - g, i]]
        corner = sign * s * dz[int(note[g, WHICH])]
        note[g, SCALE_X] = 1.0
        note[g, SCALE_Z] = largest(dz, dz.size, 1e-300)
        times(g, GG[1], m, v, dx)
    else:
        for i in range(m):
            dx[i] = GG[1, which, i] if g == 1 else GG[1, i, which]
    for i in range(m):
        dx[i] *= -s
    add_rows(store, g, idx[g], dx, m, sign, dz)
    note[g, SCALE_X] = largest(dx, m, note[g, SCALE_X])
    return corner


@once
def step_to(f: int, work: Work) -> float:
    """Note the step (t_0, t_1), linear in mu, along side f's direction that makes its event true; the pivot element."""
    x, z, c, _, _, note = work
    i = int(note[f, WHICH])
    p: float = x[f, 2, i] if note[f, KIND] == LEAVE else z[f, 2, i]
    for k in range(2):
        gap = -x[f, k, i] if note[f, KIND] == LEAVE else note[f, SIGN] * c[f, k, i] - z[f, k, i]
        note[f, T + k] = gap / p
    return abs(p)


@inner
def advance(y: Floats, n: int, t0: float, t1: float) -> None:
    """y += (t_0 + mu t_1) dy for every mu at once."""
    for t in range(n):
        y[0, t] += t0 * y[2, t]
        y[1, t] += t1 * y[2, t]


@inner
def put(f: int, p: int, j: int, s: float, x0: float, x1: float, basis: Basis, x: Floats) -> None:
    """Index j with sign s and coefficient x_0 + mu x_1 takes place p of side f."""
    basis[0][f, p] = j
    basis[1][f, p] = s
    basis[2][f, j] = p
    x[f, 0, p] = x0
    x[f, 1, p] = x1


@inner
def fill(f: int, p: int, last: int, basis: Basis, x: Floats) -> None:
    """The last index of side f takes place p, whose own is gone."""
    if p < last:
        put(f, p, basis[0][f, last], basis[1][f, last], x[f, 0, last], x[f, 1, last], basis, x)


@inner
def subtract(Gi: Floats, m: int, u: Floats, v: Floats, p: float) -> None:
    """Gi -= u v' / p."""
    for i in range(m):
        a = u[i] / p
        for j in range(m):
            Gi[i, j] -= a * v[j]


@inner
def border(GG: Floats, m: int, cp: int, rp: int, v: Floats, p: float, corner: float) -> None:
    """A new column of G at place cp and a new row at rp (-1: none), with the parts of the inverse that are theirs."""
    for i in range(m):
        if cp >= 0:
            GG[0, i, cp] = v[0, i]
            GG[1, cp, i] = v[3, i] / p
        if rp >= 0:
            GG[0, rp, i] = v[1, i]
            GG[1, i, rp] = v[2, i] / p
    if cp >= 0 and rp >= 0:
        GG[0, rp, cp] = corner
        GG[1, cp, rp] = -1.0 / p


@inner
def shrink(GG: Floats, m: int, cp: int, rp: int) -> None:
    """Column cp and row rp of G are gone; the last ones take their places."""
    for j in range(m):
        GG[1, cp, j] = GG[1, m - 1, j]
        GG[0, rp, j] = GG[0, m - 1, j]
    for i in range(m):
        GG[1, i, rp] = GG[1, i, m - 1]
        GG[0, i, cp] = GG[0, i, m - 1]


@once
def exchange(basis: Basis, work: Work, m: int, corner: float) -> int:
    """Apply the events of both sides to the basis; the new size.

    Two entering indices make it grow, two leaving ones shrink, else a column or a row is swapped; for the inverse
    each of the four is  G^-1 -= u v' / p  and a new row or column.
    """
    idx, _, pos, GG = basis
    x, z, _, w, _, note = work
    enter0 = note[0, KIND] == ENTER
    enter1 = note[1, KIND] == ENTER
    which0 = int(note[0, WHICH])
    which1 = int(note[1, WHICH])
    for i in range(m):
        w[2, i] = -note[1, SIGN] * x[0, 2, i] if enter1 else GG[1, i, which1]
        w[3, i] = -note[0, SIGN] * x[1, 2, i] if enter0 else GG[1, which0, i]
    p = w[3, which1] if enter0 else w[2, which0]
    if enter0 and enter1:
        p = note[1, SIGN] * z[0, 2, which0]
    subtract(GG[1], m, w[2], w[3], p)
    cp = m if enter0 else which0
    rp = m if enter1 else which1
    border(GG, m, cp if enter1 else -1, rp if enter0 else -1, w, p, corner)
    for f in range(2):
        if note[f, KIND] == LEAVE:
            pos[f, idx[f, which0 if f == 0 else which1]] = -1
    for f in range(2):
        if note[1 - f, KIND] == ENTER:
            s = note[1 - f, SIGN]
            put(f, cp if f == 0 else rp, which1 if f == 0 else which0, s, s * note[f, T], s * note[f, T + 1], basis, x)
        elif note[f, KIND] == LEAVE and not (enter0 or enter1):
            fill(f, which0 if f == 0 else which1, m - 1, basis, x)
    if not (enter0 or enter1):
        shrink(GG, m, which0, which1)
        return m - 1
    return m + 1 if enter0 and enter1 else m
