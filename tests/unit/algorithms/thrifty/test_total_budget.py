"""A total is spent on the attributes that reduce error most, more of it early, and all of it where spending helps."""

import numpy as np
import pytest

import keyhole as kh

T, D, TOTAL = 4000, 30, 10_000.0


def played(X, y, seed, prices=(1.0,) * D, **options):
    learner = kh.make("thrifty", d=D, seed=seed, prices=list(prices), total_budget=TOTAL, expected_rows=T, **options)
    return learner, kh.play(learner, X, y)


@pytest.mark.parametrize("seed", range(3))
def test_more_is_spent_early_and_nearly_all_in_the_end(seed):
    X, y, w = kh.streams.synthetic(D, 5, T, seed=seed)
    learner, history = played(X, y, seed)
    pace = TOTAL / T
    assert history.price[: T // 10].mean() > 1.2 * pace  # to find out what helps
    assert 0.97 * TOTAL <= learner.spent <= TOTAL
    late = history.bought[w != 0].sum() / history.bought.sum()
    assert late > 0.6
    rows = slice(3 * T // 4, T)
    assert history.price[rows].mean() > 0.8 * pace


def test_money_goes_to_the_attributes_that_reduce_error_most_for_their_price():
    """Of two equally strong attributes one costs four times as much; the money pays for one of them in each row."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, D))
    y = X[:, 3] + X[:, 8] + 0.1 * rng.standard_normal(T)
    prices = np.ones(D)
    prices[3] = 4.0
    _, history = played(X, y, 0, prices)
    assert history.bought[8] > 0.9 * T
    assert history.bought[3] < 0.5 * T


def test_money_stays_where_nothing_helps():
    rng = np.random.default_rng(1)
    learner, history = played(rng.uniform(-1, 1, (T, D)), rng.standard_normal(T), 1)
    assert learner.spent < 0.7 * TOTAL
    assert history.price[-T // 4 :].mean() < history.price[: T // 4].mean()


def test_looks_are_paid_from_what_twenty_rows_may_spend():
    """Members and looks have an income of one pace each, and 20 rows' pace for looks is there at the start."""
    rows, sources, per_row = 400, 200, 4.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((rows, sources))
        y = X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(rows)
        limits = {"total_budget": per_row * rows, "expected_rows": rows}
        learner = kh.make("thrifty", d=sources, seed=seed, prices=[1.0] * sources, **limits)
        spent = np.cumsum(kh.play(learner, X, y).price)[:100]
        assert (spent <= 1.05 * per_row * (20.0 + 2.0 * np.arange(1, 101))).all()  # the pace rises by what is saved
        assert spent[5] > 0.8 * 20.0 * per_row
