"""Extreme values: clipped at first, then as they predict best; one absurd cell changes nothing."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole._core import thrifty as core


def log_t(error, s2):
    return -2.5 * math.log(1.0 + error**2 / (4.0 * s2))


class Reference:
    """The rules of the clip, with mean and variance taken afresh from all values that were counted."""

    def __init__(self):
        self.values, self.weights, self.far, self.evidence, self.limit, self.absurd = [], [], 0.0, 0.0, 0.0, 0

    def moments(self):
        if not self.values:
            return 0.0, 0.0
        z, w = np.array(self.values), np.array(self.weights) / sum(self.weights)
        return float(w @ z), float(w @ (z - w @ z) ** 2)

    def six(self):
        """Six standard deviations; with few values four times as much, with next to none nothing is an outlier."""
        n = len(self.values)
        return (math.inf if n < 5 else 4.0 if n < 10 else 1.0) * 6.0 * math.sqrt(self.moments()[1])

    def believed(self):
        return self.limit if self.evidence > 0.0 else 0.0

    def clip(self, z):
        mean, six = self.moments()[0], self.six()
        if len(self.values) < 5 or six == 0.0 or abs(z - mean) <= max(six, self.believed()):
            return z
        if self.absurd and abs(z - mean) > self.limit:
            return mean
        return mean + math.copysign(six, z - mean)

    def observe(self, z, weight):
        mean, six = self.moments()[0], self.six()
        far, most = abs(z - mean), max(six, self.believed())
        counted, farthest = z, far
        if len(self.values) >= 5 and six > 0.0:
            counted = mean + math.copysign(min(far, max(most, self.far)), z - mean)
            farthest = min(far, max(most, 2.0 * max(six, self.far)))
        self.far = max(self.far, farthest)
        self.values.append(counted)
        self.weights.append(weight)

    def learn(self, z, w, error, s2):
        mean, six = self.moments()[0], self.six()
        far = abs(z - mean)
        if len(self.values) < 5 or six == 0.0 or far <= six:
            return
        without = error + w * self.clip(z)  # the error if the value counted nothing
        real, clipped, missing = (
            log_t(without - w * value, s2) for value in (z, mean + math.copysign(six, z - mean), mean)
        )
        self.evidence = min(20.0, max(-20.0, self.evidence + real - clipped))
        if real - missing > 2.0:
            to = 1.5 * min(far, max(six, self.limit)) if self.absurd else 8.0 * far
            self.limit = max(self.limit, to)
        elif real - missing < -2.0:
            self.absurd += 1
            self.limit = min(self.limit, max(six, min(0.999 * far, self.limit / 1.5)))


@pytest.mark.parametrize("honest", [1.0, 0.7, 0.0])
def test_values_are_clipped_as_defined(honest):
    """Of the far values the share `honest` moves the label; the others say nothing."""
    found, expected = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(200) * np.where(rng.random(200) < 0.08, 10.0 ** rng.uniform(0.5, 3.0, 200), 1.0)
        layer, reference = core.OutlierClip(), Reference()
        for t, value in enumerate(z.tolist()):
            used, (mean, variance) = reference.clip(value), reference.moments()
            trusted = reference.evidence > 0.0 and (value - mean) ** 2 > 1.01 * 36.0 * variance
            found.append((layer.clip(value), layer.trusted(value), layer.mean, layer.variance))
            found[-1] += (layer.evidence, layer.limit, layer.n_rejected)
            expected.append((used, trusted, mean, variance, reference.evidence, reference.limit, reference.absurd))
            y = 0.7 * (value if rng.random() < honest else 0.0) + 0.1 * rng.standard_normal()
            for one in (layer, reference):
                one.learn(value, 0.7, y - 0.7 * used, 0.02)
                one.observe(value, 1.01**t)  # later rows count more
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    _, trusted, _, _, evidence, limits, absurd = np.array(expected).T
    assert (trusted.sum() > 1) == (evidence.max() == 20.0) == (honest > 0.5)
    assert np.unique(limits).size > (3 if honest else 0)
    assert (absurd.max() > 0) == (honest < 1.0)


def test_the_first_values_are_never_outliers():
    layer = core.OutlierClip()
    for value in (0.0, 1.0, 0.5, 0.2):
        assert layer.clip(1e9) == 1e9
        layer.observe(value, 1.0)


def test_a_constant_has_no_outliers():
    layer = core.OutlierClip()
    for _ in range(50):
        layer.observe(3.0, 1.0)
    assert layer.clip(1e9) == 1e9


def regret(X, y, noise, k=3):
    return kh.play(kh.make("thrifty", d=X.shape[1], k=k, seed=0), X, y).losses[1:].sum() - (noise[1:] ** 2).sum()


def test_one_absurd_cell_changes_nothing_lasting():
    X, y, w = kh.streams.synthetic(10, 3, 4000, seed=1)
    noise, j = y - X @ w, int(np.abs(w).argmax())
    plain = regret(X, y, noise)
    X[1000, j] = 1e4
    assert regret(X, y, noise) < plain + 3.0  # that row itself costs what six deviations do


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
