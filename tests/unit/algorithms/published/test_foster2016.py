"""The hedge over all supports of Foster, Kale and Karloff 2016."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

import keyhole as kh

from ..scripted import change, play_a_while

D, K, K0 = 6, 2, 3
RNG = np.random.default_rng(0)
X_ROW, LABEL = RNG.uniform(-1, 1, D), 0.4


def made(k0=K0, tuning="theory", **options):
    return kh.make("foster2016", d=D, k=K, k0=k0, seed=0, tuning=tuning, **options)


def mean_change(learner, read):
    """E over R of what a round adds; which support was drawn (0.5) plays no part."""
    draws = [change(learner, [0.5, R], X_ROW, LABEL, read) for R in combinations(range(D), K0)]
    return np.mean(draws, axis=0)


def exact(learner):
    """<w_U, x_U> - y of every support, and x_U in the learner's places."""
    x = X_ROW[learner.order][learner.U]
    return (learner.W * x).sum(axis=1) - LABEL, x


def test_every_supports_loss_estimate_is_unbiased():
    learner = play_a_while(made())
    residual, _ = exact(learner)
    assert np.ptp(residual) > 0.05
    assert np.allclose(mean_change(learner, lambda m: m.L) + LABEL**2, residual**2, rtol=0, atol=1e-12)


def test_every_supports_gradient_step_is_unbiased():
    learner = play_a_while(made(radius=1e6, step_scale=1e-6))  # a ball that is never left
    residual, x = exact(learner)
    eta = learner.eta_step / np.sqrt(learner.n + 1)
    step = mean_change(learner, lambda m: m.W)
    assert np.allclose(step, -eta * 2 * residual[:, None] * x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("tuning", ["theory", "practical"])
def test_with_everything_observed_it_is_hedge_and_gradient_descent_on_exact_losses(tuning):
    X, y, _ = kh.streams.synthetic(D, K, 120, seed=3)
    learner = made(k0=D, tuning=tuning)
    N = comb(D, K)
    W, L, G, V = np.zeros((N, K)), np.zeros(N), np.zeros(N), 0.0
    for t, (row, label) in enumerate(zip(X, y, strict=True), start=1):
        r = learner.ask()
        learner.tell(r, row[r.attributes], label, r.extra, row[r.extra])
        x = row[learner.order][learner.U]
        residual = (W * x).sum(axis=1) - label
        eta = learner.eta_hedge / np.sqrt(t if tuning == "theory" else V or 1.0)
        p = np.exp(-eta * (L - L.min()))
        p /= p.sum()
        V += p @ (residual**2 - p @ residual**2) ** 2
        L += residual**2
        g = 2 * residual[:, None] * x
        G += (g**2).sum(axis=1)
        scale = np.sqrt(np.full(N, float(t)) if tuning == "theory" else np.where(G > 0, G, 1.0))
        W -= learner.eta_step / scale[:, None] * g
        W /= np.maximum(1.0, np.linalg.norm(W, axis=1))[:, None]
        assert np.allclose(learner.W, W, rtol=0, atol=1e-10)
    assert np.allclose(learner.L - learner.L.min(), L - L.min(), rtol=0, atol=1e-9)
    assert learner.support.tolist() == sorted(learner.order[learner.U[np.argmin(L)]].tolist())


def test_supports_are_drawn_by_the_hedge():
    learner = play_a_while(made(tuning="practical"), T=15)
    p, counts = learner.p, np.zeros(comb(D, K))
    assert 0.02 < p.max() < 0.999
    for _ in range(4000):
        r = learner.ask()
        counts[int(r.memo[0])] += 1
        learner.abandon(r)
    assert np.abs(counts / 4000 - p).max() < 5 * np.sqrt(0.25 / 4000)


def test_too_many_supports_are_refused_with_their_number():
    with pytest.raises(kh.ConfigError, match=str(comb(40, 5))):
        kh.make("foster2016", d=40, k=5, k0=5, seed=0)


def test_one_extra_attribute_is_too_few():
    with pytest.raises(kh.ConfigError, match="k0 >= 2"):
        kh.make("foster2016", d=8, k=2, k0=1, seed=0)


def test_the_default_finds_what_matters():
    X, y, w = kh.streams.synthetic(8, 2, 1000, seed=1)
    learner = kh.make("foster2016", d=8, k=2, k0=4, seed=1)
    assert kh.play(learner, X, y).regret(w)[-1] < 0.2 * (y**2 - (y - X @ w) ** 2).sum()
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
