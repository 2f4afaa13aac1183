"""The exploiters, which learn weights w on a fixed support of k attributes: online Newton steps (as in the paper), and
online gradient descent (its footnote).

    u = <w, x>;   w <- w - tau(u) / (x' A^-1 x) A^-1 x,   tau(u) = sign(u) max(|u| - 1, 0)       onto |<w, x>| <= 1
    y_hat = <w, x>,   g = 2 (y_hat - y) x
    A <- A + rho g g',   w <- w - A^-1 g

One product v = A^-1 x serves the projection, the rank-one update of A^-1 and the step: O(k^2) per round. The projection
uses the x of the round, after it is observed and before the prediction.
"""

from typing import ClassVar

import numpy as np

from .._core import dot_observed, dot_on_support, gradient_epoch, newton_epoch
from .._internal.typing import Floats, Ints
from ..core.state import InverseGramCheck, NumberCheck, Stateful, StateSchema

__all__ = ["Gradient", "Newton", "dot_observed", "dot_on_support", "newton_step", "zero_filled"]


def zero_filled(x: Floats) -> Floats:
    """Return x with NaN replaced by 0."""
    return np.where(np.isnan(x), 0.0, x)


def newton_step(w: Floats, A_inv: Floats, x: Floats, y: float, rho: float) -> tuple[float, Floats, Floats]:
    """Return the prediction and the new w and A^-1 of one round as in the paper; `Newton` does this in the core.

    >>> y_hat, w, _ = newton_step(np.zeros(2), np.eye(2), np.array([1.0, 0.0]), 0.5, rho=0.5)
    >>> y_hat, w.round(4).tolist()
    (0.0, [0.6667, 0.0])
    """
    v = A_inv @ x
    # Deviation: two-sided, on the current x, and skipped if |u| <= 1, so x = 0 causes no division by zero (E7 to E10).
    u = float(w @ x)
    if abs(u) > 1.0:
        w = w - np.sign(u) * (abs(u) - 1.0) / (x @ v) * v
    y_hat = float(np.clip(u, -1.0, 1.0))
    g = 2.0 * (y_hat - y) * x
    A_inv_g = A_inv @ g
    A_inv = A_inv - rho * np.outer(A_inv_g, A_inv_g) / (1.0 + rho * g @ A_inv_g)  # Sherman-Morrison formula
    return y_hat, w - A_inv @ g, A_inv


class Newton(Stateful):
    """Online Newton step (Hazan, Agarwal and Kale 2007) with the projection of Luo et al. 2016; O(k^2) per round.

    A starts at eps I. `rho` is the paper's 1/(2 (1 + Y)^2), or None for rho = 1/(2 r2) with r2 the running mean of the
    squared residuals, which adapts the step size to the actual noise.
    """

    _state: ClassVar[StateSchema] = {
        "w": NumberCheck(),
        "A_inv": InverseGramCheck("eps"),
        "tally": NumberCheck(least=0.0),
    }

    def __init__(self, k: int, eps: float, rho: float | None) -> None:
        self.eps = eps
        self.rho = -1.0 if rho is None else rho
        self.w: Floats = np.zeros(k)
        self.A_inv: Floats = np.eye(k) / eps
        self.tally: Floats = np.zeros(2)

    def restart(self, w: Floats) -> None:
        """Restart at w with A = eps I (the paper's rule when the support changes)."""
        self.w = w.copy()
        self.A_inv = np.eye(w.size) / self.eps

    def carry(self, w: Floats, stays: Ints, came_from: Ints) -> None:
        """Restart at w, but keep the weights and the uncertainty of the attributes that stay: `stays[i]` is the new
        position of the attribute that was at `came_from[i]`.

        After the others are dropped, the information about those that stay is the block of A^-1, not of A.
        """
        A_inv = np.eye(w.size) / self.eps
        A_inv[np.ix_(stays, stays)] = self.A_inv[np.ix_(came_from, came_from)]
        kept = w.copy()
        kept[stays] = self.w[came_from]
        self.w, self.A_inv = kept, A_inv

    def learn(self, x: Floats, y: float) -> None:
        """Learn from one round; x must not contain NaN."""
        self.run(x[None, :], np.array([y]))

    def run(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions on the rows of X for a whole epoch, learning after each row."""
        y_hat = np.empty(y.size)
        newton_epoch(self.w, self.A_inv, self.tally, np.ascontiguousarray(X), y, self.rho, y_hat)
        return y_hat


class Gradient(Stateful):
    """Online gradient descent (Zinkevich 2003) with step 1/sqrt(1 + sum of squared gradients); O(k) per round."""

    _state: ClassVar[StateSchema] = {
        "w": NumberCheck(),
        "tally": NumberCheck(least=0.0),
    }

    def __init__(self, k: int) -> None:
        self.w: Floats = np.zeros(k)
        self.tally: Floats = np.zeros(1)

    def restart(self, w: Floats) -> None:
        """Restart at w with the initial step size."""
        self.w, self.tally = w.copy(), np.zeros(1)

    def carry(self, w: Floats, stays: Ints, came_from: Ints) -> None:
        """Restart at w, but keep the step size and the weights of the attributes that stay, as in `Newton.carry`."""
        kept = w.copy()
        kept[stays] = self.w[came_from]
        self.w = kept

    def learn(self, x: Floats, y: float) -> None:
        """Learn from one round; x must not contain NaN."""
        self.run(x[None, :], np.array([y]))

    def run(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions on the rows of X for a whole epoch, learning after each row."""
        y_hat = np.empty(y.size)
        gradient_epoch(self.w, self.tally, np.ascontiguousarray(X), y, y_hat)
        return y_hat
