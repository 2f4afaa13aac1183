"""The sums are exact: fits and scores equal those computed afresh with numpy."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.counts import recount
from keyhole.algorithms.thrifty.fit import build, solve
from keyhole.algorithms.thrifty.score import regress
from keyhole.algorithms.thrifty.sums import weigh_again
from tests.compiled import entry


@entry
def solve_again(state):
    solve(state.fit, state.now.m, state.attr, state.now)


@entry
def build_trial(state, m, guess):
    build(state, m, guess)


@entry
def score_one(state, j, s, u):
    recount(state)
    weigh_again(state)
    return regress(state.attr[j], state.pair[j], state.fit, state.now, s, u)


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
    """In the units they are kept in, the labels without the level (test_level.py), which hardly moved."""
    attr, now = learner.memory.attr, learner.memory.state.now
    labels = learner.memory.row["y"][: y.size]
    assert labels == pytest.approx((y - now.y_ref) / now.y_unit, abs=0.3)
    return (X - attr["ref"]) / attr["unit"], labels


def test_weights_are_the_ridge_solution_on_all_rows():
    learner, X, y = played()
    solve_again(learner.memory.state)
    Z, u = scaled(learner, X, y)
    M = learner.memory.members
    expected = ridge(Z[:, M], u, Z[:, M].mean(0), Z[:, M].var(0), u.mean())
    assert learner.memory.state.fit.member["w"][: M.size] == pytest.approx(expected, rel=1e-8)


def test_a_rebuilt_gram_equals_the_running_one():
    learner, _, _ = played()
    state, m = learner.memory.state, learner.memory.members.size
    solve_again(state)
    fit, trial = state.fit, state.trial
    trial.member["j"] = fit.member["j"]
    build_trial(state, m, fit.member["w"].copy())
    assert np.allclose(trial.gram[: m + 2, : m + 2], fit.gram[: m + 2, : m + 2], rtol=1e-9, atol=1e-9)
    assert np.allclose(trial.member["w"][:m], fit.member["w"][:m], rtol=1e-8)
    assert (state.attr["mark"] == -1).all()


def test_a_candidate_seen_with_the_whole_support_is_scored_exactly():
    learner, X, y = played()
    state, M = learner.memory.state, learner.memory.members
    solve_again(state)
    Z, u = scaled(learner, X, y)
    member = state.fit.member[: M.size]
    e = u - state.fit.label.y_bar - (Z[:, M] - member["x_bar"]) @ member["w"]
    outside = set(range(6)) - set(M.tolist())
    assert outside
    for j in outside:
        beta = np.zeros(M.size)
        score_one(state, j, 8.0, beta)
        own = Z[:, j] - Z[:, j].mean() - (Z[:, M] - member["x_bar"]) @ beta
        assert state.attr[j].r == pytest.approx((own * e).mean(), rel=1e-8, abs=1e-12)
        assert state.attr[j].se == pytest.approx(np.sqrt(state.attr[j].c * state.now.s2 / y.size), rel=1e-12)


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
    state = learner.memory.state
    assert state.fit.member[state.attr[2].place].imputed > 100.0


def em(learner, M, guess, steps=3):
    """The weights of `build`, row by row: complete rows first, then `steps` times with each missing value filled in."""
    state = learner.memory.state
    m, n, s2, attr = len(M), int(state.now.told), state.now.s2, state.attr[M]
    shown = [{int(j): x for j, x in row.tolist() if j >= 0} for row in state.shown[:n]]
    prior = attr["raw_x"] / attr["raw_n"]
    variance = attr["raw_xx"] / attr["raw_n"] - prior**2

    def fit(rows, weights, imputed, cond):
        V = np.array([*rows, *[[*prior, 1.0, state.now.y_mean]] * 5])
        f = np.append(weights, np.ones(5))
        mean = f @ V / f.sum()
        A = ((V - mean).T * f) @ (V - mean)
        A[:m, :m] += 5.0 * np.diag(variance)
        P = np.linalg.inv((A[:m, :m] + np.diag(imputed * cond)) / f.sum())
        return np.linalg.solve(A[:m, :m], A[:m, -1]), mean, P

    whole = [
        [*(row[j] for j in M), 1.0, y] for row, y in zip(shown, state.row["y"][:n], strict=True) if set(M) <= set(row)
    ]
    w, mean, P = fit(whole, np.ones(len(whole)), np.zeros(m), np.zeros(m))
    for _ in range(steps):
        rows, weights, imputed, cond = list(whole), [1.0] * len(whole), np.zeros(m), 1.0 / np.diag(P)
        for row, y in zip(shown, state.row["y"][:n], strict=True):
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
    state, support = learner.memory.state, learner.memory.members.tolist()
    M = [*support[:3], *[j for j in range(8) if j not in support][:1]]
    state.trial.member["j"][: len(M)] = M
    guess = np.array([0.04, -0.03, 0.02, 0.05])
    expected = em(learner, M, guess)
    build_trial(state, len(M), guess)
    assert (state.trial.member["imputed"][: len(M)] > 1.0).sum() >= 2
    # 1e-9 is added to a unit diagonal
    assert state.trial.member["w"][: len(M)] == pytest.approx(expected, rel=1e-5)
