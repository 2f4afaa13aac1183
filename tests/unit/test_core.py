"""The compiled core gives what the definitions in `estimation/` give, to 1e-12, and refuses arrays that do not fit."""

import copy
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from keyhole import _core
from keyhole.estimation import dantzig_width, importance_weighting, online_newton, sampling, top_k

SEEDS = range(20)
close = {"rtol": 1e-12, "atol": 1e-12}


@pytest.mark.parametrize("seed", SEEDS)
def test_sampling_law_and_pair_probabilities(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    w = rng.normal(size=n) * (rng.random(n) < 0.7)
    q = sampling.law(w)
    np.testing.assert_allclose(q, sampling.distribution(w), **close)
    for m in range(1, n + 1):
        np.testing.assert_allclose(sampling.pairs(q, n, m), sampling.pair_inclusion(q, m), **close)


@pytest.mark.parametrize("seed", SEEDS)
def test_importance_weighted_estimates(seed):
    rng = np.random.default_rng(seed)
    x, P = rng.normal(size=5), rng.uniform(0.1, 1.0, (5, 5))
    x[rng.random(5) < 0.2] = np.nan
    ours, definition = importance_weighting.estimate_quickly(x, P), importance_weighting.estimate(x, P)
    np.testing.assert_allclose(ours.x_hat, definition.x_hat, **close)
    np.testing.assert_allclose(ours.h, definition.h, **close)
    w_hat, B, y = rng.normal(size=9), rng.permutation(9)[:5], 0.7
    v, h, deviation = np.empty(5), np.empty((5, 5)), np.empty(5)
    _core.estimate_round(w_hat, B, x, y, P, v, h, deviation)
    np.testing.assert_allclose(v, y * definition.x_hat, **close)
    np.testing.assert_allclose(deviation, v - definition.h @ w_hat[B], **close)


@pytest.mark.parametrize("seed", SEEDS)
def test_newton_steps(seed):
    rng = np.random.default_rng(seed)
    k, T, rho = 4, 60, 0.3
    X, y = rng.normal(size=(T, k)), rng.uniform(-1, 1, T)
    newton = online_newton.Newton(k, eps=2.0, rho=rho)
    newton.restart(rng.normal(size=k))  # large enough for the projection
    whole = copy.deepcopy(newton)
    predictions = []
    for t in range(T):
        y_hat, w, A_inv = online_newton.newton_step(newton.w, newton.A_inv, X[t], y[t], rho)
        predictions += newton.run(X[t : t + 1], y[t : t + 1]).tolist()
        assert predictions[t] == pytest.approx(y_hat, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(newton.w, w, **close)
        np.testing.assert_allclose(newton.A_inv, A_inv, **close)
    assert 1.0 in np.abs(predictions)  # else the projection was not tried
    assert whole.run(X, y).tolist() == predictions  # an epoch in one call: the same bits


@pytest.mark.parametrize("seed", SEEDS)
def test_top_k_and_widths(seed):
    rng = np.random.default_rng(seed)
    d, k = 12, int(rng.integers(1, 12))
    w = rng.integers(-2, 3, d) / 4.0  # many ties
    S, order = np.sort(rng.permutation(d)[:k]), rng.permutation(d)
    assert top_k.top_k(w, k, S, order).tolist() == top_k.top_k_by_definition(w, k, S, order).tolist()
    empirical = dantzig_width.Empirical(d)
    empirical.V[:] = rng.random(d) ** 4
    np.testing.assert_allclose(
        empirical.gamma(3), dantzig_width.empirical_widths(empirical.V, empirical.scale / 3), **close
    )


@pytest.mark.parametrize("m", range(1, 8))
def test_inverses(m):
    G = np.random.default_rng(m).normal(size=(8, 8))
    G[:m, 0] = np.roll(np.arange(1.0, m + 1.0), -1)  # the first pivot is not in the first row
    G_inv = np.full((8, 8), 7.0)
    assert _core.invert(G, G_inv, m)
    np.testing.assert_allclose(G_inv[:m, :m] @ G[:m, :m], np.eye(m), atol=1e-11)
    G[:m, m - 1] = 0.0
    assert not _core.invert(G, G_inv, m)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_is_added_to_the_moments_and_to_the_basis(seed):
    """H[B, B] += h and b[B] += v; G = H[R, A] and its inverse follow."""
    rng = np.random.default_rng(seed)
    d, m, k = 9, 6, 2
    H = np.eye(d) * 5.0 + rng.uniform(-1, 1, (d, d))
    H = H + H.T
    b, A, R = rng.normal(size=d), rng.permutation(d)[:m], rng.permutation(d)[:m]
    A[:3] = R[:3] = np.arange(3)  # most rounds change G
    A[3:], R[3:] = 3 + rng.permutation(d - 3)[:3], 3 + rng.permutation(d - 3)[:3]
    idx, sgn, pos = np.zeros((2, d), np.int64), np.ones((2, d)), np.full((2, d), -1)
    idx[0, :m], idx[1, :m] = A, R
    pos[0, A] = pos[1, R] = np.arange(m)
    GG = np.zeros((2, d, d))
    GG[0, :m, :m] = H[np.ix_(R, A)]
    GG[1, :m, :m] = np.linalg.inv(GG[0, :m, :m])
    basis = _core.DantzigBasis(idx, sgn, pos, GG)
    work = _core.DantzigWork(np.zeros((2, 3, d)), np.zeros((2, 3, d)), np.zeros((2, 2, d)), np.zeros(d))
    B, x = rng.permutation(4)[:k], rng.uniform(-1, 1, k)
    h, v, H_before, b_before = np.outer(x, x), rng.normal(size=k), H.copy(), b.copy()
    changed = _core.add_round(H, b, B, h, v, basis, work, m, 60, False)
    H_before[np.ix_(B, B)] += h
    b_before[B] += v
    np.testing.assert_allclose(H, H_before, **close)
    np.testing.assert_allclose(b, b_before, **close)
    assert changed == np.isin(B, A).sum() * np.isin(B, R).any()
    np.testing.assert_allclose(GG[0, :m, :m], H[np.ix_(R, A)], **close)
    np.testing.assert_allclose(GG[1, :m, :m], np.linalg.inv(GG[0, :m, :m]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_products_leave_out_what_is_nan(seed):
    rng = np.random.default_rng(seed)
    w, B, x = rng.normal(size=9), rng.permutation(9)[:5], rng.normal(size=5)
    x[rng.random(5) < 0.3] = np.nan
    assert _core.dot_observed(w, B, x) == pytest.approx(np.nansum(w[B] * x), abs=1e-12)
    S = np.sort(rng.permutation(9)[:4])
    on = np.isin(B, S)
    expected = np.nansum(w[:4][np.searchsorted(S, B[on])] * x[on])
    assert _core.dot_on_support(w[:4], S, B, x) == pytest.approx(expected, abs=1e-12)


def test_values_are_counted():
    x = np.array([0.0, 1e-200, -1e200, np.nan, np.inf, 5.0])
    assert _core.count_extremes(x, 1e250, 1e100, 1e-100) == (1, 3)
    assert _core.count_extremes(np.array([0.0, -0.0, 5e-324]), 1e250, 1e100, 1e-100) == (0, 2)
    seen, outside, low, high = np.zeros(2, np.int64), np.zeros(2, np.int64), np.full(2, np.inf), np.full(2, -np.inf)
    values, columns = np.array([0.5, 2.0, -3.0, np.nan]), np.array([0, 0, 1, 1])
    _core.count_outside(values, columns, np.full(2, -1.0), np.ones(2), seen, outside, low, high)
    assert (seen.tolist(), outside.tolist()) == ([2, 1], [1, 1])
    assert (low.tolist(), high.tolist()) == ([0.5, -3.0], [2.0, -3.0])


def test_arrays_that_do_not_fit_are_refused_and_left_alone():
    w = np.zeros(3)
    with pytest.raises(ValueError, match="fit"):
        _core.newton_epoch(w, np.eye(2), np.zeros(2), np.ones((1, 3)), np.ones(1), 1.0, np.zeros(1))
    with pytest.raises(TypeError):  # never converted: a copy would be written instead of the caller's array
        _core.newton_epoch(w.astype(np.float32), np.eye(3), np.zeros(2), np.ones((1, 3)), np.ones(1), 1.0, np.zeros(1))
    with pytest.raises(TypeError):
        _core.newton_epoch(np.zeros(6)[::2], np.eye(3), np.zeros(2), np.ones((1, 3)), np.ones(1), 1.0, np.zeros(1))
    with pytest.raises(ValueError, match="range"):
        _core.dot_observed(w, np.array([3]), np.ones(1))
    assert not w.any()


def test_the_stub_is_current():
    call = [sys.executable, str(Path(__file__).parents[2] / "scripts" / "core_stub.py"), "--check"]
    assert subprocess.run(call, capture_output=True, text=True).stderr == ""


def test_other_threads_run_while_the_core_works():
    """An epoch releases the GIL: another thread gets it, though Python itself takes it from none."""
    X, y = np.ones((20_000, 8)), np.zeros(20_000)
    state, ran, epochs, most = (np.zeros(8), np.eye(8), np.zeros(2)), threading.Event(), 0, 3000

    def work() -> None:
        nonlocal epochs
        while not ran.is_set() and epochs < most:
            _core.newton_epoch(*state, X, y, 1.0, np.empty(y.size))
            epochs += 1

    interval, thread = sys.getswitchinterval(), threading.Thread(target=work)
    sys.setswitchinterval(1000.0)
    try:
        thread.start()  # comes back when this thread has the GIL again
        ran.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert epochs < most
