"""A change is noticed, by evidence that can be worked out by hand; a bad label or a burst is none."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes


def t(error, s2):
    return -2.5 * math.log(1.0 + error**2 / (4.0 * s2))


CASES = [(400.0, 39.0, 1000.0, 1), (400.0, 10.0, 20.0, 0), (250.0, 39.0, 20.0, 0), (90.0, 39.0, 1.0, 0)]


def test_a_single_weight_that_turns_is_noticed_and_said():
    X, y, w = kh.streams.synthetic(10, 3, 5000, seed=5)
    j = int(np.argsort(np.abs(w))[-3])
    y[2500:] -= 2.0 * w[j] * X[2500:, j]
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    history = kh.play(learner, X, y)
    assert learner.alarms[0].what.startswith("the weights of single attributes changed; rows before count")
    assert 2500 < learner.alarms[0].row < 2750
    assert history.losses[3500:].mean() < 0.0108


def flipped(T=4000, at=2000, seed=3):
    X, y, w = kh.streams.synthetic(10, 3, T, seed=seed)
    y[at:] -= 2.0 * (X[at:] @ w)
    return X, y


def test_a_sign_that_turns_is_noticed_within_a_hundred_rows_and_said_in_words():
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    X, y = flipped()
    history = kh.play(learner, X, y)
    (alarm,) = learner.alarms
    assert 2000 < alarm.row <= 2100
    assert "labels follow the predictions" in alarm.what
    assert str(alarm) == f"row {alarm.row}: {alarm.what}"
    assert history.losses[2500:].mean() < 0.0105


def test_alarms_survive_a_file():
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    kh.play(learner, *flipped())
    assert from_bytes(to_bytes(learner)).alarms == learner.alarms != ()


@pytest.mark.parametrize("half_life", [None, 2000])
def test_heavy_tails_are_no_change(half_life):
    for seed in range(3):
        X, y, w = kh.streams.synthetic(10, 3, 6000, seed=seed)
        y = X @ w + 0.1 * np.random.default_rng(seed).standard_t(2.5, 6000)
        learner = kh.make("thrifty", d=10, k=3, seed=0, half_life=half_life)
        kh.play(learner, X, y)
        assert learner.alarms == ()


def test_misfit_is_no_change():
    """Two pairs that say nothing alone: the fit is too timid for long, and nothing may be forgotten for that."""
    for seed in range(3):
        rng = np.random.default_rng([seed, 77])
        X, y = rng.standard_normal((8000, 40)), np.zeros(8000)
        for a, b in ((3, 8), (11, 30)):
            X[:, b] = 0.95 * X[:, a] + (1.0 - 0.95**2) ** 0.5 * X[:, b]
            y += 0.27 * (X[:, a] - X[:, b]) / 0.1**0.5
        learner = kh.make("thrifty", d=40, k=4, seed=seed)
        kh.play(learner, X, y + 0.1 * rng.standard_normal(8000))
        assert learner.alarms == ()
        assert learner.support.tolist() == [3, 8, 11, 30]
