"""What is left when the engine has lost its way, or when HiGHS is asked for."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..._internal.typing import Floats
from .column_generation import solve_by_generation
from .equilibration import equilibrate
from .gram_storage import Dense, Rows
from .highs import solve_highs
from .problem import Solution, certify, gamma_max, no_solution
from .simplex import Simplex
from .ties import untie

__all__ = ["WHOLE", "fallback"]

# The largest d at which HiGHS is given all of H.
WHOLE = 5000


def fallback(
    rows: Rows, b: Floats, Gamma: Floats, preference: Floats, scale: float = 1.0, *, whole: bool = False
) -> Solution:
    """DS by the engine on the equilibrated problem, by generation, then by HiGHS on all of H (at once, if `whole`).

    The first with a certificate, or with the proof that there is no solution, is taken; of several solutions each of
    them gives the one that `preference` selects (see `ties`). As with the engine, the dual
    and the residual are those of the problem divided by `scale`.
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
    """The engine on (R H C, R b, R Gamma) with costs C, and the certificate of what comes of it on H itself."""
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


# In the order in which they are tried; all but generation need all of H.
_WAYS: dict[str, Callable[[Rows, Floats, Floats, Floats], Solution]] = {
    "equilibrated": _equilibrated,
    "generation": _generated,
    "highs": _whole,
}
