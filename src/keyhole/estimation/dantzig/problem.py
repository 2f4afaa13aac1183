"""The problem DS(gamma), its solution, and the certificate that says the solution is one.

primal:  min |w|_1           s.t.  |b - H w|_i <= gamma_i   for every i
dual:    max b'l - gamma'|l|  s.t.  |H'l|_inf <= 1
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._internal.formatting import Facts, Shown, short
from ..._internal.typing import Floats
from ...errors import ConfigError

__all__ = [
    "ROW",
    "TOLERANCE",
    "Scaled",
    "Solution",
    "certify",
    "check",
    "check_gamma",
    "equilibrate",
    "gamma_max",
    "judge",
    "kept",
    "middle",
    "no_solution",
]

TOLERANCE = 1e-9
"""What a certificate may be off by."""
ROW = 1e-7
"""The same for each row by itself, where cancellation takes more digits."""
# What rounding leaves of terms that cancel.
_ROUNDING = 1e-12
# The same in a sum that was computed once, from numbers that are exact.
_LAST_BITS = 1e-15


@dataclass(frozen=True, repr=False)
class Solution(Shown):
    """A point, its dual, and how far the pair is from optimal.

    `status` is "optimal", "infeasible" or "failed"; unless it is "optimal", `w` and `dual` are NaN. It is "optimal"
    only where `primal_residual`, `dual_residual` and `gap` are all at most `TOLERANCE`, 1e-9.
    `path` names the route that found it ("zero", "warm", "cold", "reseeded", "equilibrated", "generation", "highs") and
    `pivots` how many basis changes that took.
    """

    w: Floats
    dual: Floats
    objective: float
    primal_residual: float
    dual_residual: float
    gap: float
    status: str
    path: str
    pivots: int = 0

    @property
    def certified(self) -> bool:
        """Whether the pair is optimal within the tolerance; a NaN is not."""
        return self.primal_residual <= TOLERANCE and self.dual_residual <= TOLERANCE and self.gap <= TOLERANCE

    def _facts(self) -> Facts:
        sizes = [("objective", short(self.objective)), ("non-zero", f"{np.count_nonzero(self.w)} of {self.w.size}")]
        proof = f"{max(self.primal_residual, self.dual_residual, self.gap):.1e}"
        found = [*sizes, ("certificate", proof)] if self.status == "optimal" else []
        return [("solution", self.status), *found, ("by", f"{self.path}, {self.pivots} pivots")]


def check(H: Floats, b: Floats, gamma: float | Floats) -> tuple[Floats, Floats, Floats]:
    """H, b and gamma as float arrays of matching shapes, gamma as a vector; a `ConfigError` where they do not fit."""
    H, b = np.ascontiguousarray(H, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    d = b.size
    if b.ndim != 1 or H.shape != (d, d):
        raise ConfigError(f"H must be square and b its length: H is {H.shape}, b is {b.shape}")
    if not (np.isfinite(H).all() and np.isfinite(b).all()):
        raise ConfigError("H and b must be finite; look for NaN or infinity in the data")
    return H, b, check_gamma(gamma, d)


def check_gamma(gamma: float | Floats, d: int) -> Floats:
    """gamma as a vector of length d; it may be infinite (no constraint) but neither negative nor NaN."""
    Gamma = np.asarray(gamma, dtype=np.float64)
    if Gamma.ndim > 0 and Gamma.shape != (d,):
        raise ConfigError(f"gamma must be a number or have length {d}, not shape {Gamma.shape}")
    if not (Gamma >= 0).all():
        raise ConfigError("gamma must be >= 0 and not NaN")
    return np.array(np.broadcast_to(Gamma, (d,)))


def gamma_max(b: Floats) -> float:
    """The smallest scalar gamma at which w = 0 is optimal: |b|_inf (0 for an empty b)."""
    return float(np.abs(b).max(initial=0.0))


def certify(H: Floats, b: Floats, gamma: Floats, w: Floats, dual: Floats, path: str, pivots: int = 0) -> Solution:
    """The solution (w, dual) with its residuals, computed from H itself."""
    terms = np.abs(H) @ np.abs(w), np.abs(dual) @ np.abs(H)
    return judge(b, gamma, w, dual, b - H @ w, dual @ H, terms, path, pivots)


def judge(
    b: Floats,
    gamma: Floats,
    w: Floats,
    dual: Floats,
    r: Floats,
    y: Floats,
    terms: tuple[Floats, Floats],
    path: str,
    pivots: int = 0,
) -> Solution:
    """The same where r = b - H w, y = H'l and terms = |H| |w|, |H|'|l| are known; a pair not optimal is "failed".

    Where columns differ in size, the terms of y cancel by many digits: what rounding may leave of them, up to 1e-7, is
    no violation. A dual scaled down by as much is feasible, so that the objective is still proved to 1e-7.
    """
    objective = float(np.abs(w).sum())
    on = dual != 0.0
    bound = float(b[on] @ dual[on] - gamma[on] @ np.abs(dual[on]))
    sol = Solution(
        w=w,
        dual=dual,
        objective=objective,
        primal_residual=float((np.abs(r) - gamma).max(initial=0.0)) / max(1.0, gamma_max(b)),
        dual_residual=float((np.abs(y) - 1.0 - np.minimum(_LAST_BITS * terms[1], ROW)).max(initial=0.0)),
        gap=abs(objective - bound) / max(1.0, objective),
        status="optimal",
        path=path,
        pivots=pivots,
    )
    return sol if sol.certified and kept(b, gamma, r, terms[0]) else replace(sol, status="failed")


def kept(b: Floats, gamma: Floats, r: Floats, terms: Floats) -> bool:
    """Whether every constraint is met in its own units: where rows differ in size, those of |b|_inf hide small ones."""
    allowed = ROW * (np.abs(b) + gamma + np.abs(b - r)) + _ROUNDING * terms
    return bool((np.abs(r) - gamma <= allowed).all())


def no_solution(d: int, status: str, path: str, pivots: int = 0) -> Solution:
    """What is returned where there is no point to return."""
    nothing = np.full(d, np.nan)
    objective = np.inf if status == "infeasible" else np.nan
    return Solution(nothing, nothing, objective, np.nan, np.nan, np.nan, status, path, pivots)


_SWEEPS = 12


class Scaled(NamedTuple):
    """R H C and the diagonals R and C."""

    H: Floats
    R: Floats
    C: Floats


def equilibrate(H: Floats) -> Scaled:
    """Divide rows and columns by the roots of their largest entries, again and again; symmetric H stays symmetric.

    >>> scaled = equilibrate(np.array([[4.0, 0.0], [0.0, 1e-6]]))
    >>> scaled.H.tolist(), scaled.C.tolist()
    ([[1.0, 0.0], [0.0, 1.048576]], [0.5, 1024.0])
    """
    size = np.abs(H)
    rows, columns = np.zeros(len(H)), np.zeros(H.shape[1])  # logarithms of R and C
    for _ in range(_SWEEPS):
        now = size * np.exp2(rows)[:, None] * np.exp2(columns)
        rows -= _half_log(now.max(axis=1, initial=0.0))
        columns -= _half_log(now.max(axis=0, initial=0.0))
    R, C = np.exp2(np.round(rows)), np.exp2(np.round(columns))
    return Scaled(R[:, None] * H * C, R, C)


def middle(C: Floats) -> float:
    """The geometric mean of the smallest and the largest factor; 1 where there is none."""
    return float(np.sqrt(C.min() * C.max())) if C.size else 1.0


def _half_log(top: Floats) -> Floats:
    """log2(top) / 2; 0 for an empty row."""
    return np.where(top > 0.0, 0.5 * np.log2(np.where(top > 0.0, top, 1.0)), 0.0)
