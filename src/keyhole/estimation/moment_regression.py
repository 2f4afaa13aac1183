"""Least squares from moments alone: G = sum of v v' over rows v = (1, x, y)."""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["Moments"]


class Moments(NamedTuple):
    """Means and covariances of (x, y) over n rows."""

    n: float
    mean: Floats
    """(d + 1,), the label's last."""
    C: Floats
    """(d, d)"""
    c: Floats
    """(d,), with the label."""
    variance: float
    """The label's."""

    @classmethod
    def of(cls, G: Floats) -> "Moments":
        """From the sums G."""
        n, mean = float(G[0, 0]), G[0, 1:] / G[0, 0]
        V = G[1:, 1:] / n - np.outer(mean, mean)
        # A column whose variance is rounding is constant: it has no part in anything.
        constant = np.diag(V) <= 1e-12 * np.diag(G)[1:] / n
        V[constant, :] = V[:, constant] = 0.0
        return cls(n, mean, V[:-1, :-1], V[:-1, -1], float(V[-1, -1]))

    def ridge(self, S: Ints) -> tuple[Floats, Floats]:
        """(intercepts, beta) on supports S (m, k): least squares with k pseudo-rows of the columns' variances at 0."""
        own, k = self.C.diagonal()[S], S.shape[1]
        H = self.C[S[:, :, None], S[:, None, :]]
        H[:, range(k), range(k)] += np.where(own > 0, own * (k / self.n), 1.0)
        beta: Floats = np.linalg.solve(H, self.c[S][..., None])[..., 0].astype(np.float64)
        return self.mean[-1] - (self.mean[S] * beta).sum(axis=1), beta
