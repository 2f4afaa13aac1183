"""I-LAMM by the optimality conditions of its stages."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.full_information.i_lamm import _lamm, _slope, _stage, fit


def problem(seed=0, n=300, d=10):
    X, y, w = kh.streams.synthetic(d=d, k=3, T=n, seed=seed, design="ar(0.5)")
    return X.T @ X / n, X.T @ y / n, w


def weighted_violation(G, b, Lambda, beta):
    """How far -grad is from the subdifferential of sum Lambda_i |beta_i|."""
    gradient, active = G @ beta - b, beta != 0
    off = np.abs(gradient + Lambda * np.sign(beta))[active].max(initial=0.0)
    return max(off, (np.abs(gradient) - Lambda)[~active].max(initial=0.0))


def test_a_step_ends_where_the_quadratic_lies_above_the_loss():
    G, b, _ = problem()
    beta, Lambda = np.linspace(-0.2, 0.2, 10), np.full(10, 0.003)
    new, phi = _lamm(G, b, Lambda, beta, 1e-3)
    loss = [v @ G @ v / 2 - b @ v for v in (beta, new)]
    step = new - beta
    assert loss[1] <= loss[0] + (G @ beta - b) @ step + phi * step @ step / 2 + 1e-15
    goal = beta - (G @ beta - b) / phi
    np.testing.assert_allclose(new, np.sign(goal) * np.maximum(np.abs(goal) - Lambda / phi, 0), atol=1e-15)
    assert phi < 1.5 * np.linalg.eigvalsh(G)[-1]


def test_contraction_is_the_lasso():
    G, b, _ = problem()
    lam = 0.2 * np.abs(b).max()
    beta = _stage(G, b, np.full(10, lam), np.zeros(10), 1e-13)
    assert 0 < np.count_nonzero(beta) < 10
    assert weighted_violation(G, b, np.full(10, lam), beta) < 1e-10


@pytest.mark.parametrize("mcp", [False, True])
def test_the_fit_is_a_stationary_point_of_the_folded_concave_problem(mcp):
    G, b, _ = problem()
    lam = 0.1 * np.abs(b).max()
    beta = fit(G, b, lam, mcp, 1e-13)
    assert weighted_violation(G, b, _slope(beta, lam, mcp), beta) < 1e-10


@pytest.mark.parametrize("mcp", [False, True])
def test_the_slope_is_the_derivative_of_the_penalty(mcp):
    """lam at 0, 0 for large entries; against the integral's finite difference in between."""
    lam, a = 0.2, 3.0 if mcp else 3.7

    def penalty(b):
        if mcp:
            return lam * b - b * b / (2 * a) if b <= a * lam else a * lam**2 / 2
        if b <= lam:
            return lam * b
        return (2 * a * lam * b - b * b - lam**2) / (2 * (a - 1)) if b <= a * lam else lam**2 * (a + 1) / 2

    for size in (0.05, 0.3, 0.5, 0.9):
        slope = (penalty(size + 1e-6) - penalty(size - 1e-6)) / 2e-6
        assert _slope(np.array([-size]), lam, mcp)[0] == pytest.approx(slope, abs=1e-9)
    assert _slope(np.zeros(1), lam, mcp)[0] == lam


def test_large_entries_are_not_shrunk():
    """Without noise the true weights come back; the LASSO at the same lam shrinks them."""
    X, _, w = kh.streams.synthetic(d=10, k=3, T=400, seed=2)
    G, b = X.T @ X / 400, X.T @ (X @ w) / 400
    lam = 0.02
    assert np.abs(fit(G, b, lam, False, 1e-10) - w).max() < 1e-6
    assert np.abs(_stage(G, b, np.full(10, lam), np.zeros(10), 1e-10) - w).max() > 0.02


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
