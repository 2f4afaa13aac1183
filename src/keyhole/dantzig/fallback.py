"""What is left when the engine has lost its way, or when HiGHS is asked for."""

from dataclasses import replace

import numpy as np

from .._types import Floats
from .generation import solve_by_generation
from .problem import Solution, gamma_max
from .reference import solve_highs
from .stores import Rows

__all__ = ["WHOLE", "fallback"]

# The largest d at which HiGHS is given all of H.
WHOLE = 5000


def fallback(rows: Rows, b: Floats, Gamma: Floats, scale: float = 1.0, *, whole: bool = False) -> Solution:
    """DS by generation, then by HiGHS on all of H (at once, if `whole`).

    As with the engine, the dual and the residual are those of the problem divided by `scale`.
    """
    d = b.size
    if whole:
        sol = solve_highs(rows.take(1, np.arange(d)), b, Gamma)
    else:
        sol = solve_by_generation(rows, b, Gamma)
        if sol.status == "failed" and d <= WHOLE:
            sol = solve_highs(rows.take(1, np.arange(d)), b, Gamma)
    if sol.status != "optimal":
        return sol
    size = gamma_max(b)
    primal = sol.primal_residual * max(1.0, size) / max(scale, size)
    return replace(sol, dual=sol.dual * scale, primal_residual=primal)
