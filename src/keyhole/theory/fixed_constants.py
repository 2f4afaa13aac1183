"""The letters of the paper: every constant of DS-OSLRC and DS-POSLRC that depends on neither s nor T.

n attributes to draw from and m drawn of them, (d, k) for OSLR and (d - k, k0) for POSLR;

    D = (n-1)/(m-1),  R = (n-2)/(m-2),  g = D R,  L1 = ln(d/delta),  L2 = ln(d^2/delta),

with d and k themselves (not n, m) in L1, L2 and wherever k stands alone. The paper's equations are
(s0-s1_DS-OSLRC), (a1-a5_DS-OSLRC) and, for POSLR, (a1-a5_DS-POSLRC).
"""

import math
from dataclasses import dataclass
from functools import cached_property

from .checks import check_arguments
from .size import product

__all__ = ["FixedConstants"]


@dataclass(frozen=True)
class FixedConstants:
    """Checked arguments, and the constants that follow from them. `Constants` says what the arguments mean."""

    d: int
    k: int
    sigma: float
    delta_s: float
    delta: float
    k0: int | None = None
    corrected: bool = False

    def __post_init__(self) -> None:
        check_arguments(self.d, self.k, self.sigma, self.delta_s, self.delta, self.k0)
        if self.k0 is not None:
            object.__setattr__(self, "k0", min(self.k0, self.d - self.k))

    @cached_property
    def pool(self) -> tuple[int, int]:
        """(n, m): how many attributes are drawn from, and how many are drawn."""
        return (self.d, self.k) if self.k0 is None else (self.d - self.k, self.k0)

    @cached_property
    def D(self) -> float:
        """(n-1)/(m-1), at least 1/P[i seen]."""
        n, m = self.pool
        return (n - 1) / (m - 1)

    @cached_property
    def R(self) -> float:
        """(n-2)/(m-2)."""
        n, m = self.pool
        return (n - 2) / (m - 2)

    @cached_property
    def g(self) -> float:
        """g = (n-1)(n-2)/((m-1)(m-2)), at least 1/P[i and j seen]."""
        return self.D * self.R

    @cached_property
    def L1(self) -> float:
        """ln(d/delta)."""
        return math.log(self.d) - math.log(self.delta)

    @cached_property
    def L2(self) -> float:
        """ln(d^2/delta)."""
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
        """s0 = 24^2 k^2 g L2/delta_S^4: explorations before the estimate is better than nothing."""
        return 576 * product((self.k, 2), (self.g, 1), (self.L2, 1), (self.delta_s, -4))

    @cached_property
    def s1(self) -> float:
        """s1 = s0 R L1: explorations before the error falls as 1/sqrt(s)."""
        return self.s0 * self.R * self.L1

    @cached_property
    def root(self) -> float:
        """6.9 + 1.2 sigma, the factor of the square-root term (corrected: 6.9 + 1.66 sigma)."""
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
    def a4(self) -> float:
        """a4 = delta_S^2 a1/k + 24 a2 sqrt(L2/R) + 4 a3 (24 sqrt(L2) + delta_S^2/(k sqrt g))."""
        c = self.delta_s**2 / self.k
        last = 24 * math.sqrt(self.L2) + c / math.sqrt(self.g)
        return c * self.a1 + 24 * self.a2 * math.sqrt(self.L2 / self.R) + 4 * self.a3 * last

    @cached_property
    def a5(self) -> float:
        """a5 = mu1 (delta_S^2 (8+4 sigma)/(9k) + 32/sqrt 3 + 4 sqrt 3 delta_S^2/(9k sqrt(g L2)))
        + a2 + (mu1 - 1) a2/sqrt(R L2), where mu1 - 1 = 2 sqrt 3/(9 - 2 sqrt 3)."""
        c, r3 = self.delta_s**2 / (9 * self.k), math.sqrt(3)
        bracket = c * (8 + 4 * self.sigma) + 32 / r3 + 4 * r3 * c / math.sqrt(self.g * self.L2)
        return self.mu1 * bracket + self.a2 + 2 * r3 / (9 - 2 * r3) * self.a2 / math.sqrt(self.R * self.L2)

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
        """eps = k, the Newton step's first matrix is eps I."""
        return float(self.k)
