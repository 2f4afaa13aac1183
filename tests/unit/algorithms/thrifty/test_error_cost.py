"""What is never bought: anything before the labels vary, and what costs more than all there is to explain is worth."""

import numpy as np
import pytest

import keyhole as kh

NAMES = ["age", "ldl", "hdl", "glucose", "bmi"]
PRICES = {"lipids": 12.0, "glucose": 3.0, "bmi": 0.1}
LIMITS = [{"error_cost": 10.0}, {"total_budget": 900.0, "expected_rows": 80}, {"error_cost": 1e9, "k": 1, "k0": 2}]


def make(**limits):
    return kh.make(
        "thrifty", names=NAMES, sources={"lipids": ["ldl", "hdl"]}, free=["age"], prices=PRICES, seed=0, **limits
    )


def prices_paid(learner, X, y):
    """What each row cost, and what was ordered in it."""
    for x, label in zip(X, y, strict=True):
        r = learner.ask()
        yield r.price, {*r.sources, *learner.catalog.ordered(r.extra)}
        learner.tell(r, x[r.attributes], label, r.extra, x[r.extra])


@pytest.mark.parametrize("limits", LIMITS)
def test_nothing_is_bought_before_the_labels_show_a_variance(limits):
    X = np.random.default_rng(0).normal(size=(120, 5))
    y = np.where(np.arange(120) < 40, 7.0, X @ np.array([1.0, 0.8, 0.5, 0.0, 0.5]))
    paid = [price for price, _ in prices_paid(make(**limits), X, y)]
    assert sum(paid[:41]) == 0.0
    assert sum(paid[41:]) > 0.0


@pytest.mark.parametrize("error_cost", [0.5, 2.0, 8.0])
def test_what_is_dearer_than_worth_times_the_variance_is_never_looked_at(error_cost):
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(200, 5))
        y = 0.8 * X[:, 1] + 0.4 * X[:, 4]
        for row, (_, ordered) in enumerate(prices_paid(make(error_cost=error_cost), X, y)):
            assert all(PRICES[s] <= error_cost * np.var(y[:row], ddof=1) for s in ordered)


def test_what_was_never_bought_is_told_with_what_it_would_have_to_cost():
    X = np.random.default_rng(1).normal(size=(300, 5))
    learner = make(error_cost=2.0)
    kh.play(learner, X, X @ np.array([0.0, 0.8, 0.0, 0.0, 0.4]))
    lipids = next(e for e in learner.explain() if e.name == "lipids")
    assert lipids.bought == 0
    left = float(lipids.reason.split("is worth ")[1].split(";")[0])
    assert 0.5 * 2.0 * 0.64 < left < 2.0 * (0.64 + 0.16)
    assert "it costs 12," in lipids.reason


def test_a_source_that_is_much_like_another_joins_for_what_it_adds_beside_it():
    """It adds 0.36 (1 - 0.9^2) = 0.068 and costs 0.055; the pseudo-rows of the fit shrink what it seems to add."""
    joined = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 6))
        X[:, 1] = 0.9 * X[:, 0] + (1.0 - 0.9**2) ** 0.5 * X[:, 1]
        learner = kh.make("thrifty", d=6, k=4, seed=0, prices=[1.0] * 6, error_cost=1.0 / 0.055)
        learner.learn(X, X[:, 0] - 0.6 * X[:, 1] + 0.05 * rng.standard_normal(200))
        joined += {0, 1} <= set(learner.support.tolist())
    assert joined >= 12  # 23; 1 where the shrinkage is not undone
