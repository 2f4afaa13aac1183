"""DS(gamma) by scipy's HiGHS: slow, general, and what the fast engine is compared with."""

from dataclasses import dataclass

import numpy as np

from .._types import Floats
from .problem import Solution, certify, gamma_max, no_solution

__all__ = ["Outcome", "least_gamma", "linear_program", "solve_highs"]

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_STATUS = {0: "optimal", 2: "infeasible"}


@dataclass(frozen=True)
class Outcome:
    """What HiGHS says: its status, w and dual (empty unless optimal), and its iterations."""

    status: str
    w: Floats
    dual: Floats
    iterations: int


def linear_program(H: Floats, b: Floats, gamma: Floats) -> Outcome:
    """min 1'(p + n)  s.t.  H(p - n) + r = b,  -gamma <= r <= gamma,  p, n >= 0,  w = p - n; H may be any rectangle.

    The bounded r makes every row two-sided, so that the basis has as many rows as H and not twice as many. HiGHS has
    absolute tolerances, so the data is brought to size 1 first.
    """
    from scipy.optimize import linprog

    n, d = H.shape
    unit_H, unit_b = np.abs(H).max(initial=0.0) or 1.0, gamma_max(b) or 1.0
    bounds = np.empty((2 * d + n, 2))
    bounds[: 2 * d] = 0.0, np.inf
    bounds[2 * d :, 0], bounds[2 * d :, 1] = -gamma / unit_b, gamma / unit_b
    cost = np.concatenate([np.ones(2 * d), np.zeros(n)])
    rows = np.hstack([H / unit_H, -H / unit_H, np.eye(n)])
    result = linprog(cost, A_eq=rows, b_eq=b / unit_b, bounds=bounds, method="highs-ds", options=_OPTIONS)
    status, iterations = _STATUS.get(result.status, "failed"), int(result.nit or 0)
    if status != "optimal":
        return Outcome(status, np.empty(0), np.empty(0), iterations)
    w = (result.x[:d] - result.x[d : 2 * d]) * (unit_b / unit_H)
    return Outcome(status, w, np.asarray(result.eqlin.marginals, dtype=np.float64) / unit_H, iterations)


def solve_highs(H: Floats, b: Floats, gamma: Floats) -> Solution:
    """The whole problem at once."""
    d = b.size
    if (np.abs(b) <= gamma).all():
        return certify(H, b, gamma, np.zeros(d), np.zeros(d), "zero")
    found = linear_program(H, b, gamma)
    if found.status != "optimal":
        return no_solution(d, found.status, "highs", found.iterations)
    return certify(H, b, gamma, found.w, found.dual, "highs", found.iterations)


def least_gamma(H: Floats, b: Floats) -> float:
    """The smallest scalar gamma with a feasible point: min_w |b - H w|_inf."""
    from scipy.optimize import linprog

    n, d = H.shape
    unit_H, unit_b = np.abs(H).max(initial=0.0) or 1.0, gamma_max(b) or 1.0
    rows = np.block([[H / unit_H, -np.ones((n, 1))], [-H / unit_H, -np.ones((n, 1))]])
    bounds = [(None, None)] * d + [(0.0, None)]
    cost = np.append(np.zeros(d), 1.0)
    right = np.concatenate([b, -b]) / unit_b
    return float(linprog(cost, A_ub=rows, b_ub=right, bounds=bounds, method="highs-ds", options=_OPTIONS).fun * unit_b)
