"""The sums are exact: fits and scores equal those computed afresh with numpy."""

import numba
import numpy as np
import pytest

import keyhole as kh
from keyhole.thrifty import book as at
from keyhole.thrifty.fitting import build, solve
from keyhole.thrifty.scoring import regress, rescore


@numba.njit
def refit_now(b):
    solve(b, at.NOW, b.cnt[at.SIZE])


@numba.njit
def build_trial(b, m, guess):
    build(b, at.TRIAL, m, guess)


@numba.njit
def score_one(b, j, s, u):
    rescore(b)
    return regress(b, j, s, u)


def played(T=400, d=6, k=6):
    X, y, _ = kh.streams.synthetic(d, 3, T, seed=4, design="ar(0.5)")
    learner = kh.make("thrifty", d=d, k=k, seed=0)
    kh.play(learner, X, y)
    return learner, X, y


def ridge(Z, u, means, variances, u_mean):
    """Least squares with intercept and five pseudo-rows at the means, of the columns' own variances."""
    rows = np.vstack([Z, *[means] * 5])
    labels = np.append(u, [u_mean] * 5)
    A = (rows - rows.mean(0)).T @ (rows - rows.mean(0)) + 5.0 * np.diag(variances)
    return np.linalg.solve(A, (rows - rows.mean(0)).T @ (labels - labels.mean()))


def scaled(learner, X, y):
    row = learner.store.at
    Z = (X - row[:, at.REF]) / row[:, at.UNIT]
    return Z, (y - learner.store.num[at.YREF]) / learner.store.num[at.YUNIT]


def test_weights_are_the_ridge_solution_on_all_rows():
    learner, X, y = played()
    refit_now(learner.store.book())
    Z, u = scaled(learner, X, y)
    M = learner.store.members
    expected = ridge(Z[:, M], u, Z[:, M].mean(0), Z[:, M].var(0), u.mean())
    assert learner.store.vec[at.NOW, at.W, : M.size] == pytest.approx(expected, rel=1e-8)


def test_a_rebuilt_gram_equals_the_running_one():
    learner, _, _ = played()
    b, m = learner.store.book(), learner.store.members.size
    refit_now(b)
    b.M[at.TRIAL] = b.M[at.NOW]
    build_trial(b, m, b.vec[at.NOW, at.W].copy())
    assert np.allclose(b.gram[at.TRIAL], b.gram[at.NOW], rtol=1e-9, atol=1e-9)
    assert np.allclose(b.vec[at.TRIAL, at.W], b.vec[at.NOW, at.W], rtol=1e-8)
    assert (b.idx[at.MARK] == -1).all()


def test_a_candidate_seen_with_the_whole_support_is_scored_exactly():
    learner, X, y = played()
    b, M = learner.store.book(), learner.store.members
    refit_now(b)
    Z, u = scaled(learner, X, y)
    w = b.vec[at.NOW, at.W, : M.size]
    for j in set(range(6)) - set(M.tolist()):
        score_one(b, j, 8.0, np.zeros(max(M.size, 1)))
        covariance = ((Z[:, j] - Z[:, j].mean()) * (u - (Z[:, M] @ w))).mean()
        assert b.at[j, at.R] == pytest.approx(covariance, rel=1e-8, abs=1e-12)


def test_rows_that_lack_a_newcomer_still_count_for_the_others():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (600, 3))
    y = X @ [1.0, -1.0, 0.5] + 0.01 * rng.standard_normal(600)
    learner = kh.make("thrifty", d=3, k=3, seed=0)
    for t in range(600):
        r = learner.ask(available=[True, True, t % 20 == 0])
        learner.tell(r, X[t][r.attributes], y[t])
    # 570 rows with noise 0.5^2 / 3 at half weight: a standard error of 0.02; 30 rows and 3 at zero for the newcomer
    assert np.allclose(learner.weights, [1.0, -1.0, 0.5 * 30 / 33], atol=0.08)
    place = learner.store.idx[at.PLACE, 2]
    assert learner.store.vec[at.NOW, at.IMPUTED, place] > 100.0
