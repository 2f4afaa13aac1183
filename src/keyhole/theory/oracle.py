"""What the proofs use and no learner knows: gamma_s itself and the true errors, on streams whose w* is known."""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats
from ..errors import ConfigError
from .constants import Constants

__all__ = ["OracleTrace", "oracle_gamma", "oracle_trace"]


class OracleTrace(NamedTuple):
    """One entry per exploration s = 1, ..., n."""

    error: Floats
    """|Delta_s(S)|_1 = |w_hat_s(S) - w*|_1."""
    gamma: Floats
    """gamma_s, which the errors before s enter."""
    gamma_hat: Floats
    """The threshold gamma_hat_s that the learner uses in its place."""
    bound: Floats
    """What the lemma "Estimation Error" allows for `error`."""

    @property
    def gamma_suffices(self) -> Bools:
        """Whether gamma_hat_s >= gamma_s, on which the proofs rest."""
        return self.gamma_hat >= self.gamma * (1 - 1e-12)

    @property
    def bound_holds(self) -> Bools:
        """Whether the error is within the lemma's bound."""
        return self.error <= self.bound * (1 + 1e-12)


def oracle_gamma(constants: Constants, errors: Floats) -> Floats:
    """The paper's gamma_s for s = 1, ..., n from the errors |Delta_tau(S)|_1 of tau = 0, ..., n-1.

    gamma_s = (8/3 + 2 sigma) g L1/s + (6.9 + 1.2 sigma) sqrt(D L1/s) + sqrt(3 g L1 sum_{tau<s} |Delta_tau(S)|_1^2)/s:
    w* satisfies the Dantzig constraint of width gamma_s with high probability.

    >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)
    >>> gamma = oracle_gamma(c, np.full(100, 2.0))       # errors as large as they can be: up to s0 that is gamma_hat_s
    >>> bool(np.isclose(gamma[99], c.gamma(100)))
    True

    Raises:
        ConfigError: If the errors are not a one-dimensional array of finite numbers >= 0.
    """
    errors = np.asarray(errors, dtype=np.float64)
    if errors.ndim != 1 or not (np.isfinite(errors) & (errors >= 0)).all():
        raise ConfigError("errors must be a one-dimensional array of finite numbers >= 0, one per tau = 0, 1, ...")
    s = np.arange(1.0, errors.size + 1)
    known = np.array([constants.gamma_without_history(float(x)) for x in s])
    return np.asarray(known + np.sqrt(3 * constants.g * constants.L1 * np.cumsum(errors**2)) / s)


def oracle_trace(constants: Constants, estimates: Floats, w_star: Floats) -> OracleTrace:
    """gamma_s, gamma_hat_s, the error and its bound from the estimates w_hat_0, ..., w_hat_n (n+1, d).

    With `constants.with_s0` the phases s0, s1 are passed within few explorations; give the learner the same `delta_s`.

    >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)
    >>> w = np.zeros(20); w[:5] = 0.2
    >>> t = oracle_trace(c, np.vstack([np.full(20, 1 / 20), w, w]), w)
    >>> t.error.tolist(), bool(t.gamma_suffices.all()), bool(t.bound_holds.all())
    ([0.0, 0.0], True, True)

    Raises:
        ConfigError: If the shapes do not fit each other.
    """
    W, w = np.asarray(estimates, dtype=np.float64), np.asarray(w_star, dtype=np.float64)
    if w.shape != (constants.d,) or W.ndim != 2 or W.shape[1:] != w.shape or len(W) < 2:
        d = constants.d
        raise ConfigError(f"estimates must be (n+1, {d}) and w_star ({d},), not {W.shape} and {w.shape}")
    S = np.flatnonzero(w)
    errors = np.abs(W[:, S] - w[S]).sum(axis=1)
    s = range(1, len(W))
    gamma_hat, bound = (np.array([f(x) for x in s]) for f in (constants.gamma, constants.error_bound))
    return OracleTrace(errors[1:], oracle_gamma(constants, errors[:-1]), gamma_hat, bound)
