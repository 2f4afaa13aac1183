"""A change is noticed, by evidence that can be worked out by hand; a bad label, a burst or misfit is none."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole._core import thrifty as core
from keyhole.core.serialization import from_bytes, to_bytes


def log_t(error, s2):
    return -2.5 * math.log(1.0 + error**2 / (4.0 * s2))


def mean(w, x):
    return w @ x / w.sum()


def slope(w, f, y, pseudo_rows, prior):
    """The weighted regression of y on f, shrunk to `prior` by pseudo-rows."""
    f, y, n = f - mean(w, f), y - mean(w, y), w.sum()
    return (n * mean(w, f * y) / mean(w, f * f) + pseudo_rows * prior) / (n + pseudo_rows)


def detect(f, y, y_hat, y_hat_shifted, alpha, explained, s2, first):
    """The rules of the detector, with every sum taken afresh from all rows; one line for each row."""
    n = f.size
    recent_w, past_w, loss = np.zeros(n), np.zeros(n), np.zeros(n)
    cusum = recalibrated = weights = recent_error2 = 0.0
    for t in range(n):
        rows, forget, after = first + t, 1.0, alpha
        noise = max(s2, recent_error2)
        error2, both = (y[t] - y_hat[t]) ** 2, math.sqrt(s2 * noise)
        r, p, F, Y = recent_w[:t], past_w[:t], f[:t], y[:t]
        if r.sum() > 20.0 and rows > 200:
            late = slope(r, F, Y, 10.0, alpha)
            recent = mean(r, Y) + late * (f[t] - mean(r, F))
            fair = y_hat[t] + max(0.0, slope(p, F, Y, 100.0, alpha) - alpha) * (f[t] - mean(p, F))
            recent2, fit2 = (noise, s2) if explained < 0.1 * s2 else (both, both)
            gain = log_t(y[t] - recent, recent2) - 0.5 * math.log(recent2 / fit2)
            by_fit, by_fair = log_t(y[t] - y_hat[t], fit2), log_t(y[t] - fair, fit2)
            cusum = max(0.0, cusum + gain - by_fit)
            recalibrated = max(0.0, recalibrated + gain - max(by_fit, by_fair))
            straight = max(log_t(y[t] - y_hat[t], noise), log_t(y[t] - fair, noise))
            weights = max(0.0, weights + log_t(y[t] - y_hat_shifted[t], noise) - straight)
            error2 = min(error2, (y[t] - recent) ** 2, (y[t] - y_hat_shifted[t]) ** 2)
            threshold, age = 10.0 + math.log(rows), p.sum()
            stayed = age > max(300.0, 0.05 * rows)
            if cusum > threshold:
                changed, moves = recalibrated > 0.5 * cusum and age > 100.0, recalibrated > 0.2 * cusum and stayed
                forget, after = (1000.0 if changed else 20.0 if moves else 1.0), late
                cusum = recalibrated = weights = 0.0
            elif weights > threshold + 2.0 and age > 100.0:
                worse = mean(r, loss[:t]) > mean(p, loss[:t]) + 0.25
                forget = 1.0 if not stayed else 1000.0 if worse else 20.0
                cusum = recalibrated = weights = 0.0
        recent_w *= 1.0 - 1.0 / 40.0
        past_w *= 1.0 - 1.0 / max(50.0, rows / 2.0)
        recent_w[t] = past_w[t] = 1.0
        loss[t] = -log_t(y[t] - y_hat[t], s2)
        recent_error2 += (error2 - recent_error2) / 10.0
        yield forget, after, cusum, recalibrated, weights, max(s2, recent_error2)


def signs_turn(f, e, rng):
    return np.where(np.arange(f.size) < 500, f, -f) + e, f, f


def too_timid_all_along(f, e, rng):
    return f + e, 0.4 * f, f


def weights_turn(f, e, rng):
    other = rng.standard_normal(f.size)
    y = f + np.where(np.arange(f.size) < 500, 1.0, -1.0) * other + e
    return y, f + other, f - other


def weights_move_a_little(f, e, rng):
    moved = 0.4 * rng.standard_normal(f.size) * (np.arange(f.size) >= 450)
    return f + moved + e, f, f + moved


def noise_grows(f, e, rng):
    return e * np.where(np.arange(f.size) < 500, 1.0, 4.0), 0.1 * f, 0.1 * f


def heavy_tails(f, e, rng):
    return f + 0.5 * rng.standard_t(2.0, f.size), f, f


STREAMS = [  # what comes, the slope, what is explained, rows before, what the alarms divide the past by
    (signs_turn, 1.0, 1.0, 1, {1000.0}),
    (too_timid_all_along, 0.4, 1.0, 1, set()),
    (too_timid_all_along, 0.4, 1.0, 20_000, set()),
    (weights_turn, 1.0, 2.0, 1, {1000.0}),
    (weights_move_a_little, 1.0, 1.0, 1500, {20.0}),
    (noise_grows, 0.1, 0.01, 1, {1000.0}),
    (heavy_tails, 1.0, 1.0, 1, set()),
]


@pytest.mark.parametrize(("stream", "alpha", "explained", "first", "divided"), STREAMS)
def test_statistics_and_alarms_are_those_of_the_definition(stream, alpha, explained, first, divided):
    rng = np.random.default_rng(3)
    f, e = rng.standard_normal(700), 0.5 * rng.standard_normal(700)
    y, y_hat, y_hat_shifted = stream(f, e, rng)
    detector, found = core.DriftDetector(), []
    expected = list(detect(f, y, y_hat, y_hat_shifted, alpha, explained, 0.25, first))
    for t in range(f.size):
        forget, before, after = detector.update(
            f[t], y[t], y_hat[t], y_hat_shifted[t], alpha, explained, 0.25, 1.0, first + t
        )
        found.append((forget, after, *detector.statistics, detector.noise))
        assert before == alpha
        assert detector.suspicious() == (detector.statistics[0] > 0.3 * (10.0 + math.log(first + t)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert {forget for forget, *_ in expected} == {1.0} | divided


def test_after_a_reset_nothing_is_known_of_the_rows_before():
    rng = np.random.default_rng(4)
    used, fresh = core.DriftDetector(), core.DriftDetector()
    for _ in range(300):
        used.update(*rng.standard_normal(4), 1.0, 1.0, 0.25, 1.0, 1000.0)
    used.reset()
    for t in range(300):
        f, y, y_hat = rng.standard_normal(3)
        # The noise of the last rows is kept: it is no statement about the support.
        s2 = max(used.noise, 0.25)
        ours, theirs = (one.update(f, y, y_hat, y_hat, 1.0, 1.0, 100.0 * s2, 1.0, 1000.0 + t) for one in (used, fresh))
        assert ours == pytest.approx(theirs, rel=1e-12)
        assert used.statistics == pytest.approx(fresh.statistics, rel=1e-12, abs=1e-12)


def test_a_single_weight_that_turns_is_noticed_and_said():
    X, y, w = kh.streams.synthetic(10, 3, 5000, seed=5)
    j = int(np.argsort(np.abs(w))[-3])
    y[2500:] -= 2.0 * w[j] * X[2500:, j]
    learner = kh.make("thrifty", d=10, k=3, seed=0)
    history = kh.play(learner, X, y)
    assert learner.alarms[0].what.startswith("the weights of single attributes changed; rows before count")
    assert 2500 < learner.alarms[0].row < 2750
    assert history.losses[3500:].mean() < 0.0108


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


@pytest.mark.parametrize("half_life", [None, 2000])
def test_heavy_tails_are_no_change(half_life):
    for seed in range(3):
        X, y, w = kh.streams.synthetic(10, 3, 6000, seed=seed)
        y = X @ w + 0.1 * np.random.default_rng(seed).standard_t(2.5, 6000)
        learner = kh.make("thrifty", d=10, k=3, seed=0, half_life=half_life)
        kh.play(learner, X, y)
        assert learner.alarms == ()


def test_misfit_is_no_change():
    """Two pairs that say nothing alone: predictions are too small for long, but little is forgotten for that."""
    excess, without, alarms = [], [], []
    for seed in range(8):
        rng = np.random.default_rng([seed, 77])
        X, y = rng.standard_normal((8000, 40)), 0.1 * rng.standard_normal(8000)
        for a, b in ((3, 8), (11, 30)):
            X[:, b] = 0.95 * X[:, a] + (1.0 - 0.95**2) ** 0.5 * X[:, b]
            y += 0.27 * (X[:, a] - X[:, b]) / 0.1**0.5
        learner, blind = (kh.make("thrifty", d=40, k=4, seed=seed) for _ in range(2))
        blind.memory.constants["drift_threshold"] = 1e9
        excess.append(kh.play(learner, X, y).losses[1:].sum() - 80.0)
        without.append(kh.play(blind, X, y).losses[1:].sum() - 80.0)
        alarms.append(len(learner.alarms))
        forgotten = learner.memory.alarm["forgotten"][: alarms[-1]].prod()
        assert learner.memory.scalars["row_weight"][0] == pytest.approx(forgotten, rel=1e-12)
    assert np.mean(alarms) <= 0.75  # about 0.3 on 60 other seeds
    assert np.mean(excess) < 1.5 * np.mean(without)  # 0.2.0, which forgot silently, had three times as much


@pytest.mark.parametrize("limits", [{"k": 3}, {"prices": [1.0] * 12, "total_budget": 14_000.0, "expected_rows": 4000}])
def test_all_that_is_forgotten_is_in_the_alarms(limits):
    for seed in range(3):
        X, y, w = kh.streams.synthetic(12, 3, 4000, seed=seed)
        for start, factor in ((1200, -1.0), (2400, 4.0)):
            y[start:] += (factor - 1.0) * (X @ w)[start:]
        learner = kh.make("thrifty", d=12, seed=seed, **limits)
        kh.play(learner, X, y)
        memory = learner.memory
        alarms = memory.alarm[: memory.scalars["n_alarms"][0]]
        assert len(learner.alarms) == alarms.size >= 2
        assert not alarms["returned"].any()  # else rows count again
        assert memory.scalars["row_weight"][0] == pytest.approx(alarms["forgotten"].prod(), rel=1e-12)
        assert all(
            f"1/{forgotten:g}" in a.what for a, forgotten in zip(learner.alarms, alarms["forgotten"], strict=True)
        )


def test_a_few_past_rows_leave_a_state_that_can_be_loaded():
    """The first two labels set the unit, and the others are far beyond it before the first residual variance."""
    X = np.random.default_rng(0).standard_normal((40, 4))
    y = 1e6 * X[:, 0]
    y[:2] = 0.0, 0.1
    learner = kh.make("thrifty", names=["a", "b", "c", "d"], free=["a", "b"], k=2, seed=0)
    learner.learn(X[:16], y[:16])
    kh.play(learner, X[16:], y[16:])
    again = from_bytes(to_bytes(learner))
    assert np.array_equal(kh.play(again, X, y).losses, kh.play(learner, X, y).losses)


def test_rows_that_lack_members_are_no_noise():
    """A third of the values is missing; errors then have the variance of whole rows, and are compared as such."""
    ratio, slopes = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((3000, 8))
        y = X[:, :3].sum(axis=1) + 0.2 * rng.standard_normal(3000)
        X[rng.random(X.shape) < 0.3] = np.nan
        learner = kh.make("thrifty", d=8, k=3, seed=0)
        kh.play(learner, X[:2000], y[:2000])
        for t in range(2000, 3000, 20):
            kh.play(learner, X[t : t + 20], y[t : t + 20])
            ratio.append(learner.memory.scalars["recent_mse"][0] / learner.memory.scalars["s2"][0])
        now = learner.memory.scalars[0]
        n, f, label = now["baseline_n"], now["baseline_f"], now["baseline_y"]
        slopes.append((now["baseline_fy"] - f * label / n) / (now["baseline_ff"] - f * f / n))
        assert learner.alarms == ()
    assert np.mean(ratio) < 1.2
    assert slopes == pytest.approx([1.0] * 4, abs=0.05)  # of labels on predictions
