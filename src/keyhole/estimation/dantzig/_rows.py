"""Products with H, read row by row.

A row is kept at a place of its own, or is

    ABSENT  it must first be built (the caller does, see `stores.py`),
    LISTED  it is read off the log of rounds: position n of the log belongs to one attribute of one round, and
            `link[n]` = (next position of that attribute, start of the round in B, its size, start of the row in h).

These kernels are written in few and plain statements: what numba takes to compile grows with their number.
"""

from dataclasses import dataclass

from ..._internal.numba._bare import apart, inner
from ..._internal.numba._shared import Shared
from ..._internal.typing import Floats, Ints

__all__ = ["ABSENT", "LISTED", "Store", "add_row", "add_rows"]


@dataclass(frozen=True)
class Store(Shared):
    """Where the rows of H are."""

    columns: Floats
    """Its rows are columns of H (side 0, the primal); for a symmetric H the same array as `rows`."""
    rows: Floats
    """Its rows are rows of H (side 1, the dual)."""
    place: Ints
    """(d,) the place of row j in both, or ABSENT or LISTED."""
    first: Ints
    """(d,) the first position of attribute j in the log."""
    link: Ints
    """(n, 4) the log's positions."""
    B: Ints
    """The attributes of the rounds, one round after the other."""
    h: Floats
    """Their h, row by row."""


ABSENT = -1
LISTED = -2


@inner
def add_one(C: Floats, place: int, a: float, out: Floats) -> None:
    """out += a C[place]."""
    for t in range(out.size):
        out[t] += a * C[place, t]


@inner
def add_four(C: Floats, place: Ints, idx: Ints, a: Floats, i: int, sign: float, out: Floats) -> None:
    """out += sign (a_i row_i + ... + a_i+3 row_i+3): one pass over `out` instead of four, which is half the time."""
    p = place[idx[i]]
    q = place[idx[i + 1]]
    r = place[idx[i + 2]]
    s = place[idx[i + 3]]
    a0 = sign * a[i]
    a1 = sign * a[i + 1]
    a2 = sign * a[i + 2]
    a3 = sign * a[i + 3]
    for t in range(out.size):
        out[t] += a0 * C[p, t] + a1 * C[q, t] + a2 * C[r, t] + a3 * C[s, t]


@inner
def add_listed(store: Store, j: int, a: float, out: Floats) -> None:
    """out += a row_j, term by term in the order of the log."""
    n = store.first[j]
    while n >= 0:
        start = store.link[n, 1]
        row = store.link[n, 3]
        for i in range(store.link[n, 2]):
            out[store.B[start + i]] += a * store.h[row + i]
        n = store.link[n, 0]


@inner
def add_row(store: Store, side: int, j: int, a: float, out: Floats) -> None:
    """out += a row_j."""
    place = store.place[j]
    if place == LISTED:
        add_listed(store, j, a, out)
    elif side == 0:
        add_one(store.columns, place, a, out)
    else:
        add_one(store.rows, place, a, out)


@apart
def add_rows(store: Store, side: int, idx: Ints, a: Floats, m: int, sign: float, out: Floats) -> None:
    """out += sign sum_{i < m} a_i row(idx_i): the product of which a certificate is made."""
    place = store.place
    C = store.columns if side == 0 else store.rows
    i = m - m  # not the constant 0, for which numba would compile what follows once more
    while i < m:
        if i + 4 <= m and (place[idx[i]] | place[idx[i + 1]] | place[idx[i + 2]] | place[idx[i + 3]]) >= 0:
            add_four(C, place, idx, a, i, sign, out)
            i += 4
        else:
            add_row(store, side, idx[i], sign * a[i], out)
            i += 1
