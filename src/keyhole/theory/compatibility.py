"""The compatibility constant of a support, and certified lower bounds over its cone.

The bounds are on w'Gw over the cone |w_C|_1 <= alpha |w_S|_1, where C is the complement of S.

For every tau >= 0, since |w_C|_2 <= |w_C|_1 <= alpha |w_S|_1,

    w'Gw >= w'(G + tau I_C) w - tau alpha^2 |w_S|_1^2 >= w_S' M w_S - tau alpha^2 |w_S|_1^2,
    M = G_SS - G_SC (G_CC + tau I)^-1 G_CS,

and for every diagonal D > 0, with m the smallest eigenvalue of D^-1/2 M D^-1/2,

    w_S' M w_S >= m sum_i D_i w_i^2 >= m |w_S|_1^2 / sum_i 1/D_i.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..errors import ConfigError

__all__ = ["Compatibility", "compatibility", "compatibility_floor", "eigenvalue_floor"]

# Up to this size of S, all 2^(|S|-1) sign patterns are enumerated, which takes seconds.
_LARGEST = 12
# The search stops within this factor of the lower bound on delta_S^2.
_CLOSE = 1.02
# Relative accuracy of a program's value, and the fraction of the largest G_ii below which the value counts as zero.
_ACCURACY, _ZERO = 1e-10, 1e-15
# Values of tau tried for the lower bound, in units of the mean of G's diagonal, and the number of gradient steps.
_TAUS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
_STEPS = 60


class Compatibility(NamedTuple):
    """The compatibility constant, or bounds on it, and a vector that attains the upper bound."""

    delta_s: float
    """The constant if `exact`, otherwise an upper bound; `minimiser` attains it."""
    minimiser: Floats
    """(d,) the minimiser, with |w_S|_1 = 1 and |w_{S^c}|_1 <= alpha."""
    lower: float
    """A lower bound on the constant; equal to `delta_s` if `exact`."""
    exact: bool


def compatibility(X: Floats, S: "Sequence[int] | Ints", alpha: float = 1.0) -> Compatibility:
    """Return delta_S^2 = min |S| |X w|^2 / (T |w_S|_1^2) over w != 0 with |w_{S^c}|_1 <= alpha |w_S|_1.

    Scaled to |w_S|_1 = 1 and for fixed signs on S, this is the point of least w'Gw, G = X'X/T, in the convex hull of
    the vectors e_i sign_i (i in S), each alone or plus +-alpha e_j (j not in S); Wolfe's algorithm finds it in finitely
    many steps. Opposite sign patterns are equivalent, so there are 2^(|S|-1) such problems; each is abandoned as soon
    as its value is proved to exceed the smallest so far. For more than 12 members of S, the minimum is sought by local
    search that flips one sign at a time, and `lower` is the bound certified by `compatibility_floor`.

    >>> r = compatibility(np.eye(4) * 2, [0, 1])       # G = I: |S| |w_S|_2^2 / |w_S|_1^2 >= 1
    >>> round(r.delta_s, 9), r.minimiser.round(9).tolist()
    (1.0, [0.5, 0.5, 0.0, 0.0])

    References: van de Geer and Buehlmann 2009; Wolfe 1976 (the nearest point in a polytope).
    """
    G, S = _checked(X, S, alpha)
    if S.size <= _LARGEST:
        value, w = _all_signs(G, S, alpha)
        delta_s = float(np.sqrt(S.size * value))
        return Compatibility(delta_s, w, delta_s, exact=True)
    floor, liked = compatibility_floor(G, S, alpha)
    value, w = _descend_signs(G, S, alpha, liked, _CLOSE * floor / S.size)
    delta_s = float(np.sqrt(S.size * value))
    return Compatibility(delta_s, w, min(delta_s, float(np.sqrt(floor))), exact=False)


def _all_signs(G: Floats, S: Ints, alpha: float) -> tuple[float, Floats]:
    best, minimiser = np.inf, np.zeros(len(G))
    for signs in product((1.0, -1.0), repeat=S.size - 1):
        value, w = _Hull(G, S, np.array((1.0, *signs)), alpha).nearest(best)
        if value < best:
            best, minimiser = value, w
    return best, minimiser


def _descend_signs(G: Floats, S: Ints, alpha: float, liked: Floats, enough: float) -> tuple[float, Floats]:
    """Search for the signs on S with the smallest minimum, flipping one sign at a time, until it is at most `enough`.

    The search starts from the signs of `liked` and from those of the eigenvector of G_SS with the smallest eigenvalue.
    """
    best, minimiser = np.inf, np.zeros(len(G))
    for start in (liked, np.linalg.eigh(G[np.ix_(S, S)])[1][:, 0]):
        signs = np.where(start >= 0, 1.0, -1.0)
        value, w = _Hull(G, S, signs, alpha).nearest(np.inf)
        turn, idle = 0, 0
        while idle < S.size and value > enough:
            signs[turn] = -signs[turn]
            other, v = _Hull(G, S, signs, alpha).nearest(value)
            if other < value * (1 - 1e-9):
                value, w, idle = other, v, 0
            else:
                signs[turn], idle = -signs[turn], idle + 1
            turn = (turn + 1) % S.size
        if value < best:
            best, minimiser = value, w
        if best <= enough:
            break
    return best, minimiser


class _Hull:
    """The convex hull of the corners v, over which v'Gv is minimised."""

    def __init__(self, G: Floats, S: Ints, signs: Floats, alpha: float) -> None:
        self.G, self.S, self.signs, self.alpha = G, S, signs, alpha
        self.rest = np.setdiff1d(np.arange(len(G)), S) if alpha > 0 else np.empty(0, dtype=np.int64)
        self.zero = _ZERO * float(np.diag(G).max(initial=0.0))

    def nearest(self, enough: float) -> tuple[float, Floats]:
        """Return (w'Gw, w) for the point w of the hull with the smallest w'Gw, or (inf, some point) once w'Gw >=
        `enough` is proved.

        With m the minimum of v'Gw over the corners v, the minimum is at least m^2 / w'Gw.
        """
        V = self._corner(np.zeros(len(self.G)))[None]
        share, last = np.ones(1), np.inf
        while True:
            w = share @ V
            g = self.G @ w
            value, v = float(w @ g), self._corner(g)
            m = float(v @ g)
            # Each step decreases the value; if rounding prevents this, no further improvement is possible.
            if value <= self.zero or value - m <= _ACCURACY * value or value >= last:
                return max(value, 0.0), w
            if m > 0 and m**2 >= enough * value:
                return np.inf, w
            V, share = self._descend(np.vstack([V, v]), np.append(share, 0.0))
            last = value

    def _corner(self, g: Floats) -> Floats:
        """Return the corner with the smallest v'g."""
        v = np.zeros(len(self.G))
        i = int(np.argmin(self.signs * g[self.S]))
        v[self.S[i]] = self.signs[i]
        if self.rest.size and np.any(g[self.rest]):
            j = self.rest[int(np.argmax(np.abs(g[self.rest])))]
            v[j] = -self.alpha * np.sign(g[j])
        return v

    def _descend(self, V: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Move to the nearest point of the affine hull of the corners V; if it is outside their hull, drop a corner."""
        while True:
            goal = _nearest_in_plane(V @ self.G @ V.T)
            if (goal > 0).all():
                return V, goal
            out = goal <= 0
            step = float(np.min(share[out] / np.maximum(share[out] - goal[out], np.finfo(float).tiny)))
            share = share + min(1.0, step) * (goal - share)
            kept = share > 1e-15
            kept[np.flatnonzero(out)[np.argmin(share[out])]] = False
            V, share = V[kept], share[kept] / share[kept].sum()


def _nearest_in_plane(Q: Floats) -> Floats:
    """Minimize a'Qa subject to sum(a) = 1: Q a + mu = 0, scaled so that both rows have equal size.

    The trace is no suitable scale: for linearly dependent columns it is pure rounding error and may be negative.
    """
    n, scale = len(Q), max(float(np.abs(Q).max()), np.finfo(float).tiny)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = Q / scale
    system[n, n] = 0.0
    a: Floats = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=1e-14)[0][:n]
    return a


def _checked(X: Floats, S: "Sequence[int] | Ints", alpha: float) -> tuple[Floats, Ints]:
    X, S = np.asarray(X, dtype=np.float64), np.asarray(S, dtype=np.int64)
    if X.ndim != 2 or not X.size or not np.isfinite(X).all():
        raise ConfigError(f"X must be a (T, d) array of finite numbers, not one of shape {X.shape}")
    if S.ndim != 1 or S.size != np.unique(S).size or S.size == 0 or not ((S >= 0) & (X.shape[1] > S)).all():
        raise ConfigError(f"S must list different attributes from 0 to {X.shape[1] - 1}, at least one")
    if not 0 <= alpha < np.inf:
        raise ConfigError(f"alpha must be a finite number >= 0, not {alpha}")
    return X.T @ X / len(X), S


def compatibility_floor(G: Floats, S: Ints, alpha: float) -> tuple[float, Floats]:
    """Return a lower bound >= 0 on delta_S^2 = min |S| w'Gw / |w_S|_1^2 over the cone, and the w_S it suggests."""
    best, w = 0.0, np.ones(S.size)
    for tau, M in _complements(G, S, alpha):
        bound, direction = _diagonal(M)
        if S.size * (bound - tau * alpha**2) > best:
            best, w = S.size * (bound - tau * alpha**2), direction
    return best, w


def eigenvalue_floor(G: Floats, S: Ints, alpha: float) -> float:
    """Return a lower bound >= 0 on min w'Gw / |w_S|_2^2 over the cone, using |w_S|_1^2 <= |S| |w_S|_2^2."""
    least = (float(np.linalg.eigvalsh(M)[0]) - tau * alpha**2 * S.size for tau, M in _complements(G, S, alpha))
    return max([0.0, *least])


def _complements(G: Floats, S: Ints, alpha: float) -> Iterator[tuple[float, Floats]]:
    """Yield (tau, M) for several tau, in units of the mean of G's diagonal; if alpha = 0 only S itself matters."""
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
    """Maximise m / sum_i 1/D_i over D by gradient steps in ln D; return the maximum and the eigenvector of m.

    The bound holds for whatever D the steps end at.
    """
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
