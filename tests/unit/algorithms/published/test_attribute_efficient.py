"""AER, AERR and AELR: what they share is exact, by enumeration of everything that can be drawn."""

from itertools import product

import numpy as np
import pytest

import keyhole as kh

NAMES = ["aer", "aerr", "aelr"]


class Script:
    """A generator that draws what it is told to: the uniform sample, then the number that selects j."""

    def __init__(self, sample, u):
        self.sample, self.u = np.array(sample), u

    def integers(self, n, size):
        assert self.sample.size == size
        assert (self.sample < n).all()
        return self.sample

    def random(self):
        return self.u

    def choice(self, n, size, **_):
        return np.empty(size, dtype=np.int64)


def expected_gradient(learner, x, y, pool):
    """E[phi xt] at the learner's w: the sum over all n^m samples and all j, with their probabilities."""
    places = learner._available_in_draw_order(pool)
    q = kh.sampling.distribution(np.abs(learner.w[places]) ** learner.power)
    middles = np.cumsum(q) - q / 2
    total = np.zeros(learner.d)
    for sample in product(range(places.size), repeat=learner.k - 1):
        for j in np.flatnonzero(q):
            learner.rng = Script(sample, middles[j])
            r = learner.ask(available=pool)
            assert set(r.attributes) == {*places[list(sample)], places[j]}
            total[r.attributes] += q[j] / places.size ** len(sample) * learner._gradient(r, x[r.attributes], y)
            learner.abandon(r)
            learner.t = 0  # round 1 always explores
    return total


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unavailable", [[], [1]])
def test_phi_xt_is_an_unbiased_gradient(name, unavailable):
    rng = np.random.default_rng(5)
    learner = kh.make(name, d=4, k=3, seed=1)
    pool = np.ones(4, dtype=bool)
    pool[unavailable] = False
    x, y = rng.uniform(-1, 1, 4) * pool, 0.3
    for w in (np.zeros(4), np.array([0.5, -0.2, 0.0, 0.1])):
        learner.w = w * pool
        np.testing.assert_allclose(expected_gradient(learner, x, y, pool), (learner.w @ x - y) * x, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_by_weights_an_exploit_round_predicts_with_the_k_largest_and_changes_nothing(name):
    X, y, _ = kh.streams.synthetic(d=12, k=3, T=400, seed=2)
    learner = kh.make(name, d=12, k=3, seed=0, explore="squares", exploit="weights")
    kh.play(learner, X, y)
    before = learner.get_state()
    r = learner.ask()
    assert r.kind == "exploit"
    largest = np.argsort(-np.abs(learner.w_bar))[:3]
    assert sorted(r.attributes) == sorted(largest)
    x = X[0][r.attributes]
    assert learner.predict(r, x) == pytest.approx(learner.w_bar[r.attributes] @ x, abs=1e-15)
    learner.tell(r, x, 0.7)
    np.testing.assert_array_equal(learner.w_bar, before["w_bar"])
    np.testing.assert_array_equal(learner.w, before["w"])


@pytest.mark.parametrize("name", NAMES)
def test_theory_averages_the_iterates_plainly(name):
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=30, seed=2)
    learner = kh.make(name, d=8, k=3, seed=0, tuning="theory", explore=1)
    iterates = []
    for t in range(30):
        r = learner.ask()
        assert r.kind == "explore"
        learner.tell(r, X[t][r.attributes], y[t])
        iterates.append(learner.w.copy())
    np.testing.assert_allclose(learner.w_bar, np.mean(iterates, axis=0), atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_a_late_label_is_learnt_with_the_probabilities_of_the_ask(name):
    learner = kh.make(name, d=6, k=3, seed=0, explore=1)
    learner.w = np.array([0.3, -0.2, 0.1, 0.0, 0.0, 0.1])
    x = np.linspace(-1, 1, 6)
    r = learner.ask()
    then = learner._gradient(r, x[r.attributes], 0.5)
    other = learner.ask()
    learner.tell(other, x[other.attributes], -0.5)
    np.testing.assert_array_equal(learner._gradient(r, x[r.attributes], 0.5), then)


@pytest.mark.parametrize("name", NAMES)
def test_an_unobserved_value_counts_as_zero(name):
    learner = kh.make(name, d=6, k=3, seed=0)
    r = learner.ask()
    values = np.array([np.nan, *np.ones(r.attributes.size - 1)])
    zeros = np.nan_to_num(values)
    np.testing.assert_array_equal(learner._gradient(r, values, 0.5), learner._gradient(r, zeros, 0.5))
    assert learner.predict(r, values) == learner.predict(r, zeros)


@pytest.mark.parametrize("name", NAMES)
def test_bad_options_are_named(name):
    for options, word in [
        ({"k": 1}, "k >= 2"),
        ({"tuning": "guess"}, "tuning"),
        ({"step": -1.0}, "step"),
        ({"step": "big"}, "step"),
        ({"radius": 0}, "radius"),
        ({"explore": "often"}, "explore"),
        ({"exploit": "greedy"}, "exploit"),
    ]:
        with pytest.raises(kh.ConfigError, match=word):
            kh.make(name, **({"d": 6, "k": 3, "seed": 0} | options))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("exploit", ["weights", "newton"])
def test_compiled_and_row_by_row_agree(name, exploit):
    X, y, _ = kh.streams.synthetic(d=10, k=3, T=300, seed=3)
    y[7] = np.nan
    X[20:30] = np.nan
    fast, slow = (kh.make(name, d=10, k=3, seed=0, explore="squares", exploit=exploit) for _ in range(2))
    a, b = kh.play(fast, X, y), kh.play(slow, X, y, compiled=False)
    np.testing.assert_allclose(a.predictions, b.predictions, atol=1e-12)
    np.testing.assert_array_equal(a.bought, b.bought)
    np.testing.assert_allclose(fast.weights, slow.weights, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_an_exploit_round_of_a_support_no_longer_in_use_moves_no_weight(name):
    learner = kh.make(name, d=12, k=3, seed=0, explore="squares")
    x = np.linspace(-1, 1, 12)
    r = learner.ask()
    learner.tell(r, x[r.attributes], 0.5)
    late = learner.ask()
    assert late.kind == "exploit"
    learner.w_bar[np.setdiff1d(np.arange(12), late.attributes)[:3]] = 5.0
    learner.ask()
    explore = learner.ask()
    assert explore.kind == "explore"
    learner.tell(explore, x[explore.attributes], 0.5)
    assert not np.array_equal(learner.support, late.attributes)
    before = learner.weights
    learner.tell(late, x[late.attributes], 0.9)
    np.testing.assert_array_equal(learner.weights, before)
