"""A change is noticed, by evidence that can be worked out by hand; a bad label or a burst is none."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.change import notice
from keyhole.core.serialization import from_bytes, to_bytes
from tests.compiled import entry


@entry
def noticed(state, f, y, y_hat):
    notice(state, f, y, y_hat)


def settled(rows=1000.0, s2=0.01):
    """A learner with one member that explains much; the last 39 rows, at f = +-1, had y = -f, where it says y = f."""
    state = kh.make("thrifty", d=3, k=1, seed=0).memory.state
    now = state.now
    now.n, now.s2, now.y_var, now.alpha, now.m, now.told = rows, s2, 1.0, 1.0, 1, int(rows)
    now.y_unit, state.fit.label.explained = 1.0, 0.9
    now.late_n, now.late_f, now.late_y, now.late_ff, now.late_fy = 39.0, 0.0, 0.0, 39.0, -39.0
    now.past_n, now.past_f, now.past_y, now.past_ff, now.past_fy = 400.0, 0.0, 0.0, 400.0, 400.0
    return state


def t(error, s2):
    return -2.5 * math.log(1.0 + error**2 / (4.0 * s2))


def test_doubt_is_the_log_likelihood_ratio_of_the_recalibration():
    state = settled()
    noticed(state, 1.0, -1.0, 1.0)
    slope = (39.0 * -1.0 + 10.0 * 1.0) / 49.0
    assert state.now.doubt == pytest.approx(t(-1.0 - slope, 0.01) - t(-2.0, 0.01))
    assert state.now.late_n == pytest.approx(39.0 * 0.975 + 1.0)
    assert state.now.late_fy == pytest.approx(-39.0 * 0.975 - 1.0)
    assert state.now.past_n == pytest.approx(400.0 * (1.0 - 1.0 / 500.0) + 1.0)
    assert state.now.past_fy == pytest.approx(400.0 * (1.0 - 1.0 / 500.0) - 1.0)
    assert state.now.late_error2 == pytest.approx((-1.0 - slope) ** 2 / 10.0)


def test_doubt_never_falls_below_nothing():
    state = settled()
    noticed(state, 1.0, 1.0, 1.0)  # just as the past says
    assert state.now.doubt == 0.0


def test_a_noisy_stretch_counts_for_less():
    quiet, noisy = settled(), settled()
    noisy.now.late_error2 = 1.0
    for state in (quiet, noisy):
        noticed(state, 1.0, -1.0, 1.0)
    slope, scale = -29.0 / 49.0, math.sqrt(0.01 * 1.0)
    assert noisy.now.doubt == pytest.approx(t(-1.0 - slope, scale) - t(-2.0, scale))
    assert noisy.now.doubt < quiet.now.doubt


def test_where_nothing_is_explained_more_noise_is_doubt_too():
    state = settled()
    state.fit.label.explained = 0.0
    state.now.late_fy, state.now.alpha, state.now.late_error2 = 0.0, 0.0, 0.16
    noticed(state, 1.0, 0.5, 0.0)  # both say 0
    assert state.now.doubt == pytest.approx(t(0.5, 0.16) - 0.5 * math.log(16.0) - t(0.5, 0.01))


def test_above_ten_and_the_logarithm_of_the_rows_the_past_weighs_a_thousandth():
    for doubt, rang in ((10.0 + math.log(1000.0) - 1e-6, 1), (0.0, 0)):
        state = settled()
        state.now.doubt, state.now.firm, state.now.ff = doubt, doubt, 3.0
        noticed(state, 1.0, -1.0, 1.0)
        assert state.now.rang == rang
        assert state.now.g == (1000.0 if rang else 1.0)
        assert state.now.ff == (0.0 if rang else 3.0)
        assert state.now.refit_at == (1001 if rang else 1)
        assert not rang or state.now.doubt == state.now.firm == 0.0
    assert math.log(1000.0) + 10.0 > 15.0


def test_a_past_that_was_too_timid_all_along_is_no_change():
    state = settled()
    state.now.late_fy, state.now.past_fy = 1.2 * 39.0, 1.2 * 400.0
    noticed(state, 1.0, 1.2, 1.0)
    recent, past = (1.2 * 39.0 + 10.0) / 49.0, (1.2 * 400.0 + 100.0) / 500.0
    assert state.now.doubt == pytest.approx(t(1.2 - recent, 0.01) - t(0.2, 0.01))
    assert state.now.firm == pytest.approx(max(0.0, t(1.2 - recent, 0.01) - t(1.2 - past, 0.01)))
    assert state.now.firm < 0.1 * state.now.doubt


def test_a_past_that_was_too_bold_is_not_excused():
    state = settled()
    state.now.late_fy, state.now.past_fy = 0.8 * 39.0, 0.8 * 400.0
    noticed(state, 1.0, 0.8, 1.0)
    assert state.now.firm == state.now.doubt > 0.0


@pytest.mark.parametrize(("firm", "rows"), [(5.0, 400.0), (30.0, 50.0)])
def test_a_timid_or_untried_fit_is_blamed_itself_and_its_past_weighs_a_twentieth(firm, rows):
    state, timid = settled(), rows == 400.0
    now = state.now
    now.doubt, now.firm, now.ff, now.past_n = 30.0, firm, 3.0, rows
    now.past_ff, now.past_fy = rows, rows
    noticed(state, 1.0, 1.0 if timid else -1.0, 1.0)
    assert (now.g, now.rang, now.ff, now.doubt, now.firm) == (20.0, 0, 3.0, 0.0, 0.0)
    assert now.refit_at == 1001


def bent(bend=-1.0):
    """As `settled`, but y = f lately, where the member's weight, bent by the last rows, says otherwise by -v."""
    state = settled()
    state.now.late_fy = 39.0
    state.fit.member[0].bend, state.fit.P[0, 0], state.work.v[0] = bend, 2.0, 0.5
    return state


def test_a_bend_moves_along_p_by_what_the_bent_fit_is_off_and_doubt_is_its_log_likelihood_ratio():
    state = bent()
    noticed(state, 1.0, 0.4, 1.0)  # bent, it said 0.5
    off = -0.1
    assert state.now.bent == pytest.approx(t(off, 0.01) - t(-0.6, 0.01))
    step = off / (1.0 + off**2 / (4.0 * max(0.01, state.now.late_error2))) / (40.0 + 0.5 * 2.0 * 0.5)
    assert state.fit.member[0].bend == pytest.approx(-1.0 * (1.0 - 1.0 / 200.0) + step * 2.0 * 0.5)


CASES = [(400.0, 39.0, 1000.0, 1), (400.0, 10.0, 20.0, 0), (250.0, 39.0, 20.0, 0), (90.0, 39.0, 1.0, 0)]


@pytest.mark.parametrize(("past", "loss", "by", "rang"), CASES)
def test_a_fit_that_does_better_bent_is_an_alarm_once_its_support_has_stayed_if_it_became_worse(past, loss, by, rang):
    state = bent()
    now = state.now
    now.late_loss, now.past_loss = loss, 0.5 * past
    now.bent, now.past_n = 12.0 + math.log(1000.0) - 1e-6, past
    now.past_ff, now.past_fy = past, past
    noticed(state, 1.0, 0.5, 1.0)
    assert (now.g, now.rang) == (by, rang)
    assert (state.fit.member[0].bend == 0.0) == (by > 1.0)
    assert (now.ended, now.regime) == ((1.0, 1001) if rang else (0.0, 0))


def test_a_single_weight_that_turns_is_noticed_and_said():
    X, y, w = kh.streams.synthetic(10, 3, 5000, seed=5)
    j = int(np.argsort(np.abs(w))[-3])
    y[2500:] -= 2.0 * w[j] * X[2500:, j]
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    history = kh.play(learner, X, y)
    assert learner.alarms[0].what == "the weights of single attributes changed"
    assert 2500 < learner.alarms[0].row < 2750
    assert history.losses[3500:].mean() < 0.0108


def test_a_short_past_is_not_doubted():
    state = settled(rows=200.0)
    noticed(state, 1.0, -1.0, 1.0)
    assert state.now.doubt == 0.0


def flipped(T=4000, at=2000, seed=3):
    X, y, w = kh.streams.synthetic(10, 3, T, seed=seed)
    y[at:] -= 2.0 * (X[at:] @ w)
    return X, y


def test_a_sign_that_turns_is_noticed_within_a_hundred_rows_and_said_in_words():
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    X, y = flipped()
    history = kh.play(learner, X, y)
    (alarm,) = learner.alarms
    assert 2000 < alarm.row <= 2100
    assert "labels follow the predictions" in alarm.what
    assert str(alarm) == f"row {alarm.row}: {alarm.what}"
    assert history.losses[2500:].mean() < 0.0105


def test_alarms_survive_a_file():
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    kh.play(learner, *flipped())
    assert from_bytes(to_bytes(learner)).alarms == learner.alarms != ()


def test_only_the_last_alarms_are_remembered():
    learner = kh.make("thrifty", d=2, k=1, seed=0)
    bell = learner.memory.bell
    learner.memory.state.now.rang = bell.size + 3
    bell["row"], bell["after"] = np.arange(bell.size), 0.5
    rows = [alarm.row for alarm in learner.alarms]
    assert len(rows) == bell.size
    assert rows[0] == 3
    assert rows[-1] == 2


@pytest.mark.parametrize("half_life", [None, 2000])
def test_heavy_tails_are_no_change(half_life):
    for seed in range(3):
        X, y, w = kh.streams.synthetic(10, 3, 6000, seed=seed)
        y = X @ w + 0.1 * np.random.default_rng(seed).standard_t(2.5, 6000)
        learner = kh.make("thrifty", d=10, k=3, seed=0, half_life=half_life)
        kh.play(learner, X, y)
        assert learner.alarms == ()
