"""Least squares from moments, against the rows themselves."""

from itertools import combinations

import numpy as np
import pytest

from keyhole.least_squares import Moments, best_subset


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 7)) @ rng.normal(size=(7, 7)) + 5.0
    y = X[:, 1] - 0.5 * X[:, 4] + rng.normal(size=400) + 40.0
    V = np.column_stack([np.ones(400), X, y])
    return X, y, V.T @ V


def residual(X, y, S):
    A = np.column_stack([np.ones(len(y)), X[:, list(S)]])
    return float(np.mean((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


def test_the_best_subset_is_the_best_of_all_subsets(table):
    X, y, G = table
    for k in (1, 2, 3):
        best = min(combinations(range(7), k), key=lambda S: residual(X, y, S))
        found = best_subset(G, k, np.ones(7), np.inf)
        assert tuple(found.attributes) == best
        assert np.isclose(found.mse, residual(X, y, best), rtol=1e-6)


def test_the_best_subset_can_be_paid(table):
    X, y, G = table
    prices = np.array([1.0, 9.0, 2.0, 3.0, 2.0, 1.0, 4.0])
    found = set(best_subset(G, 7, prices, 6.0).attributes.tolist())
    assert prices[list(found)].sum() <= 6.0
    rest = set(range(7)) - found
    moves = [found | {j} for j in rest]
    moves += [found - {i} | {j} for i in found for j in rest]
    moves += [found - {i} | set(pair) for i in found for pair in combinations(rest, 2)]
    payable = [S for S in moves if prices[list(S)].sum() <= 6.0]
    assert payable
    assert residual(X, y, found) <= min(residual(X, y, S) for S in payable) + 1e-9


def test_ridge_solves_its_own_normal_equations(table):
    X, y, G = table
    S = np.array([0, 2, 5])
    (intercept,), (beta,) = Moments.of(G).ridge(S[None])
    Z = X[:, S] - X[:, S].mean(axis=0)
    penalty = 3 * Z.var(axis=0)
    gradient = Z.T @ (y - y.mean() - Z @ beta) - penalty * beta
    assert np.abs(gradient).max() < 1e-6 * np.abs(Z.T @ y).max()
    assert np.isclose(intercept, y.mean() - X[:, S].mean(axis=0) @ beta)


def test_a_constant_column_and_a_copy_do_no_harm(table):
    X, y, _ = table
    V = np.column_stack([np.ones(400), X, np.full(400, 3.0), X[:, 1], y])
    G = V.T @ V
    _, (beta,) = Moments.of(G).ridge(np.arange(9)[None])
    assert np.isfinite(beta).all()
    assert beta[7] == 0.0
    assert best_subset(G, 2, np.ones(9), np.inf).mse <= 1.001 * best_subset(table[2], 2, np.ones(7), np.inf).mse
