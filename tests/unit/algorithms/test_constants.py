"""The constants that an analysis fixes: each written out here once more, so that no factor can get lost."""

from math import log, sqrt

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.published._bandit_masters import Corral
from keyhole.algorithms.published._dual_averaging import DualAveraging
from keyhole.algorithms.published.kale2017_dantzig import KaleWidth, coin_inclusion
from keyhole.estimation.top_k import top_k

D, K, K0 = 9, 3, 4


def made(name, k0=0, **options):
    return kh.make(name, d=D, k=K, k0=k0, seed=0, **options)


def explored(learner, T=40):
    X, y, _ = kh.streams.synthetic(D, K, T, seed=2)
    kh.play(learner, X, y)
    return learner


def test_ito_2_takes_its_support_from_the_mean_of_the_iterates_not_from_the_last():
    learner = made("ito2017-2", explore=1.0)
    X, y, _ = kh.streams.synthetic(D, K, 60, seed=2)
    total, S, differed = np.zeros(D), learner.support, False
    for x, label in zip(X, y, strict=True):
        v, r = learner._v(), learner.ask()
        learner.tell(r, x[r.attributes], float(label))
        total += v
        S = top_k(total, K, S, learner.order)
        assert np.array_equal(learner.support, S)
        differed |= not np.array_equal(S, top_k(learner._v(), K, S, learner.order))
    assert differed  # else the last iterate would have done as well


@pytest.mark.parametrize(("tuning", "scale"), [("theory", D * (D - 1) / (K * (K - 1))), ("practical", 1.0)])
def test_ito_2_regularises_its_explorer_by_the_inverse_chance_of_a_pair(tuning, scale):
    learner = made("ito2017-2", tuning=tuning, lam_explore=2.0, lam_exploit=3.0)
    assert learner.explorer.rate == pytest.approx(2.0 * scale, rel=1e-15)
    assert learner.exploiter.rate == pytest.approx(3.0 * (4.0 * sqrt(2.0 * K) if tuning == "theory" else 1.0))
    assert learner.explorer.learnt == (tuning == "practical")


@pytest.mark.parametrize("tuning", ["theory", "practical"])
def test_ito_3_has_an_l1_term_that_grows_like_s_to_three_quarters(tuning):
    learner = explored(made("ito2017-3", tuning=tuning, explore=1.0, l1=0.7))
    s, V = learner.explorer.tally
    c1 = 0.7 * sqrt(D * (D - 1) / (K * (K - 1)) if tuning == "theory" else V / (s * D))
    by_hand = DualAveraging(D, learner.explorer.rate, learner.explorer.learnt, 1.0)
    by_hand.h, by_hand.tally = learner.explorer.h, learner.explorer.tally
    assert s == 40
    assert np.array_equal(learner._v(), by_hand.w(c1 * 41**0.75))


def test_kales_width_has_one_factor_d_over_k0_beside_the_root():
    width = KaleWidth(D, K0, C=2.0, sigma=0.3, delta=0.05)
    for t in (1, 10, 1000):
        by_hand = 2.0 * sqrt(D * log(t * D / 0.05) / (t * K0)) * (0.3 + D / K0)
        assert width.gamma(t) == pytest.approx(by_hand, rel=1e-14)


def test_corrals_rate_is_one_fortieth_of_the_logarithm_or_the_root():
    assert Corral(6, 1000, 3.0).eta[0] == pytest.approx(3.0 / (40.0 * log(1000)), rel=1e-14)
    assert Corral(6, 10**9, 3.0).eta[0] == pytest.approx(3.0 * sqrt(6 / 10**9), rel=1e-14)


def test_corral_doubles_its_horizon_and_shrinks_its_rates_as_if_it_had_known():
    corral, knew = Corral(6, 10, 3.0), Corral(6, 40, 3.0)
    for _ in range(25):
        corral.learn(0, 0.5, float(corral.p[0]), np.array([True] + [False] * 5))  # all lose alike: nobody starves
    assert (corral.T, corral.n) == (40, 25)
    assert np.allclose(corral.eta, knew.eta, rtol=1e-13, atol=0)
    assert (corral.gamma, corral.beta) == (knew.gamma, knew.beta)


def test_fosters_hedge_has_the_root_of_eight():
    learner = made("foster2016", k0=K0, tuning="theory", hedge_scale=2.0, label_bound=3.0)
    M = D * (D - 1) / (K0 * (K0 - 1)) + 2.0 * 3.0 * D / K0
    N = learner.U.shape[0]
    assert learner.eta_hedge == pytest.approx(2.0 * sqrt(8.0 * log(N)) / M, rel=1e-14)
    assert learner.eta_step == pytest.approx(1.0 / (2.0 * sqrt(K) * (D / K0) ** 2), rel=1e-14)


@pytest.mark.parametrize(("tuning", "ratio"), [("theory", 1.0), ("practical", 5.0)])
def test_muratas_hybrid_exploits_as_long_as_it_explored_in_theory(tuning, ratio):
    learner = made("murata2018-hybrid", tuning=tuning, batch=2)
    X, y, _ = kh.streams.synthetic(D, K, 400, seed=2)
    kinds = kh.play(learner, X, y).explored
    first = int(np.flatnonzero(~kinds)[0])
    assert int(np.flatnonzero(kinds[first:])[0]) == ratio * first


def test_muratas_step_is_by_the_largest_second_moment_not_their_mean():
    learner = made("murata2018-explore", batch=50)
    X, y, _ = kh.streams.synthetic(D, K, 30, seed=2)
    X[:, 4] *= 0.1
    kh.play(learner, X, y)
    moments = learner.squares / np.maximum(learner.counts, 1.0)
    assert moments.mean() < 0.95 * moments.max()
    assert learner._eta() == pytest.approx(1.0 / moments.max(), rel=1e-14)


def test_coins_are_tossed_for_any_number_of_attributes_without_delay():
    single, pair = coin_inclusion(20_000, 0.4, cap=20_000)
    assert single == pytest.approx(0.4, rel=1e-9)
    assert pair == pytest.approx(0.16, rel=1e-9)
    learner = kh.make("kale2017-dantzig", d=1100, k=4, k0=10, seed=0, sampling="bernoulli")
    for _ in range(200):
        learner.abandon(learner.ask())
    assert coin_inclusion.cache_info().hits > 150


@pytest.mark.parametrize("name", ["olin-lasso", "i-lamm", "rda"])
def test_the_default_widths_follow_the_unit_of_the_label(name):
    """Labels in another unit give the predictions in that unit: nothing is tied to one size of the noise."""
    X, y, _ = kh.streams.synthetic(D, K, 300, sigma=0.1, seed=3)
    one, ten = (kh.play(kh.make(name, d=D, seed=0), X, unit * y).predictions for unit in (1.0, 8.0))
    assert np.allclose(8.0 * one, ten, rtol=0.0, atol=2e-3 if name == "i-lamm" else 1e-6)


@pytest.mark.parametrize(("name", "most"), [("olin-lasso", 0.6), ("i-lamm", 0.4), ("rda", 0.4)])
def test_the_default_widths_follow_the_noise(name, most):
    """At sigma = 1 the constants of 0.1.0, tied to sigma = 0.1, had the regret written here for comparison."""
    before = {"olin-lasso": 139.1, "i-lamm": 177.8, "rda": 299.2}[name]
    regret = []
    for seed in range(2):
        X, y, w = kh.streams.synthetic(20, 4, 2000, sigma=1.0, seed=100 + seed)
        regret.append(kh.play(kh.make(name, d=20, seed=seed), X, y).regret(w)[-1])
    assert np.mean(regret) < most * before
