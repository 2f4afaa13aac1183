"""The priced engine notices a change by the same evidence, and gives up its past."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.priced.select import refit
from keyhole.algorithms.thrifty.watch import RECALIBRATED
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


def test_the_recalibrations_start_anew_with_each_support_and_only_then():
    X, y, _ = flipped(at=3000)
    learner = priced()
    kh.play(learner, X, y)
    memory = learner.memory
    support = memory.support
    refit(memory)
    assert set(memory.support) == set(support)
    assert memory.now["late_n"][0] > 30.0
    memory.source["price"] = 1e6  # nobody is worth that
    refit(memory)
    assert memory.support.size == 0
    assert all(memory.now[name][0] == 0.0 for name in RECALIBRATED)
