"""The same problem round after round: H and b grow by a small block, gamma moves a little."""

from typing import ClassVar

import numpy as np

from .._types import Floats, Ints
from ..state import Stateful
from .problem import Solution, check_gamma, gamma_max
from .reference import solve_highs

__all__ = ["Sequence"]


class Sequence(Stateful):
    """Raw sums H = sum h and b = sum v over s rounds, and the Dantzig selector on their means.

        min |w|_1   s.t.   |b/s - (H/s) w|_i <= gamma_i

    DS is scale free, so nothing is divided: the problem solved is (H, b, s gamma), and a round changes only the
    |B| x |B| entries it touched.

    >>> import numpy as np
    >>> seq = Sequence(3)
    >>> seq.update(np.array([0, 2]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -0.2]))
    >>> seq.solve(0.1).w.tolist()
    [0.4, 0.0, -0.1]
    """

    _fields: ClassVar[tuple[str, ...]] = ("s", "H", "b")

    def __init__(self, d: int) -> None:
        self.d = d
        self.s = 0
        self.H: Floats = np.zeros((d, d))
        self.b: Floats = np.zeros(d)

    def update(self, B: Ints, h: Floats, v: Floats) -> None:
        """H[B, B] += h, b[B] += v, s += 1; B has no repeated index."""
        self.H[np.ix_(B, B)] += h
        self.b[B] += v
        self.s += 1

    @property
    def gamma_max(self) -> float:
        """The smallest scalar gamma at which the solution is 0."""
        return gamma_max(self.b) / max(self.s, 1)

    def solve(self, gamma: float | Floats) -> Solution:
        """The solution at gamma (a number or one per attribute), with its certificate; nothing is raised."""
        return solve_highs(self.H, self.b, check_gamma(gamma, self.d) * max(self.s, 1))
