"""The inverse of a small basis matrix, in place: LAPACK's overhead is larger than the work up to some forty columns."""

from ..._internal.numba._jit import apart
from ..._internal.typing import Floats

__all__ = ["SMALL", "invert"]

# Up to this size an inverse is computed here; a larger one is left to the caller, and to LAPACK.
SMALL = 48


@apart
def invert(G: Floats, G_inv: Floats, m: int, swaps: Floats) -> bool:
    """G_inv = G^-1 by Gauss and Jordan with row pivoting; False where G is singular (then G_inv is none).

    Row c takes the place of the row with the largest entry of column c, which is noted in `swaps`; that is a change of
    columns of the inverse, made good at the end.
    """
    for i in range(m):
        for j in range(m):
            G_inv[i, j] = G[i, j]
    for c in range(m):
        p = c
        for i in range(c + 1, m):
            if abs(G_inv[i, c]) > abs(G_inv[p, c]):
                p = i
        swaps[c] = p
        corner = G_inv[p, c]
        if corner == 0.0:
            return False
        for j in range(m):
            held = G_inv[c, j]
            G_inv[c, j] = G_inv[p, j] / corner
            if p != c:
                G_inv[p, j] = held
        G_inv[c, c] = 1.0 / corner
        for i in range(m):
            if i != c:
                factor = G_inv[i, c]
                G_inv[i, c] = 0.0
                for j in range(m):
                    G_inv[i, j] -= factor * G_inv[c, j]
    for c in range(m - 1, -1, -1):
        p = int(swaps[c])
        if p != c:
            for i in range(m):
                held = G_inv[i, c]
                G_inv[i, c] = G_inv[i, p]
                G_inv[i, p] = held
    return True
