"""Where things have a price, what says nothing is not bought again: constant, never observed, or determined."""

import numpy as np

import keyhole as kh

NAMES = ["a", "b", "constant", "dead", "copy", "sum", "p1", "p2"]
PRICES = {"a": 1.0, "b": 1.0, "constant": 0.1, "dead": 0.1, "copy": 1.5, "sum": 2.5, "panel": 0.1}


def test_what_says_nothing_is_not_bought_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    X[:, 2], X[:, 3] = 7.0, np.nan
    X[:, 4], X[:, 5] = 3.0 - 2.0 * X[:, 0], X[:, 0] + X[:, 1]
    X[:, 6:] = 5.0
    y = 2.0 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=4000)
    learner = kh.make("thrifty", names=NAMES, sources={"panel": ["p1", "p2"]}, prices=PRICES, worth=20.0, seed=1)
    kh.play(learner, X[:2000], y[:2000])
    before = {e.name: e.bought for e in learner.explain()}
    kh.play(learner, X[2000:], y[2000:])
    bought = {e.name: e.bought - before[e.name] for e in learner.explain()}
    assert sorted(NAMES[j] for j in learner.support) == ["a", "b"]
    assert {name: n for name, n in bought.items() if n} == {"a": 2000, "b": 2000}
    assert max(before[name] for name in ("constant", "dead", "panel")) <= 60
    assert before["copy"] + before["sum"] < 800  # one may have stood in for a
