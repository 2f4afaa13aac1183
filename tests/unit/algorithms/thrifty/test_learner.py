"""`thrifty` as a user meets it: money, missing values, units, change, explanations."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes

PRICES = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
OPTIONS = [
    {},
    {"k0": 2},
    {"half_life": 80},
    {"prices": PRICES, "budget_per_row": 8.0, "k": 8},
    {"prices": PRICES, "budget_per_row": 7.0, "k": 3, "k0": 1},
    {"k": 1},
    {"k": 8},
]


def make(d=8, **options):
    return kh.make("thrifty", **{"d": d, "k": 3, "seed": 0, **options})


def stream(T=400, d=8, seed=2):
    X, y, w = kh.streams.synthetic(d, 3, T, seed=seed)
    return X, y, w


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_compiled_loop_and_the_protocol_are_the_same_to_the_bit(options):
    X, y, _ = stream(600)
    rng = np.random.default_rng(0)
    X = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    y = np.where(rng.random(y.size) < 0.05, np.nan, y)
    fast, slow = make(**options), make(**options)
    a, b = kh.play(fast, X, y), kh.play(slow, X, y, compiled=False)
    assert np.array_equal(a.predictions, b.predictions)
    assert np.array_equal(a.explored, b.explored)
    assert np.array_equal(a.bought, b.bought)
    assert to_bytes(fast) == to_bytes(slow)


@pytest.mark.parametrize("options", [o for o in OPTIONS if "budget_per_row" in o], ids=str)
def test_a_row_never_costs_more_than_spend(options):
    X, y, _ = stream()
    learner, rng = make(**options), np.random.default_rng(1)
    for t in range(y.size):
        r = learner.ask(available=rng.random(8) < 0.8)
        bought = np.concatenate([r.attributes, learner.ask_more(r)])
        assert np.array(PRICES)[bought].sum() <= options["budget_per_row"]
        assert r.attributes.size <= options["k"]
        extra = learner.ask_more(r)
        learner.tell(r, X[t][r.attributes], y[t], extra, X[t][extra])
    assert np.array(PRICES)[learner.support].sum() <= options["budget_per_row"]


def test_money_goes_to_what_explains_most_for_it():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 6))
    y = X @ [1.0, 0.8, 0.8, 0.0, 0.0, 0.0] + 0.1 * rng.standard_normal(4000)
    learner = make(d=6, k=6, prices=[10.0, 5.0, 5.0, 5.0, 5.0, 5.0], budget_per_row=10.0)
    kh.play(learner, X, y)
    assert learner.support.tolist() == [1, 2]


def test_without_spend_prices_only_decide_between_equals():
    learner = make(prices=PRICES)
    assert sorted(learner.ask().attributes.tolist()) == [1, 3, 6]
    X, y, _ = stream(3000)
    plain = make()
    kh.play(plain, X, y)
    priced = make(prices=PRICES)
    kh.play(priced, X, y)
    assert plain.support.tolist() == priced.support.tolist()


def test_units_do_not_matter():
    X, y, _ = stream(1000)
    scale = 2.0 ** np.arange(-30, 34, 8)
    plain, raw = kh.play(make(), X, y), kh.play(make(), X * scale, 1024.0 * y)
    assert np.array_equal(1024.0 * plain.predictions, raw.predictions)


def test_offsets_hardly_matter():
    X, y, _ = stream(1000)
    moved = kh.play(make(), X + 1e6, y - 1e6)
    plain = kh.play(make(), X, y)
    assert np.allclose(plain.losses[1:], moved.losses[1:], atol=1e-4)


def test_an_attribute_that_is_never_observed_does_not_block_the_others():
    X, y, w = stream(3000)
    X[:, 5] = np.nan
    learner = make(seed=1)
    history = kh.play(learner, X, y)
    assert history.bought[5] < 0.2 * y.size
    known = np.flatnonzero(w * (np.arange(8) != 5))
    assert set(known) <= set(learner.support.tolist())


def test_it_finds_what_matters_and_leaves_the_rest_of_the_places_free():
    sizes = []
    for seed in range(5):
        X, y, w = kh.streams.synthetic(20, 2, 3000, seed=seed)
        learner = make(d=20, k=5)
        kh.play(learner, X, y)
        S = learner.support
        sizes.append(S.size)
        assert set(np.flatnonzero(w)) <= set(S.tolist())
        assert learner.weights[S] == pytest.approx(w[S], abs=0.03)
        assert learner.intercept == pytest.approx(0.0, abs=0.02)
    # Two of 20 are true; at z^2 > 4.8 one of the other 18 gets in by chance now and then, and leaves below 2.4.
    assert np.mean(sizes) <= 3.0


@pytest.mark.parametrize("seed", range(3))
def test_without_signal_it_loses_at_most_one_percent_to_the_mean(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, (10_000, 30)), 5.0 + rng.standard_normal(10_000)
    mean = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, y.size)])
    assert kh.play(make(d=30, k=5), X, y).losses.sum() <= 1.01 * ((y - mean) ** 2).sum()


def test_with_a_half_life_it_follows_a_change():
    X, y, _ = stream(3000, seed=5)
    X2, y2, w2 = stream(3000, seed=6)
    learner = make(half_life=500)
    history = kh.play(learner, np.vstack([X, X2]), np.concatenate([y, y2]))
    assert set(np.flatnonzero(w2)) == set(learner.support.tolist())
    assert history.losses[-1000:].mean() < 0.015  # the noise is 0.01, about 700 rows count


def test_saved_after_the_row_store_grew_it_continues_bit_for_bit():
    X, y, _ = stream(700)
    whole, broken = make(), make()
    kh.play(whole, X, y)
    kh.play(broken, X[:300], y[:300])
    broken = from_bytes(to_bytes(broken))
    kh.play(broken, X[300:], y[300:])
    assert to_bytes(whole) == to_bytes(broken)


def test_many_open_rounds_look_at_different_attributes():
    learner = make(d=40, k=4)
    asked = np.concatenate([learner.ask().attributes for _ in range(10)])
    assert np.unique(asked).size == 40


def test_it_explains_itself():
    X, y, w = stream(2000)
    X[:, 0] = 7.0
    y = X @ w
    learner = make()
    before = learner.explain()
    assert {e.reason for e in before} == {"never bought"}
    kh.play(learner, X, y)
    records = learner.explain()
    assert [e.in_support for e in records] == [j in learner.support for j in range(8)]
    assert [e.weight for e in records] == pytest.approx(learner.weights)
    assert records[0].reason.startswith("constant so far")
    inside = records[learner.support[0]]
    assert 0.0 < inside.uncertainty < abs(inside.weight)
    assert sum(e.bought for e in records) == 2000 * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_per_row": 3.0}, "budget_per_row needs prices"),
        ({"prices": [1.0]}, "8 numbers from 0 to"),
        ({"prices": [-1.0] * 8}, "8 numbers from 0 to"),
        ({"prices": {"x0": 1.0}}, "needs a price for every source; there is none for 'x1'"),
        ({"prices": ["dear"] * 8}, "must be numbers"),
        ({"prices": PRICES, "budget_per_row": 0.5}, "buys nothing"),
        ({"half_life": 0}, "half_life"),
    ],
)
def test_a_bad_option_is_named(options, message):
    with pytest.raises(kh.ConfigError, match=message):
        make(**options)
