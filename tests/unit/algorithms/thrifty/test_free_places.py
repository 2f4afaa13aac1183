"""Who gets a free place: the most likely to be worth one where columns are unlike, else the most promising."""

import numpy as np
import pytest
from scipy.stats import norm

import keyhole as kh
from keyhole.algorithms.thrifty.acquire import choose
from keyhole.algorithms.thrifty.free_places import expected_size, likelihood_ratio, optimism, rarely, value
from tests.compiled import entry


@entry
def error_cost(state, j, size, prior):
    me, now = state.attr[j], state.now
    now.expects = size
    if size > 0.0 and me.se > 0.0:
        me.ratio = likelihood_ratio(me.r, me.se, me.c, size)
    return value(me, now, optimism(3.0, 100.0), prior, rarely(state))


@entry
def b_of(rivals, rows):
    return optimism(rivals, rows)


@entry
def expected(state, s):
    return expected_size(state, s)


@entry
def chosen(state, pool, out):
    return choose(state, pool, out)


def looked_at(r, se=0.1, c=0.25, rows=20, d=8, k=2):
    """Candidate 0, seen in some rows; the others never."""
    state = kh.make("thrifty", d=d, k=k, seed=0).memory.state
    me = state.attr[0]
    me.unit, me.asked, me.observed, me.rows, me.fresh = 1.0, rows, rows, rows, rows
    me.r, me.se, me.c, state.now.s2, state.now.n, state.now.y_var = r, se, c, 0.5, 100.0, 0.6
    return state


@pytest.mark.parametrize("r", [0.0, 0.05, -0.15, 0.4])
@pytest.mark.parametrize("size", [0.01, 0.3])
def test_odds_are_the_likelihood_of_z_where_it_explains_so_much_over_that_where_it_explains_nothing(r, size):
    state, prior = looked_at(r), 0.25
    z, mu = r / 0.1, np.sqrt(size * 0.25) / 0.1
    odds = prior * 0.5 * (norm.pdf(z - mu) + norm.pdf(z + mu)) / norm.pdf(z)
    assert error_cost(state, 0, size, prior) == pytest.approx(odds / (1.0 + odds), rel=1e-12)
    assert error_cost(state, 1, size, prior) == pytest.approx(0.2, rel=1e-12)  # never seen: the prior
    assert (error_cost(state, 0, size, prior) > error_cost(state, 1, size, prior)) == (odds > prior)


def test_where_columns_are_alike_the_upper_end_counts_and_whoever_was_never_seen_comes_first():
    state, b = looked_at(-0.15), b_of(3.0, 100.0)
    assert b**2 == pytest.approx(np.log(3.0 * np.sqrt(101.0)) / 2.0, rel=1e-12)
    assert error_cost(state, 0, 0.0, 0.25) == pytest.approx((0.15 + b * 0.1) ** 2 / 0.25, rel=1e-12)
    assert error_cost(state, 1, 0.0, 0.25) > 1e50


@pytest.mark.parametrize("size", [0.0, 0.3])
def test_what_is_often_unobserved_is_worth_less(size):
    state = looked_at(0.2)
    before = error_cost(state, 0, size, 0.25)
    state.attr[0].observed = 9
    assert error_cost(state, 0, size, 0.25) == pytest.approx(before * 10.0 / 21.0, rel=1e-12)


@pytest.mark.parametrize("asked", [2, 8, 80])
def test_what_shows_one_value_is_worth_less_the_longer_it_takes_to_show_another(asked):
    """Of one that varies 0.5 / 0.3 looks tell; where columns are alike, it counts as what is worth nothing does."""
    state, b = looked_at(0.0), b_of(3.0, 100.0)
    me = state.attr[0]
    me.asked = me.observed = me.rows = asked
    me.unit = me.c = 0.0
    odds = 0.25 / (1.0 + asked * 0.3 / 0.5)
    assert error_cost(state, 0, 0.3, 0.25) == pytest.approx(odds / (1.0 + odds), rel=1e-12)
    by_chance = 2.0 * (norm.pdf(0.0))  # E |z| of a standard normal z
    assert error_cost(state, 0, 0.0, 0.25) == pytest.approx((b + by_chance) ** 2 * 0.5 / (asked + 0.1), rel=1e-12)


@pytest.mark.parametrize(("varied", "rare"), [([], 1.0), ([2], 1 / 3), ([3], 1.0), ([2, 2], 0.2), ([2, 9], 0.6)])
@pytest.mark.parametrize("size", [0.0, 0.3])
def test_what_shows_one_value_is_as_likely_as_members_were_slow_to_vary(varied, rare, size):
    state = looked_at(0.0)
    me = state.attr[0]
    me.unit = me.c = 0.0
    before = error_cost(state, 0, size, 0.25)
    state.now.m, state.fit.member["j"] = len(varied), [1, 2]
    state.attr["varied"][1 : 1 + len(varied)] = varied
    odds = rare * before / (1.0 - before)
    after = odds / (1.0 + odds) if size else rare * before
    assert error_cost(state, 0, size, 0.25) == pytest.approx(after, rel=1e-12)
    me.asked = me.observed = me.rows = 1  # a single value cannot vary
    single = error_cost(state, 0, size, 0.25)
    state.now.m = 0
    assert error_cost(state, 0, size, 0.25) == single


def test_one_that_varies_is_looked_at_until_it_says_something():
    state = looked_at(0.0)
    state.attr[0].rows = 2  # another value, but no z yet
    assert error_cost(state, 0, 0.3, 0.25) > error_cost(state, 1, 0.3, 0.25)
    assert error_cost(state, 0, 0.0, 0.25) == pytest.approx(b_of(3.0, 100.0) ** 2 * 0.5 / 20.1, rel=1e-12)
    state.attr[0].asked, state.attr[0].rows, state.attr[0].unit = 1, 1, 0.0  # a single value cannot vary
    assert error_cost(state, 0, 0.3, 0.25) > error_cost(state, 1, 0.3, 0.25)


def test_the_odds_of_whoever_was_bought_are_those_of_its_latest_row():
    X, y, _ = kh.streams.synthetic(30, 3, 60, seed=3)
    learner = kh.make("thrifty", d=30, k=3, seed=0)
    checked = 0
    for t in range(12, 60):
        r = learner.ask()
        learner.tell(r, X[t, r.attributes], y[t])
        state = learner.memory.state
        for me in state.attr[r.attributes]:
            if state.now.expects > 0.0 and me.place < 0 and me.rows >= 3:
                z, mu = abs(me.r) / me.se, min(np.sqrt(state.now.expects * me.c) / me.se, 25.0)
                assert me.ratio == pytest.approx(np.cosh(mu * z) * np.exp(-(mu**2) / 2.0), rel=1e-9)
                checked += 1
    assert checked > 10


def test_a_size_is_expected_of_the_members_mean_and_of_the_labels_share_before_there_are_any():
    state = looked_at(0.0)
    assert expected(state, 8.0) == pytest.approx(0.3)
    state.now.m = 2
    state.fit.member["w"], state.fit.member["sd"] = [0.5, -0.1], [1.0, 2.0]
    assert expected(state, 1000.0) == pytest.approx((0.25 + 0.04) / 2.0)
    assert expected(state, 14.0) == 0.0  # correlations of 0.27: columns are alike


@pytest.mark.parametrize(("r", "first"), [(0.3, True), (0.0, False)])
def test_a_promising_one_is_bought_again_before_another_is_begun_and_a_disappointing_one_is_not(r, first):
    state, out = looked_at(r), np.zeros(4, np.int64)
    error_cost(state, 0, 0.3, 0.25)
    n, _, _ = chosen(state, np.ones(8, np.bool_), out)
    assert n == 2
    assert (0 in out[:n]) == first


@pytest.mark.parametrize(("ratio", "alone"), [(2.5, False), (3.0, True)])
def test_where_money_is_short_probabilities_are_weighed_against_prices(ratio, alone):
    """One for 2 whose odds are so many times a quarter, against two for 1 each that are worth a place with 1 in 5."""
    learner = kh.make("thrifty", d=8, k=2, seed=0, prices=[2.0] + [1.0] * 7, budget_per_row=2.0)
    state, mu = learner.memory.state, np.sqrt(0.3 * 0.25) / 0.1
    me = state.attr[0]
    me.unit, me.asked, me.observed, me.rows, me.fresh, me.se, me.c = 1.0, 20, 20, 20, 20, 0.1, 0.25
    me.r, state.now.n, state.now.y_var = 0.1 * np.arccosh(ratio * np.exp(mu**2 / 2.0)) / mu, 100.0, 0.6
    out = np.zeros(4, np.int64)
    error_cost(state, 0, 0.3, 0.25)
    n, _, _ = chosen(state, np.ones(8, np.bool_), out)
    assert (out[:n].tolist() == [0]) == alone


def test_with_many_unlike_columns_what_matters_is_found_after_few_looks_at_the_others():
    """Looked for in the breadth, the first of 300 took more than 12 looks at each."""
    rows = []
    for seed in range(5):
        X, y, w = kh.streams.synthetic(300, 3, 3000, 0.1, "uniform", seed)
        learner, t = kh.make("thrifty", d=300, k=3, seed=seed), 0
        while not set(np.flatnonzero(w)) & set(learner.support.tolist()):
            kh.play(learner, X[t : t + 20], y[t : t + 20])
            t += 20
        rows.append(t)
    assert np.median(rows) < 600  # six looks at each
