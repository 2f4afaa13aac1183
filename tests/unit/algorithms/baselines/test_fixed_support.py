"""fixed-random and oracle-support: Newton steps on a support that never changes, and raw columns."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation.online_newton import Newton


def test_the_oracle_is_the_newton_step_on_its_support():
    X, y, w = kh.streams.synthetic(d=9, k=3, T=300, seed=0)
    S = np.flatnonzero(w)
    learner = kh.make("oracle-support", d=9, k=4, seed=0, support=S, eps=0.5)
    newton = Newton(3, eps=1.5, rho=None)
    np.testing.assert_array_equal(kh.play(learner, X, y).predictions, newton.run(X[:, S].copy(), y))
    np.testing.assert_array_equal(learner.weights[S], newton.w)
    assert learner.support.tolist() == S.tolist()


def test_theory_uses_the_constants_of_the_paper():
    learner = kh.make("oracle-support", d=9, k=3, seed=0, support=[0, 1, 2], tuning="theory", sigma=0.2, delta=0.05)
    rho = kh.theory.Constants(d=9, k=3, sigma=0.2, delta_s=1.0, delta=0.05).rho
    assert learner.exploiter.core.rho == pytest.approx(rho, rel=1e-14)
    assert learner.exploiter.core.eps == 3


def test_the_random_support_is_uniform_over_the_seeds():
    counts = np.zeros(8)
    for seed in range(400):
        counts[kh.make("fixed-random", d=8, k=3, seed=seed).support] += 1
    # 400 draws of 3 of 8: mean 150, standard deviation sqrt(400 * 3/8 * 5/8) = 9.7; four of them.
    assert np.abs(counts - 150).max() < 39


def test_the_support_is_bought_in_every_round():
    X, y, _ = kh.streams.synthetic(d=9, k=3, T=50, seed=0)
    learner = kh.make("fixed-random", d=9, k=3, seed=5)
    history = kh.play(learner, X, y)
    assert np.flatnonzero(history.bought).tolist() == learner.support.tolist()
    assert set(history.bought[learner.support]) == {50}
    assert not history.explored.any()


@pytest.mark.parametrize("standardize", [False, True])
def test_compiled_and_row_by_row_agree(standardize):
    X, y, _ = kh.streams.synthetic(d=9, k=3, T=200, seed=0)
    X[30:40, :] = np.nan
    y[17] = np.nan
    fast, slow = (kh.make("fixed-random", d=9, k=4, seed=0, standardize=standardize) for _ in range(2))
    a, b = kh.play(fast, X, y), kh.play(slow, X, y, compiled=False)
    np.testing.assert_allclose(a.predictions, b.predictions, atol=1e-14)
    np.testing.assert_array_equal(fast.weights, slow.weights)


def raw_stream():
    X, y, w = kh.streams.synthetic(d=9, k=3, T=400, seed=0)
    scale, offset = 10.0 ** np.arange(-4, 5), np.linspace(-1e4, 1e4, 9)
    return X, y, w, scale, offset


def test_scale_and_offset_of_the_columns_and_of_the_label_do_not_matter():
    X, y, w, scale, offset = raw_stream()
    S = np.flatnonzero(w)
    plain, raw = (kh.make("oracle-support", d=9, k=3, seed=0, support=S, standardize=True) for _ in range(2))
    as_is, scaled = kh.play(plain, X, y), kh.play(raw, X * scale + offset, 50 * y - 700)
    np.testing.assert_allclose((scaled.predictions[1:] + 700) / 50, as_is.predictions[1:], atol=1e-6)
    np.testing.assert_allclose(raw.weights * scale / 50, plain.weights, rtol=1e-6)


def test_raw_columns_are_learnt():
    X, y, w, scale, offset = raw_stream()
    learner = kh.make("oracle-support", d=9, k=3, seed=0, support=np.flatnonzero(w), standardize=True)
    history = kh.play(learner, X * scale + offset, 50 * y - 700)
    assert history.losses[200:].mean() < 2 * (50 * 0.1) ** 2
    np.testing.assert_allclose(learner.weights * scale / 50, w, atol=0.05)


def test_the_first_rounds_predict_the_running_mean_of_the_label():
    learner = kh.make("fixed-random", d=3, k=2, seed=0, standardize=True)
    history = kh.play(learner, np.ones((4, 3)), np.array([7.0, 9.0, 2.0, 6.0]))
    np.testing.assert_allclose(history.predictions, [0.0, 7.0, 8.0, 6.0])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "give support="),
        ({"support": []}, "between 1 and k = 2"),
        ({"support": [0, 1, 2]}, "between 1 and k = 2"),
        ({"support": [0, 9]}, "not an attribute"),
        ({"support": [1, 1]}, "twice"),
        ({"support": ["x1", True]}, "not an attribute"),
        ({"support": [0], "eps": 0}, "eps"),
        ({"support": [0], "standardize": 1}, "standardize"),
        ({"support": [0], "tuning": "luck"}, "tuning"),
    ],
)
def test_bad_options_are_named(options, word):
    with pytest.raises(kh.ConfigError, match=word):
        kh.make("oracle-support", d=5, k=2, seed=0, **options)
