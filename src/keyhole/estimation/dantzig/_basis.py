"""What the engine's kernels work on.

A basis is a set A of columns with signs th and a set R of as many rows with signs sg; G = H[R, A]. Its point is

    w_A = G^-1 (b_R - sg Gamma_R),   l_R = G^-T th,   r = b - H[:, A] w_A,   y = H[R, :]' l_R,

and it is optimal iff  th w_A >= 0,  sg l_R >= 0,  |r| <= Gamma,  |y| <= 1. The two halves are mirror images, and the
kernels are written once, for a side f:

    side 0 (primal)  coefficients x = w on A,  residual z = r, tight on R,  bound c = Gamma,  dz = -H dx
    side 1 (dual)    coefficients x = l on R,  residual z = y, tight on A,  bound c = 1,      dz = +H' dx

All are linear in mu between two pivots: x[f, 0] is the value at mu = 0, x[f, 1] the slope in mu and x[f, 2] the
direction of a move; so with z, and with c but for the direction.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._internal.numba._shared import Shared
from ..._internal.typing import Floats, Ints

__all__ = ["ENTER", "LEAVE", "NOTHING", "PATH", "SIDE", "Basis", "Records", "Work", "new_work"]

Records = npt.NDArray[np.void]

# What happens on a side: a coefficient reaches 0 and its index leaves the side's set; a residual reaches its bound and
# its index enters the other side's set.
NOTHING, LEAVE, ENTER = 0, 1, 2

# One record for each side: the excess of z over c, the tolerances of x and z, the sizes of their directions; and the
# side's event: its mu, kind, place (of a leaving index) or index (of an entering one), sign, and the step t0 + mu t1
# that makes it happen.
SIDE = np.dtype(
    {
        "names": ["excess", "tol_x", "tol_z", "size_x", "size_z", "mu", "sign", "t0", "t1", "kind", "which"],
        "formats": 9 * ["f8"] + 2 * ["i8"],
    },
    align=True,
)

# One record of the way from mu = 1 to 0: mu (below 0: the point has to be computed first); the perturbations so far and
# the seed of their noise; the pivots and the size of basis still allowed; the updates of the inverse since it was
# computed and the pivots since the point was; the row of H that is missing; |b|_inf; and what is found: the pivots,
# |w|_1 and the relative gap.
PATH = np.dtype(
    {
        "names": [
            *("mu", "seed", "b_max", "objective", "gap"),
            *("restarts", "pivots", "pivots_left", "widest", "updates", "since", "missing"),
        ],
        "formats": 5 * ["f8"] + 7 * ["i8"],
    },
    align=True,
)


@dataclass(frozen=True)
class Basis(Shared):
    """The index sets of both sides and the basis matrix; only the first m places are in use."""

    idx: Ints
    """(2, capacity) the members of A and of R."""
    sgn: Floats
    """(2, capacity) th and sg."""
    pos: Ints
    """(2, d) the place of an index in `idx`, or -1."""
    G: Floats
    """(capacity, capacity) H[R, A]."""
    G_inv: Floats
    """(capacity, capacity) its inverse."""


@dataclass(frozen=True)
class Work(Shared):
    """The point of the basis and the way it takes."""

    x: Floats
    """(2, 3, capacity) coefficients."""
    z: Floats
    """(2, 3, d) residuals."""
    c: Floats
    """(2, 2, d) bounds."""
    v: Floats
    """(4, capacity) scratch."""
    ahead: Floats
    """(2, d) scratch of the ratio test: the slope of each residual, and how far its bound is."""
    side: Records
    """(2,) of `SIDE`."""
    path: Records
    """(1,) of `PATH`."""


def new_work(d: int, capacity: int) -> Work:
    """All of it at zero, but for the bounds of the dual, which are 1."""
    c = np.ones((2, 2, d))
    side, path = np.zeros(2, SIDE), np.zeros(1, PATH)
    return Work(
        np.zeros((2, 3, capacity)), np.zeros((2, 3, d)), c, np.zeros((4, capacity)), np.zeros((2, d)), side, path
    )
