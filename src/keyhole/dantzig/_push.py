"""A round enters: H[B, B] += h, b[B] += v, and the basis matrix with its inverse follows."""

from .._jit import inner, jit
from .._types import Floats, Ints
from ._moves import subtract
from ._settle import Basis, Work

__all__ = ["BAD_INDEX", "BAD_VALUE", "LOPSIDED", "follow", "inspect", "push"]

# What `inspect` finds wrong with a round.
BAD_INDEX, BAD_VALUE, LOPSIDED = 1, 2, 3


@jit
def inspect(d: int, B: Ints, h: Floats, v: Floats) -> int:
    """0, or what is wrong: an index out of range or twice, a number that is none, an h that is not symmetric."""
    lopsided = False
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
            lopsided = lopsided or h[i, j] != h[j, i]
    return LOPSIDED if lopsided else 0


@inner
def absorb(GG: Floats, m: int, cp: int, v: Floats) -> bool:
    """Column cp of G has grown by v_0: Sherman and Morrison, unless the new G is close to singular."""
    for i in range(m):
        v[1, i] = 0.0
        for j in range(m):
            v[1, i] += GG[1, i, j] * v[0, j]
        v[2, i] = GG[1, cp, i]
    p: float = 1.0 + v[1, cp]
    subtract(GG[1], m, v[1], v[2], p)
    return abs(p) >= 1e-4


@jit
def follow(basis: Basis, work: Work, m: int, B: Ints, h: Floats, most: int) -> int:
    """G += the part of h that falls on it, and its inverse with it; how many columns changed, or -1.

    Where more than `most` columns change, or more than a third, the inverse is left to be computed anew: -1.
    """
    pos = basis[2]
    GG = basis[3]
    v = work[3]
    changed = 0
    sound = True
    for b in range(B.size):
        cp = pos[0, B[b]]
        touched = False
        if cp >= 0:
            for i in range(m):
                v[0, i] = 0.0
            for a in range(B.size):
                rp = pos[1, B[a]]
                if rp >= 0:
                    GG[0, rp, cp] += h[a, b]
                    v[0, rp] = h[a, b]
                    touched = True
        if touched:
            changed += 1
            sound = sound and changed <= most and 3 * changed <= m + 2
            sound = sound and absorb(GG, m, cp, v)
    return changed if sound else -1


@jit
def push(H: Floats, b: Floats, B: Ints, h: Floats, v: Floats) -> None:
    """H[B, B] += h and b[B] += v."""
    for i in range(B.size):
        b[B[i]] += v[i]
        for j in range(B.size):
            H[B[i], B[j]] += h[i, j]
