"""The realizable algorithm of Kale et al. 2017: its estimates under each law of R, and when it solves."""

from itertools import combinations, product
from math import ceil, comb, log

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.published.kale2017_dantzig import coin_inclusion
from keyhole.estimation.importance_weighting import estimate

from ..scripted import change, play_a_while

D, K0 = 6, 3
RNG = np.random.default_rng(0)
X_ROW, LABEL = RNG.uniform(-1, 1, D), 0.4


def made(sampling="uniform", **options):
    return kh.make("kale2017-dantzig", d=D, k=2, k0=K0, seed=0, sampling=sampling, **options)


def sums(learner):
    return np.concatenate([learner.estimate.seq.b, learner.estimate.seq.H.ravel()])


TRUTH = np.concatenate([LABEL * X_ROW, np.outer(X_ROW, X_ROW).ravel()])


def test_importance_weights_of_coins_are_the_published_matrix_form():
    T, d, p = 40, 7, 0.4
    X, y = RNG.uniform(-1, 1, (T, d)), RNG.normal(size=T)
    seen = RNG.random((T, d)) < p
    single, pair = coin_inclusion(d, p, cap=d)
    H, b = np.zeros((d, d)), np.zeros(d)
    for x, label, mask in zip(X, y, seen, strict=True):
        R = np.flatnonzero(mask)
        P = np.full((R.size, R.size), pair)
        np.fill_diagonal(P, single)
        x_hat, h = estimate(x[R], P)
        b[R] += label * x_hat
        H[np.ix_(R, R)] += h
    X_hat = X * seen / p
    D_hat = (1 - p) * np.diag((X_hat**2).sum(axis=0))
    for _ in range(5):
        v = RNG.normal(size=d)
        published = X_hat.T @ (y - X_hat @ v) / T + D_hat @ v / T
        assert np.allclose(b / T - H / T @ v, published, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("n", "p", "cap"), [(5, 0.3, 5), (5, 0.4, 2), (6, 0.5, 3), (4, 0.25, 1)])
def test_coins_with_a_cap_have_the_stated_probabilities(n, p, cap):
    P = np.zeros((n, n))
    for coins in product([0, 1], repeat=n):
        up = [i for i in range(n) if coins[i]]
        chance = p ** len(up) * (1 - p) ** (n - len(up))
        kept = list(combinations(up, min(cap, len(up))))
        for R in kept:
            P[np.ix_(R, R)] += chance / len(kept)
    single, pair = coin_inclusion(n, p, cap)
    assert np.allclose(np.diagonal(P), single, rtol=0, atol=1e-14)
    assert np.allclose(P[~np.eye(n, dtype=bool)], pair, rtol=0, atol=1e-14)


def test_the_hard_budget_is_unbiased():
    learner = play_a_while(made())
    draws = [change(learner, [R], X_ROW, LABEL, sums) for R in combinations(range(D), K0)]
    assert np.allclose(np.mean(draws, axis=0), TRUTH, rtol=0, atol=1e-12)


def test_capped_coins_are_unbiased():
    learner, p = play_a_while(made("bernoulli")), K0 / D
    mean = 0.0
    for j in range(D + 1):
        m = min(j, K0)
        for R in combinations(range(D), m):
            chance = comb(D, j) * p**j * (1 - p) ** (D - j) / comb(D, m)
            mean = mean + chance * change(learner, [j, R], X_ROW, LABEL, sums)
    assert np.allclose(mean, TRUTH, rtol=0, atol=1e-12)


def test_the_union_with_the_support_is_unbiased_and_varies_less():
    alone, union = play_a_while(made()), play_a_while(made("union"))
    by_R = [change(alone, [R], X_ROW, LABEL, sums) for R in combinations(range(D), K0)]
    by_union = [change(union, [R], X_ROW, LABEL, sums) for R in combinations(range(D - 2), K0)]
    assert np.allclose(np.mean(by_union, axis=0), TRUTH, rtol=0, atol=1e-12)
    assert np.var(by_union, axis=0).sum() < np.var(by_R, axis=0).sum()


@pytest.mark.parametrize("sampling", ["uniform", "bernoulli", "union"])
def test_what_is_bought_after_the_label_is_new_and_within_budget(sampling):
    learner = made(sampling)
    for _ in range(100):
        r = learner.ask()
        assert not set(r.attributes) & set(r.extra)
        assert r.extra.size <= K0
        learner.tell(r, X_ROW[r.attributes], LABEL, r.extra, X_ROW[r.extra])


@pytest.mark.parametrize(("growth", "expected"), [(2.0, {4, 8, 16, 32, 64}), (1.0, set(range(4, 71))), (3.0, {9, 27})])
def test_programs_are_solved_when_t_has_grown_enough(growth, expected):
    learner, times = made(growth=growth), set()
    assert learner.t0 == ceil(2 * log(D)) == 4
    for t in range(1, 71):
        before = learner.estimate.solved
        play_a_while(learner, T=1, seed=t)
        times |= {t} if learner.estimate.solved > before else set()
    assert times == expected


def test_it_predicts_zero_before_its_first_program():
    X, y, _ = kh.streams.synthetic(D, 2, 4, seed=0)
    assert not kh.play(made(), X, y).predictions.any()


def test_the_default_finds_what_matters():
    X, y, w = kh.streams.synthetic(12, 3, 1500, seed=1, design="rademacher")
    learner = kh.make("kale2017-dantzig", d=12, k=3, k0=5, seed=1)
    assert kh.play(learner, X, y).regret(w)[-1] < 0.3 * (y**2 - (y - X @ w) ** 2).sum()
    assert learner.support.tolist() == np.flatnonzero(w).tolist()


def test_the_theory_is_silent_and_says_so():
    X, y, _ = kh.streams.synthetic(12, 3, 500, seed=1)
    with pytest.warns(kh.KeyholeWarning, match="estimate was zero"):
        kh.play(kh.make("kale2017-dantzig", d=12, k=3, k0=5, seed=1, tuning="theory"), X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "all"}, "sampling"),
        ({"delta": 1.5}, "delta"),
        ({"C": 0.0}, "C must"),
        ({"growth": 0.5}, "growth"),
        ({"sigma": "low"}, "sigma"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(kh.ConfigError, match=message):
        kh.make("kale2017-dantzig", d=8, k=3, k0=3, seed=0, **options)
    with pytest.raises(kh.ConfigError, match="k0 >= 2"):
        kh.make("kale2017-dantzig", d=8, k=3, k0=1, seed=0)
