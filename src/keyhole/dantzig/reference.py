"""DS(gamma) by scipy's HiGHS: slow, general, and what the fast engine is compared with."""

import numpy as np

from .._types import Floats
from .problem import Solution, certify, no_solution

__all__ = ["solve_highs"]

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def solve_highs(H: Floats, b: Floats, gamma: Floats) -> Solution:
    """min 1'(p + n)  s.t.  H(p - n) + r = b,  -gamma <= r <= gamma,  p, n >= 0,  w = p - n.

    The bounded r makes every row two-sided, so that the basis has d rows and not 2 d.
    """
    from scipy.optimize import linprog

    d = b.size
    if (np.abs(b) <= gamma).all():
        return certify(H, b, gamma, np.zeros(d), np.zeros(d), "zero")
    bounds = np.empty((3 * d, 2))
    bounds[: 2 * d] = 0.0, np.inf
    bounds[2 * d :, 0], bounds[2 * d :, 1] = -gamma, gamma
    cost = np.concatenate([np.ones(2 * d), np.zeros(d)])
    rows = np.hstack([H, -H, np.eye(d)])
    result = linprog(cost, A_eq=rows, b_eq=b, bounds=bounds, method="highs-ds", options=_OPTIONS)
    if result.status == 2:
        return no_solution(d, "infeasible", "highs", int(result.nit))
    if result.status != 0:
        return no_solution(d, "failed", "highs", int(result.nit or 0))
    w = result.x[:d] - result.x[d : 2 * d]
    return certify(H, b, gamma, w, np.asarray(result.eqlin.marginals, dtype=np.float64), "highs", int(result.nit))
