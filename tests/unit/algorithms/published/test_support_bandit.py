"""One arm per support."""

from math import comb

import numpy as np
import pytest

import keyhole as kh

MASTERS = ["tsallis", "hedged-ftrl", "corral", "batched-exp3"]


def made(d=6, k=1, **options):
    return kh.make("support-bandit", d=d, k=k, seed=0, **options)


@pytest.mark.parametrize("base", ["newton", "vaw", "gradient"])
@pytest.mark.parametrize("master", MASTERS)
def test_every_master_finds_the_support_with_every_base(master, base):
    X, y, w = kh.streams.synthetic(6, 1, 1500, seed=1, design="rademacher")
    learner = made(master=master, base=base)
    regret = kh.play(learner, X, y).regret(w)[-1]
    assert regret < 0.25 * (y**2 - (y - X @ w) ** 2).sum()
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert np.abs(learner.weights - w).max() < 0.1


@pytest.mark.parametrize("k", [4, 5, 6])
def test_nearly_all_attributes_are_a_small_bandit_too(k):
    X, y, w = kh.streams.synthetic(6, 2, 1500, seed=2)
    learner = made(k=k)
    regret = kh.play(learner, X, y).regret(w)[-1]
    assert regret < 0.25 * (y**2 - (y - X @ w) ** 2).sum()
    assert set(np.flatnonzero(w)) <= set(learner.support)


def test_only_the_arm_that_was_played_learns():
    learner = made(d=5, k=2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        before = learner.bank.get_state()
        r = learner.ask()
        learner.tell(r, rng.uniform(-1, 1, 2), 0.5)
        arm = int(r.memo[0])
        assert set(learner.order[learner.U[arm]]) == set(r.attributes)
        for key, old in before.items():
            changed = np.flatnonzero((learner.bank.get_state()[key] != old).reshape(comb(5, 2), -1).any(axis=1))
            assert set(changed) <= {arm}


def test_the_scale_of_the_losses_is_learnt_from_the_labels():
    learner = made()
    for y in (3.0, -1.0):
        learner.tell(r := learner.ask(), np.zeros(r.attributes.size), y)
    assert learner._loss(2.0) == pytest.approx(4.0 / (2 * (9 + 1) / 2))
    assert learner._loss(100.0) == 1.0
    assert made(tuning="theory", label_bound=3.0)._loss(2.0) == pytest.approx(4.0 / 16.0)


def test_scaling_the_labels_changes_no_draw():
    X, y, _ = kh.streams.synthetic(6, 1, 300, seed=1)
    one, tenth = made(), made()
    for x, label in zip(X, y, strict=True):
        r, q = one.ask(), tenth.ask()
        assert np.array_equal(r.attributes, q.attributes)
        one.tell(r, x[r.attributes], label)
        tenth.tell(q, x[q.attributes], label / 8)  # a power of two: no rounding


def test_as_much_is_bought_as_can_be():
    learner, rng = made(d=6, k=2), np.random.default_rng(0)
    for _ in range(100):
        mask = rng.random(6) < 0.4
        r = learner.ask(available=mask)
        assert r.attributes.size == min(2, mask.sum())
        learner.tell(r, np.ones(r.attributes.size), 0.1)


def test_theory_starts_the_forecaster_of_a_batch_afresh():
    learner = made(d=3, k=1, master="batched-exp3", tuning="theory")
    for _ in range(200):
        r = learner.ask()
        starts = learner.master.n_labels == 0
        learner.tell(r, np.ones(1), 1.0)
        if starts:  # one example of ridge 1: b = 1, A = 2
            assert learner.bank.weights(int(r.memo[0])).tolist() == [0.5]


def test_too_many_supports_are_refused_with_their_number():
    with pytest.raises(kh.ConfigError, match=str(comb(50, 5))):
        made(d=50, k=5)
    with pytest.raises(kh.ConfigError, match="numbers for each of 79800 supports|takes about 101.6 GB"):
        made(d=400, k=398)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"master": "exp4"}, "'tsallis', 'hedged-ftrl', 'corral', 'batched-exp3'"),
        ({"base": "ridge"}, "'gradient', 'newton', 'vaw'"),
        ({"eta": 0.0}, "eta"),
        ({"horizon": 1}, "horizon"),
        ({"label_bound": -1.0}, "label_bound"),
        ({"ridge": float("nan")}, "ridge"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(kh.ConfigError, match=message):
        made(**options)


def test_the_theorys_gradient_stands_for_every_round_and_stays_in_the_ball():
    """One step by hand: w - 1/sqrt(k worst T rho) 2 (<w, x> - y) x / p, then into the unit ball."""
    learner = made(d=4, k=2, master="hedged-ftrl", base="gradient", tuning="theory", horizon=500)
    worst, rng = (2**0.5 + 1) ** 2, np.random.default_rng(0)
    seen = np.ones(6)
    for _ in range(120):
        r = learner.ask()
        arm, p = int(r.memo[0]), r.memo[1]
        w, row, y = learner.bank.weights(arm).copy(), rng.choice([-1.0, 1.0], 4), float(rng.uniform(-1, 1))
        learner.tell(r, row[r.attributes], y)
        seen[arm] = max(seen[arm], 1 / p)
        x = row[learner.order[learner.U[arm]]]
        expected = w - 2 * (w @ x - y) / p * x / np.sqrt(2 * worst * 500 * seen[arm])
        expected /= max(1.0, np.linalg.norm(expected))
        np.testing.assert_allclose(learner.bank.weights(arm), expected, rtol=1e-12, atol=1e-15)
    assert learner.master.r == pytest.approx(4 * np.sqrt(2 / worst))
    assert learner.master.c * learner.master.r <= 0.5


def test_where_the_horizon_ends_the_theory_begins_again_and_practice_goes_on():
    for tuning, kept in (("theory", False), ("practical", True)):
        learner = made(d=4, k=1, master="hedged-ftrl", base="gradient", tuning=tuning, horizon=40)
        for t in range(40):
            learner.tell(learner.ask(), np.ones(1), 0.5)
            assert 40 * (1 + (t == 39)) == learner.master.T
        assert bool(learner.master.L.any()) is kept
        assert bool(learner.bank.W.any()) is kept
