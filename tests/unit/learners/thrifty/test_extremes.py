"""Extreme values: drawn in at first, then as they predict best; one absurd cell changes nothing."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.learners.thrifty.extremes import judge_extremes, sized, winsorised
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


def test_an_extreme_value_is_drawn_in_to_six_deviations_until_its_attribute_has_shown_more():
    state = known()
    assert drawn(state, 0, 50.0)[0] == 7.0
    state.attr[0].genuine = 1.0
    assert drawn(state, 0, 50.0)[0] == 9.0  # as far as one before it was
    state.attr[0].void = 2.0
    assert drawn(state, 0, 50.0)[0] == 1.0  # the mean


def test_for_mean_and_variance_a_value_counts_as_far_out_as_one_before_it_was():
    assert drawn(known(), 0, 50.0)[1] == 9.0


def t(error):
    return -2.5 * math.log(1.0 + error**2 / 0.04)


def test_evidence_is_the_likelihood_of_each_way_to_take_it():
    state = known()
    error = 0.9  # predicted with 7 instead of 9: the value as it is leaves -0.1, the mean 3.9
    judged(state, np.array([0]), np.array([9.0]), error)
    assert state.attr[0].genuine == pytest.approx(t(error - 0.5 * 2.0) - t(error))
    assert state.attr[0].void == pytest.approx(t(error + 0.5 * 6.0) - t(error))
    assert state.attr[0].void < 0.0 < state.attr[0].genuine


def test_what_is_not_extreme_is_no_evidence():
    state = known()
    judged(state, np.array([0]), np.array([5.0]), 3.0)
    assert state.attr[0].genuine == state.attr[0].void == 0.0


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
    assert (learner.memory.attr["void"][:3] > 0.0).any()
