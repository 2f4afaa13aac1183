"""DS(gamma) by scipy's HiGHS: slow, general, and what the fast engine is compared with."""

from dataclasses import dataclass

import numpy as np

from ..._internal.typing import Floats
from .equilibration import equilibrate, middle
from .problem import Solution, certify, gamma_max, no_solution

__all__ = ["Outcome", "least_gamma", "linear_program", "polish", "solve_highs"]

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
    absolute tolerances, so the data is equilibrated first, b is brought to size 1, and the costs to sizes around 1.
    """
    from scipy.optimize import linprog

    n, d = H.shape
    scaled, R, C = equilibrate(H)
    unit, cost = gamma_max(R * b) or 1.0, middle(C)
    bounds = np.empty((2 * d + n, 2))
    bounds[: 2 * d] = 0.0, np.inf
    bounds[2 * d :, 0], bounds[2 * d :, 1] = -R * gamma / unit, R * gamma / unit
    costs = np.concatenate([C / cost, C / cost, np.zeros(n)])
    rows = np.hstack([scaled, -scaled, np.eye(n)])
    result = linprog(costs, A_eq=rows, b_eq=R * b / unit, bounds=bounds, method="highs-ds", options=_OPTIONS)
    status, iterations = _STATUS.get(result.status, "failed"), int(result.nit or 0)
    if status != "optimal":
        return Outcome(status, np.empty(0), np.empty(0), iterations)
    w = C * _cleaned(result.x[:d] - result.x[d : 2 * d]) * unit
    return Outcome(status, w, R * _cleaned(np.asarray(result.eqlin.marginals, dtype=np.float64)) * cost, iterations)


def _cleaned(v: Floats) -> Floats:
    """Without what is rounding beside the largest: it is not part of the basis."""
    return np.where(np.abs(v) > 1e-11 * np.abs(v).max(initial=0.0), v, 0.0)


def solve_highs(H: Floats, b: Floats, gamma: Floats) -> Solution:
    """The whole problem at once."""
    d = b.size
    if (np.abs(b) <= gamma).all():
        return certify(H, b, gamma, np.zeros(d), np.zeros(d), "zero")
    found = linear_program(H, b, gamma)
    if found.status != "optimal":
        return no_solution(d, found.status, "highs", found.iterations)
    sol = certify(H, b, gamma, found.w, found.dual, "highs", found.iterations)
    return sol if sol.certified else polish(H, b, gamma, sol)


def polish(H: Floats, b: Floats, gamma: Floats, sol: Solution) -> Solution:
    """The exact point of the basis that a solution stands on: H[R, A] w_A = b_R - sg gamma_R and H[R, A]'l_R = th.

    HiGHS meets its constraints to 1e-10 of the equilibrated data, which may be more than 1e-9 of the data themselves.
    Where there are ties A and R differ in size: what is corrected then is the least that has to be.
    """
    A, R = np.flatnonzero(sol.w), np.flatnonzero(sol.dual)
    scaled, left, right = equilibrate(H[np.ix_(R, A)])
    w, dual = sol.w.copy(), sol.dual.copy()
    short = b[R] - np.sign(dual[R]) * gamma[R] - H[np.ix_(R, A)] @ w[A]
    over = np.sign(w[A]) - dual[R] @ H[np.ix_(R, A)]
    w[A] += right * np.linalg.lstsq(scaled, left * short, rcond=None)[0]
    dual[R] += left * np.linalg.lstsq(scaled.T, right * over, rcond=None)[0]
    better = certify(H, b, gamma, w, dual, sol.path, sol.pivots)
    return better if better.certified else sol


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
