"""Least squares from moments alone: G = sum of v v' over rows v = (1, x, y).

mse(S) = var(y) - c_S' C_SS^-1 c_S            the in-sample error of least squares with an intercept on S, on n rows
FPE(S) = mse(S) (n + p + 1) / (n - p - 1)     Akaike's final prediction error: the expected out-of-sample error of p
                                              weights fitted to n rows
"""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["Moments"]

# Eigenvalues of the correlation matrix below this count as zero: the columns are linearly dependent.
_RANK = 1e-6
# Ridge on the diagonal of the correlations, so that exact copies of a column share their weight.
_RIDGE = 1e-9


class Moments(NamedTuple):
    """The means and covariances of (x, y) over n rows."""

    n: float
    mean: Floats
    """(d + 1,) the means, the label's last."""
    C: Floats
    """(d, d) the covariances of x."""
    c: Floats
    """(d,) the covariances of x with the label."""
    variance: float
    """The variance of the label."""

    @classmethod
    def of(cls, G: Floats) -> "Moments":
        """Compute the moments from the sums G."""
        n, mean = float(G[0, 0]), G[0, 1:] / G[0, 0]
        V = G[1:, 1:] / n - np.outer(mean, mean)
        # A column whose variance is of the size of rounding errors is constant and is ignored everywhere.
        constant = np.diag(V) <= 1e-12 * np.diag(G)[1:] / n
        V[constant, :] = V[:, constant] = 0.0
        return cls(n, mean, V[:-1, :-1], V[:-1, -1], float(V[-1, -1]))

    def varying(self, S: Ints) -> Ints:
        """Return the non-constant columns among S."""
        return S[self.C.diagonal()[S] > 0]

    def correlations(self, S: Ints) -> tuple[Floats, Floats]:
        """Return, for the columns S scaled to unit variance, their correlation matrix R with a tiny ridge and their
        covariances r with the label; S must not contain constants.
        """
        size = np.sqrt(self.C.diagonal()[S])
        return self.C[np.ix_(S, S)] / np.outer(size, size) + _RIDGE * np.eye(S.size), self.c[S] / size

    def mse(self, S: Ints) -> float:
        """Return the in-sample mean squared error of least squares on the columns S."""
        R, r = self.correlations(self.varying(S))
        return max(self.variance - float(r @ np.linalg.solve(R, r)), 0.0)

    def final_prediction_error(self, S: Ints) -> float:
        """Return the expected out-of-sample mean squared error; NaN if there are more weights than rows."""
        values = np.linalg.eigvalsh(self.correlations(self.varying(S))[0])
        p = int((values > _RANK).sum())  # dummy variables of a category and copies of a column are not free weights
        return self.mse(S) * (self.n + p + 1) / (self.n - p - 1) if self.n > p + 1 else float("nan")

    def ridge(self, S: Ints) -> tuple[Floats, Floats]:
        """Return (intercepts, beta) on supports S (m, k): ridge with k pseudo-rows of the columns' variances at 0."""
        own, k = self.C.diagonal()[S], S.shape[1]
        H = self.C[S[:, :, None], S[:, None, :]]
        H[:, range(k), range(k)] += np.where(own > 0, own * (k / self.n), 1.0)
        beta: Floats = np.linalg.solve(H, self.c[S][..., None])[..., 0].astype(np.float64)
        return self.mean[-1] - (self.mean[S] * beta).sum(axis=1), beta
