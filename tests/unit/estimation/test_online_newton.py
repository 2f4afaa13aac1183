"""The Newton step against its definition: direct inverses, a quadratic program, exact equality of the two kernels."""

import numpy as np
import pytest
from scipy.optimize import minimize

from keyhole.estimation.online_newton import Gradient, Newton


def stream(k, n, correlation=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = (1 - correlation) * rng.uniform(-1, 1, (n, k)) + correlation * rng.uniform(-1, 1, (n, 1))
    return X, X @ (rng.normal(size=k) / k) + 0.1 * rng.normal(size=n)


def by_definition(X, y, k, eps, rho):
    """Lines 18 to 22 of Algorithm 1 with A itself and a linear solve."""
    w, A, predictions, squares = np.zeros(k), eps * np.eye(k), [], []
    for x, label in zip(X, y, strict=True):
        u = w @ x
        if abs(u) > 1:
            Ax = np.linalg.solve(A, x)
            w = w - np.sign(u) * (abs(u) - 1) / (x @ Ax) * Ax
        y_hat = w @ x
        predictions.append(y_hat)
        g = 2 * (y_hat - label) * x
        squares.append((y_hat - label) ** 2)
        A = A + (rho or 1 / (2 * np.mean(squares))) * np.outer(g, g)
        w = w - np.linalg.solve(A, g)
    return np.array(predictions), w, A


@pytest.mark.parametrize("rho", [0.1, None])
def test_the_step_is_that_of_the_pseudo_code(rho):
    X, y = stream(5, 300)
    newton = Newton(5, eps=5, rho=rho)
    predictions, w, A = by_definition(X, 4 * y, 5, 5, rho)  # labels beyond [-1, 1] make the projection work
    assert np.abs(newton.run(X, 4 * y) - predictions).max() < 1e-12
    assert np.abs(newton.w - w).max() < 1e-12
    assert np.abs(newton.A_inv - np.linalg.inv(A)).max() < 1e-12
    assert (np.abs(predictions) > 1 - 1e-12).any()


@pytest.mark.parametrize("correlation", [0.0, 0.999])
@pytest.mark.parametrize("rho", [0.1, None])
def test_the_inverse_stays_accurate_for_100_000_steps(rho, correlation):
    X, y = stream(10, 100_000, correlation)
    newton = Newton(10, eps=10, rho=rho)
    residuals = newton.run(X, y) - y
    rhos = rho or np.arange(1, y.size + 1) / (2 * np.cumsum(residuals**2))
    G = 2 * residuals[:, None] * X
    A = 10 * np.eye(10) + (G * np.broadcast_to(rhos, y.shape)[:, None]).T @ G
    direct = np.linalg.inv(A)
    assert np.abs(newton.A_inv - direct).max() <= 1e-8 * np.abs(direct).max()
    assert (newton.A_inv == newton.A_inv.T).all()


def test_an_epoch_equals_its_rounds_bit_for_bit():
    X, y = stream(6, 200)
    for make in (lambda: Newton(6, 6, None), lambda: Newton(6, 6, 0.05), lambda: Gradient(6)):
        whole, single = make(), make()
        whole.run(X, y)
        for x, label in zip(X, y, strict=True):
            single.learn(x, label)
        assert all(
            np.array_equal(a, b) for a, b in zip(whole.get_state().values(), single.get_state().values(), strict=True)
        )


def test_the_projection_is_the_nearest_point_in_the_norm_of_A():
    rng = np.random.default_rng(3)
    newton = Newton(3, eps=1, rho=0.2)
    M = rng.normal(size=(3, 3))
    A = M @ M.T + np.eye(3)
    newton.A_inv, newton.w = np.linalg.inv(A), np.array([2.0, -1.0, 1.5])
    x, w = np.array([0.9, -0.8, 0.7]), newton.w.copy()
    nearest = minimize(
        lambda v: (v - w) @ A @ (v - w),
        np.zeros(3),
        constraints=[{"type": "ineq", "fun": lambda v: 1 - v @ x}, {"type": "ineq", "fun": lambda v: 1 + v @ x}],
        options={"ftol": 1e-14},
    ).x
    newton.run(x[None, :], np.array([1.0]))  # a label that the projection hits: it alone
    assert abs(newton.w @ x) <= 1 + 1e-12
    assert np.abs(newton.w - nearest).max() < 1e-5  # the accuracy of the numeric program


def test_inside_the_band_nothing_is_projected_and_zero_x_is_safe():
    newton = Newton(2, eps=2, rho=None)
    newton.w = np.array([0.5, 0.4])
    assert newton.run(np.array([[1.0, 1.0]]), np.array([np.nan])) == pytest.approx(0.9)
    assert newton.w.tolist() == [0.5, 0.4]
    assert newton.run(np.zeros((1, 2)), np.array([0.3])).tolist() == [0.0]
    assert newton.w.tolist() == [0.5, 0.4]


def test_a_round_without_label_is_predicted_and_not_learnt_from():
    X, y = stream(4, 50)
    for make in (lambda: Newton(4, 4, None), lambda: Gradient(4)):
        with_gaps, without = make(), make()
        gaps = np.where(np.arange(50) % 5 == 0, np.nan, y)
        predictions = with_gaps.run(X, gaps)
        without.run(X[~np.isnan(gaps)], y[~np.isnan(gaps)])
        assert np.isfinite(predictions).all()
        assert np.array_equal(with_gaps.w, without.w)


def test_what_is_carried_over_is_the_block_of_the_inverse():
    X, y = stream(4, 100)
    newton = Newton(4, eps=4, rho=None)
    newton.run(X, y)
    w, A_inv = newton.w.copy(), newton.A_inv.copy()
    newton.carry(np.array([9.0, 8.0, 7.0, 6.0]), stays=np.array([0, 2]), came_from=np.array([1, 3]))
    assert newton.w.tolist() == [w[1], 8.0, w[3], 6.0]
    assert np.array_equal(newton.A_inv[np.ix_([0, 2], [0, 2])], A_inv[np.ix_([1, 3], [1, 3])])
    assert newton.A_inv[1].tolist() == [0.0, 0.25, 0.0, 0.0]


def test_gradient_descent_follows_its_definition():
    X, y = stream(3, 100)
    gradient, w, total, predictions = Gradient(3), np.zeros(3), 0.0, []
    for x, label in zip(X, 5 * y, strict=True):
        u = w @ x
        if abs(u) > 1:
            w = w - (u - np.sign(u)) / (x @ x) * x
        predictions.append(w @ x)
        g = 2 * (w @ x - label) * x
        total += g @ g
        w = w - g / np.sqrt(1 + total)
    assert np.abs(gradient.run(X, 5 * y) - predictions).max() < 1e-12
    assert np.abs(gradient.w - w).max() < 1e-12


@pytest.mark.parametrize("make", [lambda: Newton(3, 3, None), lambda: Newton(3, 3, 0.1), lambda: Gradient(3)])
def test_a_round_without_a_label_is_predicted_within_bounds_and_leaves_no_trace(make):
    core, x = make(), np.array([0.9, -0.8, 0.7])
    core.restart(np.array([2.0, -1.0, 1.5]))  # <w, x> is beyond 1
    before = core.get_state()
    assert core.run(np.stack([x, -x]), np.full(2, np.nan)).tolist() == [1.0, -1.0]
    assert all(np.array_equal(before[name], value) for name, value in core.get_state().items())
