"""The Dantzig selector DS(gamma): min |w|_1 subject to |b - H w|_i <= gamma_i, solved exactly with a certificate.

H (d, d) and b (d,) are estimates of the second moments of the attributes and of their products with the label; gamma is
the width of the constraint.
"""

import numpy as np

from ..._internal.typing import Floats
from .gram_storage import Dense
from .highs import fallback
from .path import Path, path
from .problem import Solution, check, gamma_max
from .sequence import Sequence
from .simplex import Simplex

__all__ = ["Path", "Sequence", "Solution", "gamma_max", "path", "solve"]


def solve(H: Floats, b: Floats, gamma: float | Floats) -> Solution:
    """Solve min |w|_1 s.t. |b - H w|_i <= gamma_i for a scalar or a vector gamma >= 0.

    The solution carries its certificate: `primal_residual`, `dual_residual` and `gap` are all 0 (up to rounding)
    if and only if it is optimal. If there are several solutions, the tie rule selects one (see `ties`). A problem
    without a feasible point has status "infeasible"; it raises no exception.

    >>> import numpy as np
    >>> sol = solve(np.eye(3), np.array([1.0, -0.5, 0.1]), 0.25)
    >>> sol.status, sol.w.tolist()
    ('optimal', [0.75, -0.25, 0.0])
    """
    H, b, Gamma = check(H, b, gamma)
    rows, engine = Dense(H, symmetric=np.array_equal(H, H.T)), Simplex(b.size)
    engine.Gamma[:] = Gamma
    sol = engine.solve(rows, b)
    return sol if sol.status != "failed" else fallback(rows, b, Gamma, engine.preference)
