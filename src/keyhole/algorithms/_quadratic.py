"""Least squares from its sums, and the l1 steps that work on them.

L(v) = 1/(2n) sum (y - <x, v>)^2 = v'Gv/2 - b'v + const,   G = X'X/n,  b = X'y/n
"""

import numpy as np

from .._internal.numba._jit import jit
from .._internal.typing import Floats


@jit
def soft(u: float, m: float) -> float:
    """sign(u) max(|u| - m, 0)."""
    if u > m:
        return u - m
    return u + m if u < -m else 0.0


@jit
def add_row(XX: Floats, Xy: Floats, x: Floats, y: float) -> None:
    """XX += x x',  Xy += y x."""
    for i in range(x.size):
        Xy[i] += y * x[i]
        for j in range(x.size):
            XX[i, j] += x[i] * x[j]


@jit
def add_residual(tally: Floats, e: float) -> float:
    """r, the root mean square of the errors with e among them; `tally` = (how many, sum of squares)."""
    tally[0] += 1.0
    tally[1] += e * e
    return float(np.sqrt(tally[1] / tally[0]))


@jit
def inner(w: Floats, x: Floats) -> float:
    """<w, x>, summed in the order of the attributes."""
    u = 0.0
    for i in range(w.size):
        u += w[i] * x[i]
    return u


@jit
def lasso(G: Floats, c: Floats, lam: float, v: Floats, tolerance: float, sweeps: int) -> None:
    """v <- argmin v'Gv/2 - c'v + lam |v|_1 by cyclic coordinate descent from v, in place.

    Stops when no entry's gradient is off its optimality condition by more than `tolerance`. An attribute with
    G_ii = 0 keeps its entry: it was never seen.
    """
    residual = c - G @ v
    for _ in range(sweeps):
        worst = 0.0
        for i in range(v.size):
            if G[i, i] <= 0.0:
                continue
            new = soft(residual[i] + G[i, i] * v[i], lam) / G[i, i]
            step = new - v[i]
            if step != 0.0:
                worst = max(worst, abs(step) * G[i, i])
                v[i] = new
                for j in range(v.size):
                    residual[j] -= step * G[i, j]
        if worst <= tolerance:
            return
