"""What a row says about a candidate is known in the next one, and whoever has the evidence joins at once."""

import numpy as np

import keyhole as kh


def test_a_column_that_was_always_the_same_is_looked_at_as_often_as_those_that_say_nothing():
    rng = np.random.default_rng(2)
    X = (rng.random((600, 10)) < 0.05).astype(float)  # others took long to show that they vary
    X[:, 3] = 0.0
    learner = kh.make("thrifty", d=10, k=2, seed=0)
    kh.play(learner, X, rng.standard_normal(600))
    bought = [e.bought for e in learner.explain()]
    assert bought[3] > 0.8 * np.median(bought)


def test_a_column_that_was_always_the_same_is_given_up_soon_where_all_others_vary_at_once():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.0, 1.0, (600, 10))
    X[:, 3] = 0.0
    learner = kh.make("thrifty", d=10, k=2, seed=0)
    kh.play(learner, X, rng.standard_normal(600))
    assert 5 <= learner.explain()[3].bought < 130


def test_rare_values_are_found():
    rng = np.random.default_rng(4)
    X = (rng.random((3000, 20)) < 0.05).astype(float)
    learner = kh.make("thrifty", d=20, k=2, seed=0)
    kh.play(learner, X, X[:, 7] - X[:, 12] + 0.1 * rng.standard_normal(3000))
    assert learner.support.tolist() == [7, 12]
