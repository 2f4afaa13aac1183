"""The paper's constants, the resulting threshold gamma_hat(s), and the bounds that follow.

m attributes are drawn from n, (n, m) = (d, k) for OSLR and (d - k, k0) for POSLR;

    D = (n-1)/(m-1),  R = (n-2)/(m-2),  g = D R,  L1 = ln(d/delta),  L2 = ln(d^2/delta),

with d and k themselves (not n, m) in L1, L2 and wherever k stands alone. The paper's equations are
(s0-s1_DS-OSLRC), (a1-a5_DS-OSLRC) and, for POSLR, (a1-a5_DS-POSLRC).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats
from ..errors import ConfigError
from .arithmetic import product
from .estimation_error import EstimationError, estimation_error
from .regret_bounds import RegretTerms, oslr_terms, poslr_terms

__all__ = ["Constants", "OracleTrace", "check_T", "check_w_min", "oracle_gamma", "oracle_trace"]


@dataclass(frozen=True)
class Constants:
    """The paper's constants for d attributes, k bought per round, and k0 more after the label (`k0=None`: none).

    `sigma` is the standard deviation of the noise, `delta_s` the compatibility constant delta_S, `delta` the failure
    probability of one event. A k0 above d - k becomes d - k: everything is observed. The constants are attributes:
    `g`, `mu1`, `mu2`, `s0`, `s1`, `a1` to `a5`, and `Y`, `rho`, `eps` of the Newton step; s0 and s1 are not rounded.

    `corrected=True` replaces printed values by values that can be proved:

    - E21: the noise part of the square-root term is 1.66 sigma, not 1.2 sigma (in gamma, a2, a4, a5, s2, the bounds);
    - E24: the first case of `error_bound` has 4 * 6.9 = 27.6 and 4 * 1.66 sigma, not 26 and 4.8 sigma;
    - E26: the regret of the Newton steps has the factor 1/rho = 2 (1 + Y)^2 and the logarithm ln(1 + 2 T/k);
    - E27: the noise term is multiplied by sigma;
    - E28: the terms hidden in the O(1) of the theorems are included;
    - E29: Theorem 1 only needs T > (s2 + 1)^2, where s2 is the s at which the bound of its phase falls to w_min/2;
    - E33: an exploration may fail with (6 + log_1.5(R + 1)) delta, and DS-POSLRC only needs T > s0;
    - E35: for s0 < s <= s1 the error is bounded by B/s + v/sqrt(s), not by M/s; this changes s2 and both theorems. It
      requires `gamma_holds`; otherwise gamma and the bounds are those of an unconditional repair;
    - E43: Theorem 2 counts the errors before each round: its start is 4 (s0 + 2).

    Without `corrected`, the term M/s of `error_bound` and everything based on it are printed but not proved (E35).

    >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)
    >>> f"{c.g:.1f} {c.s0:.1e} {c.s1:.1e} {c.s2(1 / 5):.1e} {c.gamma(100):.0f}"
    '28.5 4.3e+06 2.0e+08 2.6e+08 16'
    """

    d: int
    k: int
    sigma: float
    delta_s: float
    delta: float
    k0: int | None = None
    corrected: bool = False

    def __post_init__(self) -> None:
        _check_arguments(self.d, self.k, self.sigma, self.delta_s, self.delta, self.k0)
        if self.k0 is not None:
            object.__setattr__(self, "k0", min(self.k0, self.d - self.k))

    def with_s0(self, s0: float) -> "Constants":
        """Return the constants with delta_s chosen such that s0 has this value, to pass all phases in few explorations.

        For small s0 no design has such a delta_s (delta_S <= 1 if |x_i| <= 1): the constants are scaled down for an
        experiment, and the proofs do not cover the experiment.

        >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01).with_s0(30.0)
        >>> f"{c.s0:.6f} {c.s1:.0f} {c.delta_s:.1f}"
        '30.000000 1368 19.5'
        """
        if not 0 < s0 < math.inf:
            raise ConfigError(f"s0 must be a finite number > 0, not {s0}")
        return replace(self, delta_s=product((576 / s0 * self.L2, 0.25), (self.k, 0.5), (self.g, 0.25)))

    @cached_property
    def pool(self) -> tuple[int, int]:
        """The pool (n, m): m attributes are drawn from n."""
        return (self.d, self.k) if self.k0 is None else (self.d - self.k, self.k0)

    @cached_property
    def D(self) -> float:
        """D = (n-1)/(m-1), at least 1/P[i observed]."""
        n, m = self.pool
        return (n - 1) / (m - 1)

    @cached_property
    def R(self) -> float:
        """R = (n-2)/(m-2)."""
        n, m = self.pool
        return (n - 2) / (m - 2)

    @cached_property
    def g(self) -> float:
        """g = (n-1)(n-2)/((m-1)(m-2)), at least 1/P[i and j observed]."""
        return self.D * self.R

    @cached_property
    def L1(self) -> float:
        """L1 = ln(d/delta)."""
        return math.log(self.d) - math.log(self.delta)

    @cached_property
    def L2(self) -> float:
        """L2 = ln(d^2/delta)."""
        return 2 * math.log(self.d) - math.log(self.delta)

    @cached_property
    def mu1(self) -> float:
        """mu1 = 9/(9 - 2 sqrt 3)."""
        return 9 / (9 - 2 * math.sqrt(3))

    @cached_property
    def mu2(self) -> float:
        """mu2 = 1/(1 - sqrt 6/(9 sqrt(R L2)))."""
        return 1 / (1 - math.sqrt(6) / (9 * math.sqrt(self.R * self.L2)))

    @cached_property
    def s0(self) -> float:
        """s0 = 24^2 k^2 g L2 / delta_S^4, the number of explorations after which the bound on the estimation error
        improves on the bound that holds without any exploration.
        """
        return 576 * product((self.k, 2), (self.g, 1), (self.L2, 1), (self.delta_s, -4))

    @cached_property
    def s1(self) -> float:
        """s1 = s0 R L1: the number of explorations before the error falls as 1/sqrt(s)."""
        return self.s0 * self.R * self.L1

    @cached_property
    def root(self) -> float:
        """The factor of the square-root term: 6.9 + 1.2 sigma (corrected: 6.9 + 1.66 sigma)."""
        return 6.9 + (1.66 if self.corrected else 1.2) * self.sigma

    @cached_property
    def a1(self) -> float:
        """a1 = (64/3 + 32/3 sigma) L1."""
        return (64 / 3 + 32 / 3 * self.sigma) * self.L1

    @cached_property
    def a2(self) -> float:
        """a2 = 16/3 (6.9 + 1.2 sigma) sqrt(L1)."""
        return 16 / 3 * self.root * math.sqrt(self.L1)

    @cached_property
    def a3(self) -> float:
        """a3 = 8/3 sqrt(3 L1)."""
        return 8 / 3 * math.sqrt(3 * self.L1)

    @cached_property
    def b4(self) -> float:
        """b4 = delta_S^2 a1/k + 4 a3 (24 sqrt(L2) + delta_S^2/(k sqrt g)): a4 without its part in a2."""
        c = self.delta_s**2 / self.k
        return c * self.a1 + 4 * self.a3 * (24 * math.sqrt(self.L2) + c / math.sqrt(self.g))

    @cached_property
    def a6(self) -> float:
        """a6 = 24 a2 sqrt(L2/R), the part of a4 in a2."""
        return 24 * self.a2 * math.sqrt(self.L2 / self.R)

    @cached_property
    def a4(self) -> float:
        """a4 = delta_S^2 a1/k + 24 a2 sqrt(L2/R) + 4 a3 (24 sqrt(L2) + delta_S^2/(k sqrt g))."""
        return self.b4 + self.a6

    @cached_property
    def a5(self) -> float:
        """a5 = mu1 (delta_S^2 (8+4 sigma)/(9k) + 32/sqrt 3 + 4 sqrt 3 delta_S^2/(9k sqrt(g L2)))
        + a2 + (mu1 - 1) a2/sqrt(R L2), where mu1 - 1 = 2 sqrt 3/(9 - 2 sqrt 3)."""
        c, r3 = self.delta_s**2 / (9 * self.k), math.sqrt(3)
        bracket = c * (8 + 4 * self.sigma) + 32 / r3 + 4 * r3 * c / math.sqrt(self.g * self.L2)
        return self.mu1 * bracket + self.a2 + 2 * r3 / (9 - 2 * r3) * self.a2 / math.sqrt(self.R * self.L2)

    @cached_property
    def c(self) -> float:
        """c = a3/(12 sqrt(L2)) = (2 sqrt 3/9) sqrt(L1/L2): the influence of past errors on the next one."""
        return self.a3 / (12 * math.sqrt(self.L2))

    @cached_property
    def Y(self) -> float:
        """Y = 1 + sigma sqrt(2 ln(1/delta)), a bound on |y| with probability 1 - delta."""
        return 1 + self.sigma * math.sqrt(-2 * math.log(self.delta))

    @cached_property
    def rho(self) -> float:
        """rho = 1/(2 (1 + Y)^2), the Newton step's curvature."""
        return product((1 + self.Y, -2)) / 2

    @cached_property
    def eps(self) -> float:
        """eps = k: the Newton step starts with the matrix eps I."""
        return float(self.k)

    @cached_property
    def events(self) -> float:
        """The failure probability of one exploration in units of delta: 6 + log_1.5((d+k)/(k-2)) as printed.

        Corrected (E33): 6 + log_1.5(R + 1). The variance in the proof lies between 4 D and 4 D + 4 g per exploration,
        and R + 1 is the ratio of the two.
        """
        ratio = self.R + 1 if self.corrected else (self.d + self.k) / (self.k - 2)
        return 6 + math.log(ratio, 1.5)

    @cached_property
    def gamma_condition(self) -> float:
        """Condition (C) of E35: if this is at most 1, the printed gamma_hat_s is at least gamma_s for all s.

        With t = 1/sqrt(R L1), v' = a2/(24 sqrt(R L2)), M' = mu1 a4/(576 L2) it is the ratio of the two sides of
        v' {(1-t) [2 M' - 3 v' - (2 M' - v') t] + v' ln(R L1)} <= 4 M' sqrt(1 - t^2).
        """
        x = self.R * self.L1
        t, v = 1 / math.sqrt(x), self.a2 / (24 * math.sqrt(self.R * self.L2))
        r = v / (self.mu1 * self.a4 / (576 * self.L2))
        left = v * ((1 - t) * (2 - 3 * r - (2 - r) * t) + r * math.log(x))
        return left / (4 * math.sqrt((1 - t) * (1 + t)))

    @property
    def gamma_holds(self) -> bool:
        """Whether condition (C) holds: for sigma <= 1 if ln(d/delta) <= 47; it fails if sigma >> sqrt(R)."""
        return self.gamma_condition <= 1

    @cached_property
    def error(self) -> EstimationError:
        """The bound on the error for s > s0: as printed, or one of the repairs."""
        return estimation_error(self)

    def nu(self, s: float) -> float:
        """Return nu_s = sqrt(3 g L1)/s Q(s), one formula for the paper's five cases (below its equation (hat_gamma_s)):

            Q(s) = 2 sqrt(s)                                                          for s <= s0, else
            Q(s) = 2 sqrt(s0) + 2 + mu1 a4 k^2 g/delta_S^4 sqrt(sum_{tau=s0+1}^{min(s-1, s1)} 1/tau^2)
                                  + mu2 a5 k sqrt(D)/delta_S^2 sqrt(sum_{tau=s1+1}^{s-1} 1/tau),

        where only the limits of the sums are rounded up, and empty sums are 0. If corrected and `gamma_holds` is false,
        Q is that of `estimation_error.UnconditionalError`.
        """
        _check_s(s)
        Q = 2 * math.sqrt(s) if s <= self.s0 else self.error.Q(s)
        return math.sqrt(3 * self.g * self.L1) / s * Q

    def gamma(self, s: float) -> float:
        """Return gamma_hat(s) = (8/3 + 2 sigma) g L1/s + (6.9 + 1.2 sigma) sqrt(D L1/s) + nu_s, equation (hat_gamma_s).

        It is proved to be at least gamma_s if `gamma_holds` (the paper's own proof has the gap E35).
        """
        return self.nu(s) + self.gamma_without_history(s)

    def gamma_without_history(self, s: float) -> float:
        """Return the first two terms of gamma_s and gamma_hat_s, which do not depend on past errors."""
        first = (8 / 3 + 2 * self.sigma) * self.g * self.L1
        return first / s + self.root * math.sqrt(self.D * self.L1 / s)

    def error_bound(self, s: float) -> float:
        """Return a bound on |w_hat_s - w*|_1 over the true support (the paper's lemma "Estimation Error"):

        (16+8 sigma) k g L1/(delta_S^2 s) + (26+4.8 sigma) k sqrt(D L1/s)/delta_S^2 + 22 k sqrt(g L1/s)/delta_S^2
                                                 for s <= s0,
        mu1 a4 k^2 g/(delta_S^4 s)               for s0 < s <= s1,
        mu2 a5 k sqrt(D/s)/delta_S^2             for s1 < s.

        Corrected, the second line is (mu1 a4 - a6) k^2 g/(delta_S^4 s) + a2 k sqrt(D/s)/delta_S^2.
        """
        return sum(self.error_terms(s).values())

    def error_terms(self, s: float) -> dict[str, float]:
        """Return the terms of `error_bound` by name: `count`, `noise` and `guess` up to s0, then `middle`, then `late`.

        If corrected, `middle` comes with `noise`.
        """
        _check_s(s)
        if s > self.s0:
            return self.error.terms(s)
        root = 4 * self.root if self.corrected else 26 + 4.8 * self.sigma
        front = product((self.k, 1), (self.delta_s, -2))
        return {
            "count": front * (16 + 8 * self.sigma) * self.g * self.L1 / s,
            "noise": front * root * math.sqrt(self.D * self.L1 / s),
            "guess": front * 22 * math.sqrt(self.g * self.L1 / s),
        }

    def s2(self, w_min: float) -> float:
        """Return s2 = 4 (mu2 a5)^2 k^2 D/(delta_S^4 w_min^2), after which the support is known (`w_min` = min |w*_i|).

        If corrected and this is below s1: the s at which the bound of the middle phase falls to w_min/2.
        """
        return self.error.s2(check_w_min(w_min))

    def regret_bound(self, T: float, w_min: float | None = None) -> float:
        """Return the sum of the terms of Theorem 1, or of Theorem 2 if k0 is given (no `w_min` needed), for T rounds.

        The printed theorems are without their O(1). The number is returned even if the theorem does not apply; below
        T = s1 + 1 the printed Theorem 2 may even be negative. `regret_terms` says whether it applies, and why not.
        """
        return self.regret_terms(T, w_min).total

    def regret_terms(self, T: float, w_min: float | None = None) -> RegretTerms:
        """Return the terms of `regret_bound` by name, the terms hidden in the O(1), and whether the theorem applies."""
        check_T(T)
        return oslr_terms(self, T, check_w_min(w_min)) if self.k0 is None else poslr_terms(self, T)


def check_T(T: float) -> None:
    """Check 0 < T < inf."""
    if not 0 < T < math.inf:
        raise ConfigError(f"T, the number of rounds, must be a finite number > 0, not {T}")


def check_w_min(w_min: float | None) -> float:
    """Check 0 < w_min <= 1 (since |w*|_1 <= 1)."""
    if w_min is None:
        raise ConfigError("w_min, the smallest non-zero |w*_i|, is needed if k0 is None: give a number in (0, 1]")
    if not 0 < w_min <= 1:
        raise ConfigError(f"w_min, the smallest non-zero |w*_i|, must lie in (0, 1] as |w*|_1 <= 1, not {w_min}")
    return w_min


def _check_s(s: float) -> None:
    if not 1 <= s < math.inf:
        raise ConfigError(f"s, the number of explorations, must be a finite number >= 1, not {s}")


def _check_arguments(d: int, k: int, sigma: float, delta_s: float, delta: float, k0: int | None) -> None:
    """Check 3 <= k <= d - 3, k0 >= 3 or None, sigma >= 0, delta_s > 0 and delta in (0, 1), all finite."""
    for name, value in (("d", d), ("k", k), ("k0", k0)):
        if value is not None and not float(value).is_integer():
            raise ConfigError(f"{name} must be a whole number, not {value}")
    if d < 6:
        raise ConfigError(f"the paper's constants need d >= 6 (so that 3 <= k <= d - 3), not d = {d}")
    if not 3 <= k <= d - 3:
        raise ConfigError(f"k must lie in 3..{d - 3} (3..d-3) and is {k}; outside that range use `support-bandit`")
    if k0 is not None and k0 < 3:
        raise ConfigError(f"k0 must be at least 3 (or None: nothing is bought after the label), not {k0}")
    if not 0 <= sigma < math.inf:
        raise ConfigError(f"sigma, the standard deviation of the noise, must be a finite number >= 0, not {sigma}")
    # Outside this range the eighth power of delta_s overflows or underflows.
    if not 1e-30 <= delta_s <= 1e30:
        raise ConfigError(f"delta_s, the compatibility constant, must be > 0 (from 1e-30 to 1e30), not {delta_s}")
    if not 0 < delta < 1:
        raise ConfigError(f"delta, the failure probability, must lie strictly between 0 and 1, not {delta}")


class OracleTrace(NamedTuple):
    """The quantities of the paper's regret proof along a run whose true weights are known, one entry per exploration s
    = 1, ..., n.
    """

    error: Floats
    """The error |Delta_s(S)|_1 = |w_hat_s(S) - w*|_1."""
    gamma: Floats
    """gamma_s, which depends on the errors before s."""
    gamma_hat: Floats
    """The threshold gamma_hat_s that the learner uses instead."""
    bound: Floats
    """The bound of the lemma "Estimation Error" on `error`."""

    @property
    def gamma_suffices(self) -> Bools:
        """Whether gamma_hat_s >= gamma_s, which the proofs require."""
        return self.gamma_hat >= self.gamma * (1 - 1e-12)

    @property
    def bound_holds(self) -> Bools:
        """Whether the error is within the lemma's bound."""
        return self.error <= self.bound * (1 + 1e-12)


def oracle_gamma(constants: Constants, errors: Floats) -> Floats:
    """Return the paper's gamma_s for s = 1, ..., n from the errors |Delta_tau(S)|_1 of tau = 0, ..., n-1.

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
    """Return gamma_s, gamma_hat_s, the error and its bound from the estimates w_hat_0, ..., w_hat_n (n+1, d).

    With `constants.with_s0` the run passes s0 and s1 in few explorations; give the learner the same `delta_s`.

    >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)
    >>> w = np.zeros(20); w[:5] = 0.2
    >>> t = oracle_trace(c, np.vstack([np.full(20, 1 / 20), w, w]), w)
    >>> t.error.tolist(), bool(t.gamma_suffices.all()), bool(t.bound_holds.all())
    ([0.0, 0.0], True, True)

    Raises:
        ConfigError: If the shapes do not match.
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
