"""Extreme values: drawn in at first, then as they predict best; one absurd cell changes nothing."""

import math

import numpy as np

import keyhole as kh


def t(error):
    return -2.5 * math.log(1.0 + error**2 / 0.04)


def regret(X, y, noise, k=3):
    return kh.play(kh.make("thrifty", d=X.shape[1], k=k, seed=0), X, y).losses[1:].sum() - (noise[1:] ** 2).sum()


def test_one_absurd_cell_changes_nothing_lasting():
    X, y, w = kh.streams.synthetic(10, 3, 4000, seed=1)
    noise, j = y - X @ w, int(np.abs(w).argmax())
    plain = regret(X, y, noise)
    X[1000, j] = 1e4
    assert regret(X, y, noise) < plain + 3.0  # that row itself costs what six deviations do


def test_a_few_absurd_cells_in_a_row_change_nothing_lasting():
    X, y, w = kh.streams.synthetic(10, 3, 4000, seed=1)
    noise, wrong = y - X @ w, slice(1000, 1005)
    plain = regret(X, y, noise)
    X[wrong, w != 0.0] = 1e4
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    losses = kh.play(learner, X, y).losses - noise**2
    assert losses[1:].sum() - losses[wrong].sum() < plain + 2.0  # 300 where the second counts in full


def test_a_value_that_is_real_may_lead_to_a_label_unlike_any_before():
    rng = np.random.default_rng(3)
    X = rng.standard_t(3.0, (6000, 4))
    w, noise = np.array([0.5, -0.3, 0.0, 0.0]), 0.1 * rng.standard_normal(6000)
    X[5990, 0] = 4.0 * np.abs(X[:5990, 0]).max()
    learner = kh.make("thrifty", d=4, k=2, seed=0)
    history = kh.play(learner, X, X @ w + noise)
    assert history.losses[5990] < 0.01 * (X[5990] @ w) ** 2
