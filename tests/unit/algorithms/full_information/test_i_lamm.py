"""I-LAMM by the optimality conditions of its stages."""

import numpy as np
import pytest

import keyhole as kh
from keyhole import _core


def problem(seed=0, n=300, d=10):
    X, y, w = kh.streams.synthetic(d=d, k=3, T=n, seed=seed, design="ar(0.5)")
    return X.T @ X / n, X.T @ y / n, w


def weighted_violation(G, b, Lambda, beta):
    """How far -grad is from the subdifferential of sum Lambda_i |beta_i|."""
    gradient, active = G @ beta - b, beta != 0
    off = np.abs(gradient + Lambda * np.sign(beta))[active].max(initial=0.0)
    return max(off, (np.abs(gradient) - Lambda)[~active].max(initial=0.0))


def fit(G, b, lam, mcp, tolerance):
    beta = np.empty(b.size)
    _core.fit_ilamm(G, b, lam, mcp, tolerance, beta)
    return beta


def penalty_slope(beta, lam, mcp):
    """p'_lam(|beta|) of MCP (a = 3) or SCAD (a = 3.7)."""
    size = np.abs(beta)
    return np.maximum(lam - size / 3.0, 0.0) if mcp else np.minimum(lam, np.maximum(3.7 * lam - size, 0.0) / 2.7)


def test_where_no_entry_is_large_the_fit_is_the_lasso():
    """MCP with entries near 0 has the slope lam: the first stage is all there is."""
    G, b, _ = problem()
    lam, v = 0.999 * np.abs(b).max(), np.zeros(10)
    _core.lasso(G, b, lam, v, 1e-14, 1000)
    assert 0 < np.count_nonzero(v) < 10
    np.testing.assert_allclose(fit(G, b, lam, False, 1e-13), v, atol=1e-10)


@pytest.mark.parametrize("mcp", [False, True])
def test_the_fit_is_a_stationary_point_of_the_folded_concave_problem(mcp):
    G, b, _ = problem()
    lam = 0.1 * np.abs(b).max()
    beta = fit(G, b, lam, mcp, 1e-13)
    assert weighted_violation(G, b, penalty_slope(beta, lam, mcp), beta) < 1e-10


def test_large_entries_are_not_shrunk():
    """Without noise the true weights come back; the LASSO at the same lam shrinks them."""
    X, _, w = kh.streams.synthetic(d=10, k=3, T=400, seed=2)
    G, b = X.T @ X / 400, X.T @ (X @ w) / 400
    lam = 0.02
    assert np.abs(fit(G, b, lam, False, 1e-10) - w).max() < 1e-6
    v = np.zeros(10)
    _core.lasso(G, b, lam, v, 1e-12, 1000)
    assert np.abs(v - w).max() > 0.02


def test_it_refits_when_the_rows_have_doubled_and_only_then():
    X, y, _ = kh.streams.synthetic(d=6, k=2, T=40, seed=2)
    learner, changes = kh.make("i-lamm", d=6, seed=0), []
    for t in range(40):
        before = learner.weights
        learner.tell(learner.ask(), X[t], y[t])
        if not np.array_equal(before, learner.weights):
            changes.append(t + 1)
    assert set(changes) <= {1, 2, 4, 8, 16, 32}
    assert 32 in changes
