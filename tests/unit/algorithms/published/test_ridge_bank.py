"""Many forecasters in a few arrays: each is what it would be alone."""

import numpy as np
import pytest

from keyhole.algorithms.published._ridge_bank import GradientBank, bank
from keyhole.estimation.online_newton import Newton

RNG = np.random.default_rng(0)


def test_each_newton_learner_of_a_bank_is_the_one_by_itself():
    forecasters, alone = bank("newton", 3, 2, ridge=0.5), [Newton(2, eps=0.5, rho=None) for _ in range(3)]
    for _ in range(60):
        i, x, y = int(RNG.integers(3)), RNG.uniform(-1, 1, 2), RNG.normal()
        assert forecasters.predict(i, x) == pytest.approx(np.clip(alone[i].w @ x, -1, 1), abs=1e-14)
        forecasters.learn(i, x, y)
        alone[i].learn(x, y)
    for i in range(3):
        assert np.array_equal(forecasters.weights(i), alone[i].w)


def test_each_forward_forecaster_is_its_definition():
    forecasters = bank("vaw", 2, 3, ridge=0.7)
    A, b = [0.7 * np.eye(3) for _ in range(2)], np.zeros((2, 3))
    for t in range(60):
        i, x, y = t % 2, RNG.uniform(-1, 1, 3), RNG.normal()
        assert forecasters.predict(i, x) == pytest.approx(x @ np.linalg.solve(A[i] + np.outer(x, x), b[i]), abs=1e-12)
        forecasters.learn(i, x, y)
        A[i] += np.outer(x, x)
        b[i] += y * x
        assert np.allclose(forecasters.weights(i), np.linalg.solve(A[i], b[i]), rtol=0, atol=1e-12)


def test_running_all_is_predicting_and_learning_one_by_one():
    together, single = bank("vaw", 4, 2, ridge=1.0), bank("vaw", 4, 2, ridge=1.0)
    for _ in range(20):
        X, y = RNG.uniform(-1, 1, (4, 2)), RNG.normal()
        expected = [single.predict(i, X[i]) for i in range(4)]
        for i in range(4):
            single.learn(i, X[i], y)
        assert np.allclose(together.run(X, y), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("base", ["newton", "vaw"])
def test_a_restarted_forecaster_is_as_new(base):
    used, new = bank(base, 2, 2, ridge=2.0), bank(base, 2, 2, ridge=2.0)
    used.learn(1, np.array([0.5, -1.0]), 0.3)
    assert used.weights(1).any()
    used.restart(1)
    assert all(np.array_equal(a, b) for a, b in zip(used.get_state().values(), new.get_state().values(), strict=True))


def test_a_gradient_step_ends_in_the_unit_ball():
    bank = GradientBank(2, 2)
    bank.step(1, np.array([1.0, -1.0]), 5.0, p=0.1, size=1.0)
    np.testing.assert_allclose(bank.W, [[0.0, 0.0], [0.5**0.5, -(0.5**0.5)]], rtol=1e-14)
