"""The path: every point on it is a solution, every corner of it is one, and none is missing."""

import numpy as np
import pytest

from keyhole._internal.typing import Floats
from keyhole.errors import ConfigError
from keyhole.estimation.dantzig import path, solve


def moments(seed: int, n: int, d: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :2].sum(axis=1) + 0.5 * rng.normal(size=n)
    return X.T @ X / n, X.T @ y / n


def test_the_path_of_the_identity_bends_at_every_entry_of_b() -> None:
    b = np.array([0.3, -1.0, 0.6, 0.0])
    p = path(np.eye(4), b)
    np.testing.assert_allclose(p.gammas, [1.0, 0.6, 0.3, 0.0], atol=1e-15)
    for gamma, w in zip(p.gammas, p.weights, strict=True):
        np.testing.assert_allclose(w, np.sign(b) * np.maximum(np.abs(b) - gamma, 0), atol=1e-15)


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 25), (10, 14)])
def test_every_point_of_the_path_is_optimal(n: int, d: int) -> None:
    H, b = moments(0, n, d)
    p = path(H, b)
    rng = np.random.default_rng(1)
    for gamma in [*rng.uniform(p.gammas[-1], p.gammas[0], 40), *p.gammas]:
        w, sol = p.at(gamma), solve(H, b, gamma)
        assert np.abs(w).sum() == pytest.approx(sol.objective, rel=1e-9, abs=1e-12)
        assert np.abs(b - H @ w).max() <= gamma + 1e-9


def test_every_breakpoint_is_a_corner() -> None:
    H, b = moments(2, 40, 20)
    p = path(H, b)
    slopes = np.diff(p.objectives) / np.diff(p.gammas)
    # V is convex and falls in gamma: downwards its slope becomes strictly steeper.
    assert (np.diff(slopes) < 0).all()
    assert (np.diff(p.gammas) < 0).all()


def test_equal_data_gives_one_breakpoint_and_not_a_cloud() -> None:
    p = path(np.eye(5), np.array([1.0, 1.0, -1.0, 0.5, 0.5]))
    np.testing.assert_allclose(p.gammas, [1.0, 0.5, 0.0], atol=1e-12)


def test_the_path_ends_where_the_problem_has_no_solution() -> None:
    p = path(np.ones((3, 3)), np.array([1.0, 2.0, 0.0]))
    assert p.gammas[-1] == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(ConfigError, match="path ends"):
        p.at(0.9)


def test_the_path_can_stop_early_and_above_gamma_max_it_is_zero() -> None:
    H, b = moments(3, 30, 6)
    p = path(H, b, gamma_min=0.2)
    assert p.gammas[-1] == 0.2
    assert not p.at(10.0).any()
    assert path(H, b, gamma_min=10.0).weights.tolist() == [[0.0] * 6]
