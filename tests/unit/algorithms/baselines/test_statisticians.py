"""What a statistician would use: moments of what was seen, filled-in rows, a Gibbs sweep, matching pursuit."""

from itertools import product

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms._pairwise_moments import Pooled
from keyhole.algorithms.baselines._gibbs_kernels import fill_in, learn, normal_equations, sweep
from keyhole.algorithms.baselines.explore_then_commit import _pursue, _slopes


def complete(T=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d)) @ (np.eye(d) + 0.3) + 4.0
    return X, 2.0 + X @ rng.normal(size=d) + 0.1 * rng.normal(size=T)


def test_pooled_moments_of_complete_rows_are_the_sample_moments_shrunk():
    X, y = complete()
    p = Pooled(5)
    for row, label in zip(X, y, strict=True):
        p.add(np.arange(5), row, float(label))
    p.fit(psd=False)
    np.testing.assert_allclose(p.mu + p.ref, X.mean(axis=0))
    np.testing.assert_allclose(p.sd, X.std(axis=0))
    assert p.mean_label == pytest.approx(y.mean())
    assert p.variance == pytest.approx(y.var())
    shrunk = p.R[~np.eye(5, dtype=bool)] / np.corrcoef(X.T)[~np.eye(5, dtype=bool)]
    assert np.ptp(shrunk) < 1e-9  # by one factor, N / (N + 1/tau^2)
    assert 0.9 < shrunk[0] < 1.0
    cov = ((X - X.mean(axis=0)) / X.std(axis=0)).T @ (y - y.mean()) / 300
    np.testing.assert_allclose(p.c, cov * 300 / 301)
    assert p.within(1e9) == pytest.approx(y.max() + 0.05 * np.ptp(y))


def test_contradictory_pairs_are_mended():
    p = Pooled(3)
    rng = np.random.default_rng(1)
    for pair, sign in (([0, 1], 1), ([1, 2], 1), ([0, 2], -1)):
        for u in rng.normal(size=400):
            p.add(np.array(pair), np.array([u, sign * u + 0.1 * rng.normal()]), 0.0)
    p.fit(psd=False)
    assert np.linalg.eigvalsh(p.R)[0] < 0
    p.fit(psd=True)
    assert np.linalg.eigvalsh(p.R)[0] > 0.005
    np.testing.assert_allclose(np.diag(p.R), 1.0)


def test_rows_one_by_one_are_the_rows_at_once():
    rng = np.random.default_rng(2)
    d, k, T = 6, 3, 40
    root = rng.normal(size=(d, d)) + 2 * np.eye(d)
    R = root @ root.T
    R /= np.sqrt(np.outer(np.diag(R), np.diag(R)))
    bought = np.array([rng.permutation(d)[:k] for _ in range(T)])
    bought[5:9] = bought[5]  # rows that bought the same
    bought[3, 1:] = -1
    Z, r, w_bar, w, S2 = rng.normal(size=(T, k)), rng.normal(size=T), rng.normal(size=d), rng.normal(size=d), 0.3
    G, b = np.zeros((d, d)), np.zeros(d)
    normal_equations(R, bought, Z, r, w_bar, S2, G, b)
    G1, b1, g1, c = np.zeros((d, d)), np.zeros(d), np.zeros(d), R @ w_bar
    for t in range(T):
        B = bought[t][bought[t] >= 0]
        a, f, explained = fill_in(R, c, B, Z[t, : B.size])
        inverse = np.linalg.inv(R[np.ix_(B, B)] + 1e-3 * np.eye(B.size))
        assert f == pytest.approx(c[B] @ inverse @ Z[t, : B.size])
        assert explained == pytest.approx(c[B] @ inverse @ c[B])
        learn(R, G1, b1, g1, w, B, a, r[t], 1.0 / (S2 + max(w_bar @ c - explained, 0.0)))
    np.testing.assert_allclose(G1, G, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b1, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(g1, G1 @ w, rtol=1e-9, atol=1e-9)


def test_the_sweep_samples_the_posterior_over_supports():
    """Against all 2^d supports, each with its exact weight."""
    rng = np.random.default_rng(3)
    d, tau, odds = 3, 0.5, -0.4
    Z = rng.normal(size=(12, d)) + rng.normal(size=(12, 1))
    y = Z[:, 0] * 0.6 + rng.normal(size=12)
    G, b = Z.T @ Z, Z.T @ y
    weight = {}
    for S in product([False, True], repeat=d):
        at = np.flatnonzero(S)
        A = G[np.ix_(at, at)] + np.eye(at.size) / tau
        fit = 0.5 * b[at] @ np.linalg.solve(A, b[at]) - 0.5 * np.linalg.slogdet(A * tau)[1] if at.size else 0.0
        weight[S] = np.exp(fit + odds * at.size)
    exact = sum(v * np.array(S) for S, v in weight.items()) / sum(weight.values())
    w, g, count = np.zeros(d), np.zeros(d), np.zeros(d)
    n = 20_000
    for _ in range(n):
        mean = sweep(G, b, g, w, np.ones(d), tau, odds, rng.random(3 * d), rng.standard_normal(2 * d))
        count += w != 0
        assert (mean[w == 0] == 0).all()
    np.testing.assert_allclose(g, G @ w, atol=1e-8)
    np.testing.assert_allclose(count / n, exact, atol=0.02)


def test_matching_pursuit_finds_the_support_of_population_moments():
    rng = np.random.default_rng(4)
    R = 0.3 * np.ones((10, 10)) + 0.7 * np.eye(10)
    w = np.zeros(10)
    S = np.sort(rng.choice(10, 3, replace=False))
    w[S] = [1.0, -0.8, 0.6]
    assert np.sort(_pursue(R, R @ w, 3, 0.0)).tolist() == S.tolist()
    assert _pursue(R, R @ w, 3, 1e9).size == 0


def test_slopes_are_least_squares_with_intercept_drawn_to_the_prior():
    X, y = complete(50, 3)
    V = np.column_stack([X, np.ones(50), y])
    got = _slopes(V.T @ V, np.zeros(3), np.zeros(3))
    truth = np.linalg.lstsq(np.column_stack([X, np.ones(50)]), y, rcond=None)[0][:3]
    np.testing.assert_allclose(got, truth, rtol=1e-6)
    drawn = _slopes(V.T @ V, np.full(3, 7.0), np.full(3, 1e9))
    np.testing.assert_allclose(drawn, 7.0, rtol=1e-3)


@pytest.mark.parametrize("name", ["gibbs-thompson", "explore-then-commit"])
def test_they_find_the_support_and_beat_a_random_choice(name):
    X, y, w = kh.streams.synthetic(d=10, k=3, T=1500, seed=5)
    learner = kh.make(name, d=10, k=3, seed=0)
    regret = kh.play(learner, X, y).regret(w)
    zero = float((y**2 - (y - X @ w) ** 2).sum())
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    np.testing.assert_allclose(learner.weights, w, atol=0.05)
    assert regret[-1] < 0.35 * zero
    assert regret[-1] - regret[750] < 0.1 * zero


def test_labels_far_from_zero_are_no_harder():
    X, y, _ = kh.streams.synthetic(d=8, k=2, T=600, seed=6)
    for name in ("gibbs-thompson", "explore-then-commit"):
        near, far = (kh.make(name, d=8, k=2, seed=0) for _ in range(2))
        a, b = kh.play(near, X, y), kh.play(far, 30.0 + 5.0 * X, 1000.0 + 10.0 * y)
        assert b.losses[50:].mean() / 100.0 < 3.0 * a.losses[50:].mean() + 0.01


def test_a_state_brings_its_own_slopes():
    """Those of the commitment before are forgotten when a used learner takes over another's state."""
    one, other = (kh.make("explore-then-commit", d=8, k=3, seed=0) for _ in range(2))
    for seed, learner in enumerate((one, other)):
        X, y, _ = kh.streams.synthetic(d=8, k=3, T=400, seed=seed)
        kh.play(learner, X, y)
    assert not np.array_equal(one._pooled_slopes(), other._pooled_slopes())
    other.set_state(one.get_state())
    assert np.array_equal(one._pooled_slopes(), other._pooled_slopes())
