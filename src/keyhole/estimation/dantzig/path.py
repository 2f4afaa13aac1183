"""The solution path: DS(gamma) for all scalar gamma, as a polyline.

V(gamma) = min |w|_1 is convex and piecewise linear, and a dual solution l at any gamma gives a supporting line that
touches it there: V(gamma) >= b'l - gamma |l|_1. Two neighbouring lines either cross at a breakpoint or there is another
line above the crossing, which a solve at the crossing finds (Eisner and Severance 1976). Between two breakpoints the
segment from one solution to the next is optimal, because its objective is V and the constraints are convex.
"""

from dataclasses import dataclass

import numpy as np

from ..._internal.typing import Floats
from ...errors import ConfigError
from .gram_storage import Dense
from .highs import fallback, least_gamma
from .problem import Solution, check, gamma_max
from .simplex import Simplex

__all__ = ["Path", "path"]

# Two lines whose relative distance at a crossing is below this are considered equal; the crossing is a breakpoint.
_SAME = 1e-9


@dataclass(frozen=True)
class Path:
    """The solution path: breakpoints `gammas` from gamma_max down, with the solution and its objective at each."""

    gammas: Floats
    weights: Floats
    objectives: Floats

    def at(self, gamma: float) -> Floats:
        """Return the solution at any gamma >= the last breakpoint: 0 above gamma_max, else a point on a segment."""
        if gamma < self.gammas[-1]:
            raise ConfigError(f"the path ends at gamma = {self.gammas[-1]:.6g}; {gamma:.6g} is below it")
        i = int(np.searchsorted(-self.gammas, -gamma))
        if i == 0:
            return np.zeros(self.weights.shape[1])
        high, low = self.gammas[i - 1], self.gammas[i]
        t = (high - gamma) / (high - low)
        return np.asarray((1.0 - t) * self.weights[i - 1] + t * self.weights[i])


@dataclass(frozen=True)
class _Touch:
    """The solution at gamma, and the supporting line a - s gamma of V there."""

    gamma: float
    w: Floats
    objective: float
    a: float
    s: float


class _Tracer:
    """Warm-started solves of one (H, b) at a sequence of gamma."""

    def __init__(self, H: Floats, b: Floats) -> None:
        self.b = b
        self._rows = Dense(H, symmetric=np.array_equal(H, H.T))
        self._engine = Simplex(b.size)

    def solve(self, gamma: float) -> Solution:
        self._engine.Gamma[:] = gamma
        sol = self._engine.solve(self._rows, self.b)
        if sol.status != "failed":
            return sol
        return fallback(self._rows, self.b, self._engine.Gamma, self._engine.preference)

    def touch(self, gamma: float, sol: Solution) -> _Touch:
        return _Touch(gamma, sol.w, sol.objective, float(self.b @ sol.dual), float(np.abs(sol.dual).sum()))

    def between(self, low: _Touch, high: _Touch) -> list[_Touch]:
        """Return the breakpoints strictly between two supporting lines, in order of decreasing gamma."""
        found: list[_Touch] = []
        open_ = [(low, high)]
        while open_:
            low, high = open_.pop()
            if low.s - high.s <= _SAME * low.s:
                continue
            crossing = (low.a - high.a) / (low.s - high.s)
            if not low.gamma < crossing < high.gamma:
                continue
            middle = self.touch(crossing, self.solve(crossing))
            above = middle.objective - (low.a - crossing * low.s)
            if above <= _SAME * max(middle.objective, abs(low.a), 1e-300):
                found.append(middle)
            else:
                # The part at the higher gamma is popped first, so that the path grows downwards.
                open_ += [(low, middle), (middle, high)]
        return found


def path(H: Floats, b: Floats, gamma_min: float = 0.0) -> Path:
    """Return all breakpoints of DS(gamma) from gamma_max = |b|_inf to `gamma_min`, or to the infeasible region.

    >>> import numpy as np
    >>> p = path(np.eye(2), np.array([1.0, -0.25]))
    >>> p.gammas.tolist(), p.weights.tolist(), p.at(0.5).tolist()
    ([1.0, 0.25, 0.0], [[0.0, 0.0], [0.75, 0.0], [1.0, -0.25]], [0.5, 0.0])
    """
    H, b, lowest = check(H, b, gamma_min)
    top, trace = gamma_max(b), _Tracer(H, b)
    start = _Touch(top, np.zeros(b.size), 0.0, 0.0, 0.0)
    if b.size == 0 or gamma_min >= top:
        return Path(np.array([top]), np.zeros((1, b.size)), np.zeros(1))
    end = _last(trace, H, float(lowest[0]))
    points = [start, *trace.between(end, start), end]
    return Path(
        np.array([p.gamma for p in points]),
        np.array([p.w for p in points]),
        np.array([p.objective for p in points]),
    )


def _last(trace: _Tracer, H: Floats, gamma: float) -> _Touch:
    """Return the solution at gamma, or at the smallest feasible value above gamma if gamma is infeasible."""
    sol = trace.solve(gamma)
    if sol.status != "optimal":
        least, more = least_gamma(H, trace.b), 1e-12
        while sol.status != "optimal" and more < 1.0:
            gamma, more = least * (1.0 + more), 10.0 * more
            sol = trace.solve(gamma)
    return trace.touch(gamma, sol)
