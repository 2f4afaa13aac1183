"""`solve`: closed forms, every kind of gamma, every kind of H, and what it says where there is no answer."""

import itertools

import numpy as np
import pytest

from keyhole._internal.typing import Floats
from keyhole.errors import ConfigError
from keyhole.estimation.dantzig import Solution, gamma_max, solve
from keyhole.estimation.dantzig.highs import solve_highs


def certified(sol: Solution) -> bool:
    return sol.status == "optimal" and max(sol.primal_residual, sol.dual_residual, sol.gap) <= 1e-9


def indefinite(rng: np.random.Generator, d: int) -> Floats:
    H = rng.normal(size=(d, d))
    return H + H.T


def test_the_identity_gives_the_soft_threshold() -> None:
    b = np.array([1.0, -0.5, 0.2, 0.0])
    sol = solve(np.eye(4), b, 0.3)
    assert certified(sol)
    np.testing.assert_allclose(sol.w, np.sign(b) * np.maximum(np.abs(b) - 0.3, 0), atol=1e-15)


@pytest.mark.parametrize("h", [-3.0, 0.25, 7.0])
def test_one_attribute_is_a_division(h: float) -> None:
    sol = solve(np.array([[h]]), np.array([2.0]), 0.5)
    assert certified(sol)
    assert sol.w[0] == pytest.approx(1.5 / h)


def test_the_optimum_is_the_best_of_all_bases_in_three_dimensions() -> None:
    """A vertex solves H[R, A] w = b_R -+ gamma for some A, R and signs; the best feasible one of them all is it."""
    rng = np.random.default_rng(0)
    H, b, gamma = indefinite(rng, 3), rng.normal(size=3), 0.3
    best = np.inf
    for m in range(1, 4):
        for A, R in itertools.product(itertools.combinations(range(3), m), repeat=2):
            for sg in itertools.product([-1.0, 1.0], repeat=m):
                w = np.zeros(3)
                w[list(A)] = np.linalg.solve(H[np.ix_(R, A)], b[list(R)] - gamma * np.array(sg))
                if np.abs(b - H @ w).max() <= gamma + 1e-12:
                    best = min(best, float(np.abs(w).sum()))
    assert solve(H, b, gamma).objective == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_attributes_in_reverse_order_take_the_same_number_of_pivots(seed: int) -> None:
    """A ratio test that overlooked the first or the last residual would still end in a certificate, by another way."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 12))
    H = A.T @ A / 30
    b = H @ rng.normal(size=12)
    gamma = 0.01 * np.abs(b).max()
    one, other = solve(H, b, gamma), solve(H[::-1, ::-1].copy(), b[::-1].copy(), gamma)
    assert one.pivots == other.pivots > 0
    np.testing.assert_allclose(one.w, other.w[::-1], atol=1e-12)


def test_the_dual_is_one() -> None:
    rng = np.random.default_rng(1)
    H, b = indefinite(rng, 12), rng.normal(size=12)
    gamma = rng.uniform(0.05, 0.5, 12)
    sol = solve(H, b, gamma)
    assert np.abs(H.T @ sol.dual).max() <= 1 + 1e-12
    assert b @ sol.dual - gamma @ np.abs(sol.dual) == pytest.approx(sol.objective, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_that_is_not_symmetric_is_solved_as_it_stands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    H, b, gamma = rng.normal(size=(15, 15)), rng.normal(size=15), rng.uniform(0.1, 0.4, 15)
    sol = solve(H, b, gamma)
    assert certified(sol)
    assert np.abs(b - H @ sol.w).max() <= gamma.max() + 1e-9
    assert sol.objective == pytest.approx(solve_highs(H, b, gamma).objective, rel=1e-9)


def test_gamma_zero_solves_the_equations() -> None:
    rng = np.random.default_rng(2)
    H, w = indefinite(rng, 8), rng.normal(size=8)
    np.testing.assert_allclose(solve(H, H @ w, 0.0).w, w, rtol=1e-9)


def test_an_infinite_gamma_takes_the_constraint_away() -> None:
    rng = np.random.default_rng(3)
    H, b = indefinite(rng, 10), rng.normal(size=10)
    gamma = np.full(10, 0.1)
    gamma[6:] = np.inf
    loose = np.where(np.isinf(gamma), 1e6, gamma)
    sol = solve(H, b, gamma)
    assert certified(sol)
    assert (sol.dual[6:] == 0).all()
    assert sol.objective == pytest.approx(solve(H, b, loose).objective, rel=1e-12)
    assert solve(H, b, np.inf).w.tolist() == [0.0] * 10


def test_zero_is_optimal_from_gamma_max_on_and_not_before() -> None:
    rng = np.random.default_rng(4)
    H, b = indefinite(rng, 6), rng.normal(size=6)
    assert solve(H, b, gamma_max(b)).path == "zero"
    assert solve(H, b, gamma_max(b) * (1 - 1e-9)).objective > 0


def test_nothing_to_choose_from_is_optimal() -> None:
    assert solve(np.empty((0, 0)), np.empty(0), 0.1).status == "optimal"


def test_an_infeasible_problem_is_said_to_be_one() -> None:
    sol = solve(np.diag([1.0, 0.0]), np.array([1.0, 0.5]), 0.4)
    assert sol.status == "infeasible"
    assert np.isnan(sol.w).all()
    assert sol.objective == np.inf
    assert solve(np.diag([1.0, 0.0]), np.array([1.0, 0.5]), 0.5).status == "optimal"


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_matter(unit: float) -> None:
    rng = np.random.default_rng(5)
    H, b = indefinite(rng, 9), rng.normal(size=9)
    w = solve(H, b, 0.2).w
    np.testing.assert_allclose(solve(unit * H, b, 0.2).w * unit, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(solve(H, unit * b, unit * 0.2).w / unit, w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("H", "b", "gamma", "word"),
    [
        (np.eye(2), np.ones(3), 0.1, "square"),
        (np.ones((2, 3)), np.ones(2), 0.1, "square"),
        (np.eye(2), np.array([1.0, np.nan]), 0.1, "finite"),
        (np.eye(2), np.ones(2), -0.1, ">= 0"),
        (np.eye(2), np.ones(2), np.nan, ">= 0"),
        (np.eye(2), np.ones(2), np.ones(3), "length 2"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(H: Floats, b: Floats, gamma: "float | Floats", word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        solve(H, b, gamma)
