"""Covariances that cannot be inverted: columns that others determine, and covariances that contradict each other."""

import numpy as np
import pytest

import keyhole as kh
from keyhole._core import thrifty as core


def inverse(A):
    return np.array(core.invert(np.ascontiguousarray(A).ravel(), len(A))).reshape(A.shape)


@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_a_positive_definite_matrix_is_inverted(m):
    rng = np.random.default_rng(m)
    X = rng.standard_normal((3 * m + 2, m)) * 10.0 ** rng.integers(-3, 4, m)
    scale = np.sqrt(np.diag(X.T @ X))
    exact = np.linalg.inv(X.T @ X / np.outer(scale, scale) + 1e-9 * np.eye(m)) / np.outer(scale, scale)
    np.testing.assert_allclose(inverse(X.T @ X), exact, rtol=1e-8)


def test_a_column_without_variance_has_zeros_in_the_inverse():
    A = np.diag([2.0, 0.0, 4.0])
    np.testing.assert_allclose(inverse(A), np.diag([0.5, 0.0, 0.25]), rtol=1e-8)


def test_columns_that_others_determine_leave_the_inverse_of_the_others():
    rng = np.random.default_rng(1)
    for columns in (3, 6):
        X = rng.standard_normal((40, columns))
        X = np.column_stack([X, X.sum(axis=1), X[:, 0] - X[:, 1]])  # two sums of others
        A = X.T @ X
        G = inverse(A)
        np.testing.assert_allclose(A @ G @ A, A, rtol=1e-5, atol=1e-6 * np.abs(A).max())


@pytest.mark.parametrize("m", [3, 8, 17])
def test_correlations_that_contradict_each_other_have_a_bounded_inverse(m):
    rng = np.random.default_rng(m)
    for _ in range(200):
        A = np.sign(rng.standard_normal((m, m))) * rng.choice([0.0, 0.5, 0.9, 0.995, 1.0], (m, m))
        A = np.triu(A, 1) + np.triu(A, 1).T + np.eye(m)
        G = inverse(A)
        kept = np.diag(G) != 0.0
        assert np.abs(G).max() < 1e12
        assert (G[~kept] == 0.0).all()
        assert (G[:, ~kept] == 0.0).all()
        exact = np.linalg.inv(A[np.ix_(kept, kept)] + 1e-9 * np.eye(kept.sum()))
        np.testing.assert_allclose(G[np.ix_(kept, kept)], exact, rtol=1e-4, atol=1e-4 * np.abs(exact).max())


def test_a_panel_whose_columns_nearly_determine_each_other_does_no_harm():
    """Of the twelve answers in one panel some are constant in most rows: their weights once became 1e170."""
    data = kh.data.load("nhanes-panels")
    order = np.random.default_rng([1000013, 10]).permutation(len(data.y))[:400]
    learner = kh.make("thrifty", names=data.names, k=2, sources=data.sources, free=data.free, seed=1000013)
    history = kh.play(learner, data.X[order], data.y[order])
    assert np.isfinite(learner.memory.gram).all()
    assert history.losses[100:].mean() < 0.7 * data.y.var()


def test_a_panel_with_one_column_for_each_category_and_missing_answers():
    """The columns of each panel sum to 1 in every row, and half of the answers are missing one by one."""
    rng = np.random.default_rng(4)
    kinds = rng.integers(0, 6, (1500, 8))
    X = np.concatenate([np.eye(6)[kinds[:, i]] for i in range(8)], axis=1)
    y = X[:, 1] - X[:, 4] + 2.0 * X[:, 13] + 0.1 * rng.standard_normal(1500)
    names = [f"x{j}" for j in range(48)]
    sources = {f"q{i}": names[6 * i : 6 * i + 6] for i in range(8)}
    X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    learner = kh.make("thrifty", names=names, k=2, sources=sources, seed=0)
    losses = kh.play(learner, X, y).losses
    assert set(learner.catalog.ordered(learner.support)) == {"q0", "q2"}
    assert losses[500:].mean() < 0.7 * y.var()


def test_a_panel_that_contains_a_sum_of_its_columns_has_bounded_evidence():
    """The sum determines the others; its small differences from them are rounding, and no evidence."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 8))
        X[:, 2] = X[:, 0] + X[:, 1]
        y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(150)
        panel = {"panel": ["x0", "x1", "x2"]}
        learner = kh.make("thrifty", names=[f"x{j}" for j in range(8)], k=1, seed=0, sources=panel)
        kh.play(learner, X, y)
        assert learner.support.tolist() == [0, 1, 2]
        assert learner.memory.source["evidence"].max() < 100.0  # 10 to 22; 200 000 where correlations are not shrunk
