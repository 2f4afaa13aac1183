"""The estimates are unbiased: full enumeration of what could have been observed, no Monte Carlo."""

import numpy as np
import pytest

from keyhole.estimation import sampling
from keyhole.estimation.importance_weighting import estimate

from .test_sampling import enumerate_law, laws


def expectations(x, law, P, y, w):
    """The exact means of x_hat, h, the gradient and the loss estimates over the law of B."""
    d = x.size
    mean_x, mean_h, mean_gradient, mean_loss = np.zeros(d), np.zeros((d, d)), np.zeros(d), 0.0
    for B, p in law.items():
        B = np.array(sorted(B))
        x_hat, h = estimate(x[B], P[np.ix_(B, B)])
        mean_x[B] += p * x_hat
        mean_h[np.ix_(B, B)] += p * h
        mean_gradient[B] += p * (2 * h @ w[B] - 2 * y * x_hat)
        mean_loss += p * (w[B] @ h @ w[B] - 2 * y * x_hat @ w[B] + y**2)
    return mean_x, mean_h, mean_gradient, mean_loss


def assert_unbiased(x, law, P):
    rng = np.random.default_rng(1)
    y, w = rng.normal(), rng.normal(size=x.size)
    mean_x, mean_h, gradient, loss = expectations(x, law, P, y, w)
    residual = w @ x - y
    assert np.abs(mean_x - x).max() < 1e-12
    assert np.abs(mean_h - np.outer(x, x)).max() < 1e-12
    assert np.abs(gradient - 2 * residual * x).max() < 1e-11
    assert abs(loss - residual**2) < 1e-11


@pytest.mark.parametrize(("d", "k"), [(d, k) for d in range(4, 8) for k in range(3, d + 1)])
def test_estimates_are_unbiased_under_sampling(d, k):
    x = np.random.default_rng(d).uniform(-1, 1, d)
    for q in laws(d):
        assert_unbiased(x, enumerate_law(q, k), sampling.pair_inclusion(q, k))


@pytest.mark.parametrize(("d", "k", "k0"), [(7, 3, 3), (8, 3, 4), (7, 3, 4), (6, 1, 3)])
def test_estimates_are_unbiased_where_a_set_is_always_observed(d, k, k0):
    rng = np.random.default_rng(d)
    x, S = rng.uniform(-1, 1, d), np.sort(rng.choice(d, k, replace=False))
    C = np.setdiff1d(np.arange(d), S)
    for q_C in laws(C.size):
        q = np.zeros(d)
        q[C] = q_C
        law = {frozenset(S) | {C[i] for i in B}: p for B, p in enumerate_law(q_C, k0).items()}
        assert_unbiased(x, law, sampling.union_pair_inclusion(q, k0, S))


def test_the_block_of_probabilities_equals_the_block_of_the_matrix():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(9))
    B = np.array([7, 2, 4, 0])
    assert np.abs(sampling.pairs(q[B], 9, 4) - sampling.pair_inclusion(q, 4)[np.ix_(B, B)]).max() < 1e-15


def test_a_value_that_was_not_observed_counts_as_zero():
    P = np.full((2, 2), 0.5)
    x_hat, h = estimate(np.array([np.nan, 1.0]), P)
    assert x_hat.tolist() == [0.0, 2.0]
    assert h.tolist() == [[0.0, 0.0], [0.0, 2.0]]
