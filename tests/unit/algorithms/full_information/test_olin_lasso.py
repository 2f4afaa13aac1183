"""OLin-LASSO by the optimality conditions of the problem of each round."""

import numpy as np

import keyhole as kh


def kkt_violation(gradient, theta, lam):
    """How far -gradient is from lam times the subdifferential of |theta|_1."""
    active = theta != 0
    off = np.abs(gradient[active] + lam * np.sign(theta[active])).max(initial=0.0)
    return max(off, (np.abs(gradient[~active]) - lam).max(initial=0.0))


def test_with_all_data_as_the_batch_it_is_the_batch_lasso():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=200, seed=0, design="ar(0.5)")
    learner = kh.make("olin-lasso", d=8, seed=0, tuning="theory", c=0.1, n0=200)
    zeros = 0
    for t in range(200):
        learner.tell(learner.ask(), X[t], y[t])
        n, theta = t + 1, learner.weights
        gradient = X[:n].T @ (X[:n] @ theta - y[:n]) / n
        assert kkt_violation(gradient, theta, 0.1 * np.sqrt(np.log(8) / n)) < 1e-8
        zeros += (theta == 0).sum()
    assert zeros > 0


def test_after_the_batch_each_round_solves_the_linearised_problem():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=300, seed=0)
    learner = kh.make("olin-lasso", d=8, seed=0, tuning="theory", c=0.05, n0=60)
    before = np.zeros(8)
    for t in range(300):
        learner.tell(learner.ask(), X[t], y[t])
        n, theta = t + 1, learner.weights
        X0, y0 = X[: min(n, 60)], y[: min(n, 60)]
        own = X0.T @ (X0 @ theta - y0) / len(X0)
        then = X[:n].T @ (X[:n] @ before - y[:n]) / n - X0.T @ (X0 @ before - y0) / len(X0)
        assert kkt_violation(own + then, theta, 0.05 * np.sqrt(np.log(8) / n)) < 1e-8
        before = theta


def test_a_hopeless_batch_is_replaced_and_the_running_objective_never_rises():
    """The first rows know nothing of half the attributes: their linearised problem has no minimum."""
    X, y, w = kh.streams.synthetic(d=8, k=4, T=400, seed=0)
    X[:10, 4:] *= 1e-4
    y = X @ w
    learner = kh.make("olin-lasso", d=8, seed=0, tuning="theory", c=0.01, n0=10)
    before = np.zeros(8)
    for t in range(400):
        learner.tell(learner.ask(), X[t], y[t])
        n, theta = t + 1, learner.weights
        lam = 0.01 * np.sqrt(np.log(8) / n)

        def objective(v, n=n, lam=lam):
            return ((X[:n] @ v - y[:n]) ** 2).mean() / 2 + lam * np.abs(v).sum()

        assert objective(theta) <= objective(before) + 1e-11
        before = theta
    assert np.linalg.norm(before - w) < 0.05
