"""The compiled parts against slow plain numpy."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.priced import belief, gram, linear
from keyhole.algorithms.thrifty.priced.judge import judge
from keyhole.algorithms.thrifty.priced.select import refit
from tests.compiled import entry


@entry
def _posterior(gain, n, rows, q, v, y_var, prior, weight, kappa):
    return belief.posterior(gain, n, rows, q, v, y_var, prior, weight, kappa)


@entry
def _precision(C):
    return linear.precision(C)


def played(T=300, missing=0.1, **more):
    """Three panels and three singles, one known; the labels need two of them."""
    rng = np.random.default_rng(4)
    names = [f"x{i}" for i in range(9)]
    sources = {"a": names[0:2], "b": names[2:5]}
    X = rng.normal(size=(T, 9)) @ (np.eye(9) + 0.3 * rng.normal(size=(9, 9)))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 6] + 0.4 * X[:, 8] + rng.normal(size=T)
    X[rng.random(X.shape) < missing] = np.nan
    prices = {"a": 1.0, "b": 1.0, "x5": 1.0, "x6": 0.01, "x7": 1.0}
    learner = kh.make(
        "thrifty", names=names, sources=sources, free=["x8"], prices=prices, seed=0, **({"error_cost": 5.0} | more)
    )
    kh.play(learner, X, y)
    return learner


def test_the_posterior_is_bayes_over_spike_and_slabs():
    prior, weight, kappa = belief.prior_weights(40), np.empty(5), np.empty(5)
    assert np.exp(prior).sum() == pytest.approx(1.0)
    gain, n, rows, q, v, y_var = 0.12, 50.0, 80.0, 3, 0.9, 1.3
    got = _posterior(gain, n, rows, q, v, y_var, prior, weight, kappa)
    slabs = belief.SLABS
    g = n * slabs * y_var / (q + 2) / v
    kap = g / (1 + g)
    R2 = gain / v * n / rows
    mu2, u = kap**2 * gain, kap * v * (1 - kap * R2) / n
    square = mu2 + q * u
    evidence = (
        -q / 2 * np.log(1 + g) - (rows - 1) / 2 * np.log(1 - R2 * kap) + np.log(square / (slabs * y_var * q / (q + 2)))
    )
    p = np.exp(prior + np.append(0.0, evidence))
    p /= p.sum()
    within = (square**2 + 2 * q * u**2 + 4 * u * mu2) / square
    assert np.allclose(weight, p, rtol=1e-12)
    assert got == pytest.approx(p[1:] @ within, rel=1e-12)


def test_without_rows_the_posterior_is_the_prior():
    prior, weight, kappa = belief.prior_weights(40), np.empty(5), np.empty(5)
    for q in (1, 5):  # however many attributes a source has
        got = _posterior(0.0, 0.0, 0.0, q, 1.0, 2.0, prior, weight, kappa)
        assert np.allclose(weight, np.exp(prior))
        assert got == pytest.approx(np.exp(prior[1:]) @ (belief.SLABS * 2.0))


@pytest.mark.parametrize("q", [1, 4])
def test_the_moments_within_a_slab_are_those_of_its_density(q):
    """theta of q attributes, with the density |theta|^2 N(mu, u): by many draws, weighted."""
    rng = np.random.default_rng(q)
    gain, n, v, y_var, prior = 0.5, 12.0, 1.1, 1.4, np.log(np.array([1e-12, 1e-12, 1e-12, 1e-12, 1.0]))
    weight, kappa = np.empty(5), np.empty(5)
    got = _posterior(gain, n, n, q, v, y_var, prior, weight, kappa)
    k = kappa[4]
    theta = np.sqrt(k * v * (1 - k * gain / v) / n) * rng.normal(size=(400_000, q))
    theta[:, 0] += k * np.sqrt(gain)
    square = (theta**2).sum(axis=1)
    assert got == pytest.approx((square**2).mean() / square.mean(), rel=0.01)


def test_a_precision_is_the_inverse_whatever_the_scales_are():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(20, 4)) * np.array([1e-8, 1.0, 1e6, 3.0])
    C = root.T @ root
    scale = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    assert np.allclose(_precision(C) * scale, np.linalg.inv(C / scale + 1e-6 * np.eye(4)), rtol=1e-9)
    dead = C.copy()
    dead[1], dead[:, 1] = 0.0, 0.0
    inverse = _precision(dead)
    assert (inverse[1] == 0.0).all()
    rest = np.ix_([0, 2, 3], [0, 2, 3])
    assert np.allclose(inverse[rest], _precision(C[rest]), rtol=1e-9)


def rows_of(memory):
    """The stored rows as a full table, NaN where nothing is known."""
    rows = int(memory.now["rows"][0])
    X, first = np.full((rows, memory.attr.size), np.nan), 0
    for t in range(rows):
        end = memory.row["end"][t]
        X[t, memory.shown[first:end]] = memory.x[first:end]
        first = end
    return X, memory.row["y"][:rows].copy()


def test_pair_sums_are_those_of_the_rows_that_show_both():
    memory = played().memory
    X, y = rows_of(memory)
    for i in range(9):
        for j in range(9):
            both = ~np.isnan(X[:, i] + X[:, j])
            assert memory.pair["n"][i, j] == both.sum()
            assert memory.pair["x"][i, j] == pytest.approx(X[both, i].sum())
            assert memory.pair["xx"][i, j] == pytest.approx((X[both, i] * X[both, j]).sum())
        own = ~np.isnan(X[:, i])
        assert memory.attr["xy"][i] == pytest.approx((X[own, i] * y[own]).sum())
        assert memory.attr["y"][i] == pytest.approx(y[own].sum())


def covariances(memory, X):
    """Pooled covariances as `estimate.covariance` defines them."""
    d = X.shape[1]
    C = np.diag(memory.attr["sd"] ** 2)
    mean = memory.attr["mean"]
    for i in range(d):
        for j in range(d):
            both = ~np.isnan(X[:, i] + X[:, j])
            if i != j and both.any():
                c = ((X[both, i] - mean[i]) * (X[both, j] - mean[j])).sum() / (both.sum() + 4.0)
                limit = 0.995 * math.sqrt(C[i, i] * C[j, j])
                C[i, j] = min(limit, max(-limit, c))
    return C


def test_a_gram_is_that_of_the_rows_with_the_missing_values_regressed():
    memory = played().memory
    judge(memory.state, 40.0)
    w, s2 = memory.w.copy(), float(memory.now["s2"][0])
    gram.rebuild(memory.state, w)
    X, y = rows_of(memory)
    A, C, mean = memory.A, covariances(memory, X), memory.attr["mean"]
    expected = np.zeros((A.size + 2, A.size + 2))
    for x, label in zip(X[:, A], y, strict=True):
        has = ~np.isnan(x)
        if not has[memory.attr["of"][A] >= 0].any():
            continue
        v, weight = x.copy(), 1.0
        if not has.all():
            R = C[np.ix_(A[has], A[has])] * (1 + 0.01 * np.eye(has.sum()))
            sd = np.sqrt(np.diag(R))
            B = np.linalg.inv(R / np.outer(sd, sd) * (1 - np.eye(sd.size)) + (1 + 1e-6) * np.eye(sd.size))
            B = B / np.outer(sd, sd) @ C[np.ix_(A[has], A[~has])]
            v[~has] = mean[A[~has]] + (x[has] - mean[A[has]]) @ B
            own = C[A[~has], A[~has]]
            left = np.maximum(own - (B * C[np.ix_(A[has], A[~has])]).sum(axis=0), 0.02 * own)
            weight = s2 / (s2 + w[~has] ** 2 @ left)
        z = np.concatenate([v, [1.0, label]])
        expected += weight * np.outer(z, z)
    assert np.allclose(memory.gram, expected, rtol=1e-8)


def test_what_a_source_adds_is_the_drop_of_the_residual_variance():
    memory = played(T=2000, missing=0.0, error_cost=100.0).memory
    X, y = rows_of(memory)
    full = ~np.isnan(X[:, memory.A]).any(axis=1)
    assert full.mean() > 0.9
    assert memory.support.size > 1

    def left(columns):
        Z = np.column_stack([np.ones(full.sum()), X[np.ix_(full, columns)]])
        return ((y[full] - Z @ np.linalg.lstsq(Z, y[full], rcond=None)[0]) ** 2).mean()

    for s in memory.support:
        judge(memory.state, 40.0)
        lost, whole = memory.source["gain"][s], memory.A
        memory.leave(int(s))
        memory.rebuild()
        judge(memory.state, 40.0)
        drop = left(memory.A) - left(whole)
        assert lost == pytest.approx(drop, rel=0.05, abs=0.003)
        assert memory.source["gain"][s] == pytest.approx(drop, rel=0.05, abs=0.003)
        memory.join(int(s))
        memory.rebuild()


def test_members_are_those_that_are_worth_their_price():
    learner = played(T=3000, missing=0.0)
    assert set(learner.catalog.ordered(learner.support)) == {"a", "x6"}
    refit(learner.memory)
    assert set(learner.catalog.ordered(learner.support)) == {"a", "x6"}
