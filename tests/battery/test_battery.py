"""The checks that every learner passes."""

import json

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes

from .cases import CASES, RAW, by_protocol, rows, step

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

T = 60


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


def test_the_budget_is_never_exceeded(case):
    learner = case.make()
    for x, y in rows(*case.stream(T)):
        r = learner.ask()
        extra = learner.ask_more(r)
        assert len(set(r.attributes.tolist())) == r.attributes.size <= case.k
        assert extra.size <= case.k0
        assert len({*r.attributes.tolist(), *extra.tolist()}) == r.attributes.size + extra.size
        assert r.names == tuple(learner.names[i] for i in r.attributes)
        assert learner.support.size <= case.k
        assert learner.weights.shape == (case.d,)
        step(learner, r, x, y)


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


def test_the_same_seed_gives_the_same_trace(case):
    X, y = case.stream(T)
    one, two = case.make(seed=3), case.make(seed=3)
    for x, label in rows(X, y):
        r, q = one.ask(), two.ask()
        assert r.to_json() == q.to_json()
        assert one.predict(r, x[r.attributes]) == two.predict(q, x[q.attributes])
        step(one, r, x, label)
        step(two, q, x, label)
    assert to_bytes(one) == to_bytes(two)


def test_predict_and_ask_more_have_no_side_effect(case):
    X, y = case.stream(30)
    learner = case.make()
    for x, label in rows(X, y):
        r = learner.ask()
        before = to_bytes(learner)
        first = learner.predict(r, x[r.attributes])
        learner.ask_more(r)
        assert learner.predict(r, x[r.attributes]) == first
        assert np.isfinite(first)
        assert to_bytes(learner) == before
        step(learner, r, x, label)


def test_saved_and_loaded_after_any_round_it_continues_bit_for_bit(case):
    X, y = case.stream(40)
    whole, broken = case.make(), case.make()
    for x, label in rows(X, y):
        step(whole, whole.ask(), x, label)
        r = broken.ask()
        broken = from_bytes(to_bytes(broken))  # with the round open
        step(broken, r, x, label)
        broken = from_bytes(to_bytes(broken))
    assert to_bytes(whole) == to_bytes(broken)


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


@pytest.mark.parametrize("n", range(1, 18))
def test_short_streams_work(case, n):
    history = kh.play(case.make(), *case.stream(n))
    assert history.losses.shape == (n,)
    assert np.isfinite(history.losses).all()


def test_an_empty_stream_works(case):
    assert kh.play(case.make(), np.empty((0, case.d)), np.empty(0)).losses.size == 0


@pytest.mark.parametrize("label", [0.0, 0.7])
@pytest.mark.parametrize("feature", ["zero", "given"])
def test_zero_features_and_constant_labels_are_survived(case, label, feature):
    X, y = case.stream(200)
    learner = case.make()
    history = kh.play(learner, X * (feature == "given"), np.full(y.size, label))
    assert np.isfinite(history.predictions).all()
    assert np.isfinite(learner.weights).all()
    if label == 0.0 and hasattr(learner, "exploiter") and hasattr(learner.exploiter, "moves"):
        assert learner.exploiter.moves <= 0  # w = 0 throughout: a tie never looks like a discovery


def test_rounds_may_be_told_late_in_any_order_from_another_process(case):
    """Rounds as text, the learner from its bytes at every step: the same as one that never left its process."""
    X, y = case.stream(T)
    here, learner, waiting = case.make(), case.make(), []
    rng = np.random.default_rng(2)
    for t in range(T):
        waiting.append((t, here.ask(), learner.ask().to_json()))
        learner = from_bytes(to_bytes(learner))
        while len(waiting) > 5 or (waiting and t == T - 1):
            at, r, text = waiting.pop(int(rng.integers(len(waiting))))
            sent = kh.Round.from_json(text)
            assert sent == r
            assert here.predict(r, X[at][r.attributes]) == learner.predict(sent, X[at][r.attributes])
            step(here, r, X[at], float(y[at]))
            step(learner, sent, X[at], float(y[at]))
    assert learner.open_rounds == ()
    assert to_bytes(learner) == to_bytes(here)


def test_abandoned_rounds_leave_no_trace_but_the_draws(case):
    """Closing a round without a label changes nothing at all, and asking it only what it drew."""
    X, y = case.stream(T)
    learner = case.make()
    for t, (x, label) in enumerate(rows(X, y)):
        r = learner.ask()
        if t % 3:
            step(learner, r, x, label)
        else:
            before, weights, drawn = learner.get_state(), learner.weights, learner.rng.bit_generator.state
            learner.abandon(r)
            assert learner.rng.bit_generator.state == drawn
            after = learner.get_state()
            assert all(np.array_equal(before[key], after[key]) for key in before)
            assert np.array_equal(learner.weights, weights)
    assert learner.open_rounds == ()
    assert np.isfinite(learner.weights).all()


def test_only_available_attributes_are_asked_for(case):
    X, y = case.stream(T)
    learner, rng = case.make(), np.random.default_rng(4)
    for t, (x, label) in enumerate(rows(X, y)):
        mask = rng.random(case.d) < rng.choice([0.0, 0.2, 0.5, 1.0])
        r = learner.ask(available=mask if t % 2 else [f"x{i}" for i in np.flatnonzero(mask)])
        asked = [*r.attributes, *learner.ask_more(r)]
        assert mask[asked].all()
        assert len(asked) > 0 or not mask.any() or r.kind == "exploit"
        assert np.isfinite(learner.predict(r, x[r.attributes]))
        step(learner, r, x, label)
    assert np.isfinite(learner.weights).all()


def test_unobserved_values_take_no_part(case):
    X, y = case.stream(T)
    learner, rng = case.make(), np.random.default_rng(6)
    for x, label in rows(X, y):
        x = np.where(rng.random(x.size) < rng.choice([0.0, 0.3, 1.0]), np.nan, x)
        r = learner.ask()
        y_hat = learner.predict(r, x[r.attributes])
        assert np.isfinite(y_hat)
        if case.name not in RAW and not case.options.get("standardize"):
            assert y_hat == learner.predict(r, np.nan_to_num(x[r.attributes]))
            unseen = np.isnan(x[r.attributes])
            if unseen.all():
                assert y_hat == 0.0
        step(learner, r, x, label)
    assert np.isfinite(learner.weights).all()


def test_a_mistake_leaves_the_state_as_it_was(case):
    X, y = case.stream(20)
    learner = case.make()
    kh.play(learner, X, y)
    told = learner.ask()
    step(learner, told, X[0], float(y[0]))
    r = next(r for r in (learner.ask() for _ in range(50)) if r.attributes.size)  # not every round buys something
    x, extra = X[1][r.attributes], learner.ask_more(r)
    more = X[1][extra]
    changed = kh.Round.from_json(json.dumps({**json.loads(r.to_json()), "index": r.index + 1}))
    before = to_bytes(learner)
    for wrong in (
        lambda: learner.tell(r, np.append(x, 0.0), 0.1, extra, more),
        lambda: learner.tell(r, x[:-1], 0.1, extra, more),
        lambda: learner.tell(r, x * np.inf, 0.1, extra, more),
        lambda: learner.tell(r, x, np.nan, extra, more),
        lambda: learner.tell(r, x, np.inf, extra, more),
        lambda: learner.tell(r, x, 0.1, np.append(extra, 0), np.append(more, 0.0)),
        lambda: learner.tell(told, x, 0.1, extra, more),
        lambda: learner.tell(changed, x, 0.1, extra, more),
        lambda: learner.ask(available=["no such attribute"]),
        lambda: learner.predict(r, np.append(x, 0.0)),
    ):
        with pytest.raises(kh.ProtocolError):
            wrong()
        assert to_bytes(learner) == before
    step(learner, r, X[1], float(y[1]))
