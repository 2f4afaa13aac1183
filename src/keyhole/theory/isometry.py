"""How far small sets of columns are from orthonormal: coherence, and bounds on restricted isometry constants.

Columns are scaled to mean square one. delta_s is the smallest delta with

    (1-delta) |w|^2 <= |Xw|^2/T <= (1+delta) |w|^2    for all w with at most s non-zeros;

to compute it is NP-hard, so it is bounded from both sides.
"""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["Isometry", "coherence", "isometry", "unit_diagonal"]


class Isometry(NamedTuple):
    """delta_s lies between `low` (attained by `support`) and `high` (certified)."""

    order: int
    low: float
    high: float
    support: Ints


def unit_diagonal(G: Floats) -> Floats:
    """G with every column scaled to mean square one; columns of zeros stay."""
    size = np.sqrt(np.diag(G))
    scale = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
    scaled: Floats = G * np.outer(scale, scale)
    return scaled


def coherence(G: Floats) -> float:
    """The largest |G_ij| / sqrt(G_ii G_jj), i != j; 0 for a single column."""
    near = np.abs(unit_diagonal(G))
    np.fill_diagonal(near, 0.0)
    return float(near.max(initial=0.0))


def isometry(G: Floats, order: int) -> Isometry:
    """Bounds on delta_s, s = `order`.

    From above: the s - 1 largest |G_ij| of any row add up to no less (Gershgorin), nor do the outermost eigenvalues of
    all of G. From below: the worst of the sets that grow from each column by the most of either extreme.
    """
    N = unit_diagonal(G)
    order = min(order, len(N))
    near = np.abs(N)
    np.fill_diagonal(near, 0.0)
    gershgorin = float(np.sort(near, axis=1)[:, ::-1][:, : order - 1].sum(axis=1).max(initial=0.0))
    values = np.linalg.eigvalsh(N)
    high = min(gershgorin, max(1.0 - float(values[0]), float(values[-1]) - 1.0))
    low, support = 0.0, np.arange(min(order, len(N)))
    for start in range(len(N)):
        for sign in (1.0, -1.0):
            S = _grow(N, start, order, sign)
            ends = np.linalg.eigvalsh(N[np.ix_(S, S)])
            found = max(1.0 - float(ends[0]), float(ends[-1]) - 1.0)
            if found > low:
                low, support = found, np.sort(S)
    return Isometry(order, low, max(high, low), support)


def _grow(N: Floats, start: int, order: int, sign: float) -> Ints:
    """Columns added one by one, each where the extreme eigenvector of those so far pulls most."""
    S = [start]
    while len(S) < order:
        vectors = np.linalg.eigh(N[np.ix_(S, S)])[1]
        extreme = vectors[:, -1] if sign > 0 else vectors[:, 0]
        pull = np.abs(N[:, S] @ extreme)
        pull[S] = -np.inf
        S.append(int(np.argmax(pull)))
    return np.array(S)
