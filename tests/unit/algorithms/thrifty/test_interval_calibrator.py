"""Intervals: right in the long run whatever the rows do, nested, calibrated by every label, asked for or not."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes

from ....battery.cases import CASES, PRICES

PRICED = {"prices": PRICES, "error_cost": 3000.0}
ENGINES = [{}, PRICED]
ASKED = [0.01, 0.35, 0.5, 0.9, 0.93, 0.95, 0.999]


def stream(T=600, seed=0, sigma=0.2):
    X, y, _ = kh.streams.synthetic(9, 3, T, sigma=sigma, seed=seed)
    return X, y


def made(seed=0, **options):
    return kh.make("thrifty", d=9, k=3, seed=seed, **options)


def open_round(learner, X):
    """An open round and a row for it, after the rows were played."""
    r = learner.ask()
    return r, X[r.attributes]


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_history_counts_what_the_intervals_given_at_the_time_held(options):
    X, y = stream()
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    y = np.where(np.arange(y.size) % 17 == 5, np.nan, y)
    learner, held = made(**options), {level: [] for level in ASKED}
    for x, label in zip(X, y, strict=True):
        r = learner.ask()
        ends = {level: learner.interval(r, x[r.attributes], level) for level in ASKED}
        if math.isnan(label):
            learner.abandon(r)
            continue
        for level, (low, high) in ends.items():
            held[level].append(low <= label <= high)
        learner.tell(r, x[r.attributes], label)
    history = kh.play(made(**options), X, y)
    assert np.isnan(history.levels).sum() == np.isnan(y).sum() > 0
    for level in ASKED:
        assert history.coverage(level) == np.mean(held[level])
    row_by_row = kh.play(made(**options), X, y, compiled=False)
    assert np.array_equal(row_by_row.levels, history.levels, equal_nan=True)


CHANGES = {
    "larger noise": lambda X, y, n: (X, y + 3.0 * n * (np.arange(y.size) > 3000)),
    "another level": lambda X, y, n: (X, y + 10.0 * (np.arange(y.size) > 3000)),
    "another sign": lambda X, y, n: (X, np.where(np.arange(y.size) > 3000, -y, y)),
    "bursts": lambda X, y, n: (X, y + 3.0 * n * (np.arange(y.size) % 1000 > 900)),
    "whole numbers": lambda X, y, n: (X, np.round(2.0 * y + n)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_coverage_is_right_after_changes_too(what):
    X, y = stream(T=6000, seed=3)
    X, y = CHANGES[what](X, y, np.random.default_rng(5).standard_normal(y.size))
    levels = kh.play(made(), X, y).levels[1000:]
    for level in (0.5, 0.9, 0.95):
        assert (levels <= level).mean() == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_intervals_are_nested_around_the_prediction(options):
    X, y = stream(T=1200)
    learner = made(**options)
    kh.play(learner, X, y)
    r, x = open_round(learner, X[0])
    low, high = np.array([learner.interval(r, x, level) for level in np.linspace(0.005, 0.999, 400)]).T
    assert (np.diff(low) <= 0).all()
    assert (np.diff(high) >= 0).all()
    assert low[0] < high[0]
    assert (low + high) / 2 == pytest.approx(np.full(400, learner.predict(r, x)), rel=1e-9)


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_what_was_not_seen_makes_an_interval_wider(options):
    X, y = stream(T=1500, sigma=0.05)
    learner = made(**options)
    kh.play(learner, X, y)
    r = learner.ask(available=[learner.names[i] for i in learner.support])
    assert set(learner.support) <= set(r.attributes.tolist())
    whole = X[0][r.attributes]
    for place in range(whole.size):
        part = np.where(np.arange(whole.size) == place, np.nan, whole)
        widths = [float(np.diff(learner.interval(r, values))[0]) for values in (whole, part)]
        assert widths[1] > 1.5 * widths[0]


def test_intervals_follow_the_label_s_units():
    X, y = stream()
    plain, scaled = made(), made()
    kh.play(plain, X, y)
    kh.play(scaled, X, 1024.0 * y - 512.0)
    r, x = open_round(plain, X[0])
    low, high = plain.interval(r, x)
    assert scaled.interval(scaled.ask(), x) == pytest.approx((1024 * low - 512, 1024 * high - 512), rel=1e-6)


def test_before_enough_labels_an_interval_is_infinite():
    X, y = stream(T=120)
    learner = made()
    for n, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        r = learner.ask()
        for level in (0.5, 0.9, 0.95, 0.99):
            finite = n >= 5 and n >= round(level / (1.0 - level))
            assert np.isfinite(learner.interval(r, x[r.attributes], level)).all() == finite, (n, level)
        learner.tell(r, x[r.attributes], label)


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_constant_labels_have_intervals_without_width(options):
    X, _ = stream(T=60)
    learner = made(**options)
    history = kh.play(learner, X, np.full(60, 7.0))
    assert history.coverage(0.5) == 1.0
    r, x = open_round(learner, X[0])
    assert learner.interval(r, x, 0.9) == (7.0, 7.0)
    learner.tell(r, x, 8.0)  # and then they vary
    assert learner._level() > 60 / 61
    kh.play(learner, X, 7.0 + X[:, 0])
    r, x = open_round(learner, X[0])
    assert np.isfinite(learner.interval(r, x)).all()


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_asking_for_intervals_changes_nothing(options, tmp_path):
    X, y = stream(T=200)
    learner = made(**options)
    kh.play(learner, X, y)
    r, x = open_round(learner, X[0])
    before, said = to_bytes(learner), learner.interval(r, x, 0.8)
    assert to_bytes(learner) == before
    learner.save(tmp_path / "m.kh")
    again = kh.load(tmp_path / "m.kh")
    assert again.interval(r, x, 0.8) == said
    learner.tell(r, x, 0.5)
    again.tell(r, x, 0.5)
    assert to_bytes(again) == to_bytes(learner)


@pytest.mark.parametrize("options", ENGINES, ids=str)
@pytest.mark.parametrize(("field", "value"), [("log_q", np.nan), ("log_q", 21.0), ("centre", -1e9), ("level", 1.5)])
def test_made_up_quantiles_are_refused(options, field, value):
    learner = made(**options)
    flat = learner.get_state()
    flat[f"memory.{field}"][0] = value
    with pytest.raises(kh.StateError, match=f"{field}|not finite"):
        learner.set_state(flat)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 0.9995, float("nan"), "0.9", None, True])
def test_a_level_is_a_share_that_can_be_calibrated(level):
    X, y = stream(T=20)
    learner = made()
    history = kh.play(learner, X, y)
    r, x = open_round(learner, X[0])
    for ask in (lambda: learner.interval(r, x, level), lambda: history.coverage(level)):
        with pytest.raises(kh.ProtocolError, match=r"above 0 and at most 0\.999"):
            ask()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_learner_gives_intervals_or_says_that_it_does_not(case):
    learner, (X, y) = case.make(), case.stream(30)
    history = kh.play(learner, X, y)
    r, x = open_round(learner, X[0])
    if learner.gives_intervals:
        assert np.isfinite(learner.interval(r, x)).all()
        assert 0.0 <= history.coverage() <= 1.0
        return
    with pytest.raises(kh.ProtocolError, match=f"{learner.name} gives no intervals"):
        learner.interval(r, x)
    with pytest.raises(kh.ConfigError, match="gives no intervals"):
        history.coverage()
    assert np.isnan(history.levels).all()
