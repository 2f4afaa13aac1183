"""The paper's lemma "Estimation Error" for s > s0: as printed, and two repairs of its induction (erratum E35).

On the event that the proofs consider, and as long as gamma_hat_tau >= gamma_tau for tau <= s, the error Delta_s on the
true support S satisfies, for every s > s0 (the paper's inequality (refined_upper_bound:estimator_error)),

    |Delta_s|_1 <= A/s + v/sqrt(s) + c sqrt(s0) X(s)/s     where     Q(s) = 2 sqrt(s0) + 2 + X(s)                 (*)

    A = b4 k^2 g/delta_S^4,  v = a2 k sqrt(D)/delta_S^2,  c = a3/(12 sqrt(L2)) < 2 sqrt(3)/9

and Q is the part of gamma_hat that represents past errors: gamma_hat_s >= gamma_s if and only if Q(s)^2 is at least
sum_{tau<s} |Delta_tau|_1^2. The paper closes the induction for s0 < s <= s1 by replacing v/sqrt(s) with
sqrt(s0) v/s, which is smaller for s > s0. docs/derivations.md has both repairs with their proofs.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from .arithmetic import product, sum_inverse, sum_inverse_square

if TYPE_CHECKING:
    from .constants import Constants

__all__ = ["EstimationError", "PrintedError", "TwoTermError", "UnconditionalError", "estimation_error"]


class EstimationError(Protocol):
    """A bound on the error after s > s0 explorations, and the sums of it that the two theorems need."""

    def Q(self, s: float) -> float:
        """Return Q(s), the upper bound on sqrt(sum_{tau<s} |Delta_tau|^2) that gamma_hat_s uses."""

    def terms(self, s: float) -> dict[str, float]:
        """Return the bound on |Delta_s(S)|_1, term by term."""

    def s2(self, h: float) -> float:
        """Return the s after which twice the bound stays below h, so that S_s = S."""

    def wrong_supports(self, s2: float) -> dict[str, float]:
        """Return 8 sum s |Delta_s|^2 over s0 < s <= s2: the cost of wrong supports in Theorem 1."""

    def squares(self, T: float) -> dict[str, float]:
        """Return 9 sum |Delta_tau|^2 over s0 < tau < T: Theorem 2 after its start."""


def estimation_error(c: "Constants") -> EstimationError:
    """Return the printed lemma; if `corrected`, the two-term repair where it holds, else the unconditional one."""
    if not c.corrected:
        return PrintedError(c)
    return TwoTermError(c) if c.gamma_holds else UnconditionalError(c)


@dataclass(frozen=True)
class PrintedError:
    """The lemma as printed: M/s for s0 < s <= s1 (not proved, E35), V5/sqrt(s) for s > s1."""

    constants: "Constants"

    @cached_property
    def M(self) -> float:
        """M = mu1 a4 k^2 g/delta_S^4."""
        return self._times_u(self.constants.mu1 * self.constants.a4)

    @cached_property
    def V5(self) -> float:
        """V5 = mu2 a5 k sqrt(D)/delta_S^2."""
        return self._times_root(self.constants.mu2 * self.constants.a5)

    @cached_property
    def v(self) -> float:
        """v = a2 k sqrt(D)/delta_S^2, a term of (*) that does not depend on the history."""
        return self._times_root(self.constants.a2)

    def Q(self, s: float) -> float:
        """Return 2 sqrt(s0) + 2 + M sqrt(sum_{s0+1}^{min(s-1, s1)} 1/tau^2) + V5 sqrt(sum_{s1+1}^{s-1} 1/tau)."""
        c = self.constants
        s0, s1, last = math.ceil(c.s0), math.ceil(c.s1), math.ceil(s - 1)
        middle = self.M * math.sqrt(sum_inverse_square(s0 + 1, min(last, s1)))
        late = self.V5 * math.sqrt(sum_inverse(s1 + 1, last))
        return 2 * math.sqrt(c.s0) + 2 + middle + late

    def terms(self, s: float) -> dict[str, float]:
        """Return the bound as one term: `middle` for s <= s1, `late` for larger s."""
        return {"late": self.V5 / math.sqrt(s)} if s > self.constants.s1 else {"middle": self.M / s}

    def s2(self, h: float) -> float:
        """Return 4 V5^2/h^2; the theorem requires that it exceeds s1."""
        return 4 * product((self.V5, 2), (h, -2))

    def wrong_supports(self, s2: float) -> dict[str, float]:
        """Return 22 a4^2 k^4 g^2/delta_S^8 ln(s1/s0) up to s1, and 8 V5^2 s2 (not s2 - s1) after it."""
        c = self.constants
        front = 22 * product((c.a4, 2), (c.k, 4), (c.g, 2), (c.delta_s, -8))
        return {"middle": front * math.log(c.R * c.L1), "late": 8 * product((self.V5, 2), (s2, 1))}

    def squares(self, T: float) -> dict[str, float]:
        """Return 2.7 a4^2 k^2 g/(64 delta_S^4 L2) up to s1, and 9 V5^2 ln(T/(s1 + 1)), negative if T < s1 + 1."""
        c = self.constants
        length = math.log(T) - math.log(c.s1 + 1)
        return {
            "middle": 2.7 / 64 * product((c.a4, 2), (c.k, 2), (c.g, 1), (c.delta_s, -4), (c.L2, -1)),
            "late": 9 * product((self.V5, 2)) * length if length else 0.0,  # avoids inf * 0
        }

    def _times_u(self, a: float) -> float:
        c = self.constants
        return product((a, 1), (c.k, 2), (c.g, 1), (c.delta_s, -4))

    def _times_root(self, a: float) -> float:
        c = self.constants
        return product((a, 1), (c.k, 1), (c.D, 0.5), (c.delta_s, -2))


class TwoTermError(PrintedError):
    """The two-term repair: the printed gamma_hat and late bound, and B/s + v/sqrt(s) for s0 < s <= s1.

    B = M - sqrt(s0) v = (mu1 a4 - 24 a2 sqrt(L2/R)) k^2 g/delta_S^4. It holds if `Constants.gamma_holds`.
    """

    @cached_property
    def B(self) -> float:
        """B = (mu1 b4 + (mu1 - 1) a6) k^2 g/delta_S^4, a form without cancellation."""
        c = self.constants
        return self._times_u(c.mu1 * c.b4 + (c.mu1 - 1) * c.a6)

    def terms(self, s: float) -> dict[str, float]:
        """Return the bound as two terms, `middle` and `noise`, for s <= s1, and as one term, `late`, for larger s."""
        if s > self.constants.s1:
            return super().terms(s)
        return {"middle": self.B / s, "noise": self.v / math.sqrt(s)}

    def s2(self, h: float) -> float:
        """Return 4 V5^2/h^2 if it exceeds s1, else the root of 2 (B/s + v/sqrt(s)) = h, restricted to [s0, s1]."""
        c, late = self.constants, super().s2(h)
        return late if late > c.s1 else min(c.s1, max(c.s0, _root(self.B, self.v, h)))

    def wrong_supports(self, s2: float) -> dict[str, float]:
        """Return 8 int s (B/s + v/sqrt(s))^2 ds from s0 to e = min(s1, s2), and 8 V5^2 (s2 - s1)."""
        c = self.constants
        e = min(c.s1, s2)
        log, roots, length = _log_ratio(e, c.s0), _root_difference(e, c.s0), max(0.0, e - c.s0)
        parts = [(self.B, self.B, log), (4 * self.B, self.v, roots), (self.v, self.v, length)]
        return {
            "middle": 8 * sum(product((x, 1), (y, 1), (z, 1)) for x, y, z in parts if z),
            "late": 8 * product((self.V5, 2), (max(0.0, s2 - c.s1), 1)) if s2 > c.s1 else 0.0,
        }

    def squares(self, T: float) -> dict[str, float]:
        """Return 9 int (B/t + v/sqrt(t))^2 dt from s0 to e = min(s1, T), and 9 V5^2 ln(T/s1)."""
        c = self.constants
        e = min(c.s1, T)
        inverse, inverse_root = (
            max(0.0, e - c.s0) / e / c.s0,
            _root_difference(e, c.s0) / math.sqrt(e) / math.sqrt(c.s0),
        )
        parts = [(self.B, self.B, inverse), (4 * self.B, self.v, inverse_root), (self.v, self.v, _log_ratio(e, c.s0))]
        log = _log_ratio(T, c.s1)
        return {
            "middle": 9 * sum(product((x, 1), (y, 1), (z, 1)) for x, y, z in parts if z),
            "late": 9 * product((self.V5, 2), (log, 1)) if log else 0.0,
        }


class UnconditionalError(PrintedError):
    """The unconditional repair: one bound for all s > s0, without s1, and a gamma_hat of its own.

    W = c sqrt(s0) v,  N = (A + W)/(1 - c),  P = N - W:   |Delta_s(S)|_1 <= v/sqrt(s) + (P + W sqrt(ln(s/s0)))/s.
    """

    @cached_property
    def W(self) -> float:
        """W = 2 a2 a3 k^2 g/(sqrt(R) delta_S^4)."""
        c = self.constants
        return self._times_u(c.c * c.a6)

    @cached_property
    def N(self) -> float:
        """N = (b4 + c a6)/(1 - c) k^2 g/delta_S^4, at most the printed M."""
        c = self.constants
        return self._times_u((c.b4 + c.c * c.a6) / (1 - c.c))

    @cached_property
    def P(self) -> float:
        """P = N - W = (b4 + c^2 a6)/(1 - c) k^2 g/delta_S^4."""
        c = self.constants
        return self._times_u((c.b4 + c.c**2 * c.a6) / (1 - c.c))

    def Q(self, s: float) -> float:
        """Return 2 sqrt(s0) + 2 + N sqrt(sum_{s0+1}^{s-1} 1/tau^2) + v sqrt(sum_{s0+1}^{s-1} 1/tau)."""
        first, last = math.ceil(self.constants.s0) + 1, math.ceil(s - 1)
        known = self.N * math.sqrt(sum_inverse_square(first, last)) + self.v * math.sqrt(sum_inverse(first, last))
        return 2 * math.sqrt(self.constants.s0) + 2 + known

    def terms(self, s: float) -> dict[str, float]:
        """Return the two terms of the bound, `middle` and `noise`."""
        log = _log_ratio(s, self.constants.s0)
        return {"middle": (self.P + self.W * math.sqrt(log)) / s, "noise": self.v / math.sqrt(s)}

    def s2(self, h: float) -> float:
        """Return the root >= s0 of 2 v/sqrt(s) + 2 (P + W max(1, sqrt(ln(s/s0))))/s = h; the left side decreases."""
        s0 = self.constants.s0
        early = _root(self.N, self.v, h)
        if early <= math.e * s0:
            return max(s0, early)
        v, P, W = self.v / math.sqrt(s0), self.P / s0, self.W / s0

        def is_above(x: float) -> bool:
            """Return whether twice the bound is above h at ln(s/s0) = x."""
            return 2 * (v * math.exp(-x / 2) + (P + W * math.sqrt(x)) * math.exp(-x)) > h

        low, high = 1.0, 2.0
        while is_above(high):
            low, high = high, 2 * high
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if is_above(middle) else (low, middle)
        return product((s0, 1), (math.e, high))

    def wrong_supports(self, s2: float) -> dict[str, float]:
        """Return, with l = ln(s2/s0), 8 v^2 (s2 - s0) and
        8 [P^2 l + 4/3 P W l^1.5 + W^2 l^2/2 + 4 v (P + W sqrt(l)) (sqrt(s2) - sqrt(s0))]."""
        s0 = self.constants.s0
        if s2 <= s0:
            return {"middle": 0.0, "late": 0.0}
        log = _log_ratio(s2, s0)
        cross = self.P + self.W * math.sqrt(log)
        middle = (
            product((self.P, 2), (log, 1))
            + 4 / 3 * product((self.P, 1), (self.W, 1), (log, 1.5))
            + product((self.W, 2), (log, 2)) / 2
            + 4 * product((self.v, 1), (cross, 1), (_root_difference(s2, s0), 1))
        )
        return {"middle": 8 * middle, "late": 8 * product((self.v, 2), (s2 - s0, 1))}

    def squares(self, T: float) -> dict[str, float]:
        """Return 9 [N^2/s0 + 4 v (P + sqrt(2) W)/sqrt(s0)], and 9 v^2 ln(T/s0)."""
        s0, log = self.constants.s0, _log_ratio(T, self.constants.s0)
        cross = product((self.v, 1), (self.P + math.sqrt(2) * self.W, 1), (s0, -0.5))
        return {
            "middle": 9 * (product((self.N, 2), (s0, -1)) + 4 * cross),
            "late": 9 * product((self.v, 2), (log, 1)) if log else 0.0,
        }


def _root(B: float, v: float, h: float) -> float:
    """Return the s with 2 (B/s + v/sqrt(s)) = h."""
    return product((v + math.hypot(v, math.sqrt(2 * h) * math.sqrt(B)), 2), (h, -2))


def _log_ratio(a: float, b: float) -> float:
    """Return ln(a/b), at least 0, accurate even if a is close to b."""
    return (
        math.log1p((a - b) / b) if b < a < 2 * b else max(0.0, math.log(a) - math.log(b)) if a < math.inf else math.inf
    )


def _root_difference(a: float, b: float) -> float:
    """Return sqrt(a) - sqrt(b), at least 0, accurate even if a is close to b."""
    return max(0.0, a - b) / (math.sqrt(a) + math.sqrt(b)) if a < math.inf else math.inf
