"""Equilibration: rows and columns of H brought to size 1, so that tolerances mean the same for all of them.

With diagonal R and C, w = C v turns DS(gamma) into

    min sum_j C_j |v_j|   s.t.   |R b - (R H C) v|_i <= R_i gamma_i,        l = R l',  |(R H C)'l'|_j <= C_j

(Ruiz 2001). The factors are powers of two: scaling rounds nothing.
"""

from typing import NamedTuple

import numpy as np

from ..._internal.typing import Floats

__all__ = ["Scaled", "equilibrate", "middle"]

_SWEEPS = 12


class Scaled(NamedTuple):
    """R H C and the diagonals R and C."""

    H: Floats
    R: Floats
    C: Floats


def equilibrate(H: Floats) -> Scaled:
    """Divide rows and columns by the roots of their largest entries, again and again; symmetric H stays symmetric.

    >>> scaled = equilibrate(np.array([[4.0, 0.0], [0.0, 1e-6]]))
    >>> scaled.H.tolist(), scaled.C.tolist()
    ([[1.0, 0.0], [0.0, 1.048576]], [0.5, 1024.0])
    """
    size = np.abs(H)
    rows, columns = np.zeros(len(H)), np.zeros(H.shape[1])  # logarithms of R and C
    for _ in range(_SWEEPS):
        now = size * np.exp2(rows)[:, None] * np.exp2(columns)
        rows -= _half_log(now.max(axis=1, initial=0.0))
        columns -= _half_log(now.max(axis=0, initial=0.0))
    R, C = np.exp2(np.round(rows)), np.exp2(np.round(columns))
    return Scaled(R[:, None] * H * C, R, C)


def middle(C: Floats) -> float:
    """The geometric mean of the smallest and the largest factor; 1 where there is none."""
    return float(np.sqrt(C.min() * C.max())) if C.size else 1.0


def _half_log(top: Floats) -> Floats:
    """log2(top) / 2; 0 for an empty row."""
    return np.where(top > 0.0, 0.5 * np.log2(np.where(top > 0.0, top, 1.0)), 0.0)
