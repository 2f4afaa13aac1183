"""The terms of the regret bounds, by name: Theorem 1 (DS-OSLRC) and Theorem 2 (DS-POSLRC)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from .arithmetic import log1p_of, product, total

if TYPE_CHECKING:
    from .constants import Constants

__all__ = ["RegretTerms", "oslr_terms", "poslr_terms"]


@dataclass(frozen=True)
class RegretTerms:
    """The terms of a regret bound, and whether the theorem applies.

    `parts` are the terms by name; their sum is `total`. `hidden` are terms of the proof that the theorem hides in its
    O(1) and that enter no sum (empty if `corrected`: then they are parts). `failure` is the probability that the bound
    does not hold (1 or more: nothing is promised). `applies` says whether T is large enough for the theorem, `T_needed`
    is the T that must be exceeded (infinite if no T suffices), and `why` explains this in a sentence.
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
        return total(list(self.parts.values()))


def oslr_terms(c: "Constants", T: float, w_min: float) -> RegretTerms:
    """Return the terms of Theorem 1, with X = V5^2 = (mu2 a5)^2 k^2 D/delta_S^4, h = w_min and s2 = 4 X/h^2:

        exploration  4 sqrt(T)                            the rounds 1, 4, 9, ...
        newton       s2 k/2 ln(4 (1+Y)^2 T + 1)           the Newton steps, restarted at most s2 times
        middle       22 a4^2 k^4 g^2/delta_S^8 ln(R L1)   wrong supports from s0 to s1
        late         2 (2 mu2 a5)^4 k^4 D^2/(delta_S^8 h^2) = 8 X s2      wrong supports from s1 to s2

    hidden: `start` = 4 s0 (s0+1), wrong supports up to s0 (if s2 > s1, compensated by the 8 X s1 that `late` omits);
    `restarts` = 2 k s2, from |w|^2 eps/2 at each restart; `noise` = 2 sqrt(2 Reg3 ln(1/delta)), Reg3 the parts without
    `newton`. Failure: (T + sqrt(T)(6 + log_1.5((d+k)/(k-2))) + 1) delta.

    Corrected: the hidden terms are parts (E28), with s0 rounded up in `start`; `middle` and `late` are the sums over
    the repaired lemma (E35), `late` is 0 if s2 <= s1, and only T > (s2+1)^2 is needed (E29); `newton` is
    k (1+Y)^2 (s2 ln(1 + 2 (s2+1)^2/k) + ln(1 + 2 T/k)) (E26), and `noise` has the factor sigma (E27).
    """
    s2 = c.error.s2(w_min)
    parts, hidden = (_corrected_parts if c.corrected else _printed_parts)(c, T, s2)
    failure = (T + math.sqrt(T) * c.events + 1) * c.delta
    T_needed = product((s2 + 1, 2)) if s2 > c.s1 or c.corrected else math.inf
    applies, why = _judge(c, "Theorem 1", "(s2 + 1)^2", T, T_needed, failure)
    if T_needed == math.inf and s2 <= c.s1:
        why = f"Theorem 1 needs s2 > s1 and here s2 = {s2:.3g}, s1 = {c.s1:.3g}: no T is enough for w_min = {w_min:g}"
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def poslr_terms(c: "Constants", T: float) -> RegretTerms:
    """Return the terms of Theorem 2, where every round explores, with X = (mu2 a5)^2 k^2 D/delta_S^4:

        start   48^2 k^2 g L2/delta_S^4 = 4 s0                         the rounds up to s0
        middle  2.7 a4^2 k^2 g/(64 delta_S^4 L2)                       from s0 to s1
        late    9 X ln(T/(s1 + 1))                                     from s1 to T; negative if T < s1 + 1

    hidden: `noise` = 2 sqrt(2 (their sum) ln(1/delta)). Failure: (T (6 + log_1.5((d+k)/(k-2))) + 1) delta.

    Corrected: the noise is a part, with the factor sigma (E27, E28); `start` is 4 (s0 + 2) (E43); `middle` and `late`
    are the sums over the repaired lemma, up to T (E35), so that only T > s0 is needed.
    """
    parts = {"start": 4 * (c.s0 + 2) if c.corrected else 4 * c.s0} | c.error.squares(T)
    hidden = {"noise": _noise(c, max(0.0, sum(parts.values())))}
    if c.corrected:
        parts, hidden = parts | hidden, {}
    failure = (T * c.events + 1) * c.delta
    T_needed, name = (c.s0, "s0") if c.corrected else (product((c.s1 + 1, 2)), "(s1 + 1)^2")
    applies, why = _judge(c, "Theorem 2", name, T, T_needed, failure)
    return RegretTerms(MappingProxyType(parts), MappingProxyType(hidden), failure, applies, T_needed, why)


def _printed_parts(c: "Constants", T: float, s2: float) -> tuple[dict[str, float], dict[str, float]]:
    newton = s2 * c.k / 2 * log1p_of(math.log(4) + 2 * math.log1p(c.Y) + math.log(T))
    parts = {"exploration": 4 * math.sqrt(T), "newton": newton} | c.error.wrong_supports(s2)
    reg3 = parts["exploration"] + parts["middle"] + parts["late"]
    start = 4 * product((c.s0, 1), (c.s0 + 1, 1))
    return parts, {"start": start, "restarts": 2 * c.k * s2, "noise": _noise(c, reg3)}


def _corrected_parts(c: "Constants", T: float, s2: float) -> tuple[dict[str, float], dict[str, float]]:
    n0 = math.ceil(c.s0)
    reg3 = {"exploration": 4 * math.sqrt(T), "start": 4 * product((n0, 1), (n0 + 1, 1))} | c.error.wrong_supports(s2)
    # Of the s2 + 1 runs of Newton steps, all but the last end before round (s2 + 1)^2; 1/(2 rho) = (1 + Y)^2.
    early = log1p_of(math.log(2 / c.k) + min(2 * math.log(s2 + 1), math.log(T)))
    late = log1p_of(math.log(2 / c.k) + math.log(T))
    newton = product((c.k, 1), (1 + c.Y, 2), (s2 * early + late, 1))
    rest = {"newton": newton, "restarts": 2 * c.k * (s2 + 1), "noise": _noise(c, sum(reg3.values()))}
    return reg3 | rest, {}


def _noise(c: "Constants", reg3: float) -> float:
    scale = c.sigma if c.corrected else 1.0
    return scale * 2 * math.sqrt(-2 * math.log(c.delta)) * math.sqrt(reg3) if scale else 0.0


def _judge(c: "Constants", theorem: str, needed: str, T: float, T_needed: float, failure: float) -> tuple[bool, str]:
    """Return whether T is large enough for the theorem, and a sentence that explains why."""
    applies = T_needed < T
    verb = "applies" if applies else "does not apply"
    why = f"{theorem} {verb}: it needs T > {needed} = {T_needed:.3g} and T is {T:.3g}"
    if applies and failure >= 1:
        why += f", but it may fail with probability min(1, {failure:.3g}): a smaller delta is needed"
    if c.corrected and not c.gamma_holds:
        why += (
            f"; the printed gamma is not known to be large enough here (condition (C) of E35: {c.gamma_condition:.3g} "
            "exceeds 1), so gamma and the bound are those of the unconditional repair"
        )
    return applies, why
