"""The compatibility constant of a support."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..errors import ConfigError
from .cone import compatibility_floor

__all__ = ["Compatibility", "compatibility"]

# Up to this many members of S all 2^(|S|-1) signs are tried, which takes seconds.
_LARGEST = 12
# Close enough to the lower bound to look no further, as a factor of delta_S^2.
_CLOSE = 1.02
# A program is solved when its value is known to this fraction of itself, or is this fraction of the largest (G)_ii.
_ACCURACY, _ZERO = 1e-10, 1e-15


class Compatibility(NamedTuple):
    """The constant, or bounds on it, and a vector that attains the upper one."""

    delta_s: float
    """The constant where `exact`; else no less than it: what `minimiser` attains."""
    minimiser: Floats
    """(d,), with |w_S|_1 = 1 and |w_{S^c}|_1 <= alpha."""
    lower: float
    """The constant is no less than this; equal to `delta_s` where `exact`."""
    exact: bool


def compatibility(X: Floats, S: "Sequence[int] | Ints", alpha: float = 1.0) -> Compatibility:
    """delta_S^2 = min |S| |X w|^2 / (T |w_S|_1^2) over w != 0 with |w_{S^c}|_1 <= alpha |w_S|_1.

    Scaled to |w_S|_1 = 1 and for fixed signs on S this asks for the point of least w'Gw, G = X'X/T, in the convex hull
    of the vectors e_i sign_i (i in S), each plus nothing or +-alpha e_j (j not in S): Wolfe's algorithm finds it in
    finitely many steps. The signs and their opposites give the same, so there are 2^(|S|-1) such problems; one is
    given up as soon as its value is proved to be larger than the smallest so far. Beyond 12 members of S the smallest
    is sought by descents that turn one sign at a time, and `lower` is what `keyhole.theory.cone` certifies.

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
    """From the signs of `liked` and of the least eigenvector of G_SS: turn a sign while that helps and is needed."""
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
    """Convex combinations of corners v, and the one with the least v'Gv."""

    def __init__(self, G: Floats, S: Ints, signs: Floats, alpha: float) -> None:
        self.G, self.S, self.signs, self.alpha = G, S, signs, alpha
        self.rest = np.setdiff1d(np.arange(len(G)), S) if alpha > 0 else np.empty(0, dtype=np.int64)
        self.zero = _ZERO * float(np.diag(G).max(initial=0.0))

    def nearest(self, enough: float) -> tuple[float, Floats]:
        """(w'Gw, w) of the nearest point, or (inf, some point) where w'Gw >= `enough` is proved.

        Every corner v has v'Gw >= m, m the least of them, so that the nearest point's value is at least m^2 / w'Gw.
        """
        V = self._corner(np.zeros(len(self.G)))[None]
        share, last = np.ones(1), np.inf
        while True:
            w = share @ V
            g = self.G @ w
            value, v = float(w @ g), self._corner(g)
            m = float(v @ g)
            # Each step brings the value down; where rounding keeps it from doing so, there is no more to gain.
            if value <= self.zero or value - m <= _ACCURACY * value or value >= last:
                return max(value, 0.0), w
            if m > 0 and m**2 >= enough * value:
                return np.inf, w
            V, share = self._descend(np.vstack([V, v]), np.append(share, 0.0))
            last = value

    def _corner(self, g: Floats) -> Floats:
        """The corner with the least v'g."""
        v = np.zeros(len(self.G))
        i = int(np.argmin(self.signs * g[self.S]))
        v[self.S[i]] = self.signs[i]
        if self.rest.size and np.any(g[self.rest]):
            j = self.rest[int(np.argmax(np.abs(g[self.rest])))]
            v[j] = -self.alpha * np.sign(g[j])
        return v

    def _descend(self, V: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Go to the nearest point of the plane through the corners V; where that leaves their hull, drop a corner."""
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
    """min a'Qa subject to sum(a) = 1: Q a + mu = 0, scaled so that both rows have one size.

    Not by the trace: where columns determine each other it is rounding alone, and may be negative.
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
