"""The exploiters: online Newton step on a fixed support (the paper's), and online gradient descent (its footnote).

    u = <w, x>;   w <- w - tau(u) / (x' A^-1 x) A^-1 x,   tau(u) = sign(u) max(|u| - 1, 0)       onto |<w, x>| <= 1
    y_hat = <w, x>,   g = 2 (y_hat - y) x
    A <- A + rho g g',   w <- w - A^-1 g

One product v = A^-1 x serves the projection, the rank-one update of A^-1 and the step: O(k^2) a round. The projection
uses the x of the round, after it is observed and before the prediction.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .._internal.numba._bare import inner, jit
from .._internal.typing import Floats, Ints
from ..core.state import Inverse, Numbers, Rule, Stateful

__all__ = ["Gradient", "Newton"]

# Of k products, relative to the largest of them.
_ROUNDING = 1e-13


@inner
def clipped(u: float) -> float:
    """u, or the end of [-1, 1] that is nearer."""
    return 1.0 if u > 1.0 else -1.0 if u < -1.0 else u


@jit
def spread(A_inv: Floats, v: Floats, x: Floats) -> float:
    """x' A^-1 x for v = A^-1 x; 0, and v = 0 too, where it is lost in the rounding of v: x shows nothing new then.

    A^-1 is what is left of a subtraction. Along an x of size 1e9 that was seen before, what is left is below the
    rounding errors, and may even be negative: dividing by it would destroy everything learnt.
    """
    total = 0.0
    size = 0.0
    for i in range(x.size):
        total += v[i] * x[i]
        size += A_inv[i, i] * x[i] * x[i]
    if total > _ROUNDING * size:
        return total
    for i in range(x.size):
        v[i] = 0.0
    return 0.0


@inner
def _newton_round(w: Floats, A_inv: Floats, tally: Floats, v: Floats, x: Floats, y: float, rho: float) -> float:
    """One round in place; returns the prediction. rho <= 0: self-tuned, 1/(2 r2) from `tally` = (sum of e^2, count).

    A NaN label closes a round in which nothing is learnt: not even the projection stays.
    """
    k = w.size
    for i in range(k):
        v[i] = 0.0
    for j in range(k):  # v = A^-1 x by rows of the symmetric A^-1: this order vectorises
        for i in range(k):
            v[i] += A_inv[j, i] * x[j]
    u = 0.0
    xx = 0.0
    for i in range(k):
        u += w[i] * x[i]
        xx += x[i] * x[i]
    xv = spread(A_inv, v, x)
    if np.isnan(y):
        return clipped(u)
    # Deviation: two-sided, skipped where |u| <= 1 (so x = 0 divides nothing), on the current x (E7 to E10).
    if abs(u) > 1.0:
        excess = u - 1.0 if u > 0.0 else u + 1.0
        for i in range(k):
            w[i] -= excess / xv * v[i] if xv > 0.0 else excess / xx * x[i]
        u = 1.0 if u > 0.0 else -1.0
    residual = u - y
    tally[0] += residual * residual
    tally[1] += 1.0
    if residual == 0.0:
        return u
    if rho <= 0.0:
        rho = tally[1] / (2.0 * tally[0])
    c = 2.0 * residual
    shrink = rho * c * c / (1.0 + rho * c * c * xv)
    step = c / (1.0 + rho * c * c * xv)
    for i in range(k):
        w[i] -= step * v[i]
        for j in range(k):
            A_inv[i, j] -= shrink * (v[i] * v[j])  # the same product at (i, j) and (j, i): stays symmetric
    return u


@jit
def _newton_epoch(
    w: Floats, A_inv: Floats, tally: Floats, X: Floats, y: Floats, rho: float, v: Floats, y_hat: Floats
) -> None:
    """The rounds of an epoch, one after another, their predictions into y_hat."""
    for t in range(y.size):
        y_hat[t] = _newton_round(w, A_inv, tally, v, X[t], y[t], rho)


@jit
def _gradient_epoch(w: Floats, tally: Floats, X: Floats, y: Floats, y_hat: Floats) -> None:
    """w <- w - g / sqrt(1 + sum |g|^2) after the Euclidean projection on |<w, x>| <= 1: O(k) a round.

    A NaN label is predicted and leaves w as it was.
    """
    k = w.size
    for t in range(y.size):
        u = 0.0
        xx = 0.0
        for i in range(k):
            u += w[i] * X[t, i]
            xx += X[t, i] * X[t, i]
        y_hat[t] = clipped(u)
        if not np.isnan(y[t]):
            c = 2.0 * (y_hat[t] - y[t])
            tally[0] += c * c * xx
            off = (u - y_hat[t]) / xx if abs(u) > 1.0 else 0.0
            for i in range(k):
                w[i] -= off * X[t, i] + c / np.sqrt(1.0 + tally[0]) * X[t, i]


class Newton(Stateful):
    """Online Newton step (Hazan, Agarwal and Kale 2007) with the projection of Luo et al. 2016. O(k^2) a round.

    A starts at eps I. `rho` is the paper's 1/(2 (1 + Y)^2), or None: then rho = 1/(2 r2) with r2 the running mean of
    the squared residuals, which makes the steps as small as the noise that is really there.
    """

    _fields: ClassVar[tuple[str, ...]] = ("w", "A_inv", "tally")
    _rules: ClassVar[Mapping[str, Rule]] = {"A_inv": Inverse("eps"), "tally": Numbers(least=0.0)}

    def __init__(self, k: int, eps: float, rho: float | None) -> None:
        self.eps = eps
        self.rho = -1.0 if rho is None else rho
        self.w: Floats = np.zeros(k)
        self.A_inv: Floats = np.eye(k) / eps
        self.tally: Floats = np.zeros(2)

    def restart(self, w: Floats) -> None:
        """Begin again at w with A = eps I (the paper's rule where the support changes)."""
        self.w = w.copy()
        self.A_inv = np.eye(w.size) / self.eps

    def carry(self, w: Floats, stays: Ints, came_from: Ints) -> None:
        """Begin at w, but keep weight and uncertainty of the places that stay: new place stays[i] was came_from[i].

        What is known of them once the others are dropped is the block of A^-1, not of A.
        """
        A_inv = np.eye(w.size) / self.eps
        A_inv[np.ix_(stays, stays)] = self.A_inv[np.ix_(came_from, came_from)]
        kept = w.copy()
        kept[stays] = self.w[came_from]
        self.w, self.A_inv = kept, A_inv

    def learn(self, x: Floats, y: float) -> None:
        """One round; x without NaN."""
        self.run(x[None, :], np.array([y]))

    def run(self, X: Floats, y: Floats) -> Floats:
        """The predictions of a whole epoch, learning after each."""
        y_hat = np.empty(y.size)
        _newton_epoch(self.w, self.A_inv, self.tally, X, y, self.rho, np.empty(self.w.size), y_hat)
        return y_hat


class Gradient(Stateful):
    """Online gradient descent (Zinkevich 2003), step 1/sqrt(1 + sum of squared gradients). O(k) a round."""

    _fields: ClassVar[tuple[str, ...]] = ("w", "tally")
    _rules: ClassVar[Mapping[str, Rule]] = {"tally": Numbers(least=0.0)}

    def __init__(self, k: int) -> None:
        self.w: Floats = np.zeros(k)
        self.tally: Floats = np.zeros(1)

    def restart(self, w: Floats) -> None:
        """Begin again at w with the first, large steps."""
        self.w, self.tally = w.copy(), np.zeros(1)

    def carry(self, w: Floats, stays: Ints, came_from: Ints) -> None:
        """Begin at w, but keep the weights of the places that stay, and the step size."""
        kept = w.copy()
        kept[stays] = self.w[came_from]
        self.w = kept

    def learn(self, x: Floats, y: float) -> None:
        """One round; x without NaN."""
        self.run(x[None, :], np.array([y]))

    def run(self, X: Floats, y: Floats) -> Floats:
        """The predictions of a whole epoch, learning after each."""
        y_hat = np.empty(y.size)
        _gradient_epoch(self.w, self.tally, X, y, y_hat)
        return y_hat
