"""`Constants`: the paper's constants, the threshold gamma_hat(s) they give, and what they promise."""

import math
from dataclasses import dataclass

from .bounds import RegretTerms, identified_after, late_error, middle_error, oslr_terms, poslr_terms
from .checks import check_s, check_T, check_w_min
from .fixed_constants import FixedConstants
from .size import product
from .sums import sum_inverse, sum_inverse_square

__all__ = ["Constants"]


@dataclass(frozen=True)
class Constants(FixedConstants):
    """The paper's constants for d attributes, k bought per round, and k0 more after the label (`k0=None`: none).

    `sigma` is the standard deviation of the noise, `delta_s` the compatibility constant delta_S, `delta` the failure
    probability of one event. A k0 above d - k becomes d - k: everything is seen. The constants are attributes: `g`,
    `mu1`, `mu2`, `s0`, `s1`, `a1` to `a5`, and `Y`, `rho`, `eps` of the Newton step; s0 and s1 are not rounded.

    `corrected=True` replaces what is printed by what the proofs give, one by one:

    - E21: the noise part of the square-root term is 1.66 sigma, not 1.2 sigma (in gamma, a2, a4, a5, s2, the bounds);
    - E24: the first case of `error_bound` has 4 * 6.9 = 27.6 and 4 * 1.66 sigma, not 26 and 4.8 sigma;
    - E26: the regret of the Newton steps is multiplied by 1/rho = 2 (1 + Y)^2;
    - E27: the noise term is multiplied by sigma;
    - E28: what the O(1) of the theorems hides is among the terms;
    - E29: where 4 X/w_min^2 <= s1 the support is known from s2 = 2 M/w_min on, and Theorem 1 needs T > (s2 + 1)^2 only;
    - E33: DS-POSLRC needs T > s1 + 1, not T > (s1 + 1)^2, and its failure probability has (d'+k)/(k0-2), d' = d - k,
      in the logarithm, not (d+k)/(k-2).

    E20 (five versions of that logarithm) changes nothing: the theorem itself prints the safe one, (d+k)/(k-2).

    >>> c = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)
    >>> f"{c.g:.1f} {c.s0:.1e} {c.s1:.1e} {c.s2(1 / 5):.1e} {c.gamma(100):.0f}"
    '28.5 4.3e+06 2.0e+08 2.6e+08 16'
    """

    def nu(self, s: float) -> float:
        """nu_s = sqrt(3 g L1)/s Q(s), one formula for the paper's five cases (below its equation (hat_gamma_s)):

            Q(s) = 2 sqrt(s)                                                          for s <= s0, else
            Q(s) = 2 sqrt(s0) + 2 + mu1 a4 k^2 g/delta_S^4 sqrt(sum_{tau=s0+1}^{min(s-1, s1)} 1/tau^2)
                                  + mu2 a5 k sqrt(D)/delta_S^2 sqrt(sum_{tau=s1+1}^{s-1} 1/tau),

        where the limits of the sums, and nothing else, are rounded up, and empty sums are 0.
        """
        check_s(s)
        return math.sqrt(3 * self.g * self.L1) / s * self._Q(s)

    def gamma(self, s: float) -> float:
        """gamma_hat(s) = (8/3 + 2 sigma) g L1/s + (6.9 + 1.2 sigma) sqrt(D L1/s) + nu_s, equation (hat_gamma_s)."""
        first = (8 / 3 + 2 * self.sigma) * self.g * self.L1
        return self.nu(s) + first / s + self.root * math.sqrt(self.D * self.L1 / s)

    def error_bound(self, s: float) -> float:
        """A bound on |w_hat_s - w*|_1 over the true support (the paper's lemma "Estimation Error"):

        (16+8 sigma) k g L1/(delta_S^2 s) + (26+4.8 sigma) k sqrt(D L1/s)/delta_S^2 + 22 k sqrt(g L1/s)/delta_S^2
                                                 for s <= s0,
        mu1 a4 k^2 g/(delta_S^4 s)               for s0 < s <= s1,
        mu2 a5 k sqrt(D/s)/delta_S^2             for s1 < s.
        """
        return sum(self.error_terms(s).values())

    def s2(self, w_min: float) -> float:
        """s2 = 4 (mu2 a5)^2 k^2 D/(delta_S^4 w_min^2): from here on the support is known (`w_min` = min |w*_i|)."""
        return identified_after(self, check_w_min(w_min))

    def regret_bound(self, T: float, w_min: float | None = None) -> float:
        """The printed terms of Theorem 1 (k0 given: Theorem 2, which needs no `w_min`) for T rounds, without the O(1).

        The number is returned also where the theorem does not apply; below T = s1 + 1 that of Theorem 2 may even be
        negative. `regret_terms` says whether it applies, and why not.
        """
        return self.regret_terms(T, w_min).total

    def regret_terms(self, T: float, w_min: float | None = None) -> RegretTerms:
        """The parts of `regret_bound` by name, what the O(1) hides, and whether the theorem applies."""
        check_T(T)
        return oslr_terms(self, T, check_w_min(w_min)) if self.k0 is None else poslr_terms(self, T)

    def error_terms(self, s: float) -> dict[str, float]:
        """The parts of `error_bound` by name: `count`, `noise` and `guess` up to s0, then `middle`, then `late`."""
        check_s(s)
        if s > self.s1:
            return {"late": late_error(self) / math.sqrt(s)}
        if s > self.s0:
            return {"middle": middle_error(self) / s}
        root = 4 * self.root if self.corrected else 26 + 4.8 * self.sigma
        front = product((self.k, 1), (self.delta_s, -2))
        return {
            "count": front * (16 + 8 * self.sigma) * self.g * self.L1 / s,
            "noise": front * root * math.sqrt(self.D * self.L1 / s),
            "guess": front * 22 * math.sqrt(self.g * self.L1 / s),
        }

    def _Q(self, s: float) -> float:
        if s <= self.s0:
            return 2 * math.sqrt(s)
        s0, s1, last = math.ceil(self.s0), math.ceil(self.s1), math.ceil(s - 1)
        middle = middle_error(self) * math.sqrt(sum_inverse_square(s0 + 1, min(last, s1)))
        late = late_error(self) * math.sqrt(sum_inverse(s1 + 1, last))
        return 2 * math.sqrt(self.s0) + 2 + middle + late
