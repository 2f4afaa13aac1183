"""DS(gamma) by scipy's HiGHS: the reference, the fallback of the simplex, and column generation for large d."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._internal.typing import Floats, Ints
from .gram_storage import Dense, Rows
from .problem import Solution, certify, equilibrate, gamma_max, judge, middle, no_solution
from .simplex import Simplex
from .ties import untie

__all__ = [
    "WHOLE",
    "Outcome",
    "fallback",
    "least_gamma",
    "linear_program",
    "polish",
    "solve_by_generation",
    "solve_highs",
]

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_STATUS = {0: "optimal", 2: "infeasible"}


@dataclass(frozen=True)
class Outcome:
    """The result of HiGHS: status, w and dual (empty unless optimal), and the number of iterations."""

    status: str
    w: Floats
    dual: Floats
    iterations: int


def linear_program(H: Floats, b: Floats, gamma: Floats) -> Outcome:
    """Solve min 1'(p + n) s.t. H(p - n) + r = b, -gamma <= r <= gamma, p, n >= 0, w = p - n; H may be rectangular.

    The bounded r makes every row two-sided, so that the basis has as many rows as H and not twice as many. HiGHS uses
    absolute tolerances; therefore the data are equilibrated, b is scaled to size 1, and the costs to about 1.
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
    """Set entries to zero that are rounding errors relative to the largest; they are not part of the basis."""
    return np.where(np.abs(v) > 1e-11 * np.abs(v).max(initial=0.0), v, 0.0)


def solve_highs(H: Floats, b: Floats, gamma: Floats) -> Solution:
    """Solve the whole problem at once."""
    d = b.size
    if (np.abs(b) <= gamma).all():
        return certify(H, b, gamma, np.zeros(d), np.zeros(d), "zero")
    found = linear_program(H, b, gamma)
    if found.status != "optimal":
        return no_solution(d, found.status, "highs", found.iterations)
    sol = certify(H, b, gamma, found.w, found.dual, "highs", found.iterations)
    return sol if sol.certified else polish(H, b, gamma, sol)


def polish(H: Floats, b: Floats, gamma: Floats, sol: Solution) -> Solution:
    """Return the exact vertex of a solution's basis: H[R, A] w_A = b_R - sg gamma_R and H[R, A]'l_R = th.

    HiGHS satisfies its constraints to 1e-10 of the equilibrated data, which may exceed 1e-9 of the original data. With
    ties, A and R differ in size; the minimum-norm correction is then applied.
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
    """Return the smallest scalar gamma with a feasible point: min_w |b - H w|_inf."""
    from scipy.optimize import linprog

    n, d = H.shape
    unit_H, unit_b = np.abs(H).max(initial=0.0) or 1.0, gamma_max(b) or 1.0
    rows = np.block([[H / unit_H, -np.ones((n, 1))], [-H / unit_H, -np.ones((n, 1))]])
    bounds = [(None, None)] * d + [(0.0, None)]
    cost = np.append(np.zeros(d), 1.0)
    right = np.concatenate([b, -b]) / unit_b
    return float(linprog(cost, A_ub=rows, b_ub=right, bounds=bounds, method="highs-ds", options=_OPTIONS).fun * unit_b)


_ROUNDS = 200
_TOLERANCE = 1e-10


def solve_by_generation(rows: Rows, b: Floats, gamma: Floats) -> Solution:
    """Solve DS(gamma) by row and column generation, holding only the rows and columns of H that matter.

    The status is "failed" after 200 rounds.
    """
    over = np.abs(b) - gamma
    d, iterations = b.size, 0
    if not (over > 0).any():
        zero = np.zeros(d)
        return judge(b, gamma, zero, zero, b, zero, (zero, zero), "zero")
    R = A = _worst(over, np.empty(0, np.int64), 0.0)
    for _ in range(_ROUNDS):
        columns, lines = rows.take(0, A), rows.take(1, R)
        part = np.ascontiguousarray(lines[:, A]), b[R], gamma[R]
        found = linear_program(*part)
        iterations += found.iterations
        if found.status == "infeasible" and A.size < d:
            A = _worst(np.abs(lines).max(axis=0), A, -1.0)
        elif found.status != "optimal":
            return no_solution(d, found.status, "generation", iterations)
        else:
            here = certify(*part, found.w, found.dual, "generation")
            here = here if here.certified else polish(*part, here)
            w, dual = np.zeros(d), np.zeros(d)
            w[A], dual[R] = here.w, here.dual
            r, y = b - here.w @ columns, here.dual @ lines
            new_R = _worst(np.abs(r) - gamma, R, _TOLERANCE * max(1.0, gamma_max(b)))
            new_A = _worst(np.abs(y) - 1.0, A, _TOLERANCE)
            if new_R.size == R.size and new_A.size == A.size:
                terms = np.abs(here.w) @ np.abs(columns), np.abs(here.dual) @ np.abs(lines)
                return judge(b, gamma, w, dual, r, y, terms, "generation", iterations)
            R, A = new_R, new_A
    return no_solution(d, "failed", "generation", iterations)


def _worst(over: Floats, present: Ints, tolerance: float) -> Ints:
    """Return `present` plus the indices that violate the tolerance most: at most as many as are present, and at least
    twenty.
    """
    over = over.copy()
    over[present] = -np.inf
    most = max(20, present.size)
    order = np.argsort(-over, kind="stable")[:most]
    return np.concatenate([present, order[over[order] > tolerance]])


# The largest d for which HiGHS receives all of H.
WHOLE = 5000


def fallback(
    rows: Rows, b: Floats, Gamma: Floats, preference: Floats, scale: float = 1.0, *, whole: bool = False
) -> Solution:
    """Solve DS with the engine on the equilibrated problem, by generation, then by HiGHS on all of H.

    Return the first result with a certificate or a proof of infeasibility; if there are several solutions, each
    method returns the one that `preference` selects (see `ties`). As in the engine, the dual and the residual are
    those of the problem divided by `scale`. With `whole`, only HiGHS on all of H is tried.
    """
    sol = no_solution(b.size, "failed", "highs")
    for name, way in _WAYS.items():
        if (name == "highs" or not whole) and (name == "generation" or b.size <= WHOLE):
            sol = way(rows, b, Gamma, preference)
            if sol.status != "failed":
                break
    if sol.status != "optimal":
        return no_solution(b.size, sol.status, sol.path, sol.pivots)
    size = gamma_max(b)
    primal = sol.primal_residual * max(1.0, size) / max(scale, size)
    return replace(sol, dual=sol.dual * scale, primal_residual=primal)


def _equilibrated(rows: Rows, b: Floats, Gamma: Floats, preference: Floats) -> Solution:
    """Solve (R H C, R b, R Gamma) with costs C by the engine, and certify the result on H itself."""
    H = rows.take(1, np.arange(b.size))
    scaled, R, C = equilibrate(H)
    unit = float(C.min(initial=np.inf))
    engine = Simplex(b.size, preference)
    engine.Gamma[:], engine.cost[:] = R * Gamma, C / unit
    sol = engine.solve(Dense(scaled, symmetric=np.array_equal(scaled, scaled.T)), R * b)
    if sol.status != "optimal":
        return sol
    return certify(H, b, Gamma, C * sol.w, R * sol.dual * unit, "equilibrated", sol.pivots)


def _generated(rows: Rows, b: Floats, Gamma: Floats, preference: Floats) -> Solution:
    sol = solve_by_generation(rows, b, Gamma)
    return untie(rows, b, Gamma, sol, preference) if sol.status == "optimal" else sol


def _whole(rows: Rows, b: Floats, Gamma: Floats, preference: Floats) -> Solution:
    sol = solve_highs(rows.take(1, np.arange(b.size)), b, Gamma)
    return untie(rows, b, Gamma, sol, preference) if sol.status == "optimal" else sol


# In the order in which they are tried; all except generation need all of H.
_WAYS: dict[str, Callable[[Rows, Floats, Floats, Floats], Solution]] = {
    "equilibrated": _equilibrated,
    "generation": _generated,
    "highs": _whole,
}
