"""The tie rule: which of several solutions of DS(gamma) is returned.

The paper leaves this open, and on attributes of +-1 ties are frequent. Among the w of minimal |w|_1 we return the one
that minimizes sum_j preference_j |w_j|. The preferences are fixed numbers in [1, 2), one for each position in the
learner's seeded order of the attributes, so that the result depends only on the problem and the seed, not on the
solver.
"""

import numpy as np

from ..._internal.typing import Floats, Ints
from .gram_storage import Rows
from .problem import Solution, equilibrate, gamma_max, judge, middle

__all__ = ["preferences", "untie"]

# Relative slack below which a dual constraint counts as tight; and the same for a row.
_TIED, _TIGHT = 1e-9, 1e-8
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def preferences(order: Ints) -> Floats:
    """Return the weights of the secondary objective: the n-th number of a fixed sequence for position n of `order`.

    The sequence is SplitMix64 (Steele, Lea and Flood 2014). The only requirement is that no two sums of a few of its
    numbers are equal; it does not depend on the version of a library.

    >>> preferences(np.array([2, 0, 1])).round(4).tolist()
    [1.4315, 1.0264, 1.8833]
    """
    z = np.arange(1, order.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    weights = np.empty(order.size)
    weights[order] = 1.0 + (z >> np.uint64(11)) * 2.0**-53
    return weights


def untie(rows: Rows, b: Floats, gamma: Floats, sol: Solution, preference: Floats) -> Solution:
    """Return the preferred solution, given any solution, by a linear program on the optimal face (HiGHS).

    A feasible w is optimal iff it is complementary to the dual l: w_j = 0 where |H'l|_j < 1, else w_j has its sign or
    is 0; and (b - H w)_i = sign(l_i) gamma_i where l_i is not 0. If HiGHS fails, `sol` itself is returned.
    """
    from scipy.optimize import linprog

    E = np.flatnonzero(np.abs(sol.dual) > _TIED * np.abs(sol.dual).max(initial=0.0))
    lines = rows.take(1, E)
    y = sol.dual[E] @ lines
    C = np.flatnonzero(np.abs(y) >= 1.0 - _TIED)
    if C.size == 0:
        return sol
    columns = rows.take(0, C)
    signs = np.sign(y[C])
    at, bounded = b - np.sign(sol.dual) * gamma, np.isfinite(gamma)
    bounded[E] = False
    H, left, right = equilibrate(np.ascontiguousarray(columns.T) * signs)
    unit = gamma_max((left * at)[E]) or 1.0
    near = left * b / unit
    wide = left * np.where(bounded, gamma, 0.0) / unit
    found = linprog(
        preference[C] * right / middle(right),
        A_ub=np.vstack([H[bounded], -H[bounded]]),
        b_ub=np.concatenate([(near + wide)[bounded], (wide - near)[bounded]]),
        A_eq=H[E],
        b_eq=(left * at / unit)[E],
        method="highs-ds",
        options=_OPTIONS,
    )
    if found.status != 0:
        return sol
    w = _polished(columns, signs, b, gamma, E, at, C, right * found.x * unit)
    terms = np.abs(w[C]) @ np.abs(columns), np.abs(sol.dual[E]) @ np.abs(lines)
    better = judge(b, gamma, w, sol.dual, b - w[C] @ columns, y, terms, sol.path, sol.pivots + int(found.nit))
    return better if better.status == "optimal" else sol


def _polished(
    columns: Floats, signs: Floats, b: Floats, gamma: Floats, E: Ints, at: Floats, C: Ints, v: Floats
) -> Floats:
    """Return the exact vertex behind a HiGHS solution: its non-zero weights, computed from the tight rows."""
    w = np.zeros(b.size)
    w[C] = signs * v
    A = np.flatnonzero(v > _TIED * v.max(initial=0.0))
    r = b - w[C] @ columns
    tight = np.abs(np.abs(r) - gamma) <= _TIGHT * (np.abs(b) + gamma)
    tight[E] = True
    R = np.flatnonzero(tight)
    goal = b - np.sign(r) * gamma
    goal[E] = at[E]
    H, left, right = equilibrate(columns[np.ix_(A, R)].T)
    exact, _, rank, _ = np.linalg.lstsq(H, left * goal[R], rcond=None)
    if rank == A.size:
        w[:] = 0.0
        w[C[A]] = right * exact
    return w
