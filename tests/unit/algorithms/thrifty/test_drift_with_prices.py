"""The priced engine notices a change by the same evidence, and gives up its past."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes


def priced(**options):
    return kh.make("thrifty", d=8, k=3, seed=0, **{"prices": [1.0] * 8, "error_cost": 500.0, **options})


def flipped(T=3000, at=1500, seed=3):
    X, y, w = kh.streams.synthetic(8, 2, T, seed=seed)
    y[at:] -= 2.0 * (X[at:] @ w)
    return X, y, w


KNOWN = {"free": ["x0"], "prices": {f"x{j}": 1.0 for j in range(1, 8)}}


@pytest.mark.parametrize("options", [{}, {"error_cost": None, "total_budget": 9000.0, "expected_rows": 3000}, KNOWN])
def test_a_sign_that_turns_is_noticed_and_what_is_bought_is_right_again(options):
    X, y, w = flipped()
    learner = priced(**options)
    losses = kh.play(learner, X, y).losses
    (alarm,) = learner.alarms
    assert 1500 < alarm.row <= 1600
    assert "labels follow the predictions" in alarm.what
    assert losses[2000:].mean() < 0.013  # 0.01 is the noise
    assert learner.weights[np.flatnonzero(w)] == pytest.approx(-w[w != 0.0], abs=0.05)


def test_nothing_is_noticed_where_nothing_changes():
    X, y, _ = flipped(at=3000)
    learner = priced()
    kh.play(learner, X, y)
    assert learner.alarms == ()


def test_alarms_survive_a_file():
    X, y, _ = flipped()
    learner = priced()
    kh.play(learner, X, y)
    assert from_bytes(to_bytes(learner)).alarms == learner.alarms != ()
