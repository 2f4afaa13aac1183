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


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_what_says_nothing_is_not_bought_again(limits):
    before, bought, learner = played(PRICES, limits, 0)
    assert sorted(NAMES[j] for j in learner.support) == ["a", "b"]
    assert bought["a"] == bought["b"] == 2000
    assert sum(bought.values()) - 4000 <= 22  # a copy that was seen 22 times beside them is known to be one
    assert max(before[name] for name in ("constant", "dead", "panel")) <= 60
    assert before["copy"] + before["sum"] < 300
    assert learner.memory.now["moves"][0] < 40  # it does not come and go


@pytest.mark.parametrize("limits", [{"error_cost": 20.0}, {"total_budget": 12_000.0, "expected_rows": 4000}], ids=str)
def test_of_two_that_say_the_same_the_cheaper_is_bought(limits):
    _, bought, _ = played(PRICES | {"copy": 0.5}, limits, 1)
    assert {name: n for name, n in bought.items() if n} == {"copy": 2000, "b": 2000}


def test_a_cheaper_copy_that_comes_late_takes_the_place():
    X, y = rows(2)
    known_late = X.copy()
    known_late[:1000, 0] = np.nan  # a cannot be had at first, and is thought dead
    options = {"prices": PRICES, "error_cost": 20.0, "half_life": 500.0}
    learner = kh.make("thrifty", names=NAMES, sources={"panel": ["p1", "p2"]}, seed=1, **options)
    kh.play(learner, known_late[:1000], y[:1000])
    assert "copy" in {NAMES[j] for j in learner.support}
    kh.play(learner, known_late[1000:], y[1000:])
    assert sorted(NAMES[j] for j in learner.support) == ["a", "b"]
