"""Lower bounds for w'Gw on the cone |w_C|_1 <= alpha |w_S|_1, C the rest of the columns, that hold for certain.

For every tau >= 0, as |w_C|_2 <= |w_C|_1 <= alpha |w_S|_1,

    w'Gw >= w'(G + tau I_C) w - tau alpha^2 |w_S|_1^2 >= w_S' M w_S - tau alpha^2 |w_S|_1^2,
    M = G_SS - G_SC (G_CC + tau I)^-1 G_CS,

and for every diagonal D > 0 with least eigenvalue m of D^-1/2 M D^-1/2

    w_S' M w_S >= m sum_i D_i w_i^2 >= m |w_S|_1^2 / sum_i 1/D_i.
"""

from collections.abc import Iterator

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["compatibility_floor", "eigenvalue_floor"]

_TAUS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
_STEPS = 60


def compatibility_floor(G: Floats, S: Ints, alpha: float) -> tuple[float, Floats]:
    """A lower bound on delta_S^2 = min |S| w'Gw / |w_S|_1^2 over the cone, never below 0; and the w_S it would like."""
    best, w = 0.0, np.ones(S.size)
    for tau, M in _complements(G, S, alpha):
        bound, direction = _diagonal(M)
        if S.size * (bound - tau * alpha**2) > best:
            best, w = S.size * (bound - tau * alpha**2), direction
    return best, w


def eigenvalue_floor(G: Floats, S: Ints, alpha: float) -> float:
    """A lower bound on min w'Gw / |w_S|_2^2 over the cone, as |w_S|_1^2 <= |S| |w_S|_2^2; never below 0."""
    least = (float(np.linalg.eigvalsh(M)[0]) - tau * alpha**2 * S.size for tau, M in _complements(G, S, alpha))
    return max([0.0, *least])


def _complements(G: Floats, S: Ints, alpha: float) -> Iterator[tuple[float, Floats]]:
    """(tau, M) for a few tau, in units of the mean of G's diagonal; where alpha = 0 only S itself matters."""
    C = np.setdiff1d(np.arange(len(G)), S) if alpha > 0 else np.empty(0, dtype=np.int64)
    SS, SC, CC = G[np.ix_(S, S)], G[np.ix_(S, C)], G[np.ix_(C, C)]
    if C.size == 0:
        yield 0.0, SS
        return
    values, vectors = np.linalg.eigh(CC)
    seen, size = SC @ vectors, float(np.diag(G).mean())
    for tau in _TAUS:
        spread = values + tau * size
        if spread[0] > 1e-12 * max(size, values[-1]):
            yield tau * size, SS - (seen / spread) @ seen.T


def _diagonal(M: Floats) -> tuple[float, Floats]:
    """max over D, by gradient steps in ln D, of m / sum_i 1/D_i: whatever D it ends at, the bound holds. And the w_S of
    the eigenvalue m."""
    log_D, best, w = np.log(np.maximum(np.diag(M), 1e-300)), -np.inf, np.ones(len(M))
    for step in range(_STEPS):
        root = np.exp(-0.5 * log_D)
        values, vectors = np.linalg.eigh(M * np.outer(root, root))
        share = np.exp(-(log_D - log_D.min()))
        bound = float(values[0]) / float(np.exp(-log_D).sum())
        if bound > best:
            best, w = bound, root * vectors[:, 0]
        log_D = log_D + (share / share.sum() - vectors[:, 0] ** 2) / (1.0 + 0.2 * step)
    return best, w
