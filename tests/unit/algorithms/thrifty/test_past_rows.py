"""Past rows: complete or with gaps, they teach at once what rounds would have had to buy."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes

D, K, T = 100, 4, 2000


def excess(n, seed, missing=0.0, another_world=False):
    """Excess over the next 2000 rows after n past rows, and the learner."""
    X, y, w = kh.streams.synthetic(D, K, n + T, seed=seed)
    past, labels = X[:n].copy(), y[:n].copy()
    if another_world:
        labels += past @ (kh.streams.synthetic(D, K, 1, seed=seed + 5000).w - w)
    past[np.random.default_rng(seed).random(past.shape) < missing] = np.nan
    learner = kh.make("thrifty", d=D, k=K, seed=seed)
    if n:
        learner.learn(past, labels)
    losses = kh.play(learner, X[n:], y[n:]).losses
    return float((losses - (y[n:] - X[n:] @ w) ** 2)[1:].sum()), learner


@pytest.mark.parametrize(("n", "missing", "most"), [(500, 0.0, 0.5), (500, 0.3, 1.0), (100, 0.0, 10.0)])
def test_past_rows_save_nearly_all_exploration(n, missing, most):
    assert np.mean([excess(n, seed, missing)[0] for seed in range(20, 25)]) < most


def test_another_world_is_noticed_and_costs_little():
    misled = [excess(500, seed, another_world=True) for seed in range(20, 26)]
    fresh = [excess(0, seed)[0] for seed in range(20, 26)]
    assert np.mean([loss for loss, _ in misled]) <= 1.2 * np.mean(fresh)
    assert all(learner.alarms for _, learner in misled)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"prices": {f"x{j}": 1.0 for j in range(1, 12)}, "error_cost": 50.0, "free": ["x0"]},
        {"sources": {"p": ["x1", "x2", "x3"]}, "k": 3, "half_life": 200.0},
    ],
)
def test_nothing_is_asked_or_paid_and_a_saved_learner_goes_on(options):
    X, y, _ = kh.streams.synthetic(12, 3, 700, seed=1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    learner = kh.make("thrifty", d=12, seed=0, **options)
    kh.play(learner, X[:100], y[:100])
    before = learner.t, learner.spent, [e.bought for e in learner.explain()]
    learner.learn(X[100:400], y[100:400])
    assert (learner.t, learner.spent, [e.bought for e in learner.explain()]) == before
    again = from_bytes(to_bytes(learner))
    a, b = (kh.play(one, X[400:], y[400:]).predictions for one in (learner, again))
    assert np.array_equal(a, b)
    assert to_bytes(learner) == to_bytes(again)


def test_of_a_long_table_the_last_rows_are_kept():
    X, y, w = kh.streams.synthetic(100, 5, 30_000, seed=2)
    learner = kh.make("thrifty", d=100, k=5, seed=0)
    learner.learn(X, y)
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert learner.weights == pytest.approx(w, abs=0.01)


def test_rows_are_numbered_as_their_kind_is():
    """An alarm counts past rows and rounds apart, also where it says until when a regime held."""
    d, rows = 40, 1500
    X, noise = kh.streams.synthetic(d, 3, 5 * rows, seed=0).X, np.random.default_rng(0).standard_normal(5 * rows)
    w = np.repeat([kh.streams.synthetic(d, 3, 1, seed=which).w for which in (1, 2, 1, 2, 1)], rows, axis=0)
    y = np.einsum("td,td->t", X, w) + 0.1 * noise
    learner = kh.make("thrifty", d=d, k=3, seed=0)
    kh.play(learner, X[:700], y[:700])
    learner.learn(X[700:-rows], y[700:-rows])  # changes at 800, 2300 and 3800
    kh.play(learner, X[-rows:], y[-rows:])  # a change at 700
    changes = [a for a in learner.alarms if "holds again" not in a.what]
    returns = [a for a in learner.alarms if "holds again" in a.what]
    ends = []
    for alarm in changes[:3]:
        assert alarm.row == 0
        ends.append(int(alarm.what.removeprefix("past row ").partition(":")[0]))
    assert [round(end, -2) for end in ends] == [900, 2400, 3900]
    assert 700 < changes[3].row < 800
    assert 700 < returns[-1].row < 800
    held = [int(a.what.partition("what held until past row ")[2].partition(" ")[0]) for a in returns]
    assert held == ends


@pytest.mark.parametrize("half_life", [1e-5, 0.05, 5.0, 20.0])
def test_past_rows_that_faded_leave_numbers_that_can_be_saved(half_life):
    """The weight of a new row doubles in every half-life, and past rows are many half-lives."""
    X, y, _ = kh.streams.synthetic(6, 2, 20_000, design="ar(0.5)", seed=1)
    learner = kh.make("thrifty", d=6, k=2, seed=0, half_life=half_life)
    learner.learn(X[:-300], y[:-300])
    predictions = kh.play(from_bytes(to_bytes(learner)), X[-300:], y[-300:]).predictions
    assert np.array_equal(predictions, kh.play(learner, X[-300:], y[-300:]).predictions)
    assert np.isfinite(learner.weights).all()
    assert np.abs(predictions).max() <= np.abs(y).max()


@pytest.mark.parametrize("rows", [200, 3000])
@pytest.mark.parametrize("options", [{"k": 60}, {"prices": [1e-6] * 60, "error_cost": 1.0}], ids=["k", "error_cost"])
def test_a_fit_of_many_columns_is_chosen_before_the_first_round(rows, options):
    """The fit begins with room for 24 columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 60))
    learner = kh.make("thrifty", d=60, seed=0, **options)
    learner.learn(X, X @ rng.choice([-1.0, 1.0], 60) + 0.1 * rng.standard_normal(rows))
    assert learner.support.size == 60


def test_what_past_rows_say_of_a_dear_source_is_explained():
    X = np.random.default_rng(0).normal(size=(1500, 3))
    y = 2.0 * X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=1500)
    learner = kh.make("thrifty", names=["a", "dear", "noise"], prices=[1.0, 12.0, 1.0], error_cost=3.0, seed=0)
    learner.learn(X, y)
    _, dear, noise = learner.explain()
    assert (dear.bought, dear.in_support) == (0, False)
    assert dear.reason == (
        f"never bought, but seen in past rows: would lower the squared error by {dear.adds:.3g}, "
        f"worth {dear.fair_price:.3g} a row, at a price of 12"
    )
    assert dear.adds == pytest.approx(1.0, abs=0.2)
    assert noise.reason == "never bought, but seen in past rows: no benefit seen in 1 500 rows"


@pytest.mark.parametrize("missing", [0.3, 0.6])
def test_rounds_that_lack_members_are_no_evidence_against_past_rows(missing):
    """Their errors are larger because values are missing, and not because the weights are others."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1100, 8))
        y = X[:, :3].sum(axis=1) + 0.2 * rng.standard_normal(1100)
        learner = kh.make("thrifty", d=8, k=3, seed=0)
        learner.learn(X[:1000], y[:1000])
        X[rng.random(X.shape) < missing] = np.nan
        kh.play(learner, X[1000:], y[1000:])
        assert learner.alarms == ()
        assert learner.memory.scalars["past_evidence"][0] > 0.0
