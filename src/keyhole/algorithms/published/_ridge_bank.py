"""Many small forecasters stored in a few arrays: one per support, or one per candidate of a greedy step."""

from typing import ClassVar

import numpy as np

from ..._core import quadratic_form, ridge_bank_step
from ..._internal.typing import Floats
from ...core.state import InverseGramCheck, NumberCheck, Stateful, StateSchema
from ...estimation.online_newton import Gradient, Newton

__all__ = ["ForwardBank", "GradientBank", "NewtonBank", "bank"]


def _product(A: Floats, x: Floats) -> Floats:
    """Return A x, summed in the same order on every machine.

    BLAS sums in an order that depends on the processor. The last bit of a prediction moves the losses of a bandit, and
    so, hundreds of rounds later, what it draws.
    """
    return np.asarray((A * x).sum(axis=-1))


def bank(base: str, N: int, k: int, ridge: float) -> "NewtonBank | ForwardBank | GradientBank":
    """Return N forecasters of kind `base`: "newton" or "vaw", which start at A = ridge I, or "gradient"."""
    if base == "gradient":
        return GradientBank(N, k)
    return NewtonBank(N, k, ridge) if base == "newton" else ForwardBank(N, k, ridge)


class NewtonBank(Stateful):
    """N self-tuned online Newton steps (`keyhole.estimation.online_newton.Newton`); O(k^2) per round."""

    _state: ClassVar[StateSchema] = {
        "W": NumberCheck(),
        "A_inv": InverseGramCheck("ridge"),
        "tally": NumberCheck(least=0.0),
    }

    def __init__(self, N: int, k: int, ridge: float) -> None:
        self.ridge = ridge
        self.W: Floats = np.zeros((N, k))
        self.A_inv: Floats = np.tile(np.eye(k) / ridge, (N, 1, 1))
        self.tally: Floats = np.zeros((N, 2))
        self._lens = Newton(k, eps=ridge, rho=None)

    def weights(self, i: int) -> Floats:
        """Return w_i."""
        return np.asarray(self.W[i])

    def predict(self, i: int, x: Floats) -> float:
        """Return <w_i, x> clipped to [-1, 1], which is equivalent to the projection."""
        return float(np.clip(_product(self.W[i], x), -1.0, 1.0))

    def learn(self, i: int, x: Floats, y: float) -> None:
        """Take one Newton step of forecaster i, in place."""
        self._lens.w, self._lens.A_inv, self._lens.tally = self.W[i], self.A_inv[i], self.tally[i]
        self._lens.learn(x, y)

    def restart(self, i: int) -> None:
        """Reset to w_i = 0, A_i = ridge I."""
        self.W[i], self.tally[i] = 0.0, 0.0
        self.A_inv[i] = np.eye(self.W.shape[1]) / self.ridge


class GradientBank(Stateful):
    """N online gradient descents; O(k) per round.

    `learn` takes the self-tuned step of `keyhole.estimation.online_newton.Gradient`; `step` takes the step of the
    bandit's bound, where the importance-weighted gradient represents all rounds and the step shrinks with the largest
    importance weight.
    """

    _state: ClassVar[StateSchema] = {
        "W": NumberCheck(),
        "tally": NumberCheck(least=0.0),
        "rho": NumberCheck(1.0, 1e100),
    }

    def __init__(self, N: int, k: int) -> None:
        self.W: Floats = np.zeros((N, k))
        self.tally: Floats = np.zeros((N, 1))
        self.rho: Floats = np.ones(N)
        self._lens = Gradient(k)

    def weights(self, i: int) -> Floats:
        """Return w_i."""
        return np.asarray(self.W[i])

    def predict(self, i: int, x: Floats) -> float:
        """Return <w_i, x>."""
        return float(_product(self.W[i], x))

    def learn(self, i: int, x: Floats, y: float) -> None:
        """Take one self-tuned step of forecaster i, in place."""
        self._lens.w, self._lens.tally = self.W[i], self.tally[i]
        self._lens.learn(x, y)

    def step(self, i: int, x: Floats, y: float, p: float, size: float) -> None:
        """Set w_i to w_i - size / sqrt(rho_i) 2 (<w_i, x> - y) x / p, within the unit ball; rho_i: the largest 1/p."""
        self.rho[i] = max(self.rho[i], 1.0 / p)
        w = self.W[i] - size / np.sqrt(self.rho[i]) * 2.0 * (_product(self.W[i], x) - y) / p * x
        self.W[i] = w / max(1.0, float(np.linalg.norm(w)))

    def restart(self, i: int) -> None:
        """Reset to w_i = 0 and the initial step size."""
        self.W[i], self.tally[i], self.rho[i] = 0.0, 0.0, 1.0


class ForwardBank(Stateful):
    """N forward (Vovk-Azoury-Warmuth) forecasters: predict x' (A + x x')^-1 b, then A += x x', b += y x. O(k^2)."""

    _state: ClassVar[StateSchema] = {
        "A_inv": InverseGramCheck("ridge"),
        "b": NumberCheck(),
    }

    def __init__(self, N: int, k: int, ridge: float) -> None:
        self.ridge = ridge
        self.A_inv: Floats = np.tile(np.eye(k) / ridge, (N, 1, 1))
        self.b: Floats = np.zeros((N, k))

    def weights(self, i: int) -> Floats:
        """Return A^-1 b, the ridge solution."""
        return _product(self.A_inv[i], self.b[i])

    def predict(self, i: int, x: Floats) -> float:
        """Return x' (A + x x')^-1 b = x' A^-1 b / (1 + x' A^-1 x)."""
        v = _product(self.A_inv[i], x)
        xv = quadratic_form(self.A_inv[i], v, x)  # before v is used, because the call may clear it
        return float(_product(v, self.b[i]) / (1.0 + xv))

    def learn(self, i: int, x: Floats, y: float) -> None:
        """Apply the rank-one update of A^-1, and update b."""
        ridge_bank_step(self.A_inv, self.b, np.array([i]), x[None, :], y, np.empty(1))

    def restart(self, i: int) -> None:
        """Reset to A = ridge I, b = 0."""
        self.A_inv[i] = np.eye(self.b.shape[1]) / self.ridge
        self.b[i] = 0.0

    def run(self, X: Floats, y: float) -> Floats:
        """Return the predictions of forecaster j for row j of X, for all j, and update each with the same label y."""
        y_hat = np.empty(len(X))
        ridge_bank_step(self.A_inv, self.b, np.arange(len(X)), np.ascontiguousarray(X), y, y_hat)
        return y_hat
