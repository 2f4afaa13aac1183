"""DS-OSLRC and DS-POSLRC against the paper's pseudo-code written out with dense matrices and no cleverness."""

from math import isqrt, log

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation import sampling
from keyhole.estimation.dantzig import solve

D, K, K0 = 9, 4, 3


def kappa_gamma(V, s):
    return 0.5 * np.sqrt(2 * log(20 * D) * np.maximum(V, V.mean() / 10)) / s


def select(w, S):
    """The k largest; the tests below have no ties but w = 0, which keeps S."""
    return np.sort(np.argsort(-np.abs(w), kind="stable")[:K]) if np.count_nonzero(w) >= K else None


def dense_estimates(x, B, P, y):
    x_hat, h = np.zeros(D), np.zeros((D, D))
    for i in B:
        x_hat[i] = x[i] / P[i, i]
        for j in B:
            h[i, j] = x[i] * x[j] / P[i, j]
    return x_hat * y, h


@pytest.mark.parametrize("tuning", ["empirical", "scaled(0.004)"])
def test_ds_oslrc_is_algorithm_1(tuning):
    X, y, _ = kh.streams.synthetic(D, K, 1200, seed=3)
    learner = kh.make("ds-oslrc", d=D, k=K, seed=5, tuning=tuning)
    constants = kh.theory.Constants(d=D, k=K, sigma=0.1, delta_s=1.0, delta=0.01)
    w, b, H, V, S, s = np.full(D, 1 / D), np.zeros(D), np.zeros((D, D)), np.zeros(D), learner.support, 0
    squares = []
    fresh, changes = True, 0
    for t in range(1, 1201):
        x, label, r = X[t - 1], y[t - 1], learner.ask()
        y_hat = learner.predict(r, x[r.attributes])
        if isqrt(t) ** 2 == t:
            assert r.kind == "explore"
            s += 1
            B = r.attributes
            assert y_hat == pytest.approx(w[B] @ x[B], abs=1e-12)
            q = np.abs(w) / np.abs(w).sum() if w.any() else np.full(D, 1 / D)
            v, h = dense_estimates(x, B, sampling.pair_inclusion(q, K), label)
            V += (v - h @ w) ** 2
            b, H = b + v, H + h
            gamma = kappa_gamma(V, s) if tuning == "empirical" else 0.004 * constants.gamma(s)
            w = solve(H / s, b / s, gamma).w
            learner.tell(r, x[B], label)
            assert np.abs(learner.estimate.w_hat - w).max() < 1e-8  # the reference solver's tolerance
            w = learner.estimate.w_hat.copy()
            chosen = select(w, S)
            new = (
                learner.support if chosen is None else chosen
            )  # fewer than k non-zeros: the tie rule, tested elsewhere
            if chosen is not None:
                assert np.array_equal(learner.support, chosen)
            if fresh or not np.array_equal(new, S):
                S, bar, A = new, w[new].copy(), K * np.eye(K)
                changes += not fresh
                fresh = False
        else:
            assert r.attributes.tolist() == S.tolist()
            z, Ainv = x[S], np.linalg.inv(A)
            if abs(bar @ z) > 1:
                bar = bar - np.sign(bar @ z) * (abs(bar @ z) - 1) / (z @ Ainv @ z) * Ainv @ z
            assert y_hat == pytest.approx(bar @ z, abs=1e-9)
            g = 2 * (bar @ z - label) * z
            squares.append((bar @ z - label) ** 2)
            rho = 1 / (2 * np.mean(squares)) if tuning == "empirical" else constants.rho
            A = A + rho * np.outer(g, g)
            bar = bar - np.linalg.solve(A, g)
            learner.tell(r, z, label)
            assert np.abs(learner.weights[S] - bar).max() < 1e-9
    assert changes >= 2  # else restarts were never compared
    assert learner.exploiter.moves == changes


def test_ds_poslrc_is_algorithm_3():
    X, y, _ = kh.streams.synthetic(D, K, 120, seed=3)
    learner = kh.make("ds-poslrc", d=D, k=K, k0=K0, seed=5)
    w, b, H, V = np.full(D, 1 / D), np.zeros(D), np.zeros((D, D)), np.zeros(D)
    for s in range(1, 121):
        x, label, r, S = X[s - 1], y[s - 1], learner.ask(), learner.support
        assert r.attributes.tolist() == S.tolist()
        assert learner.predict(r, x[S]) == pytest.approx(w[S] @ x[S], abs=1e-12)
        q = np.abs(w)
        q[S] = 0
        C = np.setdiff1d(np.arange(D), S)
        q = q / q.sum() if q.any() else np.where(np.isin(np.arange(D), C), 1 / C.size, 0)
        extra = learner.ask_more(r)
        v, h = dense_estimates(x, [*S, *extra], sampling.union_pair_inclusion(q, K0, S), label)
        V += (v - h @ w) ** 2
        b, H = b + v, H + h
        learner.tell(r, x[S], label, extra, x[extra])
        assert np.abs(learner.estimate.w_hat - solve(H / s, b / s, kappa_gamma(V, s)).w).max() < 1e-7
        w = learner.estimate.w_hat.copy()
    assert w.any()
