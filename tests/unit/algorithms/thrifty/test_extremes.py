"""Extreme values: drawn in at first, then as they predict best; one absurd cell changes nothing."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.extremes import farthest, judge_extremes, sized, winsorised
from tests.compiled import entry


@entry
def drawn(state, j, x):
    return winsorised(state.attr[j], x), sized(state.attr[j], x)


@entry
def judged(state, attributes, x, error):
    judge_extremes(state, attributes, x, x.size, error)


def known():
    """Attribute 0, seen a hundred times: mean 1, variance 1, no further than 8 off; a member with weight 0.5."""
    state = kh.make("thrifty", d=3, k=1, seed=0).memory.state
    me, now = state.attr[0], state.now
    me.unit, me.observed, me.raw_n, me.raw_x, me.raw_xx, me.far, me.place = 1.0, 100, 100.0, 100.0, 200.0, 8.0, 0
    state.fit.member[0].w, now.alpha, now.m, now.s2 = 0.5, 1.0, 1, 0.01
    return state


def test_what_is_not_extreme_is_left_alone():
    assert drawn(known(), 0, 6.9) == (6.9, 6.9)


def test_with_few_values_four_times_as_much_is_ordinary():
    state = known()
    state.attr[0].observed = 9
    assert drawn(state, 0, 24.9)[0] == 24.9
    assert drawn(state, 0, 50.0)[0] == 25.0
    state.attr[0].observed = 4
    assert drawn(state, 0, 50.0)[0] == 50.0


def test_an_extreme_value_is_drawn_in_to_six_deviations_until_its_attribute_has_shown_more():
    state = known()
    me = state.attr[0]
    assert drawn(state, 0, 50.0)[0] == 7.0
    me.limit = 60.0
    assert drawn(state, 0, 50.0)[0] == 7.0  # borne out, but drawn in it predicts better
    me.genuine = 1.0
    assert drawn(state, 0, 50.0) == (50.0, 50.0)
    assert drawn(state, 0, 62.0)[0] == 7.0  # further than any that was borne out
    me.absurd = 1
    assert drawn(state, 0, 62.0)[0] == 1.0  # the mean


def test_for_mean_and_variance_a_value_counts_as_far_out_as_one_before_it_was():
    assert drawn(known(), 0, 50.0)[1] == 9.0


def t(error):
    return -2.5 * math.log(1.0 + error**2 / 0.04)


def test_evidence_is_the_likelihood_of_the_value_as_it_is_against_the_value_drawn_in():
    state = known()
    error = 0.9  # predicted with 7 instead of 9: the value as it is leaves -0.1, the mean 3.9
    judged(state, np.array([0]), np.array([9.0]), error)
    assert state.attr[0].genuine == pytest.approx(t(error - 0.5 * 2.0) - t(error))
    assert (state.attr[0].limit, state.attr[0].absurd) == (64.0, 0)  # eight times what was borne out


def test_the_limit_falls_below_a_value_that_was_none_and_rises_slowly_after_that():
    state = known()
    me = state.attr[0]
    me.limit, me.genuine = 64.0, 5.0
    judged(state, np.array([0]), np.array([51.0]), -25.0)  # predicted with 51; the mean would have been right
    assert (me.limit, me.absurd) == (64.0 / 1.5, 1)
    assert drawn(state, 0, 51.0)[0] == 1.0  # so it is learnt as the mean, in this very row
    judged(state, np.array([0]), np.array([31.0]), -15.0)
    assert (me.limit, me.absurd) == (0.999 * 30.0 if 0.999 * 30.0 < 64.0 / 2.25 else 64.0 / 2.25, 2)
    before = me.limit
    judged(state, np.array([0]), np.array([61.0]), 30.0)  # predicted with the mean, and real
    assert (me.limit, me.absurd) == (1.5 * before, 2)


def test_values_none_of_which_are_real_leave_no_limit_but_six_deviations():
    state = known()
    judged(state, np.array([0]), np.array([51.0]), -3.0)  # predicted with 7
    assert (state.attr[0].limit, state.attr[0].absurd) == (0.0, 1)
    assert drawn(state, 0, 8.0)[0] == 1.0


@entry
def gone(state, j, x):
    return farthest(state.attr[j], x)


def test_the_farthest_seen_doubles_at_most_unless_labels_bore_it_out():
    state = known()
    assert gone(state, 0, 1.0 + 7.0) == 8.0
    assert gone(state, 0, 1.0 - 12.0) == 12.0
    assert gone(state, 0, 1e6) == 16.0
    state.attr[0].genuine, state.attr[0].limit = 1.0, 100.0
    assert gone(state, 0, 1.0 + 99.0) == 99.0
    state.attr[0].observed = 4
    assert gone(state, 0, 1e6) == 1e6 - 1.0  # too few to say what is far


def test_what_is_not_extreme_is_no_evidence():
    state = known()
    judged(state, np.array([0]), np.array([5.0]), 3.0)
    assert state.attr[0].genuine == state.attr[0].limit == state.attr[0].absurd == 0


def regret(X, y, noise, k=3):
    return kh.play(kh.make("thrifty", d=X.shape[1], k=k, seed=0), X, y).losses[1:].sum() - (noise[1:] ** 2).sum()


def test_one_absurd_cell_changes_nothing_lasting():
    X, y, w = kh.streams.synthetic(10, 3, 4000, seed=1)
    noise, j = y - X @ w, int(np.abs(w).argmax())
    plain = regret(X, y, noise)
    X[1000, j] = 1e4
    assert regret(X, y, noise) < plain + 3.0  # that row itself costs what six deviations do


def test_heavy_tails_that_are_real_are_used_and_cells_that_are_wrong_are_not():
    rng = np.random.default_rng(0)
    w, noise = np.array([0.5, -0.3, 0.2, 0.0, 0.0, 0.0]), 0.1 * rng.standard_normal(8000)
    heavy = rng.standard_t(3.0, (8000, 6))
    learner = kh.make("thrifty", d=6, k=3, seed=0)
    late = kh.play(learner, heavy, heavy @ w + noise).losses[4000:]
    assert late.mean() < 0.05  # 0.076 with six deviations for ever
    assert (learner.memory.attr["genuine"][:3] > 0.0).any()
    X = rng.uniform(-1.0, 1.0, (8000, 6))
    y = X @ w + noise
    learner = kh.make("thrifty", d=6, k=3, seed=0)
    late = kh.play(learner, np.where(rng.random(X.shape) < 2e-3, 100.0 * X, X), y).losses[4000:]
    assert late.mean() < 0.015  # 0.038 with six deviations for ever
    assert (learner.memory.attr["absurd"][:3] > 0).any()


def test_a_few_absurd_cells_in_a_row_change_nothing_lasting():
    X, y, w = kh.streams.synthetic(10, 3, 4000, seed=1)
    noise, wrong = y - X @ w, slice(1000, 1005)
    plain = regret(X, y, noise)
    X[wrong, w != 0.0] = 1e4
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    losses = kh.play(learner, X, y).losses - noise**2
    assert losses[1:].sum() - losses[wrong].sum() < plain + 2.0  # 300 where the second counts in full


def test_a_value_that_is_real_may_lead_to_a_label_unlike_any_before():
    rng = np.random.default_rng(3)
    X = rng.standard_t(3.0, (6000, 4))
    w, noise = np.array([0.5, -0.3, 0.0, 0.0]), 0.1 * rng.standard_normal(6000)
    X[5990, 0] = 4.0 * np.abs(X[:5990, 0]).max()
    learner = kh.make("thrifty", d=4, k=2, seed=0)
    history = kh.play(learner, X, X @ w + noise)
    assert history.losses[5990] < 0.01 * (X[5990] @ w) ** 2
