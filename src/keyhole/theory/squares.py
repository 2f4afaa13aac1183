"""Least squares of one label on chosen columns, seen through Z = Q R: every loss is one small triangular system."""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["Leaving", "Squares"]

# A ridge on columns of unit length, so that collinear ones can be handled like others.
_RIDGE = 1e-14


class Leaving(NamedTuple):
    """What leaving groups of columns out of a set A would add to its loss; one entry per free group."""

    loss: float
    """The loss of A itself."""
    alone: Floats
    """What leaving out this group alone adds."""
    share: Floats
    """Leaving out several groups adds at least the sum of their shares."""


class Squares:
    """min_w |y - Z_S w|^2 for |y| = 1 and columns of unit length; the `known` columns are in every S."""

    def __init__(self, Z: Floats, y: Floats, known: Ints) -> None:
        d = Z.shape[1]
        Q, R = np.linalg.qr(np.vstack([Z, np.sqrt(_RIDGE) * np.eye(d)]))
        part = Q.T @ np.append(y, np.zeros(d))
        self.outside = max(0.0, 1.0 - float(part @ part))
        """The part of the loss that no column reaches."""
        K = np.linalg.qr(R[:, known])[0]
        self.R, self.y = R - K @ (K.T @ R), part - K @ (K.T @ part)

    def loss(self, S: Ints) -> float:
        """The loss of the columns S."""
        return self.outside + self._triangle(S)[1]

    def gains(self, S: Ints) -> Floats:
        """(d,): by how much each column alone would reduce the loss of S; 0 for those that S spans."""
        Q = np.linalg.qr(self.R[:, S])[0]
        left = self.R - Q @ (Q.T @ self.R)
        spread = (left**2).sum(axis=0)
        return np.where(spread > 100 * _RIDGE, (left.T @ self.y) ** 2 / np.maximum(spread, _RIDGE), 0.0)

    def leaving(self, A: Ints, group: Ints, free: Ints) -> Leaving:
        """What leaving free groups out of A adds; `group` has the group of each column of A.

        With P = (R_A'R_A)^-1 and w the weights, leaving out the columns J adds w_J' (P_JJ)^-1 w_J. Scaled so that each
        group's own block of P is I, P is at most the block diagonal matrix of r_g I, r_g = sum_h |P_gh| over the free
        groups h: leaving out any of them adds at least the sum of (what each adds alone) / r_g.
        """
        T, loss = self._triangle(A)
        inverse: Floats = np.linalg.inv(T[:, :-1])  # type: ignore[assignment]
        w, members = inverse @ T[:, -1], np.isin(group, free)
        w, half, group = w[members], inverse[members], np.searchsorted(free, group[members])
        if free.size == w.size:  # one column each
            size = np.sqrt((half**2).sum(axis=1))
            alone, near = (w / size) ** 2, np.abs((half / size[:, None]) @ (half / size[:, None]).T)
        else:
            alone, near = _by_groups(half, w, group, free.size)
        return Leaving(self.outside + loss, alone, alone / near.sum(axis=1))

    def _triangle(self, S: Ints) -> tuple[Floats, float]:
        """(|S|, |S|+1): R of the columns S and the label; and what it leaves of the label, squared."""
        r: Floats = np.linalg.qr(np.column_stack([self.R[:, S], self.y]), mode="r")  # type: ignore[assignment]
        return r[: S.size], float((r[S.size :, -1] ** 2).sum())


def _by_groups(half: Floats, w: Floats, group: Ints, n: int) -> tuple[Floats, Floats]:
    """What each of n groups adds alone, and |P_gh| (Frobenius) once every P_gg is I; P = half half'."""
    alone, scaled = np.empty(n), np.empty_like(half)
    for g in range(n):
        J = group == g
        # half_J = L Q with orthonormal rows of Q: P_JJ = L L', and L^-1 half_J = Q.
        Q, L = np.linalg.qr(half[J].T)
        scaled[J] = Q.T
        alone[g] = (np.linalg.solve(L.T, w[J]) ** 2).sum()
    squares = (scaled @ scaled.T) ** 2
    indicator = np.eye(n)[group]
    return alone, np.sqrt(indicator.T @ squares @ indicator)
