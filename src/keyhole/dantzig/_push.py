"""A round enters: H[B, B] += h, b[B] += v, and the basis matrix with its inverse follows."""

from .._jit import inner, jit, once
from .._types import Floats, Ints
from ._moves import subtract
from ._settle import times

__all__ = ["BAD_INDEX", "BAD_VALUE", "LOPSIDED", "STALE_INVERSE", "push"]

# What `push` finds wrong with a round; and that the inverse of the basis matrix has to be computed anew.
BAD_INDEX, BAD_VALUE, LOPSIDED, STALE_INVERSE = -1, -2, -3, -4


@once
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
def absorb(GG: Floats, m: int, cp: int, v: Floats) -> bool:
    """Column cp of G has grown by v_0: Sherman and Morrison, unless the new G is close to singular."""
    times(0, GG[1], m, v[0], v[1])
    for i in range(m):
        v[2, i] = GG[1, cp, i]
    p: float = 1.0 + v[1, cp]
    subtract(GG[1], m, v[1], v[2], p)
    return abs(p) >= 1e-4


@once
def follow(pos: Ints, GG: Floats, m: int, B: Ints, h: Floats, most: int, v: Floats) -> int:
    """G += the part of h that falls on it, and its inverse with it: how many columns changed, or STALE_INVERSE where
    that is more than `most` or more than a third."""
    changed = 0
    sound = True
    for b in range(B.size):
        cp = pos[0, B[b]]
        touched = False
        for i in range(m):
            v[0, i] = 0.0
        for a in range(B.size):
            rp = pos[1, B[a]]
            if cp >= 0 and rp >= 0:
                GG[0, rp, cp] += h[a, b]
                v[0, rp] = h[a, b]
                touched = True
        if touched:
            changed += 1
            if changed > most or 3 * changed > m + 2:
                sound = False
            if sound:
                sound = absorb(GG, m, cp, v)
    return changed if sound else STALE_INVERSE


@jit
def push(
    H: Floats,
    b: Floats,
    B: Ints,
    h: Floats,
    v: Floats,
    pos: Ints,
    GG: Floats,
    work: Floats,
    m: int,
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
    return follow(pos, GG, m, B, h, most, work)
