"""`kh.dantzig.solve` as the contract has it: optimal by certificate, whatever engine is behind it."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation.dantzig.problem import certify

TOLERANCE = 1e-9


def problem(d, s, k, seed):
    """Summed importance-weighted estimates as a learner would meet them: symmetric, usually indefinite."""
    rng = np.random.default_rng(seed)
    seq = kh.dantzig.Sequence(d)
    w = np.where(np.arange(d) < 2, 0.5, 0.0)
    for _ in range(s):
        B, x = rng.choice(d, k, replace=False), rng.uniform(-1, 1, d)
        P = np.full((k, k), k * (k - 1) / (d * (d - 1)))
        np.fill_diagonal(P, k / d)
        seq.update(B, np.outer(x[B], x[B]) / P, x[B] * (x @ w + 0.1 * rng.normal()) / (k / d))
    return seq


def assert_certified(sol):
    assert sol.status == "optimal"
    assert sol.primal_residual <= TOLERANCE
    assert sol.dual_residual <= TOLERANCE
    assert sol.gap <= TOLERANCE
    assert sol.objective == pytest.approx(np.abs(sol.w).sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [0.02, 0.1, 0.4])
def test_solutions_carry_a_certificate(seed, width):
    seq = problem(12, 60, 4, seed)
    H, b = seq.H / seq.s, seq.b / seq.s
    sol = kh.dantzig.solve(H, b, width * np.abs(b).max())
    assert_certified(sol)
    vector = width * np.abs(b).max() * np.random.default_rng(seed).uniform(0.5, 2, 12)
    assert_certified(kh.dantzig.solve(H, b, vector))


def test_the_certificate_condemns_what_is_not_optimal():
    seq = problem(8, 60, 4, 0)
    H, b = seq.H / seq.s, seq.b / seq.s
    gamma = np.full(8, 0.2 * np.abs(b).max())
    sol = kh.dantzig.solve(H, b, gamma)
    assert certify(H, b, gamma, 1.1 * sol.w, sol.dual, "test").gap > 1e-3
    assert certify(H, b, gamma, 0.5 * sol.w, sol.dual, "test").primal_residual > 1e-3
    assert certify(H, b, gamma, sol.w, 2 * sol.dual, "test").dual_residual > 0.5


def test_identity_is_soft_thresholding():
    b, gamma = np.array([1.0, -0.4, 0.1, 0.0]), np.array([0.3, 0.1, 0.2, 0.0])
    sol = kh.dantzig.solve(np.eye(4), b, gamma)
    assert np.abs(sol.w - np.sign(b) * np.maximum(np.abs(b) - gamma, 0)).max() < 1e-12


def test_zero_is_the_solution_exactly_from_gamma_max_on():
    seq = problem(10, 80, 4, 1)
    top = kh.dantzig.gamma_max(seq.b / seq.s)
    assert top == seq.gamma_max
    zero = seq.solve(top)
    assert not zero.w.any()
    assert zero.status == "optimal"
    assert seq.solve(0.999 * top).w.any()


def test_the_sequence_solves_the_means():
    seq = problem(10, 80, 4, 2)
    one, two = seq.solve(0.05), kh.dantzig.solve(seq.H / 80, seq.b / 80, 0.05)
    assert one.objective == pytest.approx(two.objective, rel=1e-9)
    assert_certified(one)


def test_updates_add_up():
    seq = kh.dantzig.Sequence(5)
    seq.update(np.array([3, 1]), np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([0.5, 0.25]))
    seq.update(np.array([1, 0]), np.array([[1.0, 0.5], [0.5, 3.0]]), np.array([1.0, 2.0]))
    assert seq.s == 2
    assert seq.b.tolist() == [2.0, 1.25, 0.0, 0.5, 0.0]


def test_no_feasible_point_is_said_and_not_raised():
    sol = kh.dantzig.solve(np.zeros((3, 3)), np.array([1.0, 0.0, 0.0]), 0.5)
    assert sol.status == "infeasible"
    assert np.isnan(sol.w).all()
    assert sol.objective == np.inf


def test_gamma_zero_is_the_smallest_solution_of_the_equations():
    H = np.array([[2.0, 0.5], [0.5, 1.0]])
    sol = kh.dantzig.solve(H, np.array([1.0, -1.0]), 0.0)
    assert np.abs(sol.w - np.linalg.solve(H, [1.0, -1.0])).max() < 1e-10


def test_a_matrix_that_is_not_symmetric_is_solved_too():
    rng = np.random.default_rng(0)
    H, b = rng.normal(size=(6, 6)), rng.normal(size=6)
    assert_certified(kh.dantzig.solve(H, b, 0.1))


@pytest.mark.parametrize(
    ("H", "b", "gamma", "message"),
    [
        (np.eye(3), np.zeros(2), 0.1, "square"),
        (np.zeros((2, 3)), np.zeros(3), 0.1, "square"),
        (np.eye(2), np.zeros(2), -0.1, ">= 0"),
        (np.eye(2), np.zeros(2), np.nan, "NaN"),
        (np.eye(2), np.zeros(2), np.ones(3), "length 2"),
        (np.full((2, 2), np.nan), np.zeros(2), 0.1, "finite"),
    ],
)
def test_what_makes_no_problem_is_refused(H, b, gamma, message):
    with pytest.raises(kh.ConfigError, match=message):
        kh.dantzig.solve(H, b, gamma)
