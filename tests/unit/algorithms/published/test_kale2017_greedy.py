"""The greedy chain of experts: its estimates, its forecasters, its batches."""

from itertools import combinations

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.published.kale2017_greedy import PairSums, gains

from ..scripted import play_a_while

RNG = np.random.default_rng(0)


def test_what_a_candidate_gains_is_estimated_without_bias():
    k, d, k0 = 3, 6, 2
    loss, without = RNG.random((k, d)), RNG.random(k)  # of prefix i with candidate f, and of prefix i alone
    mean, n = np.zeros((k, d)), 0
    for i in range(k):
        for Q in combinations(range(d), k0):
            mean[i, list(Q)] += gains(np.array([9.0, *loss[i, list(Q)], without[i]]), k, d / k0)
            n += 1
    assert np.allclose(mean / n, loss - without[:, None], rtol=0, atol=1e-12)


def test_a_batch_probes_the_prefix_with_every_candidate():
    learner = play_a_while(kh.make("kale2017-greedy", d=9, k=3, k0=4, seed=0), T=200)
    seen = set()
    for t in range(200):
        play_a_while(learner, T=1, seed=t)
        if learner.fresh:
            continue
        i, prefix = learner.position, learner.V[: learner.position]
        assert learner.sets[0].tolist() == learner.V.tolist()
        assert len(set(learner.V)) == 3
        for f, used in zip(learner.Q, learner.sets[1:-1], strict=True):
            assert set(used[used >= 0]) == {*prefix, f}
        assert learner.sets[-1].tolist() == [*prefix, *[-1] * (3 - i)]
        seen.add(i)
    assert seen == {0, 1, 2}


def test_in_theory_a_batch_starts_from_nothing_and_forecasts_as_defined():
    learner = kh.make("kale2017-greedy", d=5, k=2, k0=2, seed=0, tuning="theory", batch=4.0)
    rng, batch = np.random.default_rng(1), None
    for _ in range(200):
        x, y = rng.uniform(-1, 1, 5), rng.normal()
        r = learner.ask()
        if r.memo[0] != batch:
            batch, A, b = r.memo[0], np.eye(2), np.zeros(2)
        v = x[r.attributes]
        assert learner.predict(r, v) == pytest.approx(v @ np.linalg.solve(A + np.outer(v, v), b), abs=1e-12)
        learner.tell(r, v, y, r.extra, x[r.extra])
        A += np.outer(v, v)
        b += y * v
    assert 5 < learner.batch < 60


def test_pooled_moments_are_those_of_the_rounds_that_saw_a_pair():
    pooled, B = PairSums(4), np.array([0, 2])
    X, y = RNG.uniform(-1, 1, (500, 2)), RNG.normal(size=500)
    for x, label in zip(X, y, strict=True):
        pooled.add(B, x, label)
    pooled.add(np.array([1]), np.array([5.0]), 1.0)
    A, b = pooled.start(B)
    G = X.T @ X
    assert np.allclose(np.diagonal(A), np.diagonal(G), rtol=1e-9)
    assert A[0, 1] == pytest.approx(G[0, 1] * 500 / 505, rel=1e-9)
    assert np.allclose(b, X.T @ y, rtol=1e-9)
    unseen, nothing = pooled.start(np.array([1, 3]))
    assert not unseen.any()
    assert not nothing.any()


def test_a_start_is_positive_semidefinite_even_where_the_pairs_disagree():
    pooled = PairSums(3)
    for pair, sign in (((0, 1), 1.0), ((1, 2), 1.0), ((0, 2), -1.0)):
        for _ in range(50):
            pooled.add(np.array(pair), np.array([1.0, sign]), 0.0)
    assert np.linalg.eigvalsh(pooled.H / pooled.N).min() < -0.5
    assert np.linalg.eigvalsh(pooled.start(np.arange(3))[0]).min() > -1e-9


def test_the_default_finds_what_matters():
    X, y, w = kh.streams.synthetic(10, 3, 2000, seed=1)
    learner = kh.make("kale2017-greedy", d=10, k=3, k0=4, seed=1)
    assert kh.play(learner, X, y).regret(w)[-1] < 0.3 * (y**2 - (y - X @ w) ** 2).sum()


def test_without_extra_attributes_there_is_nothing_to_learn_from():
    with pytest.raises(kh.ConfigError, match="k0 >= 1"):
        kh.make("kale2017-greedy", d=8, k=3, k0=0, seed=0)
