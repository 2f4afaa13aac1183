"""What says nothing is not bought again: constant, never observed, or determined by the support."""

import numpy as np
import pytest

import keyhole as kh

NAMES = ["a", "b", "c", "constant", "dead", "copy", "sum", "near", "noise", "more"]


def rows(T, seed=0):
    """a and b matter; what follows c is what its name says, and near is much like a."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 10))
    X[:, 3], X[:, 4] = 7.0, np.nan
    X[:, 5], X[:, 6], X[:, 7] = 3.0 - 2.0 * X[:, 0], X[:, 0] + X[:, 1], X[:, 0] + 0.2 * X[:, 7]
    return X, 2.0 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=T)


def bought(learner):
    return {e.name: e.bought for e in learner.explain()}


def test_constant_dead_and_determined_columns_are_not_bought_again():
    X, y = rows(4000, seed=5)  # one of those in which `sum` was seen beside both in time
    learner = kh.make("thrifty", names=NAMES, k=5, seed=1)
    kh.play(learner, X[:2000], y[:2000])
    before = bought(learner)
    history = kh.play(learner, X[2000:], y[2000:])
    after = {name: n - before[name] for name, n in bought(learner).items()}
    found = {NAMES[j] for j in learner.support}
    assert len(found & {"a", "b", "copy", "sum"}) == 2  # two say all that the four know
    idle = {"a", "b", "copy", "sum"} - found
    assert {name for name, n in after.items() if n == 0} >= idle
    assert before["constant"] + after["constant"] < 250  # twice the root of 4000, and what comes before it is noticed
    assert before["dead"] + after["dead"] < 250
    assert history.bought.sum() == 5 * 2000  # the places go to others
    said = {e.name: e.reason for e in learner.explain()}
    assert said["constant"] == "constant so far: not bought again"
    assert {said[name] for name in idle} == {"known from the support: not bought again"}


def test_a_place_stays_empty_where_everything_else_is_idle():
    X, y = rows(1500)
    learner = kh.make("thrifty", names=NAMES[:5], k=5, seed=1)
    kh.play(learner, X[:, :5], y)
    assert {learner.names[i] for i in learner.ask().attributes} == {"a", "b", "c"}
    assert learner.explain()[4].reason == "bought, never observed: not bought again"


def test_with_a_half_life_the_idle_are_looked_at_now_and_then():
    X, y = rows(4000)
    learner = kh.make("thrifty", names=NAMES, k=5, seed=1, half_life=300.0)
    kh.play(learner, X[:2000], y[:2000])
    before = bought(learner)
    X[2000:, 3] = np.random.default_rng(3).normal(size=2000)
    kh.play(learner, X[2000:], y[2000:] + 5.0 * X[2000:, 3])
    assert before["constant"] < 200
    assert "constant" in {NAMES[j] for j in learner.support}  # it is none any more, and was found


def test_what_was_determined_by_a_member_that_left_is_bought_again():
    X, y = rows(6000)
    learner = kh.make("thrifty", names=NAMES, k=4, seed=5)  # `sum` is seen beside both in time
    kh.play(learner, X[:2000], y[:2000])
    assert "known from the support" in learner.explain()[6].reason
    X[2000:, 0] = np.random.default_rng(4).normal(size=4000)  # a, copy and sum say nothing of each other now
    kh.play(learner, X[2000:], y[2000:])
    found = {NAMES[j] for j in learner.support}
    assert "b" in found
    assert found & {"copy", "sum", "near"}


def test_prices_say_what_an_attribute_adds_and_would_have_to_cost():
    X, y = rows(2000)
    prices = [4.0, 1.0, *[1.0] * 8]
    learner = kh.make("thrifty", names=NAMES, k=4, prices=prices, budget_per_row=8.0, seed=1)
    kh.play(learner, X, y)
    records = {e.name: e for e in learner.explain()}
    b = records["b"]
    assert b.in_support
    assert b.adds == pytest.approx(1.0, rel=0.2)  # its weight is -1, its variance 1
    assert "; it is worth " in b.reason
    assert "and costs 1" in b.reason
    noise = records["noise"]
    assert noise.fair_price < 0.05
    assert noise.reason == f"no benefit seen in {noise.bought} rows"
    dearest = max((e for e in records.values() if e.in_support), key=lambda e: e.price / e.adds)
    assert dearest.fair_price == pytest.approx(dearest.price)
    free = kh.make("thrifty", names=NAMES, k=4, seed=1)
    kh.play(free, X, y)
    assert all(np.isnan(e.fair_price) and "costs" not in e.reason for e in free.explain())


def test_with_a_half_life_what_was_constant_in_past_rows_is_looked_at_too():
    """It was never bought, it varies since the past rows, and nothing matters more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4400, 6))
    X[:400, 3] = 7.0
    y = 2.0 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=4400)
    y[400:] += 5.0 * X[400:, 3]
    learner = kh.make("thrifty", d=6, k=2, seed=0, half_life=300.0)
    learner.learn(X[:400], y[:400])
    kh.play(learner, X[400:], y[400:])
    assert learner.support.tolist() == [0, 3]
