"""The terms of the regret bounds: Theorem 1 (DS-OSLRC) and Theorem 2 (DS-POSLRC), by name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .fixed_constants import FixedConstants
from .size import log1p_of, product

__all__ = ["RegretTerms", "identified_after", "late_error", "middle_error", "oslr_terms", "poslr_terms"]


@dataclass(frozen=True)
class RegretTerms:
    """A regret bound taken apart.

    `parts` are the terms by name and sum to `total`. `hidden` are terms of the proof that the theorem leaves to its
    O(1) and that are in no sum (none where `corrected`: there they are parts). `failure` is the probability that the
    bound is given up (1 or more: nothing is promised). `applies` says whether T is long enough for the theorem,
    `T_needed` the T it must exceed (infinite where no T will do), and `why` says the same in a sentence.
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
        return math.fsum(self.parts.values()) if all(map(math.isfinite, self.parts.values())) else math.inf


def middle_error(c: FixedConstants) -> float:
    """M = mu1 a4 k^2 g/delta_S^4: for s0 < s <= s1 the error on the support is at most M/s."""
    return c.mu1 * product((c.a4, 1), (c.k, 2), (c.g, 1), (c.delta_s, -4))


def late_error(c: FixedConstants) -> float:
    """sqrt(X) = mu2 a5 k sqrt(D)/delta_S^2: for s > s1 the error on the support is at most sqrt(X/s)."""
    return product((c.mu2 * c.a5, 1), (c.k, 1), (c.D, 0.5), (c.delta_s, -2))


def identified_after(c: FixedConstants, w_min: float) -> float:
    """s2, from which on twice the error is below w_min: 4 X/w_min^2 as in Theorem 1 (with D of the pool for POSLR).

    Theorem 1 needs s2 > s1. Corrected (E29): where 4 X/w_min^2 <= s1 the bound M/s of the middle phase decides,
    s2 = 2 M/w_min, and never before s0, where the errors begin to be bounded at all.
    """
    s2 = 4 * product((late_error(c), 2), (w_min, -2))
    if c.corrected and s2 <= c.s1:
        return min(c.s1, max(c.s0, 2 * product((middle_error(c), 1), (w_min, -1))))
    return s2


def oslr_terms(c: FixedConstants, T: float, w_min: float) -> RegretTerms:
    """Theorem 1, with X = (mu2 a5)^2 k^2 D/delta_S^4, h = w_min and s2 = 4 X/h^2:

        exploration  4 sqrt(T)                                         the predictions of exploring rounds
        newton       2 k X/h^2 ln(4 (1+Y)^2 T + 1)                     a Newton step restarted up to s2 times
        middle       22 a4^2 k^4 g^2/delta_S^8 ln(R L1)                wrong supports from s0 to s1
        late         32 X^2/h^2 = 8 X s2                               wrong supports from s1 to s2

    hidden: `start` = 4 s0 (s0+1), wrong supports up to s0 (where s2 > s1 the 8 X s1 that `late` drops pays for it);
    `restarts` = 2 k s2, from |w|^2 eps/2 at each restart; `noise` = 2 sqrt(2 Reg3 ln(1/delta)), Reg3 the parts without
    `newton`. Failure: (T + sqrt(T)(6 + log_1.5((d+k)/(k-2))) + 1) delta.

    Corrected: what is hidden is a part (E28); `late` is 8 X (s2 - s1), and where s2 <= s1 it is 0 and `middle` ends at
    s2, so that T > (s2+1)^2 is all that is needed (E29); `newton` has s2 + 1 runs and 1/rho (E26), `noise` sigma (E27).
    """
    s2 = identified_after(c, w_min)
    parts, hidden = (_corrected_parts if c.corrected else _printed_parts)(c, T, s2)
    failure = (T + math.sqrt(T) * events(c) + 1) * c.delta
    T_needed = product((s2 + 1, 2)) if s2 > c.s1 or c.corrected else math.inf
    applies, why = _judge("Theorem 1", "(s2 + 1)^2", T, T_needed, failure)
    if T_needed == math.inf and s2 <= c.s1:
        why = f"Theorem 1 needs s2 > s1 and here s2 = {s2:.3g}, s1 = {c.s1:.3g}: no T is enough for w_min = {w_min:g}"
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def poslr_terms(c: FixedConstants, T: float) -> RegretTerms:
    """Theorem 2, every round an exploration, with X = (mu2 a5)^2 k^2 D/delta_S^4:

        start   48^2 k^2 g L2/delta_S^4 = 4 s0                         the rounds up to s0
        middle  2.7 a4^2 k^2 g/(64 delta_S^4 L2)                       from s0 to s1
        late    9 X ln(T/(s1 + 1))                                     from s1 to T; negative where T < s1 + 1

    hidden: `noise` = 2 sqrt(2 (their sum) ln(1/delta)). Failure: (T (6 + log_1.5((d+k)/(k-2))) + 1) delta. Corrected:
    the noise is a part, with sigma (E27, E28).
    """
    length = math.log(T) - math.log(c.s1 + 1)
    parts = {
        "start": 4 * c.s0,
        "middle": 2.7 / 64 * product((c.a4, 2), (c.k, 2), (c.g, 1), (c.delta_s, -4), (c.L2, -1)),
        "late": 9 * product((late_error(c), 2)) * length if length else 0.0,  # not inf * 0
    }
    hidden = {"noise": _noise(c, max(0.0, sum(parts.values())))}
    if c.corrected:
        parts, hidden = parts | hidden, {}
    failure = (T * events(c) + 1) * c.delta
    power, name = (1, "s1 + 1") if c.corrected else (2, "(s1 + 1)^2")
    T_needed = product((c.s1 + 1, power))
    applies, why = _judge("Theorem 2", name, T, T_needed, failure)
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def events(c: FixedConstants) -> float:
    """6 + log_1.5 of (d+k)/(k-2): how many times delta one exploration may cost."""
    n, m = c.pool if c.corrected else (c.d, c.k)
    return 6 + math.log((n + c.k) / (m - 2), 1.5)


def _printed_parts(c: FixedConstants, T: float, s2: float) -> tuple[dict[str, float], dict[str, float]]:
    parts = {
        "exploration": 4 * math.sqrt(T),
        "newton": s2 * c.k / 2 * _newton_log(c, T),
        "middle": _middle(c) * math.log(c.R * c.L1),
        "late": 8 * product((late_error(c), 2), (s2, 1)),
    }
    reg3 = parts["exploration"] + parts["middle"] + parts["late"]
    return parts, {"start": _start(c), "restarts": 2 * c.k * s2, "noise": _noise(c, reg3)}


def _corrected_parts(c: FixedConstants, T: float, s2: float) -> tuple[dict[str, float], dict[str, float]]:
    reg3 = {
        "exploration": 4 * math.sqrt(T),
        "start": _start(c),
        "middle": _middle(c) * (math.log(min(c.s1, s2)) - math.log(c.s0)),
        "late": 8 * product((late_error(c), 2), (max(0.0, s2 - c.s1), 1)),
    }
    newton = product((s2 + 1, 1), (c.k, 1), (1 + c.Y, 2)) * _newton_log(c, T)  # 1/(2 rho) = (1 + Y)^2
    rest = {"newton": newton, "restarts": 2 * c.k * (s2 + 1), "noise": _noise(c, sum(reg3.values()))}
    return reg3 | rest, {}


def _start(c: FixedConstants) -> float:
    return 4 * product((c.s0, 1), (c.s0 + 1, 1))


def _middle(c: FixedConstants) -> float:
    return 22 * product((c.a4, 2), (c.k, 4), (c.g, 2), (c.delta_s, -8))


def _newton_log(c: FixedConstants, T: float) -> float:
    """ln(4 (1+Y)^2 T + 1)."""
    return log1p_of(math.log(4) + 2 * math.log1p(c.Y) + math.log(T))


def _noise(c: FixedConstants, reg3: float) -> float:
    scale = c.sigma if c.corrected else 1.0
    return scale * 2 * math.sqrt(-2 * math.log(c.delta)) * math.sqrt(reg3) if scale else 0.0


def _judge(theorem: str, needed: str, T: float, T_needed: float, failure: float) -> tuple[bool, str]:
    """Whether T is enough, and the sentence that says so."""
    applies = T_needed < T
    verb = "applies" if applies else "does not apply"
    why = f"{theorem} {verb}: it needs T > {needed} = {T_needed:.3g} and T is {T:.3g}"
    if applies and failure >= 1:
        why += f", but it may fail with probability min(1, {failure:.3g}): a smaller delta is needed"
    return applies, why
