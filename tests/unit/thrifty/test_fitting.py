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


def em(learner, M, guess, steps=3):
    """The weights of `build`, row by row: complete rows first, then `steps` times with each missing value filled in."""
    b = learner.store.book()
    m, n, s2 = len(M), int(b.cnt[at.TOLD]), b.num[at.S2]
    shown = [{int(j): x for j, x in zip(w, v, strict=True) if j >= 0} for w, v in zip(b.who, b.what, strict=True)][:n]
    raw = b.at[M, at.RAW : at.RAW + 3]
    prior, variance = raw[:, 1] / raw[:, 0], raw[:, 2] / raw[:, 0] - (raw[:, 1] / raw[:, 0]) ** 2

    def fit(rows, weights, imputed, cond):
        V = np.array([*rows, *[[*prior, 1.0, b.num[at.MEAN]]] * 5])
        f = np.append(weights, np.ones(5))
        mean = f @ V / f.sum()
        A = ((V - mean).T * f) @ (V - mean)
        A[:m, :m] += 5.0 * np.diag(variance)
        P = np.linalg.inv((A[:m, :m] + np.diag(imputed * cond)) / f.sum())
        return np.linalg.solve(A[:m, :m], A[:m, -1]), mean, P

    whole = [[*(row[j] for j in M), 1.0, y] for row, y in zip(shown, b.mass[:n, 0], strict=True) if set(M) <= set(row)]
    w, mean, P = fit(whole, np.ones(len(whole)), np.zeros(m), np.zeros(m))
    for _ in range(steps):
        rows, weights, imputed, cond = list(whole), [1.0] * len(whole), np.zeros(m), 1.0 / np.diag(P)
        for row, y in zip(shown, b.mass[:n, 0], strict=True):
            lost = [a for a in range(m) if M[a] not in row]
            if len(lost) == 1:
                a, v = lost[0], np.array([row.get(j, 0.0) for j in M])
                rest = [e for e in range(m) if e != a]
                v[a] = mean[a] - P[a, rest] @ (v[rest] - mean[rest]) / P[a, a]
                rows.append([*v, 1.0, y])
                weights.append(s2 / (s2 + guess[a] ** 2 * cond[a]))
                imputed[a] += weights[-1]
        w, mean, P = fit(rows, np.array(weights), imputed, cond)
    return w


def test_filling_in_by_sums_equals_filling_in_row_by_row():
    X, y, _ = kh.streams.synthetic(8, 3, 300, seed=2, design="ar(0.5)")
    learner = kh.make("thrifty", d=8, k=4, seed=0)
    kh.play(learner, X, y)
    b = learner.store.book()
    M = [*learner.store.members[:3].tolist(), *[j for j in range(8) if j not in learner.store.members][:1]]
    b.M[at.TRIAL, : len(M)] = M
    guess = np.array([0.04, -0.03, 0.02, 0.05])
    expected = em(learner, M, guess)
    build_trial(b, len(M), guess)
    assert (b.vec[at.TRIAL, at.IMPUTED, : len(M)] > 1.0).sum() >= 2
    assert b.vec[at.TRIAL, at.W, : len(M)] == pytest.approx(expected, rel=1e-5)  # 1e-9 is added to a unit diagonal
