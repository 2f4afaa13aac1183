"""The problem DS(gamma), its solution, and the certificate of optimality.

primal:  min |w|_1           s.t.  |b - H w|_i <= gamma_i   for every i
dual:    max b'l - gamma'|l|  s.t.  |H'l|_inf <= 1
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._internal.formatting import Facts, ReprMixin, short
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
"""The tolerance of a certificate."""
ROW = 1e-7
"""The tolerance of a single row, where cancellation loses more digits."""
# Relative rounding error of sums whose terms cancel.
_ROUNDING = 1e-12
# Relative rounding error of a single sum of exact numbers.
_LAST_BITS = 1e-15


@dataclass(frozen=True, repr=False)
class Solution(ReprMixin):
    """A primal-dual pair and its distance from optimality.

    `status` is "optimal", "infeasible" or "failed"; unless it is "optimal", `w` and `dual` are NaN. It is "optimal"
    only if `primal_residual`, `dual_residual` and `gap` are all at most `TOLERANCE`, 1e-9.
    `path` names the method that found it ("zero", "warm", "cold", "reseeded", "equilibrated", "generation", "highs"),
    and `pivots` is the number of basis changes.
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
        """Whether the pair is optimal within the tolerance; False for NaN."""
        return self.primal_residual <= TOLERANCE and self.dual_residual <= TOLERANCE and self.gap <= TOLERANCE

    def _facts(self) -> Facts:
        sizes = [("objective", short(self.objective)), ("non-zero", f"{np.count_nonzero(self.w)} of {self.w.size}")]
        proof = f"{max(self.primal_residual, self.dual_residual, self.gap):.1e}"
        found = [*sizes, ("certificate", proof)] if self.status == "optimal" else []
        return [("solution", self.status), *found, ("by", f"{self.path}, {self.pivots} pivots")]


def check(H: Floats, b: Floats, gamma: float | Floats) -> tuple[Floats, Floats, Floats]:
    """Return H, b and gamma (as a vector) as float arrays; raise a `ConfigError` if their shapes do not match."""
    H, b = np.ascontiguousarray(H, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    d = b.size
    if b.ndim != 1 or H.shape != (d, d):
        raise ConfigError(f"H must be square and b its length: H is {H.shape}, b is {b.shape}")
    if not (np.isfinite(H).all() and np.isfinite(b).all()):
        raise ConfigError("H and b must be finite; look for NaN or infinity in the data")
    return H, b, check_gamma(gamma, d)


def check_gamma(gamma: float | Floats, d: int) -> Floats:
    """Return gamma as a vector of length d; entries may be infinite (no constraint) but not negative or NaN."""
    Gamma = np.asarray(gamma, dtype=np.float64)
    if Gamma.ndim > 0 and Gamma.shape != (d,):
        raise ConfigError(f"gamma must be a number or have length {d}, not shape {Gamma.shape}")
    if not (Gamma >= 0).all():
        raise ConfigError("gamma must be >= 0 and not NaN")
    return np.array(np.broadcast_to(Gamma, (d,)))


def gamma_max(b: Floats) -> float:
    """Return the smallest scalar gamma at which w = 0 is optimal: |b|_inf (0 for an empty b)."""
    return float(np.abs(b).max(initial=0.0))


def certify(H: Floats, b: Floats, gamma: Floats, w: Floats, dual: Floats, path: str, pivots: int = 0) -> Solution:
    """Return the solution (w, dual) with its residuals, computed from H itself."""
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
    """Check whether w minimises |w|_1 subject to |b - H w| <= gamma, and return it with its certificate; if not, the
    status is "failed".

    `dual` is a solution l of the dual problem, r = b - H w, y = H'l, and `terms` are |H| |w| and |H|'|l|, the sizes of
    the sums behind r and y. If columns differ in scale, these sums lose digits by cancellation. A violation up to their
    rounding error, at most 1e-7, is therefore accepted: a dual scaled down by that much is feasible, so the objective
    is still proved to 1e-7.
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
    """Return whether each constraint holds relative to the size of its own row, because |b|_inf hides violations in
    small rows.
    """
    allowed = ROW * (np.abs(b) + gamma + np.abs(b - r)) + _ROUNDING * terms
    return bool((np.abs(r) - gamma <= allowed).all())


def no_solution(d: int, status: str, path: str, pivots: int = 0) -> Solution:
    """Return a solution without a point."""
    nothing = np.full(d, np.nan)
    objective = np.inf if status == "infeasible" else np.nan
    return Solution(nothing, nothing, objective, np.nan, np.nan, np.nan, status, path, pivots)


_SWEEPS = 12


class Scaled(NamedTuple):
    """An equilibrated matrix R H C and the diagonals R and C."""

    H: Floats
    R: Floats
    C: Floats


def equilibrate(H: Floats) -> Scaled:
    """Repeatedly divide rows and columns by the roots of their largest entries; a symmetric H stays symmetric.

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
    """Return the geometric mean of the smallest and the largest scaling factor in C; 1 if C is empty."""
    return float(np.sqrt(C.min() * C.max())) if C.size else 1.0


def _half_log(top: Floats) -> Floats:
    """Return log2(top) / 2; 0 for an empty row."""
    return np.where(top > 0.0, 0.5 * np.log2(np.where(top > 0.0, top, 1.0)), 0.0)
