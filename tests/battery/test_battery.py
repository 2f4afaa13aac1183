"""The checks that every learner passes: those of `keyhole.testing`, and two that need to know the learner."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.testing import CHECKS, Setup

from .cases import CASES, RAW, by_protocol, rows, step

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

T = 60


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_every_learner_passes(case, check):
    check(Setup(case.make, missing_is_zero=case.name not in RAW and not case.options.get("standardize")))


def _gaps(X, y, rng, scale=1.0, unlabelled=0.06):
    """Of some labels and cells, and of some rows, nothing comes."""
    y = scale * np.where(rng.random(y.size) < unlabelled, np.nan, y)
    X = scale * np.where(rng.random(X.shape) < 0.05, np.nan, X)
    X[rng.random(y.size) < 0.04] = np.nan
    return X, y


def _sizes(shape, rng):
    return 10.0 ** rng.uniform(-300, 100, shape) * rng.choice([-1.0, 1.0], shape)


STREAMS = {
    "gaps": _gaps,
    "half unlabelled": lambda X, y, rng: _gaps(X, y, rng, unlabelled=0.5),
    "beyond 1": lambda X, y, rng: _gaps(X, y, rng, scale=8.0),
    "signed zeros and denormals": lambda X, y, rng: (
        np.where(rng.random(X.shape) < 0.3, rng.choice([0.0, -0.0, 5e-324, -1e-320], X.shape), X),
        np.where(rng.random(y.size) < 0.2, rng.choice([-0.0, 1e-320], y.size), y),
    ),
    "whole numbers with minus zero": lambda X, y, rng: (np.round(2 * X), np.round(2 * y)),
    "every size there is": lambda X, y, rng: (_sizes(X.shape, rng), _sizes(y.shape, rng)),
}
POISONS = {
    "numbers": [-50.0, 3.0, 1e6],
    "denormals and minus zero": [1e-320, -5e-324, -0.0],
    "beyond all measure": [1e101, np.inf, -np.inf],
    "one of each": [0.5, 1e-320, -0.0, np.nan, 1e50, 1e101, np.inf],
}


@pytest.mark.parametrize("poison", POISONS)
def test_what_was_not_bought_cannot_matter(case, poison):
    """Whatever the cells that were not bought hold, predictions and saved bytes are the same."""
    rng = np.random.default_rng(0)
    X, y = case.stream(T)
    X = np.where(rng.random(X.shape) < 0.1, -0.0, X)
    bought = by_protocol(case.make(), X, y)[1]
    garbage = np.where(bought, X, rng.choice(POISONS[poison], X.shape))
    honest, fooled = case.make(), case.make()
    a, b = kh.play(honest, X, y), kh.play(fooled, garbage, y)
    assert np.array_equal(a.predictions, b.predictions)
    assert to_bytes(honest) == to_bytes(fooled)


@pytest.mark.parametrize("stream", STREAMS)
def test_play_and_the_protocol_give_the_same_predictions_and_the_same_bytes(case, stream):
    X, y = STREAMS[stream](*case.stream(150), np.random.default_rng(1))
    fast, slow, rowwise = case.make(), case.make(), case.make()
    a, b = kh.play(fast, X, y), kh.play(rowwise, X, y, compiled=False)
    predictions, bought = by_protocol(slow, X, y)
    assert np.array_equal(a.predictions, predictions)
    assert np.array_equal(b.predictions, predictions)
    assert np.array_equal(a.bought, bought.sum(axis=0))
    assert np.array_equal(a.explored, b.explored)
    assert np.array_equal(np.isnan(a.losses), np.isnan(y))
    assert to_bytes(fast) == to_bytes(slow) == to_bytes(rowwise)


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
        step(plain, r, x, label)
        step(renamed, q, x[pi], label)
    assert np.allclose(plain.weights[pi], renamed.weights, rtol=1e-5, atol=1e-6)


def test_a_tie_is_not_a_discovery(case):
    """Labels of zero keep w = 0, so that no learner restarts its exploiter."""
    learner = case.make()
    if hasattr(learner, "exploiter") and hasattr(learner.exploiter, "moves"):
        X, y = case.stream(200)
        kh.play(learner, X, 0.0 * y)
        assert learner.exploiter.moves <= 0
