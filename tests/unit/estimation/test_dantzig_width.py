"""gamma_s: the paper's, the paper's scaled, and the self-tuned one recomputed from the rounds."""

from math import log, sqrt

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation import dantzig_width, sampling
from keyhole.estimation.importance_weighting import estimate


def test_theory_is_the_papers_gamma_and_scaled_a_multiple():
    constants = kh.theory.Constants(d=20, k=5, sigma=0.2, delta_s=0.7, delta=0.01)
    for s in (1, 10, 1000):
        assert dantzig_width.Theory(constants).gamma(s) == constants.gamma(s)
        assert dantzig_width.Theory(constants, 0.01).gamma(s) == 0.01 * constants.gamma(s)


def test_the_learner_passes_the_papers_gamma_to_the_solver():
    X, y, _ = kh.streams.synthetic(20, 5, 100, seed=0)
    learner = kh.make("ds-oslrc", d=20, k=5, seed=0, tuning="theory", sigma=0.2, delta_s=0.7, delta=0.05)
    with pytest.warns(kh.KeyholeWarning, match="the support is arbitrary"):
        kh.play(learner, X, y)
    constants = kh.theory.Constants(d=20, k=5, sigma=0.2, delta_s=0.7, delta=0.05)
    assert learner.estimate.seq.s == 10
    assert learner.estimate.width.gamma(10) == constants.gamma(10)
    assert (
        f"gamma {constants.gamma(10):.3g} >= gamma_max {learner.estimate.seq.gamma_max:.3g}"
        in learner.estimate.silence()
    )
    assert learner.exploiter.core.rho == constants.rho
    extra = kh.make("ds-poslrc", d=20, k=5, k0=4, tuning=kh.tuning.Scaled(0.5), sigma=0.2)
    constants = kh.theory.Constants(d=20, k=5, sigma=0.2, delta_s=1.0, delta=0.01, k0=4)
    assert extra.estimate.width.gamma(3) == 0.5 * constants.gamma(3)


def test_the_empirical_width_is_recomputed_from_the_rounds():
    X, y, _ = kh.streams.synthetic(10, 3, 200, seed=1)
    learner = kh.make("ds-oslrc", d=10, k=3, seed=1)
    V = np.zeros(10)
    for x, label in zip(X, y, strict=True):
        r = learner.ask()
        if r.kind == "explore":
            B, w = r.attributes, learner.estimate.w_hat.copy()
            x_hat, h = estimate(x[B], sampling.pairs(np.array(r.memo[2:]), 10, 3))
            V[B] += (x_hat * label - h @ w[B]) ** 2
        learner.tell(r, x[r.attributes], label)
    s = learner.estimate.seq.s
    gamma = dantzig_width.KAPPA * np.sqrt(2 * log(20 * 10) * np.maximum(V, V.mean() / 10)) / s
    assert s == 14
    assert np.abs(learner.estimate.width.gamma(s) / gamma - 1).max() < 1e-12


def test_the_newton_step_tunes_its_own_rho():
    learner = kh.make("ds-oslrc", d=10, k=3, seed=1)
    assert learner.exploiter.core.rho < 0  # the kernel's sign for "self-tuned"; its formula is tested in test_newton
    theory = kh.make("ds-oslrc", d=10, k=3, seed=1, tuning="theory", sigma=0.1, delta=0.01)
    Y = 1 + 0.1 * sqrt(2 * log(100))
    assert theory.exploiter.core.rho == pytest.approx(1 / (2 * (1 + Y) ** 2), rel=1e-14)


@pytest.mark.parametrize("text", ["scaled(0.1)", "Scaled( 0.1 )", "scaled(1e-1)"])
def test_scaled_is_read_from_text(text):
    assert dantzig_width.parse(text) == dantzig_width.Scaled(0.1)


@pytest.mark.parametrize("bad", ["scaled()", "scaled(-1)", "scaled(0)", "theoretical", 3])
def test_other_tunings_are_refused(bad):
    with pytest.raises(kh.ConfigError):
        dantzig_width.parse(bad)
