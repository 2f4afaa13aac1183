"""Dual averaging on the Euclidean ball, the basis of Ito et al. 2017.

    w_n = argmin_{|v| <= R}  <h, v> + m |v|_1 + (lam_n / 2) |v|^2  =  -soft(h, m) / max(lam_n, |soft(h, m)| / R)

h is the sum of the gradients so far and soft(u, m)_i = sign(u_i) max(|u_i| - m, 0).
"""

from math import sqrt
from typing import ClassVar

import numpy as np

from ..._core import dual_averaging_epoch
from ..._internal.typing import Floats, Ints
from ...core.state import NumberCheck, Stateful, StateSchema
from ...estimation.importance_weighting import estimate_quickly

__all__ = ["complete_gradient", "gradient", "is_draw"]


class DualAveraging(Stateful):
    """The iterate w_n from the sum of gradients h; `tally` = (n, sum of |g|^2).

    lam_n = rate sqrt(n), as in the analysis, or with `learnt`, rate sqrt(sum |g|^2): the same order, in the actual
    scale of the gradients.
    """

    _state: ClassVar[StateSchema] = {
        "h": NumberCheck(),
        "tally": NumberCheck(least=0.0, most=1e280),  # the second is a sum of fourth powers
    }

    def __init__(self, d: int, rate: float, learnt: bool, R: float) -> None:
        self.rate, self.learnt, self.R = rate, learnt, R
        self.h: Floats = np.zeros(d)
        self.tally: Floats = np.zeros(2)

    def w(self, m: float = 0.0) -> Floats:
        """Return w_n, where m is the weight of |v|_1; 0 before the first gradient."""
        u = np.sign(self.h) * np.maximum(np.abs(self.h) - m, 0.0)
        lam = self.rate * sqrt(self.tally[1] if self.learnt else self.tally[0] + 1.0)
        size = max(lam, float(np.linalg.norm(u)) / self.R)
        return -u / size if size > 0.0 else u

    def add(self, B: Ints, g: Floats) -> None:
        """Add a gradient that is zero outside B."""
        self.h[B] += g
        self.tally += np.array([1.0, g @ g])

    def predict(self, S: Ints, x: Floats) -> float:
        """Return <w_n, x> on the attributes S without the l1 term, bitwise equal to the prediction of `run`."""
        return float(self.run(S, x[None, :], np.array([np.nan]))[0])

    def run(self, S: Ints, X: Floats, y: Floats) -> Floats:
        """Predict the rows of X from the attributes S, and add the gradient of the squared loss after each labelled
        row; return the predictions.
        """
        y_hat, known = np.empty(y.size), np.nan_to_num(np.ascontiguousarray(X), nan=0.0)
        dual_averaging_epoch(self.h, self.tally, S, known, y, self.rate, self.learnt, self.R, y_hat)
        return y_hat


def gradient(B: Ints, x: Floats, y: float, P: Floats, w: Floats) -> Floats:
    """Return 2 h w - 2 y x_hat on the observed attributes B, an unbiased estimate of 2 (<w, x> - y) x; x_hat and h are
    the importance-weighted estimates of x and x x' with pair probabilities P.
    """
    x_hat, h = estimate_quickly(x, P)
    return 2.0 * (h @ w[B] - y * x_hat)


def complete_gradient(x: Floats, y: float, w: Floats) -> Floats:
    """Return 2 (<w, x> - y) x, the gradient of a completely observed row."""
    return np.asarray(2.0 * (float(w @ x) - y) * x)


def is_draw(memo: tuple[float, ...], drawn: int, d: int) -> bool:
    """Return whether the memo is a valid (n, m) of m attributes drawn from n, where m is the size of the round."""
    return len(memo) == 2 and memo[1] == drawn and memo[0] in range(drawn, d + 1)
