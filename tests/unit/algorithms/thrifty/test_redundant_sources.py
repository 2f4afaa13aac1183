"""Where things have a price, what says nothing is not bought again: constant, never observed, or determined."""

import numpy as np
import pytest

import keyhole as kh

NAMES = ["a", "b", "constant", "dead", "copy", "sum", "p1", "p2"]
PRICES = {"a": 1.0, "b": 1.0, "constant": 0.1, "dead": 0.1, "copy": 1.5, "sum": 2.5, "panel": 0.1}


LIMITS = [
    {"error_cost": 20.0},
    {"error_cost": 20.0, "k": 4},
    {"total_budget": 12_000.0, "expected_rows": 4000},
]


def rows(seed):
    """a and b matter; what follows is what its name says, and the panel is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 8))
    X[:, 2], X[:, 3] = 7.0, np.nan
    X[:, 4], X[:, 5] = 3.0 - 2.0 * X[:, 0], X[:, 0] + X[:, 1]
    X[:, 6:] = 5.0
    return X, 2.0 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=4000)


def played(prices, limits, seed):
    """What is bought in the first and in the second half, and the learner then."""
    X, y = rows(seed)
    learner = kh.make("thrifty", names=NAMES, sources={"panel": ["p1", "p2"]}, prices=prices, seed=1, **limits)
    kh.play(learner, X[:2000], y[:2000])
    before = {e.name: e.bought for e in learner.explain()}
    kh.play(learner, X[2000:], y[2000:])
    return before, {e.name: e.bought - before[e.name] for e in learner.explain()}, learner


@pytest.mark.parametrize("limits", [{"error_cost": 20.0}, {"total_budget": 12_000.0, "expected_rows": 4000}], ids=str)
def test_of_two_that_say_the_same_the_cheaper_is_bought(limits):
    _, bought, _ = played(PRICES | {"copy": 0.5}, limits, 1)
    assert bought["copy"] == bought["b"] == 2000
    assert bought["a"] + bought["sum"] < 20
    assert max(bought[name] for name in ("constant", "dead", "panel")) < 100
