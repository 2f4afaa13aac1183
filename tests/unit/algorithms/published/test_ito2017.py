"""Dual averaging and the three algorithms of Ito et al. 2017."""

from itertools import combinations

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.published._dual_averaging import DualAveraging

from ..scripted import change, play_a_while

RNG = np.random.default_rng(0)
X_ROW, LABEL = RNG.uniform(-1, 1, 7), 0.4


def test_the_extra_attributes_make_the_gradient_of_algorithm_1_unbiased():
    learner = play_a_while(kh.make("ito2017-1", d=7, k=2, k0=3, seed=0, tuning="theory"))
    w = learner.w
    assert np.count_nonzero(w) == 7
    draws = [change(learner, [E], X_ROW, LABEL, lambda m: m.dual.h) for E in combinations(range(5), 3)]
    assert np.allclose(np.mean(draws, axis=0), 2 * (w @ X_ROW - LABEL) * X_ROW, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["ito2017-2", "ito2017-3"])
def test_the_explorations_of_algorithms_2_and_3_have_unbiased_gradients(name):
    learner = play_a_while(kh.make(name, d=7, k=3, seed=0, explore=1.0), T=200)
    v = learner._v()
    assert np.count_nonzero(v) >= 2
    draws = [change(learner, [B], X_ROW, LABEL, lambda m: m.explorer.h) for B in combinations(range(7), 3)]
    assert np.allclose(np.mean(draws, axis=0), 2 * (v @ X_ROW - LABEL) * X_ROW, rtol=0, atol=1e-12)


@pytest.mark.parametrize("m", [0.0, 0.7])
@pytest.mark.parametrize("R", [0.3, 5.0])
def test_the_iterate_minimises_its_objective(m, R):
    dual = DualAveraging(5, rate=2.0, learnt=False, R=R)
    for _ in range(3):
        dual.add(np.arange(5), RNG.normal(size=5))
    lam = 2.0 * np.sqrt(4)

    def objective(v):
        return dual.h @ v + m * np.abs(v).sum() + lam / 2 * v @ v

    w = dual.w(m)
    assert np.linalg.norm(w) <= R + 1e-12
    for _ in range(300):
        v = w + RNG.normal(size=5) * 10.0 ** RNG.uniform(-6, 0)
        v *= min(1.0, R / np.linalg.norm(v))
        assert objective(w) <= objective(v) + 1e-12


def test_the_step_of_the_learnt_rate_is_in_the_scale_of_the_gradients():
    one, two = (DualAveraging(4, rate=3.0, learnt=True, R=1.0) for _ in range(2))
    assert not one.w().any()
    for _ in range(5):
        g = RNG.normal(size=4)
        one.add(np.arange(4), g)
        two.add(np.arange(4), 100.0 * g)
    assert np.allclose(one.w(), two.w(), rtol=1e-12, atol=0)


def test_with_everything_observed_algorithm_1_is_dual_averaging_on_exact_gradients():
    d, k = 6, 2
    X, y, _ = kh.streams.synthetic(d, k, 300, seed=3)
    history = kh.play(kh.make("ito2017-1", d=d, k=k, k0=d - k, seed=0, tuning="theory"), X, y)
    h, predictions = np.zeros(d), []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        lam = 8.0 * d / (d - k) * np.sqrt(t)
        w = -h / max(lam, np.linalg.norm(h))
        S = np.argsort(-np.abs(w))[:k]
        predictions.append(w[S] @ x[S])
        h += 2 * (w @ x - label) * x
    assert np.allclose(history.predictions, predictions, rtol=0, atol=1e-10)


def test_the_exploiter_is_never_restarted_when_the_support_changes():
    X, y, _ = kh.streams.synthetic(10, 3, 900, seed=2)
    learner = kh.make("ito2017-2", d=10, k=3, seed=0, tuning="theory")
    h, supports = np.zeros(10), set()
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        r = learner.ask()
        prediction = learner.predict(r, x[r.attributes])
        if r.kind == "exploit":
            supports.add(tuple(r.attributes))
            told = n + 1 - int(np.sqrt(n + 1))
            w = -h / max(4 * np.sqrt(2 * 3) * np.sqrt(told), np.linalg.norm(h))
            assert prediction == pytest.approx(w[r.attributes] @ x[r.attributes], abs=1e-12)
            h[r.attributes] += 2 * (prediction - label) * x[r.attributes]
        learner.tell(r, x[r.attributes], label)
    assert len(supports) > 3


@pytest.mark.parametrize(("name", "k0", "options"), [("ito2017-1", 3, {}), ("ito2017-2", 0, {}), ("ito2017-3", 0, {})])
def test_the_default_finds_what_matters(name, k0, options):
    X, y, w = kh.streams.synthetic(10, 3, 3000, seed=1, design="rademacher")
    learner = kh.make(name, d=10, k=3, k0=k0, seed=1, **options)
    regret = kh.play(learner, X, y).regret(w)[-1]
    assert regret < 0.5 * (y**2 - (y - X @ w) ** 2).sum()
    assert learner.support.tolist() == np.flatnonzero(w).tolist()


@pytest.mark.parametrize(
    ("name", "budget", "options", "message"),
    [
        ("ito2017-1", {"k": 3, "k0": 1}, {}, "k0 >= 2"),
        ("ito2017-2", {"k": 1}, {}, "k >= 2"),
        ("ito2017-1", {"k": 3, "k0": 2}, {"lam_scale": -1.0}, "lam_scale"),
        ("ito2017-3", {"k": 3}, {"l1": 0.0}, "l1"),
        ("ito2017-2", {"k": 3}, {"tuning": "best"}, "'practical', 'theory'"),
        ("ito2017-2", {"k": 3}, {"radius": "wide"}, "radius"),
        ("ito2017-3", {"k": 3}, {"explore": "often"}, "explore"),
    ],
)
def test_bad_arguments_are_named(name, budget, options, message):
    with pytest.raises(kh.ConfigError, match=message):
        kh.make(name, d=8, seed=0, **budget, **options)
