"""Column and constraint generation: HiGHS on a small part of the problem, and the part grows until it is enough.

With columns A and rows R only, (w, l) is optimal for the whole problem iff |b - H[:, A] w| <= gamma off R as well and
|H[R, :]'l| <= 1 off A as well. What is violated most comes in next.
"""

import numpy as np

from ..._internal.typing import Floats, Ints
from .gram_storage import Rows
from .highs import linear_program, polish
from .problem import Solution, certify, gamma_max, judge, no_solution

__all__ = ["solve_by_generation"]

_ROUNDS = 200
_TOLERANCE = 1e-10


def solve_by_generation(rows: Rows, b: Floats, gamma: Floats) -> Solution:
    """DS(gamma) without ever holding more of H than the rows and columns that matter; "failed" after 200 rounds."""
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
    """`present` and the worst of what exceeds the tolerance: at most as many again, and at least twenty."""
    over = over.copy()
    over[present] = -np.inf
    most = max(20, present.size)
    order = np.argsort(-over, kind="stable")[:most]
    return np.concatenate([present, order[over[order] > tolerance]])
