"""The checks that every learner passes: those of `keyhole.testing`, and two that need to know the learner."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.testing import CHECKS, Setup, answer_round, play_by_protocol

from .cases import CASES, RAW, rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

T = 60


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_every_learner_passes(case, check):
    check(Setup(case.make, missing_is_zero=case.name not in RAW and not case.options.get("standardize")))


def test_play_and_the_protocol_agree_on_numbers_of_every_size(case):
    rng = np.random.default_rng(1)
    X, y = case.stream(150)
    X, y = (10.0 ** rng.uniform(-300, 100, v.shape) * rng.choice([-1.0, 1.0], v.shape) for v in (X, y))
    fast, slow = case.make(), case.make()
    predictions, bought = play_by_protocol(slow, X, y)
    history = kh.play(fast, X, y)
    assert np.array_equal(history.predictions, predictions)
    assert np.array_equal(history.bought, bought.sum(axis=0))
    assert to_bytes(fast) == to_bytes(slow)


def test_renaming_the_columns_with_the_draws_renames_the_result(case, monkeypatch):
    X, y = case.stream(T)
    pi = np.random.default_rng(5).permutation(case.d)  # new column c is old column pi[c]
    new_name = np.argsort(pi)
    plain = case.make()
    draw_order = kh.Learner._draw_order
    monkeypatch.setattr(kh.Learner, "_draw_order", lambda self: new_name[draw_order(self)])
    options = dict(case.options)
    if "support" in options:
        options["support"] = [int(new_name[i]) for i in options["support"]]
    if "prices" in options:
        options["prices"] = [options["prices"][i] for i in pi]
    renamed = kh.make(case.name, d=case.d, k=case.k, k0=case.k0, seed=0, **options)
    for x, label in rows(X, y):
        r, q = plain.ask(), renamed.ask()
        assert set(new_name[r.attributes]) == set(q.attributes)
        a, b = plain.predict(r, x[r.attributes]), renamed.predict(q, x[pi][q.attributes])
        assert a == pytest.approx(b, rel=1e-6, abs=1e-7)  # sums and pivots run in another order
        answer_round(plain, r, x, label)
        answer_round(renamed, q, x[pi], label)
    assert np.allclose(plain.weights[pi], renamed.weights, rtol=1e-5, atol=1e-6)


def test_a_tie_is_not_a_discovery(case):
    """Labels of zero keep w = 0, so that no learner restarts its exploiter."""
    learner = case.make()
    if hasattr(learner, "exploiter") and hasattr(learner.exploiter, "moves"):
        X, y = case.stream(200)
        kh.play(learner, X, 0.0 * y)
        assert learner.exploiter.moves <= 0
