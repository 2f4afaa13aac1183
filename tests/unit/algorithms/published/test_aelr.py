"""AELR: exponentiated gradient with two weights per attribute, kept as one number."""

import numpy as np
import pytest

import keyhole as kh


def test_it_is_exponentiated_gradient_with_clipping():
    """Against the two-weights form, with weights that are multiplied, not logarithms."""
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=40, seed=4)
    learner = kh.make("aelr", d=6, k=3, seed=0, tuning="theory", step=8.0, explore=1)
    up, down = np.ones(6), np.ones(6)
    for t in range(40):
        r = learner.ask()
        g = np.zeros(6)
        g[r.attributes] = learner._gradient(r, X[t][r.attributes], y[t])
        eta = 8.0 * np.sqrt(2 * 2 * np.log(12) / (5 * 6 * (t + 1))) / 4
        clipped = np.clip(g, -1 / eta, 1 / eta)
        up, down = up * np.exp(-eta * clipped), down * np.exp(eta * clipped)
        learner.tell(r, X[t][r.attributes], y[t])
        np.testing.assert_allclose(learner.w, (up - down) / (up + down).sum(), atol=1e-13)


def test_the_iterates_stay_in_the_l1_ball_however_large_the_steps():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=500, seed=1)
    learner = kh.make("aelr", d=8, k=3, seed=0, radius=2.0, step=1e4, explore=1)
    kh.play(learner, X, y * 100)
    assert np.isfinite(learner.w).all()
    assert np.abs(learner.w).sum() <= 2.0 + 1e-12


def test_all_zero_labels_leave_the_weights_at_zero():
    X, _, _ = kh.streams.synthetic(d=8, k=3, T=50, seed=1)
    learner = kh.make("aelr", d=8, k=3, seed=0, explore=1)
    assert kh.play(learner, X, np.zeros(50)).losses.sum() == 0
    assert not learner.weights.any()
    assert learner.support.size == 3


def test_a_strong_signal_is_found():
    X, y, w = kh.streams.synthetic(d=10, k=3, T=4000, seed=3)
    learner = kh.make("aelr", d=10, k=3, seed=0, step=10, explore=1, exploit="weights")
    kh.play(learner, X, y)
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert np.linalg.norm(learner.weights - w) == pytest.approx(0, abs=0.25)
