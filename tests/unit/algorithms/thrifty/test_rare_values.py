"""What a row says about a candidate is known in the next one, and whoever has the evidence joins at once."""

import math

import numpy as np

import keyhole as kh


def slow(state, j):
    """r, c and se of candidate j from its sums, written out with numpy."""
    now, fit, me, m = state.now, state.fit, state.attr[j], int(state.now.m)
    member, pair, P = fit.member[:m], state.pair[j][:m], fit.P[:m, :m]
    mean, v = me.x / me.n, me.xx / me.n - (me.x / me.n) ** 2
    n, known = pair["n"] / now.g, pair["n"] > 0.0
    count = np.where(known, pair["n"], 1.0)
    x_j, x_a = pair["x_j"] / count, pair["x_a"] / count
    cov, v_j, v_a = pair["x_ja"] / count - x_j * x_a, pair["x_jj"] / count - x_j**2, pair["x_aa"] / count - x_a**2
    varied = known & (v_j > 1e-12 * x_j**2) & (v_a > 1e-12 * x_a**2)
    rho = np.where(varied, cov / np.sqrt(np.where(varied, v_j * v_a, 1.0)), 0.0).clip(-0.995, 0.995)
    chance = np.where(known, 1.0 / np.where(known, n, 1.0), 1e9)
    tau = np.maximum(1.0 / now.s, rho**2 - 2.0 * math.log(now.s) * chance)
    rest = np.minimum(1.0, 1.0 - rho**2 + 2.0 * chance)
    shrunk = rho * n * tau / (n * tau + rest)
    left = [min([1.0, *np.delete(1.0 - shrunk**2, a)]) for a in range(m)]
    q, seen, own = (part * math.sqrt(v) * member["sd"] for part in (shrunk, rho, np.zeros(m)))
    if pair["u"].any():  # the rows say what there is beyond the u they were weighed by
        own, n = min(v, me.own_xx / me.n), pair["own_n"] / now.g
        many, most = np.where(known, n, 1.0), 0.995 * math.sqrt(v) * member["sd"]
        beyond = fit.C[:m, :m] @ pair["u"] + pair["own_xa"] / np.where(known, pair["own_n"], 1.0)
        q = seen = np.where(known, beyond.clip(-most, most), 0.0)
        rest = np.where(known, np.minimum(1.0, own / v * (1.0 + 2.0 / many) + 4.0 / many**2), 1.0)
    q = q.copy()
    inflation = np.diag(P) * member["sd"] ** 2
    weight = 1.0 / (n + inflation * rest / (tau * left))
    for _ in range(3):
        for a in range(m):
            implied = -np.delete(P[a] * q, a).sum() / P[a, a]
            q[a] = n[a] * weight[a] * (seen[a] - implied) + implied
    u = P @ q
    c = max((own if np.any(own) else v - q @ u) / max(0.5, 1.0 - weight[known].sum()), 0.03 * v)
    r = (me.xe - mean * me.e - u @ (pair["x_ae"] + pair["pull"])) / me.h
    doubt = (P @ pair["pull"] / me.h) ** 2 @ (v * member["sd"] ** 2 * rest * weight)
    return r, c, math.sqrt(c * now.s2 / (me.h / now.g) + doubt)


def test_a_column_that_was_always_the_same_is_looked_at_as_often_as_those_that_say_nothing():
    rng = np.random.default_rng(2)
    X = (rng.random((600, 10)) < 0.05).astype(float)  # others took long to show that they vary
    X[:, 3] = 0.0
    learner = kh.make("thrifty", d=10, k=2, seed=0)
    kh.play(learner, X, rng.standard_normal(600))
    bought = [e.bought for e in learner.explain()]
    assert bought[3] > 0.8 * np.median(bought)


def test_a_column_that_was_always_the_same_is_given_up_soon_where_all_others_vary_at_once():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.0, 1.0, (600, 10))
    X[:, 3] = 0.0
    learner = kh.make("thrifty", d=10, k=2, seed=0)
    kh.play(learner, X, rng.standard_normal(600))
    assert 5 <= learner.explain()[3].bought < 130


def test_rare_values_are_found():
    rng = np.random.default_rng(4)
    X = (rng.random((3000, 20)) < 0.05).astype(float)
    learner = kh.make("thrifty", d=20, k=2, seed=0)
    kh.play(learner, X, X[:, 7] - X[:, 12] + 0.1 * rng.standard_normal(3000))
    assert learner.support.tolist() == [7, 12]
