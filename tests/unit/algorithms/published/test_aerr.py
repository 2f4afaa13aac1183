"""AERR: a gradient step scaled back onto the l2 ball."""

import numpy as np
import pytest

import keyhole as kh


def test_one_step_is_a_gradient_step_scaled_back_onto_the_ball():
    for radius in (0.1, 10.0):
        learner = kh.make("aerr", d=5, k=3, seed=0, tuning="theory", radius=radius)
        x = np.linspace(-1, 1, 5)
        r = learner.ask()
        g = np.zeros(5)
        g[r.attributes] = learner._gradient(r, x[r.attributes], 0.8)
        learner.tell(r, x[r.attributes], 0.8)
        v = -np.sqrt(2 / (2 * 5)) * g
        np.testing.assert_allclose(learner.w, v * radius / max(radius, np.linalg.norm(v)), atol=1e-15)


def test_the_second_moment_of_the_inner_product_is_the_product_of_norms():
    """j ~ w_j^2 makes E (phi + y)^2 = |w|^2 |x|^2, the fact behind the step size; exact, by summing over j."""
    learner = kh.make("aerr", d=4, k=2, seed=0)
    w, x = np.array([0.4, -0.3, 0.0, 0.2]), np.array([0.5, -1.0, 0.7, 0.1])
    q = kh.sampling.distribution(np.abs(w) ** learner.power)
    seen = q > 0
    moment = (q[seen] * (x[seen] * w[seen] / q[seen]) ** 2).sum()
    assert moment == pytest.approx((w @ w) * (x[seen] @ x[seen]), abs=1e-15)


def test_the_step_sizes_fall_like_the_root_of_the_examples():
    learner = kh.make("aerr", d=20, k=5, seed=0, tuning="theory")
    assert [learner._eta(s, 4) for s in (1, 4)] == pytest.approx([np.sqrt(4 / 40), np.sqrt(4 / 40) / 2])
