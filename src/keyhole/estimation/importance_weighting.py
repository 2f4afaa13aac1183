"""Unbiased estimates of x, x x' and x y from the entries x_i of a row that were observed, i in B.

    x_hat_i = x_i / P[i]          h_ii = x_i^2 / P[i]          h_ij = x_i x_j / P[i, j]        for i, j in B, else 0

E[x_hat] = x and E[h] = x x' exactly for every x, because every attribute (and pair) is weighted by the inverse of the
probability of observing it (the paper's display `estimators`). h is symmetric but not positive definite.
"""

from typing import NamedTuple

import numpy as np

from .._core import estimate_moments
from .._internal.typing import Floats

__all__ = ["Estimate", "estimate", "estimate_quickly"]


class Estimate(NamedTuple):
    """The non-zero part of one round's estimates, on the observed set B: O(|B|^2) numbers."""

    x_hat: Floats
    """(|B|,) the estimate of x."""
    h: Floats
    """(|B|, |B|) the estimate of x x'."""


def estimate(x: Floats, P: Floats) -> Estimate:
    """Return x_hat = x / diag(P) and h = x x' / P for observed values x and pair probabilities P (diagonal: P[i]).

    NaN marks a value that was bought but not observed; it counts as zero, which biases the estimate towards zero.

    >>> estimate(np.array([1.0, 2.0]), np.array([[0.5, 0.25], [0.25, 0.5]])).h.tolist()
    [[2.0, 8.0], [8.0, 8.0]]
    """
    known = np.where(np.isnan(x), 0.0, x)
    return Estimate(known / np.diagonal(P), np.outer(known, known) / P)


def estimate_quickly(x: Floats, P: Floats) -> Estimate:
    """Compute `estimate` in the compiled core, for learners."""
    x_hat, h = np.empty(x.size), np.empty(P.shape)
    estimate_moments(x, P, x_hat, h)
    return Estimate(x_hat, h)
