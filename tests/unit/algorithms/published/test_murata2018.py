"""Hard thresholding with exact residuals, alone and in turns with exploitation."""

import numpy as np
import pytest

import keyhole as kh

RNG = np.random.default_rng(0)


def sweep(learner, X, y):
    """One sweep in which every block is shown the same examples."""
    blocks = -(-(learner.d - learner.s) // (learner.k - learner.s))
    number = learner.sweep
    for n in range(blocks * y.size):
        assert learner.sweep == number
        r = learner.ask()
        row = X[n // blocks]
        learner.tell(r, row[r.attributes], y[n // blocks])
    assert learner.sweep == number + 1


@pytest.mark.parametrize("s", [1, 2, 3, 4])
@pytest.mark.parametrize("tuning", ["theory", "practical"])
def test_a_sweep_is_one_full_gradient_step_and_a_hard_threshold(s, tuning):
    d, k, B = 11, 5, 6
    learner = kh.make("murata2018-explore", d=d, k=k, seed=0, sparsity=s, batch=B, growth=1.0, tuning=tuning)
    theta, squares, rows = np.zeros(d), np.zeros(d), 0
    for _ in range(4):
        X, y = RNG.uniform(-1, 1, (B, d)), RNG.normal(size=B)
        sweep(learner, X, y)
        g = ((X @ theta - y)[:, None] * X).mean(axis=0)
        rows += B
        squares += (X**2).sum(axis=0)
        eta = learner._eta()
        if tuning == "theory":
            assert eta == 1.0
        u = theta - eta * g
        theta = np.where(np.abs(u) >= np.sort(np.abs(u))[-s], u, 0.0)
        assert np.allclose(learner.weights, theta, rtol=0, atol=1e-12)
        assert learner.support.tolist() == np.flatnonzero(theta).tolist()


def test_every_attribute_outside_the_support_is_in_one_block_of_a_sweep():
    learner = kh.make("murata2018-explore", d=10, k=4, seed=0, sparsity=1)
    seen = np.zeros(10, dtype=int)
    for _ in range(3):
        r = learner.ask()
        assert set(learner.support) <= set(r.attributes)
        seen[r.attributes] += 1
    assert seen[learner.support].tolist() == [3]
    assert np.delete(seen, learner.support).tolist() == [1] * 9


def test_a_round_of_an_earlier_theta_moves_nothing():
    learner = kh.make("murata2018-explore", d=4, k=3, seed=0, batch=1.0)
    late = learner.ask()
    while learner.sweep == 0:
        r = learner.ask()
        learner.tell(r, np.full(r.attributes.size, 0.5), 1.0)
    told, sums, theta = learner.n_labels, learner.sums.copy(), learner.weights
    learner.tell(late, np.ones(late.attributes.size), 1.0)
    assert learner.n_labels == told
    assert np.array_equal(learner.sums, sums)
    assert np.array_equal(learner.weights, theta)


def test_the_step_is_in_the_scale_of_the_features():
    X, y, w = kh.streams.synthetic(8, 2, 1200, seed=1)
    one, tenth = (kh.make("murata2018-explore", d=8, k=4, seed=0, sparsity=2) for _ in range(2))
    kh.play(one, X, y)
    kh.play(tenth, X / 10, y)
    assert np.allclose(one.weights, tenth.weights / 10, rtol=1e-9, atol=0)
    assert np.linalg.norm(one.weights - w) < 0.1


def test_exploitation_takes_its_share():
    X, y, _ = kh.streams.synthetic(12, 2, 3000, seed=1)
    learner = kh.make("murata2018-hybrid", d=12, k=4, seed=0, ratio=4.0, batch=2.0)
    explored = kh.play(learner, X, y).explored
    turns = np.flatnonzero(np.diff(explored.astype(int)))
    lengths = np.diff(np.concatenate([[-1], turns]))
    assert lengths.size > 5
    assert np.allclose(lengths[1::2] / lengths[0:-1:2], 4.0)


@pytest.mark.parametrize("better", ["newton", "theta"])
def test_the_better_of_the_two_iterates_is_kept(better):
    learner = kh.make("murata2018-hybrid", d=8, k=4, seed=0)
    X, y, _ = kh.streams.synthetic(8, 2, 3000, seed=1)
    rows = iter(zip(X, y, strict=True))
    while not learner.left:
        x, label = next(rows)
        r = learner.ask()
        learner.tell(r, x[r.attributes], label)
    while learner.left:
        x, label = next(rows)
        r = learner.ask()
        # What the label says is what theta predicts, or what w* does.
        learner.tell(r, x[r.attributes], label if better == "newton" else learner.theta @ x)
    theta, newton = learner.theta.copy(), learner.weights
    assert (learner.lead > 0) == (better == "newton")
    learner.abandon(learner.ask())
    if better == "newton":
        assert np.array_equal(learner.theta[learner.S], newton[learner.S])
        assert set(learner.S) == set(np.argsort(-np.abs(newton))[: learner.s])
    else:
        assert np.array_equal(learner.theta, theta)


def test_the_default_comes_close_to_the_truth():
    X, y, w = kh.streams.synthetic(20, 3, 4000, seed=7)
    learner = kh.make("murata2018-hybrid", d=20, k=6, seed=7)
    history = kh.play(learner, X, y)
    # Least squares on k = 6 of the 4000 rows would be sigma sqrt(3 k / T) = 0.0067 away.
    assert np.linalg.norm(learner.weights - w) < 0.02
    assert history.regret(w)[-1] < 0.2 * (y**2 - (y - X @ w) ** 2).sum()


@pytest.mark.parametrize("name", ["murata2018-explore", "murata2018-hybrid"])
def test_bad_arguments_are_named(name):
    for k, options, message in [
        (1, {}, "k >= 2"),
        (3, {"sparsity": 3}, "sparsity"),
        (3, {"sparsity": 0}, "sparsity"),
        (3, {"step": 0.0}, "step"),
        (3, {"batch": -1.0}, "batch"),
    ]:
        with pytest.raises(kh.ConfigError, match=message):
            kh.make(name, d=8, k=k, seed=0, **options)
