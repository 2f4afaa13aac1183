"""Masters of the bandit over supports: their laws, their steps and the losses they learn from."""

from math import exp, log

import numpy as np
import pytest

from keyhole.algorithms.published._bandit_masters import (
    BatchedExp3,
    Corral,
    HedgedFTRL,
    Tsallis,
    log_barrier_step,
    loss_estimate,
    tsallis_law,
)

RNG = np.random.default_rng(0)


def masters(N=6):
    return [Tsallis(N, 4.0), Corral(N, 1000, 100.0), BatchedExp3(N, 4.0), HedgedFTRL(N, 1500, 4.0, 0.05)]


def test_the_loss_of_the_arm_played_stands_for_the_losses_of_all():
    loss, p = RNG.random(5), RNG.dirichlet(np.ones(5))
    mean = sum(p[i] * loss_estimate(5, i, loss[i], p[i], None) for i in range(5))
    assert np.allclose(mean, loss, rtol=0, atol=1e-14)


def test_an_arm_asleep_is_charged_what_those_awake_lose_on_average():
    loss, awake = RNG.random(5), np.array([True, False, True, True, False])
    p = RNG.dirichlet(np.ones(5)) * awake
    p /= p.sum()
    mean = sum(p[i] * loss_estimate(5, i, loss[i], p[i], awake) for i in np.flatnonzero(awake))
    assert np.allclose(mean[awake], loss[awake], rtol=0, atol=1e-14)
    assert np.allclose(mean[~awake], p @ loss, rtol=0, atol=1e-14)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("spread", [0.0, 1.0, 1e6])
def test_the_tsallis_law_is_the_regularised_leader(eta, spread):
    L = spread * RNG.random(200) + 7.0
    p = tsallis_law(L, eta)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    # Stationarity of <p, L> - (4/eta) sum sqrt(p): L_j - 2 / (eta sqrt(p_j)) is the same for every arm.
    distance = 2 / (eta * np.sqrt(p))
    assert np.ptp(L - distance) <= 1e-9 * distance.max()


def test_the_log_barrier_step_solves_its_equation():
    for _ in range(50):
        N = int(RNG.integers(2, 40))
        p, eta = RNG.dirichlet(np.ones(N)), 10.0 ** RNG.uniform(-3, 1, N)
        i, loss = int(RNG.integers(N)), np.zeros(N)
        loss[i] = RNG.random() / p[i]
        q = log_barrier_step(p, loss, eta)
        assert q.sum() == pytest.approx(1.0, abs=1e-10)
        # 1/q_i - 1/p_i = eta_i (loss_i - z) with one z for all.
        z = loss - (1 / q - 1 / p) / eta
        assert np.allclose(z, z.mean(), rtol=0, atol=1e-7 * max(1.0, (1 / (eta * q)).max()))
        assert q[i] <= p[i]


def test_equal_losses_change_nothing():
    p = RNG.dirichlet(np.ones(7))
    assert np.allclose(log_barrier_step(p, np.full(7, 0.3), np.full(7, 0.5)), p, rtol=0, atol=1e-12)


def test_corral_raises_the_rate_of_a_starved_arm():
    T = 1000
    master = Corral(4, T, c=100.0)
    assert master.beta == pytest.approx(exp(1 / log(T)))
    assert master.beta > 1
    first = master.eta.copy()
    for _ in range(400):
        i, p = master.choose(RNG, None)
        master.learn(i, 0.0 if i == 2 else 1.0, p, None)
        assert master.p.sum() == pytest.approx(1.0, abs=1e-9)
        assert master.p.min() >= 1 / (4 * T) * (1 - 1e-9)
    assert master.p.argmax() == 2
    assert (master.eta[[0, 1, 3]] > first[0]).all()
    assert master.eta[2] == first[2]
    assert (1 / master.p <= master.rho).all()


@pytest.mark.parametrize("which", range(4))
def test_every_master_finds_the_best_arm(which):
    master, rng = masters()[which], np.random.default_rng(3)
    loss = np.array([0.5, 0.6, 0.1, 0.5, 0.7, 0.4])
    for _ in range(1500):
        i, p = master.choose(rng, None)
        master.learn(i, float(rng.random() < loss[i]), p, None)
    assert master.p.argmax() == 2
    assert master.p[2] > 0.5


@pytest.mark.parametrize("which", range(4))
def test_only_arms_awake_are_played(which):
    master, rng = masters()[which], np.random.default_rng(3)
    for _ in range(60):
        awake = rng.random(6) < 0.5
        awake[int(rng.integers(6))] = True
        i, p = master.choose(rng, awake)
        assert awake[i]
        master.learn(i, rng.random(), p, awake)
        assert master.p.sum() == pytest.approx(1.0, abs=1e-9)


def test_a_block_keeps_its_arm_and_its_mean_loss_counts():
    master, rng = BatchedExp3(2, c=1.0), np.random.default_rng(0)
    lengths = []
    for _ in range(40):
        arm, p = master.choose(rng, None)
        length, before, told = master.length, master.L.copy(), 0
        while master.n_labels or told == 0:
            assert master.choose(rng, None) == (arm, p)
            master.learn(arm, 0.25 if told % 2 else 0.75, p, None)
            told += 1
        assert told == length
        mean = (0.25 * (told // 2) + 0.75 * ((told + 1) // 2)) / told
        assert master.L[arm] - before[arm] == pytest.approx(mean / p)
        lengths.append(told)
    assert lengths == sorted(lengths)
    assert lengths[-1] > lengths[0] == 1


def test_a_loss_of_an_earlier_block_comes_too_late():
    master, rng = BatchedExp3(2, c=1.0), np.random.default_rng(0)
    arm, p = master.choose(rng, None)
    master.learn(arm, 0.5, p, None)
    before = master.L.copy()
    master.learn(arm, 0.5, p, None)
    assert np.array_equal(master.L, before)


def hedged_run(N, T, c, r, losses, seed):
    """The laws p_t, the bonuses b_t that were subtracted at t, and the arms."""
    master, rng = HedgedFTRL(N, T, c, r), np.random.default_rng(seed)
    laws, bonuses, arms = [], [], []
    before = np.zeros(N)
    for t in range(T):
        laws.append(master.p)
        bonuses.append(master.bonus - before)
        before = master.bonus
        i, p = master.choose(rng, None)
        arms.append(i)
        L = master.L + loss_estimate(N, i, losses[t, i], p, None)
        master.learn(i, losses[t, i], p, None)
        np.testing.assert_allclose(master.p, tsallis_law(L - before, c / np.sqrt(T)), rtol=1e-12)
    return np.array(laws), np.array(bonuses), arms


def test_the_bonus_pays_for_the_rarest_play_and_costs_at_most_r_sqrt_nt():
    """The two sums of the proof: sum_t b_ti = R (sqrt(rho_i) - sqrt(N)), sum_t <p_t, b_t> <= R sqrt(N)."""
    N, T, r = 8, 3000, 0.4
    losses = np.random.default_rng(0).random((T, N)) * np.linspace(0.1, 1.0, N)
    laws, bonuses, _ = hedged_run(N, T, 1.2, r, losses, seed=1)
    rho = (1 / laws).max(axis=0)
    assert rho.max() > 10 * N
    np.testing.assert_allclose(bonuses.sum(axis=0), r * np.sqrt(T) * (np.sqrt(rho) - np.sqrt(N)), rtol=1e-9, atol=1e-9)
    assert (bonuses >= 0).all()
    paid = (laws * bonuses).sum()
    assert 0.1 * r * np.sqrt(T * N) < paid <= r * np.sqrt(T * N)
    # The bonus is due only where an arm is less likely than ever before.
    records = 1 / laws >= np.maximum.accumulate(1 / laws) * (1 - 1e-12)
    assert (bonuses[~records] == 0).all()


def test_the_regret_of_hedged_ftrl_is_within_its_bound_against_an_adversary():
    """4/c + 1.19 c + 2.6 r times sqrt(NT), c r <= 1/2; the arm that looks worst for a third of the time is the best."""
    N, T, r = 6, 6000, 0.25
    c = min(2.0, 0.5 / r)
    losses = np.full((T, N), 0.5)
    losses[: T // 3, 2], losses[T // 3 :, 2] = 1.0, 0.0
    found = []
    for seed in range(5):
        _, _, arms = hedged_run(N, T, c, r, losses, seed)
        found.append(losses[np.arange(T), arms].sum() - losses.sum(axis=0).min())
    assert np.mean(found) <= (4 / c + 1.19 * c + 2.6 * r) * np.sqrt(N * T)
    assert np.mean(found) < T / 3  # it did notice


def test_a_longer_horizon_keeps_what_is_known():
    master, rng = HedgedFTRL(4, 100, 4.0, 0.05), np.random.default_rng(0)
    for _ in range(100):
        i, p = master.choose(rng, None)
        master.learn(i, float(i != 1), p, None)
    L, rho = master.L.copy(), master.rho.copy()
    master.extend()
    assert master.T == 200
    assert np.array_equal(master.L, L)
    assert np.array_equal(master.rho, rho)
