"""What is forgotten is what `half_life` fades and what `alarms` name; misfit alone is forgotten never."""

import numpy as np
import pytest

import keyhole as kh

from .test_equivalences import EVERY_LIMIT, NAMES, played, stream

ROWS = 2500


@EVERY_LIMIT
def test_the_weight_of_every_stored_row_is_that_of_the_half_life_and_the_alarms(limits):
    if "total_budget" in limits:
        limits = limits | {"total_budget": 5.0 * ROWS, "expected_rows": ROWS}
    X, y = stream(seed=6, T=ROWS)
    learner, _ = played(X, y, **limits)
    memory, labels = learner.memory, int(np.isfinite(y).sum())
    alarms = memory.alarm[: int(memory.scalars["n_alarms"][0])]
    expected = 0.5 ** (np.arange(labels - 1, -1, -1.0) / limits.get("half_life", np.inf))  # a new row counts 1
    for alarm in alarms:
        expected[: alarm["row"] - 1] /= alarm["forgotten"]
    np.testing.assert_allclose(memory.row["weight"][:labels] / memory.scalars["row_weight"], expected, rtol=1e-9)
    assert [a.row for a in learner.alarms] == alarms["row"].tolist() != []
    assert not alarms["returned"].any()  # else rows count again


def cubes(X, rng):
    return X[:, 0] ** 3 + 2.0 * X[:, 1]


def products(X, rng):
    return 3.0 * X[:, 0] * X[:, 1] + 0.2 * X[:, 2]


def steps(X, rng):
    return np.sign(X[:, 0]) + (X[:, 1] > 0.5) + 0.5 * rng.standard_t(3.0, len(X))


def noise_that_depends_on_a_value(X, rng):
    return X[:, 0] + np.exp(2.0 * X[:, 1]) * rng.standard_normal(len(X))


@pytest.mark.parametrize("law", [cubes, products, steps, noise_that_depends_on_a_value])
def test_a_fit_that_is_bad_for_ever_is_that_of_all_rows(law):
    """Least squares on all rows with five pseudo-rows of the mean and the variance of each column."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-1.0, 1.0, (ROWS, 12))
    y = law(X, rng)
    learner = kh.make("thrifty", names=NAMES, k=1, seed=0, free=["x0", "x1", "x2"])
    learner.learn(X, y)
    used = np.flatnonzero(learner.weights)
    x, e = X[:, used] - X[:, used].mean(axis=0), y - y.mean()
    ridge = np.linalg.solve(x.T @ x + 5.0 * np.diag(x.var(axis=0)), x.T @ e)
    assert {0, 1, 2} <= set(used.tolist())
    assert learner.alarms == ()
    assert learner.weights[used] == pytest.approx(ridge, abs=0.02 * y.std())
