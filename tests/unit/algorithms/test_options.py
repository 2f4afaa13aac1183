"""The options of the paper's learners, and what they say about themselves."""

import warnings

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation.dantzig.problem import no_solution


def played(name="ds-oslrc", d=10, k=3, T=900, **options):
    X, y, _ = kh.streams.synthetic(d, k, T, seed=0)
    learner = kh.make(name, d=d, k=k, seed=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kh.KeyholeWarning)
        history = kh.play(learner, X, y)
    return learner, history


def next_exploration(learner):
    while (r := learner.ask()).kind != "explore":
        pass
    return r


def test_uniform_sampling_forgets_the_estimate():
    learner, _ = played(T=2000, explore="t^(-1/3)", sampling="uniform")
    assert learner.estimate.w_hat.any()
    r = next_exploration(learner)
    assert set(r.memo[2:]) == {1 / 10}


def test_paper_sampling_follows_the_estimate():
    learner, _ = played(T=2000, explore="t^(-1/3)")
    assert learner.estimate.w_hat.any()
    r = next_exploration(learner)
    w = np.abs(learner.estimate.w_hat)
    assert np.allclose(r.memo[2:], w[r.attributes] / w.sum(), rtol=1e-12, atol=0)


def test_a_partial_reset_keeps_what_stays():
    learner = kh.make("ds-oslrc", d=10, k=3, seed=0, reset="partial")
    exploiter = learner.exploiter
    exploiter.follow(np.array([1, 4, 7]), np.full(10, 0.1))
    rng = np.random.default_rng(0)
    exploiter.run(rng.uniform(-1, 1, (50, 3)), rng.normal(size=50))
    before, A_inv = exploiter.weights(10), exploiter.core.A_inv.copy()
    exploiter.follow(np.array([2, 4, 7]), np.full(10, 0.3))
    assert exploiter.weights(10)[[4, 7]].tolist() == before[[4, 7]].tolist()
    assert exploiter.weights(10)[[1, 2]].tolist() == [0.0, 0.3]
    assert np.array_equal(exploiter.core.A_inv[1:, 1:], A_inv[1:, 1:])


def test_a_reset_by_the_paper_keeps_nothing():
    learner = kh.make("ds-oslrc", d=10, k=3, seed=0)
    exploiter = learner.exploiter
    exploiter.follow(np.array([1, 4, 7]), np.full(10, 0.1))
    exploiter.run(np.ones((5, 3)), np.ones(5))
    exploiter.follow(np.array([2, 4, 7]), np.full(10, 0.3))
    assert exploiter.core.w.tolist() == [0.3] * 3
    assert np.array_equal(exploiter.core.A_inv, np.eye(3) / 3)


@pytest.mark.parametrize(
    ("solve", "expected"),
    [
        ("every", list(range(1, 41))),
        ("powers", [1, 2, 4, 8, 16, 32]),
        (10, [1, 10, 20, 30, 40]),
        ("10", [1, 10, 20, 30, 40]),
    ],
)
def test_ds_poslrc_solves_when_it_should(solve, expected):
    X, y, _ = kh.streams.synthetic(10, 3, 40, seed=0)
    learner = kh.make("ds-poslrc", d=10, k=3, k0=3, seed=0, solve=solve)
    at, count = [], 0
    for s, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        kh.play(learner, x[None, :], np.array([label]))
        if learner.estimate.solved > count:
            at.append(s)
        count = learner.estimate.solved
    assert at == expected


def test_ds_poslrc_with_newton_predicts_with_the_newton_weights():
    learner, history = played("ds-poslrc", k0=4, T=300, exploit="newton", solve="powers")
    assert np.array_equal(learner.weights, learner.newton.weights(10))
    assert np.abs(history.predictions).max() <= 1
    plain, _ = played("ds-poslrc", k0=4, T=300, solve="powers")
    assert np.array_equal(plain.weights[plain.support], plain.estimate.w_hat[plain.support])
    assert not np.array_equal(plain.weights, learner.weights)


def test_a_learner_that_stayed_at_zero_says_so_once():
    X, y, _ = kh.streams.synthetic(10, 3, 2000, seed=0)
    learner = kh.make("ds-oslrc", d=10, k=3, seed=0, tuning="theory")
    with pytest.warns(kh.KeyholeWarning, match=r"zero in all 30 explorations \(gamma \d.* >= gamma_max 0\.") as caught:
        kh.play(learner, np.vstack([X, X]), np.concatenate([y, y]))
    assert len(caught) == 1
    assert learner.estimate.silent
    assert learner.identified == 0


def test_a_short_stream_says_so_at_its_end():
    X, y, _ = kh.streams.synthetic(10, 3, 50, seed=0)
    learner = kh.make("ds-oslrc", d=10, k=3, seed=0, tuning="theory")
    with pytest.warns(kh.KeyholeWarning, match="all 7 explorations"):
        kh.play(learner, X, y)


def test_a_learner_that_found_something_says_nothing():
    X, y, _ = kh.streams.synthetic(8, 3, 3000, sigma=0.01, seed=0)
    learner = kh.make("ds-oslrc", d=8, k=3, seed=0, explore="t^(-1/3)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kh.play(learner, X, y)
    assert not learner.estimate.silent
    assert learner.identified > 0


@pytest.mark.parametrize("status", ["infeasible", "failed"])
def test_a_solve_without_solution_keeps_the_last_estimate(monkeypatch, status):
    learner, _ = played(T=900, explore="t^(-1/3)")
    w, S = learner.estimate.w_hat.copy(), learner.support.copy()
    assert w.any()
    monkeypatch.setattr(learner.estimate.seq, "solve", lambda gamma, reached=None: no_solution(10, status, "test"))
    with pytest.warns(kh.KeyholeWarning, match=f"is {status}; the last estimate is kept"):
        learner.estimate.solve()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.estimate.solve()
    assert learner.estimate.failures == 2
    assert np.array_equal(learner.estimate.w_hat, w)
    assert np.array_equal(learner.support, S)


def test_the_first_support_is_not_the_first_columns():
    supports = {tuple(kh.make("ds-oslrc", d=30, k=4, seed=s).support.tolist()) for s in range(5)}
    assert len(supports) == 5
    assert (0, 1, 2, 3) not in supports


def test_exploring_at_a_rate_explores_at_that_rate():
    _, history = played(T=2000, explore="2 t^(-1/3)")
    assert abs(history.explored.sum() - 3 * 2000 ** (2 / 3)) <= 1
    _, squares = played(T=2000)
    assert np.flatnonzero(squares.explored).tolist() == [s * s - 1 for s in range(1, 45)]
