"""Products with H, read row by row.

A store is the tuple (P, Q, at, link, B, h). Rows of P are columns of H (side 0, the primal), rows of Q are rows of H
(side 1, the dual); for a symmetric H they are one array. `at[0, j]` is the place of row j in P and Q, or

    ABSENT  the row must first be built (the caller does, see `stores.py`),
    LISTED  the row is read off the log of rounds: position n of the log belongs to one attribute of one round,
            `link[n]` = (next position of that attribute, start of the round in B, its size, start of the row in h)
            and `at[1, j]` is the first position of attribute j.

These kernels are written in few and plain statements: what numba takes to compile grows with their number.
"""

from .._jit import inner
from .._types import Floats, Ints

__all__ = ["ABSENT", "LISTED", "Store", "add_row", "add_rows"]

Store = tuple[Floats, Floats, Ints, Ints, Ints, Floats]

ABSENT = -1
LISTED = -2


@inner
def add_one(C: Floats, place: int, a: float, out: Floats) -> None:
    """out += a C[place]."""
    for t in range(out.size):
        out[t] += a * C[place, t]


@inner
def add_four(C: Floats, at: Ints, idx: Ints, a: Floats, i: int, sign: float, out: Floats) -> None:
    """out += sign (a_i row_i + ... + a_i+3 row_i+3): one pass over `out` instead of four, which is half the time."""
    p = C[at[idx[i]]]
    q = C[at[idx[i + 1]]]
    r = C[at[idx[i + 2]]]
    s = C[at[idx[i + 3]]]
    a0 = sign * a[i]
    a1 = sign * a[i + 1]
    a2 = sign * a[i + 2]
    a3 = sign * a[i + 3]
    for t in range(out.size):
        out[t] += a0 * p[t] + a1 * q[t] + a2 * r[t] + a3 * s[t]


@inner
def add_listed(at: Ints, link: Ints, B: Ints, h: Floats, j: int, a: float, out: Floats) -> None:
    """out += a row_j, term by term in the order of the log."""
    n = at[1, j]
    while n >= 0:
        start = link[n, 1]
        row = link[n, 3]
        for i in range(link[n, 2]):
            out[B[start + i]] += a * h[row + i]
        n = link[n, 0]


@inner
def add_row(store: Store, side: int, j: int, a: float, out: Floats) -> None:
    """out += a row_j."""
    place = store[2][0, j]
    if place == LISTED:
        add_listed(store[2], store[3], store[4], store[5], j, a, out)
    elif side == 0:
        add_one(store[0], place, a, out)
    else:
        add_one(store[1], place, a, out)


@inner
def add_rows(store: Store, side: int, idx: Ints, a: Floats, m: int, sign: float, out: Floats) -> None:
    """out += sign sum_{i < m} a_i row(idx_i): the product of which a certificate is made."""
    at = store[2][0]
    C = store[0] if side == 0 else store[1]
    i = 0
    while i < m:
        if i + 4 <= m and (at[idx[i]] | at[idx[i + 1]] | at[idx[i + 2]] | at[idx[i + 3]]) >= 0:
            add_four(C, at, idx, a, i, sign, out)
            i += 4
        else:
            add_row(store, side, idx[i], sign * a[i], out)
            i += 1
