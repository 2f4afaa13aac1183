"""Least squares from moments, against the rows themselves."""

import numpy as np
import pytest

from keyhole.estimation.moment_regression import Moments


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 7)) @ rng.normal(size=(7, 7)) + 5.0
    y = X[:, 1] - 0.5 * X[:, 4] + rng.normal(size=400) + 40.0
    V = np.column_stack([np.ones(400), X, y])
    return X, y, V.T @ V


def test_ridge_solves_its_own_normal_equations(table):
    X, y, G = table
    S = np.array([0, 2, 5])
    (intercept,), (beta,) = Moments.of(G).ridge(S[None])
    Z = X[:, S] - X[:, S].mean(axis=0)
    penalty = 3 * Z.var(axis=0)
    gradient = Z.T @ (y - y.mean() - Z @ beta) - penalty * beta
    assert np.abs(gradient).max() < 1e-6 * np.abs(Z.T @ y).max()
    assert np.isclose(intercept, y.mean() - X[:, S].mean(axis=0) @ beta)


def test_a_constant_column_and_a_copy_do_a_ridge_no_harm(table):
    X, y, _ = table
    V = np.column_stack([np.ones(400), X, np.full(400, 3.0), X[:, 1], y])
    G = V.T @ V
    _, (beta,) = Moments.of(G).ridge(np.arange(9)[None])
    assert np.isfinite(beta).all()
    assert beta[7] == 0.0
