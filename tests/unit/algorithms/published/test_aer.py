"""AER: a projected gradient step on the l1 ball."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.published.aer import onto_l1_ball


def test_the_projection_is_the_nearest_point_of_the_l1_ball():
    """w is nearest to v iff |w|_1 <= B and <v - w, w> = B |v - w|_inf: the normal cone of the ball."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 7, 30):
        v = rng.standard_normal(d) * 3
        w = onto_l1_ball(v, 1.0)
        assert np.abs(w).sum() == pytest.approx(min(np.abs(v).sum(), 1.0), abs=1e-12)
        assert (v - w) @ w == pytest.approx(np.abs(v - w).max() * 1.0, abs=1e-12)


def test_a_point_inside_the_ball_stays():
    v = np.array([0.3, -0.3, 0.0])
    np.testing.assert_array_equal(onto_l1_ball(v, 1.0), v)


def test_one_step_is_a_projected_gradient_step():
    learner = kh.make("aer", d=5, k=3, seed=0, tuning="theory")
    x = np.linspace(-1, 1, 5)
    r = learner.ask()
    g = np.zeros(5)
    g[r.attributes] = learner._gradient(r, x[r.attributes], 0.8)
    learner.tell(r, x[r.attributes], 0.8)
    eta = 1.0 / np.sqrt(5 * (5 / 2 + 1))
    np.testing.assert_allclose(learner.w, onto_l1_ball(-eta * g, 1.0), atol=1e-15)


def test_the_iterates_stay_in_the_ball():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=300, seed=1, sigma=1.0)
    learner = kh.make("aer", d=8, k=3, seed=0, radius=0.7, step=20)
    for t in range(300):
        r = learner.ask()
        learner.tell(r, X[t][r.attributes], y[t])
        assert np.abs(learner.w).sum() <= 0.7 + 1e-12
