"""A regime that comes back gets its rows back, whatever limits the purchases; one that is new is learnt anew."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes

ROWS, D = 1500, 40
LIMITS = {
    "k": {"k": 3},
    "free and panels": {"k": 3, "free": ["x39"], "sources": {"panel": ["x7", "x8"]}},
    "error_cost": {"prices": [1.0] * D, "error_cost": 300.0},
    "total_budget": {"prices": [1.0] * D, "total_budget": 16_000.0, "expected_rows": 3 * ROWS},
}


def in_turns(regimes, seed=0):
    """X, y and the squared noise; each regime has its own weights for 1 500 rows."""
    T = ROWS * len(regimes)
    X, noise = kh.streams.synthetic(D, 3, T, seed=seed).X, 0.1 * np.random.default_rng(seed).standard_normal(T)
    w = np.repeat([kh.streams.synthetic(D, 3, 1, seed=which).w for which in regimes], ROWS, axis=0)
    return X, np.einsum("td,td->t", X, w) + noise, noise**2


def returns(learner):
    return [alarm for alarm in learner.alarms if "holds again" in alarm.what]


def played(regimes, seed, **limits):
    X, y, noise2 = in_turns(regimes, seed)
    learner = kh.make("thrifty", names=[f"x{j}" for j in range(D)], seed=seed, **limits)
    return learner, kh.play(learner, X, y).losses - noise2


@pytest.mark.parametrize("limits", LIMITS.values(), ids=list(LIMITS))
def test_a_regime_that_returns_is_recognised_and_costs_less_than_a_new_one(limits):
    again, anew, noticed = [], [], 0
    for seed in range(5):
        learner, excess = played([1, 2, 1], seed, **limits)
        again.append(excess[2 * ROWS :].sum())
        noticed += len(returns(learner)) == 1
        learner, excess = played([1, 2, 3], seed, **limits)
        anew.append(excess[2 * ROWS :].sum())
        assert returns(learner) == []
    assert noticed >= 3
    assert np.mean(again) < 0.95 * np.mean(anew)


def test_after_a_new_regime_the_fit_is_as_good_as_without_a_past():
    late, fresh = [], []
    for seed in range(5):
        _, excess = played([1, 2, 3], seed, k=3)
        late.append(excess[-500:].mean())
        _, excess = played([3], seed, k=3)
        fresh.append(excess[-500:].mean())
    assert np.mean(late) < np.mean(fresh) + 0.001  # a tenth of the variance of the noise


def test_compiled_and_row_by_row_play_are_the_same():
    X, y, _ = in_turns([1, 2, 1])
    fast, slow = (kh.make("thrifty", d=D, k=3, seed=2) for _ in range(2))
    a, b = kh.play(fast, X[:3300], y[:3300]), kh.play(slow, X[:3300], y[:3300], compiled=False)
    assert np.array_equal(a.predictions, b.predictions)
    assert to_bytes(fast) == to_bytes(slow)
    assert len(returns(fast)) == 1
