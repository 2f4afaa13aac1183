"""Two attributes that matter only together: nearly the same column, and the label is their difference."""

from itertools import combinations
from math import log

import numpy as np

import keyhole as kh


def losses_of_a_pair(seed: int, d: int = 12, T: int = 800, unlike: float = 0.12) -> np.ndarray:
    rng = np.random.default_rng([seed, 42])
    X = rng.standard_normal((T, d))
    difference, common = X[:, 0].copy(), X[:, 1].copy()
    X[:, 0], X[:, 1] = common + unlike / 2 * difference, common - unlike / 2 * difference  # 0.06 correlated with y
    learner = kh.make("thrifty", d=d, k=6, seed=seed)
    return kh.play(learner, X, difference + 0.1 * rng.standard_normal(T)).losses


def test_a_pair_that_matters_only_together_is_found_by_a_joint_move():
    late = np.mean([losses_of_a_pair(seed)[300:].mean() for seed in range(10)])
    assert late < 0.54  # 0.66 with single moves only, 0.48 with joint ones; the label's variance is 1


def evidence(X: np.ndarray, y: np.ndarray) -> float:
    """The evidence that these columns together explain y, beyond what they fit by chance: 2.5 rows and one for each."""
    x, e = X - X.mean(axis=0), y - y.mean()
    left = e - x @ np.linalg.lstsq(x, e, rcond=None)[0]
    return -(y.size - 1.5 - X.shape[1]) * log((left @ left) / (e @ e))


def retention(X: np.ndarray, y: np.ndarray) -> float:
    """The least evidence of one of these columns in their fit with 5 pseudo-rows, by the variance of the label."""
    x, e = X - X.mean(axis=0), y - y.mean()
    V = np.linalg.inv(x.T @ x + 5.0 * np.diag(X.var(axis=0)))
    return float(((V @ x.T @ e) ** 2 / np.diag(V)).min() / y.var())


def test_one_or_two_join_where_their_evidence_exceeds_what_they_need():
    """20 complete past rows are judged once, so the evidence of every attribute and every pair can be worked out."""
    d, k, n = 8, 4, 20
    needed = 2.0 * (1.0 + log(d / k))
    joined = {"nothing": 0, "one": 0, "two": 0}
    for seed in range(400):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        difference, common = X[:, 2].copy(), X[:, 5].copy()
        X[:, 2], X[:, 5] = common + 0.4 * difference, common - 0.4 * difference
        y = rng.uniform(0.0, 1.5) * difference + rng.standard_normal(n)
        best = max(evidence(X[:, [j]], y) for j in range(d)) / needed
        pairs = {pair: evidence(X[:, list(pair)], y) / (2.0 * needed) for pair in combinations(range(d), 2)}
        pair = max(pairs, key=lambda p: pairs[p])
        learner = kh.make("thrifty", d=d, k=k, seed=seed)
        learner.learn(X, y)
        found = set(learner.support.tolist())
        if best > 1.0:
            assert found
            joined["one"] += 1
        elif pairs[pair] > 1.0 and retention(X[:, list(pair)], y) > needed / 2.0:
            assert found >= set(pair)
            joined["two"] += 1
        else:
            assert not found
            joined["nothing"] += 1
    assert min(joined.values()) >= 20, joined


def test_three_that_together_explain_more_for_the_same_money_replace_one():
    """No single one of them and no two explain as much as the member that must leave for them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1.0, 1.0, (400, 6))
        y = X @ [1.0, 0.66, 0.66, 0.66, 0.0, 0.0] + 0.1 * rng.standard_normal(400)
        learner = kh.make("thrifty", d=6, seed=0, prices=[12.0, 4.0, 4.0, 4.0, 4.0, 4.0], budget_per_row=12.0)
        learner.learn(X, y)
        assert learner.support.tolist() == [1, 2, 3]
