"""A round enters: H[B, B] += h, b[B] += v, and the basis matrix with its inverse follows."""

from ..._internal.numba._bare import inner, jit
from ..._internal.typing import Floats, Ints
from ._basis import Basis
from ._pivot import subtract

__all__ = ["BAD_INDEX", "BAD_VALUE", "LOPSIDED", "STALE_INVERSE", "update"]

# What `update` finds wrong with a round; and that the inverse of the basis matrix has to be computed anew.
BAD_INDEX, BAD_VALUE, LOPSIDED, STALE_INVERSE = -1, -2, -3, -4


@inner
def inspect(d: int, B: Ints, h: Floats, v: Floats) -> int:
    """0, or what is wrong: an index out of range or twice, a number that is none, an h that is not symmetric."""
    verdict = 0
    for i in range(B.size):
        if B[i] < 0 or B[i] >= d:
            return BAD_INDEX
        if not abs(v[i]) < 1e300:
            return BAD_VALUE
        for j in range(B.size):
            if B[i] == B[j] and i != j:
                return BAD_INDEX
            if not abs(h[i, j]) < 1e300:
                return BAD_VALUE
            if h[i, j] != h[j, i]:
                verdict = LOPSIDED
    return verdict


@inner
def absorb(basis: Basis, m: int, cp: int, v: Floats) -> bool:
    """Column cp of G has grown by v_0: Sherman and Morrison, unless the new G is close to singular."""
    for i in range(m):
        total = 0.0
        for j in range(m):
            total += basis.G_inv[i, j] * v[0, j]
        v[1, i] = total
        v[2, i] = basis.G_inv[cp, i]
    p: float = 1.0 + v[1, cp]
    subtract(basis.G_inv, m, v[1], v[2], p)
    return abs(p) >= 1e-4


@inner
def follow(basis: Basis, m: int, B: Ints, h: Floats, most: int, v: Floats) -> int:
    """G += the part of h that falls on it, and its inverse with it: how many columns changed, or STALE_INVERSE where
    that is more than `most` or more than a third."""
    changed = 0
    sound = True
    for b in range(B.size):
        cp = basis.pos[0, B[b]]
        touched = False
        for i in range(m):
            v[0, i] = 0.0
        for a in range(B.size):
            rp = basis.pos[1, B[a]]
            if cp >= 0 and rp >= 0:
                basis.G[rp, cp] += h[a, b]
                v[0, rp] = h[a, b]
                touched = True
        if touched:
            changed += 1
            if changed > most or 3 * changed > m + 2:
                sound = False
            if sound:
                sound = absorb(basis, m, cp, v)
    return changed if sound else STALE_INVERSE


@jit
def update(
    H: Floats,
    b: Floats,
    B: Ints,
    h: Floats,
    v: Floats,
    basis: Basis,
    m: int,
    scratch: Floats,
    most: int,
    lopsided: bool,
) -> int:
    """H[B, B] += h (unless H is empty), b[B] += v, and G with its inverse; what `follow` says.

    A round with something wrong changes nothing; one that is not symmetric is only taken where `lopsided` allows it.
    """
    fault = inspect(b.size, B, h, v)
    if fault != 0 and not (fault == LOPSIDED and lopsided):
        return fault
    for i in range(B.size):
        b[B[i]] += v[i]
        if H.size > 0:
            for j in range(B.size):
                H[B[i], B[j]] += h[i, j]
    return follow(basis, m, B, h, most, scratch)
