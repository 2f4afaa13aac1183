"""Who lends: a cheap member, and not the one whose stand-in or whose double the borrower may be."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.explore import _entry, _odds, _stand_in, appraise, lender, line_up
from tests.compiled import entry


@entry
def appraised(state, j, v, u, slab, need):
    me = state.attr[j]
    cost, me.displaced = lender(me, state.pair[j], state.fit.member, state.now, u, 8.0, True)
    appraise(state, j, v, u, slab, need, cost)


@entry
def lined_up(state):
    line_up(state)


def known(w):
    """Members 0, 1, 2 of unit variance with weights w, and candidate 3, known from 100 rows that show all of them."""
    state = kh.make("thrifty", d=6, k=3, seed=0).memory.state
    member, me = state.fit.member, state.attr[3]
    member["j"], state.now.m, state.attr["place"][:3] = [0, 1, 2], 3, [0, 1, 2]
    member["w"], member["sd"], member["cond"] = w, 1.0, 1.0
    state.fit.P[:] = np.eye(3)
    state.now.s2, state.now.n = 0.1, 1000.0
    me.n, me.h, me.rows, me.observed, me.asked = 100.0, 100.0, 100, 100, 100
    me.c, me.se = 0.4, 0.02
    state.pair["n"][3] = 100.0
    return state


def lends(state, u, need=-1.0):
    appraised(state, 3, 1.0, np.array(u), 0.3, need)
    return int(state.attr[3].displaced)


def test_the_cheapest_member_lends_to_a_borrower_that_is_like_none():
    assert lends(known([0.5, 0.3, 0.4]), [0.0, 0.0, 0.0]) == 1


def test_the_member_that_the_borrower_is_like_does_not_lend():
    assert lends(known([0.5, 0.3, 0.35]), [0.0, 0.8, 0.0]) == 2


def test_a_member_never_seen_with_the_borrower_does_not_lend():
    state = known([0.5, 0.3, 0.35])
    state.pair[3, 1].n = 0.0
    assert lends(state, [0.0, 0.0, 0.0]) == 2


def test_a_possible_stand_in_is_worth_a_loan_until_evidence_is_against_it():
    state = known([0.5, 0.3, 0.4])
    u = 0.8
    state.attr[3].r = 0.4 * 0.3 / u  # just what is left for 3 if 1 stands in for it
    lends(state, [0.0, u, 0.0])
    assert state.attr[3].loan_value > 0.0
    state.attr[3].r = 0.0  # 7 standard errors from that
    lends(state, [0.0, u, 0.0])
    assert state.attr[3].loan_value < 0.0


def test_what_shows_one_value_is_worth_a_loan_for_a_fifth_as_long():
    state, error_cost = known([0.5, 0.3, 0.4]), []
    me = state.attr[3]
    me.rows, me.asked = 0, 20
    for observed in (5, 6):
        me.observed = observed
        appraised(state, 3, 0.0, np.zeros(3), 0.3, -1.0)
        error_cost.append((me.loan_value + 1.0) / (observed + 1.0))
    assert error_cost[0] == pytest.approx(5.0 * error_cost[1], rel=1e-12)


@entry
def knowing(need, r, sd, c):
    return _entry(need, r, sd, c)


@pytest.mark.parametrize(("need", "r"), [(0.05, 0.0), (0.05, 0.14), (0.05, -0.2), (0.2, 0.3)])
def test_where_money_is_short_knowing_is_worth_what_better_decisions_bring(need, r):
    sd, c = 0.01, 0.4  # so small that the gain, (x^2 / c - need)_+, is linear where it matters
    x = r + sd * np.random.default_rng(0).standard_normal(400_000)
    net = x * x / c - need
    better = np.maximum(net, 0.0).mean() - max(net.mean(), 0.0)
    assert knowing(need, r, sd, c) == pytest.approx(better, rel=0.05, abs=1e-6)


def test_a_source_that_could_not_earn_its_price_gets_no_loan():
    state = known([0.5, 0.3, 0.4])
    state.now.n, state.attr[3].r = 100_000.0, 0.1
    lends(state, [0.0, 0.0, 0.0], need=0.03)
    assert state.attr[3].loan_value > 0.0
    lends(state, [0.0, 0.0, 0.0], need=0.3)
    assert state.attr[3].loan_value < 0.0


@entry
def stand_in(r, se):
    return _stand_in(0.3, 1.0, r, se, 0.4, 0.5, 1.0, 0.36)


@entry
def stood_in(r, se, c, u):
    return _stand_in(0.3, 1.0, r, se, c, u, 1.0, 0.3)[1]


def test_what_r_cannot_tell_is_left_to_the_size_of_the_weights():
    w_j, c = 0.3 / 0.5, 0.4
    even = c * w_j / 2.0  # r is as far from the one story as from the other; the prior is for the member
    for se in (0.5 * c * w_j, c * w_j, 2.0 * c * w_j, 1e3):
        assert stand_in(even, se) == pytest.approx((c * w_j**2, np.exp(-0.5 * (0.36 - 0.09) / 0.36)))


def test_a_story_that_the_evidence_refutes_has_no_odds():
    odds = [stand_in(0.0, se)[1] for se in (0.2, 0.1, 0.05, 0.02)]
    assert odds == sorted(odds, reverse=True)
    assert odds[-1] == pytest.approx(0.0, abs=1e-12)


def claiming(c=0.4, u=0.8, s2=0.1):
    """Candidate 3 where member 1, of weight .3, may stand in for it: r is just what is left for it then."""
    state = known([0.5, 0.3, 0.4])
    me = state.attr[3]
    me.c, me.se, me.r, state.now.s2 = c, 0.2, c * 0.3 / u, s2
    lends(state, [0.0, u, 0.0])
    return me, c * (0.3 / u) ** 2


def test_a_loan_is_worth_what_may_be_explained_over_the_looks_that_tell_for_good():
    me, explained = claiming()
    cost = 0.4**2  # of member 2: it is cheap, and unlike the borrower
    looks = 32.0 * (0.1 + cost) / explained
    assert (int(me.claims), int(me.displaced)) == (2, 2)
    assert me.odds == pytest.approx(stood_in(me.r, me.se, me.c, 0.8))
    assert me.loan_value + 1.0 == pytest.approx(2.0 * 1000.0 * explained * me.odds / (cost * looks), rel=1e-9)


def test_nobody_is_thought_to_explain_more_than_is_unexplained():
    me, explained = claiming(s2=0.04)
    assert explained > 0.04
    assert (int(me.claims), float(me.odds)) == (0, 0.0)


def test_those_whose_stand_in_one_member_may_be_share_what_a_loan_is_worth():
    state = kh.make("thrifty", d=6, k=3, seed=0).memory.state
    attr, now = state.attr, state.now
    now.n, now.told, now.m, attr["place"], attr["loan_value"] = 1000.0, 1000, 3, -1, -1.0
    attr["place"][:3], attr["loan_value"][3:], attr["claims"][3:] = [0, 1, 2], [0.9, 1.5, 0.2], [2, 2, 0]
    attr["odds"][3:5] = [0.7, 0.4]
    lined_up(state)
    assert state.queue[: now.queued].tolist() == [5, 4]  # 3 and 4 claim the same: 1.9 / 2.1 < 1 < 2.5 / 2.1 < 1.2
    attr["odds"][3] = 0.0  # then the member or 4 is right
    lined_up(state)
    assert state.queue[: now.queued].tolist() == [4, 3, 5]  # 2.5 / 1.4, 1.9 / 1.4, 1.2


@pytest.mark.parametrize(("told", "n", "rows"), [(200_000, 5.0, 4), (200_000, 50.0, 20), (600, 50.0, 3), (100, 5.0, 1)])
def test_loans_are_reconsidered_when_each_borrower_has_had_a_tenth_more_looks(told, n, rows):
    state = kh.make("thrifty", d=6, k=3, seed=0).memory.state
    attr, now = state.attr, state.now
    now.n, now.told, now.score_at, now.m, attr["place"], attr["n"] = told, told, 2 * told, 3, -1, 90.0
    attr["place"][:3], attr["loan_value"][3:], attr["claims"][3:], attr["n"][4] = [0, 1, 2], [0.9, 1.5, -0.2], 0, n
    lined_up(state)
    assert now.queued == min(2, rows)  # as many as have a turn until then
    assert now.refit_at == told + rows  # every second row is lent, to one of two; 0.5 % more rows at most


def test_lending_ends_once_it_is_decided_who_belongs_to_the_support():
    X, y, w = kh.streams.synthetic(20, 4, 60_000, sigma=0.3, seed=5)
    learner = kh.make("thrifty", d=20, k=4, seed=0)
    explored = kh.play(learner, X, y).explored
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert explored[20_000:].mean() < 0.007  # 0.0148 where loans lasted for 0.5 % more rows, 0.0037 now


def test_what_is_known_for_sure_is_not_worth_a_loan_on_either_side():
    state = known([0.5, 0.3, 0.4])
    for r in (0.0, 0.39):  # far worse, far better than the member it would replace
        state.attr[3].r, state.attr[3].se = r, 1e-3
        lends(state, [0.0, 0.0, 0.0])
        assert state.attr[3].loan_value < 0.0


def test_a_single_place_never_shows_two_attributes_and_settles_all_the_same():
    X, y, w = kh.streams.synthetic(20, 1, 6000, seed=3)
    learner = kh.make("thrifty", d=20, k=1, seed=0)
    history = kh.play(learner, X, y)
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert history.explored[3000:].mean() < 0.01


@entry
def prior_odds(now, d, k):
    return _odds(now, d, k)


def test_what_fades_makes_a_candidate_no_more_likely():
    now = kh.make("thrifty", d=20, k=4, seed=0).memory.state.now
    now.n, now.told = 1000.0, 1000
    assert prior_odds(now, 20, 4) == pytest.approx(4.0 / 16.0)  # nothing is forgotten
    now.told = 10_000
    assert prior_odds(now, 20, 4) == pytest.approx(4.0 / 16.0 * 0.01 / (0.01 + 4.0 * 0.99))
    now.epoch = 9_500  # there was an alarm since
    assert prior_odds(now, 20, 4) == pytest.approx(4.0 / 16.0)


def test_who_became_idle_does_not_borrow():
    X, y, _ = kh.streams.synthetic(8, 3, 400, seed=1)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    kh.play(learner, X, y)
    memory = learner.memory
    j = int(np.flatnonzero(memory.attr["place"] < 0)[0])
    for idle, borrows in ((0, True), (2, False)):
        memory.queue[0], memory.now["queued"], memory.now["turn"], memory.now["loans"] = j, 1, 0, 1.0
        memory.attr["idle"][j] = idle
        r = learner.ask()
        assert (j in r.attributes) == borrows
        learner.abandon(r)


def test_only_those_wait_whose_turn_comes_before_the_next_refit():
    state = kh.make("thrifty", d=40, k=3, seed=0).memory.state
    attr, now = state.attr, state.now
    now.n, now.told, now.score_at, now.m, attr["place"], attr["n"] = 2000.0, 2000, 9000, 3, -1, 90.0
    attr["place"][:3], attr["loan_value"][3:], attr["claims"] = [0, 1, 2], np.arange(1.0, 38.0), 0
    attr["idle"][38] = 2  # nothing is to be known of it
    lined_up(state)
    assert state.queue[: now.queued].tolist() == [39, 37, 36, 35, 34, 33]  # one in two of ten rows, and one
    assert now.refit_at == 2010
