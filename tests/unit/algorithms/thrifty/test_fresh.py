"""What a row says about a candidate is known in the next one, and whoever has the evidence joins at once."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.score import evidence
from tests.compiled import entry


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


def rounds(d=12, k=3, T=160, sigma=0.1, design="ar(0.5)"):
    """A learner row by row: what it bought, whether the support moved in that row, and its state after it."""
    X, y, _ = kh.streams.synthetic(d, k, T, sigma, design, seed=5)
    learner = kh.make("thrifty", d=d, k=k, seed=0)
    for t in range(T):
        r, moves = learner.ask(), int(learner.memory.now["moves"][0])
        learner.tell(r, X[t, r.attributes], float(y[t]))
        state = learner.memory.state
        yield r.attributes, moves != state.now.moves, state


@pytest.mark.parametrize("design", ["uniform", "ar(0.5)", "ar(0.8)"])
def test_what_a_row_says_about_a_candidate_is_what_its_sums_say(design):
    checked = again = 0
    for bought, _, state in rounds(design=design):
        for j in bought:
            me = state.attr[j]
            if me.place < 0 and me.rows >= 3 and me.fresh == me.asked:
                assert (me.r, me.c, me.se) == pytest.approx(slow(state, j), rel=1e-10, abs=1e-12)
                checked += 1
                again += state.pair["u"][j].any()
    assert checked > again > 20


def test_nobody_bought_is_judged_by_older_rows():
    for bought, _, state in rounds():
        outside = [state.attr[j] for j in bought if state.attr[j].place < 0 and state.attr[j].rows >= 2]
        assert all(me.fresh == me.asked for me in outside)


def test_whoever_reaches_the_evidence_while_there_is_room_is_tried_in_that_row():
    unforeseen, due = 0, 1
    for bought, moved, state in rounds(d=60, T=1500, sigma=0.3, design="uniform"):
        unforeseen += moved and state.now.told < due
        due = state.now.refit_at
        for j in bought:
            me = state.attr[j]
            if me.place >= 0 or state.now.m == 3 or me.rows < 5 or me.c <= 0.0:
                continue
            rho = min(me.r**2 / (me.c * state.now.s2), 0.98)
            ratio = (me.r / me.se) ** 2 * (-math.log1p(-rho) / rho if rho > 1e-6 else 1.0)
            ratio *= 1.0 - 2.5 * state.now.g / me.h  # a mean and a slope fit some rows by chance
            assert ratio <= state.given.L or me.failed > 0 or moved
    assert unforeseen > 1
    assert state.now.m == 3


def test_a_row_that_decides_nothing_calls_for_no_refit():
    refits = 0
    X, y, _ = kh.streams.synthetic(12, 3, 2000, seed=5)
    learner = kh.make("thrifty", d=12, k=3, seed=0)
    for t in range(2000):
        at = int(learner.memory.now["score_at"][0])
        r = learner.ask()
        learner.tell(r, X[t, r.attributes], float(y[t]))
        refits += int(learner.memory.now["score_at"][0]) != at
    assert refits < 260  # every row until 33, every 3 % after that, and the few that were called for


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
    assert 5 <= learner.explain()[3].bought < 40


def test_rare_values_are_found():
    rng = np.random.default_rng(4)
    X = (rng.random((3000, 20)) < 0.05).astype(float)
    learner = kh.make("thrifty", d=20, k=2, seed=0)
    kh.play(learner, X, X[:, 7] - X[:, 12] + 0.1 * rng.standard_normal(3000))
    assert learner.support.tolist() == [7, 12]


@entry
def evident(state, j):
    return evidence(state.attr[j], state.now)


@pytest.mark.parametrize(("h", "most"), [(20.0, 0.75), (4.0, 0.0)])
def test_evidence_is_the_likelihood_ratio_less_what_few_rows_fit_by_chance(h, most):
    state = kh.make("thrifty", d=4, k=2, seed=0).memory.state
    me, state.now.g, state.now.s2 = state.attr[1], 2.0, 1.0
    me.r, me.c, me.se, me.h = 0.5, 0.5, 0.1, h
    assert evident(state, 1) == pytest.approx(25.0 * -2.0 * math.log(0.5) * most, rel=1e-12)


def test_the_slope_on_our_own_predictions_is_held_back_by_twice_the_noise():
    X, y, _ = kh.streams.synthetic(8, 3, 60, 0.2, seed=1)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    kh.play(learner, X[:59], y[:59])
    learner.memory.now["refit_at"] = 1000
    kh.play(learner, X[59:], y[59:])
    now = learner.memory.state.now
    assert 0.0 < now.fy < now.ff + now.s2
    assert now.alpha == pytest.approx(now.fy / (now.ff + 2.0 * now.s2), rel=1e-12)
