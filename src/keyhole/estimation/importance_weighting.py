"""Unbiased estimates of x, x x' and x y from a few observed entries of x.

    x_hat_i = x_i / P[i]          h_ii = x_i^2 / P[i]          h_ij = x_i x_j / P[i, j]        for i, j in B, else 0

E[x_hat] = x and E[h] = x x' exactly, whatever x is, because every attribute (and pair) is weighted by the inverse of
the probability with which it is observed (the paper's display `estimators`). h is symmetric, not positive definite.
"""

from typing import NamedTuple

import numpy as np

from .._internal.numba._bare import short
from .._internal.typing import Floats

__all__ = ["Estimate", "estimate"]


class Estimate(NamedTuple):
    """The non-zero part of one round's estimates, on the observed set B: O(|B|^2) numbers."""

    x_hat: Floats
    """(|B|,) the estimate of x."""
    h: Floats
    """(|B|, |B|) the estimate of x x'."""


def estimate(x: Floats, P: Floats) -> Estimate:
    """x_hat and h from the observed values x and their pair probabilities P (diagonal: single ones).

    A NaN was bought but not observed and counts as zero, which biases the estimate towards zero.

    >>> estimate(np.array([1.0, 2.0]), np.array([[0.5, 0.25], [0.25, 0.5]])).h.tolist()
    [[2.0, 8.0], [8.0, 8.0]]
    """
    x_hat, h = np.zeros(x.size), np.zeros(P.shape)
    fill_estimate(x, P, x_hat, h)
    return Estimate(x_hat, h)


@short
def fill_estimate(x: Floats, P: Floats, x_hat: Floats, h: Floats) -> None:
    """x_hat and h, which hold zeros, where x was observed."""
    for i in range(x.size):
        if x[i] == x[i]:  # not NaN
            x_hat[i] = x[i] / P[i, i]
            for j in range(x.size):
                if x[j] == x[j]:
                    h[i, j] = x[i] * x[j] / P[i, j]
