"""How the support changes: nobody takes all the moves of a refit."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.judging import score_all
from keyhole.algorithms.thrifty.select import _attempt, _evict, _more, _same, _surely
from tests.compiled import entry


@entry
def evicted(state, L):
    return _evict(state, L)


@entry
def attempted(state, j, L):
    return _attempt(state, j, L)


@entry
def scored(state, L):
    score_all(state, L, True)


def test_who_had_to_leave_does_not_come_back_at_the_same_refit():
    X, y, _ = kh.streams.synthetic(8, 3, 400, seed=1)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    kh.play(learner, X, y)
    state, before = learner.memory.state, set(learner.support.tolist())
    assert evicted(state, 1e9)  # the least significant, though it is right
    gone = (before - set(learner.support.tolist())).pop()
    L = float(learner.memory.given["L"][0])
    scored(state, L)
    assert state.attr[gone].gain == 0.0
    state.now.told += 1
    scored(state, L)
    assert state.attr[gone].gain > 0.0


@pytest.mark.parametrize("seed", [167, 5025])
def test_two_that_drive_each_other_out_do_not_keep_the_right_ones_waiting(seed):
    """Noise is ten times as large in 200 of every 2000 rows: after a burst a run stayed on one or two of four."""
    X, _, w = kh.streams.synthetic(20, 4, 20_000, seed=seed)
    noise = np.random.default_rng([seed, 9]).standard_normal(20_000)
    noise *= np.where(np.arange(20_000) % 2000 >= 1800, 1.0, 0.1)
    learner = kh.make("thrifty", d=20, k=4, seed=1000 + seed)
    losses = kh.play(learner, X[:8000], (X @ w + noise)[:8000]).losses
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    assert (losses - noise[:8000] ** 2)[4000:].sum() < 20.0
    assert learner.memory.now["moves"][0] < 500  # 32 000 where a fit of 16 rows swapped


def test_without_room_nobody_joins_who_explains_less_than_whoever_goes():
    """L = 0: everybody is significant, and what is explained decides alone."""
    X, y, w = kh.streams.synthetic(8, 3, 400, seed=1)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    kh.play(learner, X, y)
    right = learner.support.tolist()
    assert right == np.flatnonzero(w).tolist()
    for j in np.flatnonzero(w == 0.0):
        assert not attempted(learner.memory.state, j, 0.0)
    assert learner.support.tolist() == right


@entry
def sure(state, j, u, losses):
    return _surely(state, state.attr[j], u, losses)


@pytest.mark.parametrize(
    ("r", "se", "k", "budget_per_row", "surely"),
    [
        (0.04, 0.01, 2, np.inf, True),  # .03^2 / .04 against .265^2 / 25
        (-0.04, 0.01, 2, np.inf, False),  # then the member is worth more beside it
        (0.04, 0.025, 2, np.inf, False),
        (0.01, 0.025, 2, np.inf, False),  # less than a standard error: nothing
        (0.04, 0.01, 2, 7.0, False),
        (0.04, 0.01, 1, np.inf, False),
    ],
)
def test_what_a_copy_explains_beside_the_other_decides_where_a_standard_error_less_still_would(
    r, se, k, budget_per_row, surely
):
    learner = kh.make("thrifty", d=4, k=k, seed=0)
    state = learner.memory.state
    me, member = state.attr[1], state.fit.member
    state.now.m, state.given.spend, member["w"], state.fit.P[:] = 1, budget_per_row, 1.0, np.eye(k)
    me.r, me.se, me.c = r, se, 0.04
    assert sure(state, 1, np.full(2, 0.98), np.zeros(2)) == surely


def test_rows_that_show_both_outweigh_a_fit_of_the_one_without_the_other():
    """Column 0 is a copy, correlated .98, of column 1, which matters and was not there at first."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 4))
    X[:, 0] = 0.98 * X[:, 1] + (1.0 - 0.98**2) ** 0.5 * X[:, 0]
    y = X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=500)
    learner = kh.make("thrifty", d=4, k=2, k0=1, seed=0)
    for t in range(500):
        if t == 300:
            assert learner.support.tolist() == [0, 2]
            learner.memory.now["refit_at"] = 1000
        r = learner.ask(available=[True, t >= 300, True, True])
        extra = learner.ask_more(r)
        learner.tell(r, X[t][r.attributes], y[t], extra_attributes=extra, extra_values=X[t][extra])
    state, L = learner.memory.state, float(learner.memory.given["L"][0])
    state.now.doubt = 0.4 * (10.0 + np.log(500.0))  # of what an alarm takes
    scored(state, L)
    assert state.attr[1].gain == 0.0  # something may have changed
    state.now.doubt *= 0.5
    scored(state, L)
    assert state.attr[1].gain > 0.0
    state.fit.label.explained = 1e9  # whatever comes seems to explain less
    assert not attempted(state, 3, 0.0)
    assert attempted(state, 1, L)
    assert learner.support.tolist() == [1, 2]
    assert state.attr["left"][[0, 2]].tolist() == [500, 0]  # it does not come back now


@entry
def more(state, m, surely):
    return _more(state, m, surely)


@pytest.mark.parametrize(
    ("rows", "explained", "surely", "yes"),
    [
        (15.0, 0.6, False, True),
        (15.0, 0.4, False, False),
        (15.0, 0.4, True, True),
        (14.0, 0.6, True, False),  # of five rows for each member something is known
        (15.0, 1.1, True, False),  # more than there is
    ],
)
def test_a_fit_is_compared_once_its_rows_are_many_and_like_the_others(rows, explained, surely, yes):
    state = kh.make("thrifty", d=6, k=3, seed=0).memory.state
    state.now.g, state.now.y_var, state.fit.label.explained = 2.0, 1.0, 0.5
    state.trial.gram[3, 3], state.trial.label.explained = 2.0 * rows, explained
    assert more(state, 3, surely) == yes


@entry
def same(state, members):
    return _same(state, members)


def test_a_support_is_the_same_in_any_order():
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    X, y, _ = kh.streams.synthetic(8, 3, 400, seed=1)
    kh.play(learner, X, y)
    a, b, c = learner.support.tolist()
    other = next(j for j in range(8) if j not in (a, b, c))
    for members, yes in (([c, a, b], True), ([a, b], False), ([a, b, c, other], False), ([a, b, other], False)):
        assert same(learner.memory.state, np.array(members)) == yes


def test_what_was_claimed_before_is_claimed_no_more():
    X, y, _ = kh.streams.synthetic(8, 3, 400, seed=1)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    kh.play(learner, X, y)
    state = learner.memory.state
    state.attr["claims"], state.attr["odds"] = 1, 5.0
    scored(state, float(learner.memory.given["L"][0]))
    assert (state.attr["odds"] != 5.0).all()
    assert not state.attr["claims"][learner.support].any()
