"""What a source is believed to explain: spike and slabs, against the formulas and against integrals."""

import numpy as np
import pytest

from keyhole._core import thrifty as core

SLABS = np.array([0.01, 0.03, 0.1, 0.35])
PRIOR = np.array([0.6, 0.05, 0.1, 0.1, 0.15])


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize(("gain", "n", "v"), [(0.0, 20.0, 1.0), (0.3, 20.0, 0.8), (0.05, 300.0, 1.2), (0.5, 7.0, 0.9)])
def test_weights_and_mean_are_those_of_a_g_prior_with_moments(gain, n, v, q):
    y_var = 1.5
    g = n * SLABS * y_var / ((q + 2) * v)
    kappa, share = g / (1.0 + g), gain / v
    mu2, u = kappa**2 * gain, kappa * v * (1.0 - kappa * share) / n
    log = np.log(PRIOR)
    log[1:] += np.log((mu2 + q * u) * (q + 2) / (q * SLABS * y_var))
    log[1:] -= 0.5 * q * np.log1p(g) + 0.5 * (n - 1.0) * np.log1p(-kappa * share)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = ((mu2 + q * u) ** 2 + 2 * q * u**2 + 4 * u * mu2) / (mu2 + q * u)
    found = core.posterior(PRIOR, gain, n, v, q, y_var, 0.1)
    assert found[0] == pytest.approx(weight, rel=1e-12)
    assert found[1] == pytest.approx(weight[1:] @ mean, rel=1e-12)


def test_before_any_row_the_prior_stands():
    weight, mean, beyond = core.posterior(PRIOR, 0.0, 0.0, 1.0, 1, 2.0, 0.0)
    assert weight == pytest.approx(PRIOR, rel=1e-12)
    assert mean == pytest.approx(2.0 * PRIOR[1:] @ SLABS, rel=1e-12)  # a slab expects the share c of the variance
    assert beyond == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("need", [0.0, 0.05, 0.2, 0.6])
def test_what_exceeds_a_price_is_a_sum_over_21_nodes(need, q):
    gain, n, v, y_var = 0.2, 30.0, 0.9, 1.5
    nodes = np.linspace(-4.5, 4.5, 21)
    mass = np.exp(-0.5 * nodes**2) / np.exp(-0.5 * nodes**2).sum()
    weight, _, found = core.posterior(PRIOR, gain, n, v, q, y_var, need)
    total = 0.0
    for p, c in zip(weight[1:], SLABS, strict=True):
        g = n * c * y_var / ((q + 2) * v)
        kappa = g / (1.0 + g)
        mu2, u = kappa**2 * gain, kappa * v * (1.0 - kappa * gain / v) / n
        explains = (np.sqrt(mu2) + np.sqrt(u) * nodes) ** 2 + (q - 1) * u
        total += p * mass @ (explains / (mu2 + q * u) * np.maximum(explains - need, 0.0))
    assert found == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("need", [0.0, 0.05, 0.2, 0.6])
def test_what_exceeds_a_price_is_an_integral(need):
    theta = np.linspace(-6.0, 6.0, 200_001)
    total = 0.0
    for p, c in zip(PRIOR[1:], SLABS, strict=True):
        density = theta**2 * np.exp(-0.5 * theta**2 * 3.0 / c)
        total += p * (np.maximum(theta**2 - need, 0.0) * density).sum() / density.sum()
    found = core.posterior(PRIOR, 0.0, 0.0, 1.0, 1, 1.0, need)[2]
    assert found == pytest.approx(total, rel=0.1, abs=1e-4)


def test_the_prior_expects_ten_sources_or_half():
    for n, p in ((100, 0.1), (20, 0.5), (10, 0.5)):
        weights = core.initial_prior(10.0, float(n))
        assert sum(weights) == pytest.approx(1.0, abs=1e-12)
        assert weights[0] == pytest.approx(1.0 - p)
