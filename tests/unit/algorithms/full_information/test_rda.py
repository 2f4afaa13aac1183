"""RDA by the problem that its closed form solves, and DA-GL with groups of one."""

import numpy as np
import pytest

import keyhole as kh


def soft_threshold_form(X, y, gamma_d, lam, rho):
    """l1-RDA as it is usually written: the weights after every round."""
    d = X.shape[1]
    w, g_bar, weights = np.zeros(d), np.zeros(d), []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        g_bar = (t - 1) / t * g_bar + 2 * (w @ x - label) * x / t
        lam_t = lam + gamma_d * rho / np.sqrt(t)
        w = np.where(np.abs(g_bar) <= lam_t, 0.0, -np.sqrt(t) / gamma_d * (g_bar - lam_t * np.sign(g_bar)))
        weights.append(w)
    return np.array(weights)


@pytest.mark.parametrize("groups", [None, [[i] for i in range(6)]])
def test_groups_of_one_are_l1_dual_averaging(groups):
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=60, seed=0)
    learner = kh.make("rda", d=6, seed=0, tuning="theory", gamma=0.9, lam=0.01, rho=0.02, groups=groups)
    for x, label, w in zip(X, y, soft_threshold_form(X, y, 0.9 * np.sqrt(6), 0.01, 0.02), strict=True):
        learner.tell(learner.ask(), x, label)
        np.testing.assert_allclose(learner.weights, w, atol=1e-13)


def test_the_weights_minimise_the_dual_averaging_objective_of_the_groups():
    """w = argmin <g_bar, w> + lam sum sqrt(d_G) |w_G| + gamma_t |w|^2 / (2 sqrt t): optimality per group."""
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=80, seed=1)
    groups = [[0, 3, 5], [1, 2], [4]]
    learner = kh.make("rda", d=6, seed=0, tuning="theory", gamma=0.5, lam=0.03, rho=0.0, groups=groups)
    silent = 0
    for t in range(80):
        learner.tell(learner.ask(), X[t], y[t])
        for G in groups:
            w, g, edge = learner.weights[G], learner.g_bar[G], 0.03 * np.sqrt(len(G))
            rest = g + 0.5 * np.sqrt(6) / np.sqrt(t + 1) * w
            if w.any():
                np.testing.assert_allclose(rest, -edge * w / np.linalg.norm(w), atol=1e-13)
            else:
                silent += 1
                assert np.linalg.norm(g) <= edge + 1e-13
    assert 0 < silent < 240


def test_names_and_numbers_name_the_same_groups():
    X, y, _ = kh.streams.synthetic(d=4, k=2, T=50, seed=1)
    one = kh.make("rda", names=list("abcd"), seed=0, groups=[["b", "d"]], lam=0.05)
    other = kh.make("rda", names=list("abcd"), seed=0, groups=[[1, 3]], lam=0.05)
    np.testing.assert_array_equal(kh.play(one, X, y).predictions, kh.play(other, X, y).predictions)


@pytest.mark.parametrize("design", ["rademacher", "ar(0.5)", "equicorrelated(0.8)"])
def test_the_practical_default_does_not_explode(design):
    X, y, _ = kh.streams.synthetic(d=60, k=5, T=1000, seed=1, design=design)
    history = kh.play(kh.make("rda", d=60, seed=0), X * 30, y * 5)
    assert history.losses.sum() < ((5 * y) ** 2).sum()
