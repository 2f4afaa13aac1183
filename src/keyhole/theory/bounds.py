"""The terms of the regret bounds: Theorem 1 (DS-OSLRC) and Theorem 2 (DS-POSLRC), by name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .letters import Letters

__all__ = ["RegretTerms", "identified_after", "oslr_terms", "poslr_terms"]


@dataclass(frozen=True)
class RegretTerms:
    """A regret bound taken apart.

    `parts` are the printed terms by name and sum to `total`. `hidden` are terms of the proof that the theorem leaves to
    its O(1); they are in no sum. `failure` is the probability that the bound is given up (1 or more: nothing is
    promised). `applies` says whether T is long enough for the theorem, `T_needed` the T it must exceed (infinite where
    no T will do), and `why` says the same in a sentence.
    """

    parts: Mapping[str, float]
    hidden: Mapping[str, float]
    failure: float
    applies: bool
    T_needed: float
    why: str

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return math.fsum(self.parts.values())


def identified_after(c: Letters, w_min: float) -> float:
    """s2 = 4 (mu2 a5)^2 k^2 D/(delta_S^4 w_min^2), as in Theorem 1 (with D of the pool for POSLR)."""
    return 4 * _late_rate(c) / w_min**2


def oslr_terms(c: Letters, T: float, w_min: float) -> RegretTerms:
    """Theorem 1, with X = (mu2 a5)^2 k^2 D/delta_S^4, h = w_min and s2 = 4 X/h^2:

        exploration  4 sqrt(T)                                         the predictions of exploring rounds
        newton       2 k X/h^2 ln(4 (1+Y)^2 T + 1)                     a Newton step restarted up to s2 times
        middle       22 a4^2 k^4 g^2/delta_S^8 ln(R L1)                wrong supports from s0 to s1
        late         32 X^2/h^2                                        wrong supports from s1 to s2

    hidden: `start` = 4 s0 (s0+1), wrong supports up to s0 (where s2 > s1 the 8 X s1 that `late` drops pays for it);
    `restarts` = 2 k s2, from |w|^2 eps/2 at each restart; `noise` = 2 sqrt(2 Reg3 ln(1/delta)), Reg3 the parts without
    `newton`. Failure: (T + sqrt(T)(6 + log_1.5((d+k)/(k-2))) + 1) delta.
    """
    X, s2 = _late_rate(c), identified_after(c, w_min)
    parts = {
        "exploration": 4 * math.sqrt(T),
        "newton": s2 * c.k / 2 * math.log(4 * (1 + c.Y) ** 2 * T + 1) / (c.rho if c.corrected else 1.0),
        "middle": 22 * c.a4**2 * c.k**4 * c.g**2 / c.delta_s**8 * math.log(c.R * c.L1),
        "late": 32 * X**2 / w_min**2,
    }
    reg3 = parts["exploration"] + parts["middle"] + parts["late"]
    hidden = {"start": 4 * c.s0 * (c.s0 + 1), "restarts": 2 * c.k * s2, "noise": _noise(c, reg3)}
    failure = (T + math.sqrt(T) * _events(c) + 1) * c.delta
    T_needed = (s2 + 1) ** 2 if s2 > c.s1 else math.inf
    applies, why = _judge("Theorem 1", "(s2 + 1)^2", T, T_needed, failure)
    if s2 <= c.s1:
        why = f"Theorem 1 needs s2 > s1 and here s2 = {s2:.3g}, s1 = {c.s1:.3g}: no T is enough for w_min = {w_min:g}"
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def poslr_terms(c: Letters, T: float) -> RegretTerms:
    """Theorem 2, every round an exploration, with X = (mu2 a5)^2 k^2 D/delta_S^4:

        start   48^2 k^2 g L2/delta_S^4 = 4 s0                         the rounds up to s0
        middle  2.7 a4^2 k^2 g/(64 delta_S^4 L2)                       from s0 to s1
        late    9 X ln(T/(s1 + 1))                                     from s1 to T; negative where T < s1 + 1

    hidden: `noise` = 2 sqrt(2 (their sum) ln(1/delta)). Failure: (T (6 + log_1.5((d+k)/(k-2))) + 1) delta.
    """
    parts = {
        "start": 4 * c.s0,
        "middle": 2.7 * c.a4**2 * c.k**2 * c.g / (64 * c.delta_s**4 * c.L2),
        "late": 9 * _late_rate(c) * (math.log(T) - math.log(c.s1 + 1)),
    }
    hidden = {"noise": _noise(c, max(0.0, sum(parts.values())))}
    failure = (T * _events(c) + 1) * c.delta
    power, name = (1, "s1 + 1") if c.corrected else (2, "(s1 + 1)^2")
    T_needed = (c.s1 + 1) ** power
    applies, why = _judge("Theorem 2", name, T, T_needed, failure)
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def _late_rate(c: Letters) -> float:
    """X = (mu2 a5)^2 k^2 D/delta_S^4: for s > s1 the squared error is at most X/s."""
    return (c.mu2 * c.a5 * c.k) ** 2 * c.D / c.delta_s**4


def _noise(c: Letters, reg3: float) -> float:
    return (c.sigma if c.corrected else 1.0) * 2 * math.sqrt(-2 * reg3 * math.log(c.delta))


def _events(c: Letters) -> float:
    """6 + log_1.5 of (d+k)/(k-2): how many times delta one exploration may cost."""
    n, m = c.pool if c.corrected else (c.d, c.k)
    return 6 + math.log((n + c.k) / (m - 2), 1.5)


def _judge(theorem: str, needed: str, T: float, T_needed: float, failure: float) -> tuple[bool, str]:
    """Whether T is enough, and the sentence that says so."""
    applies = T_needed < T
    verb = "applies" if applies else "does not apply"
    why = f"{theorem} {verb}: it needs T > {needed} = {T_needed:.3g} and T is {T:.3g}"
    if applies and failure >= 1:
        why += f", but it may fail with probability min(1, {failure:.3g}): a smaller delta is needed"
    return applies, why
