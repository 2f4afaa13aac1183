"""Several solutions: which one is returned depends on the problem and the order of the attributes alone."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

import keyhole as kh
from keyhole._internal.typing import Floats, Ints
from keyhole.algorithms._dantzig_estimate import DantzigEstimate
from keyhole.core.state import Stateful
from keyhole.estimation.dantzig import Sequence, solve
from keyhole.estimation.dantzig.gram_storage import Dense
from keyhole.estimation.dantzig.highs import solve_highs
from keyhole.estimation.dantzig.ties import preferences, untie

WAYS = import_module("keyhole.estimation.dantzig.highs")._WAYS


def rademacher(seed: int) -> tuple[Floats, Floats, float, Ints]:
    """H, b, gamma of importance-weighted rounds with attributes of +-1, and an order of the attributes."""
    rng = np.random.default_rng([34, seed])
    d, k, n = (int(rng.choice(sizes)) for sizes in ([12, 30, 60], [3, 5, 8], [3, 10, 40, 150]))
    P = np.full((k, k), k * (k - 1) / (d * (d - 1)))
    np.fill_diagonal(P, k / d)
    H, b = np.zeros((d, d)), np.zeros(d)
    for _ in range(n):
        x, B = rng.choice([-1.0, 1.0], d), rng.choice(d, k, replace=False)
        H[np.ix_(B, B)] += np.outer(x[B], x[B]) / P / n
        b[B] += x[B] * x[:k].mean() / (k / d) / n
    return H, b, float(rng.choice([0.1, 0.3, 0.6])) * np.abs(b).max(), rng.permutation(d)


def sequence(H: Floats, b: Floats, order: Ints, **options: str) -> Sequence:
    seq = Sequence(b.size, order=order, **options)
    seq.update(np.arange(b.size), H, b)
    return seq


def test_200_problems_of_signs_have_the_same_solution_from_every_engine() -> None:
    tied = 0
    for seed in range(200):
        H, b, gamma, order = rademacher(seed)
        expected = sequence(H, b, order).solve(gamma)
        warm = sequence(H, b, order)
        warm.solve(1.3 * gamma)
        rows, Gamma, weights = Dense(H, symmetric=True), np.full(b.size, gamma), preferences(order)
        found = {name: way(rows, b, Gamma, weights) for name, way in WAYS.items()}
        found |= {store: sequence(H, b, order, store=store).solve(gamma) for store in ("rows", "lists")}
        found |= {"warm": warm.solve(gamma), "highs engine": sequence(H, b, order, engine="highs").solve(gamma)}
        for name, sol in found.items():
            assert sol.status == expected.status == "optimal", (seed, name)
            np.testing.assert_allclose(sol.w, expected.w, rtol=0, atol=1e-9, err_msg=f"{seed} {name}")
            assert np.flatnonzero(sol.w).tolist() == np.flatnonzero(expected.w).tolist(), (seed, name)
        tied += np.abs(solve_highs(H, b, Gamma).w - expected.w).max() > 1e-7
    assert tied >= 20  # without the rule


def test_the_solution_is_the_preferred_one_of_all() -> None:
    """Every vertex of a small problem, by enumeration: least |w|_1, then least sum of preferences."""
    checked = 0
    for seed in range(40):
        rng = np.random.default_rng([35, seed])
        X = rng.choice([-1.0, 1.0], (4, 5))
        H, b, gamma = X.T @ X / 4, X.T @ X[:, 0] / 4, 0.25
        weights = preferences(np.arange(5))
        vertices = [np.zeros(5)]
        for size in range(1, 5):
            for A in combinations(range(5), size):
                for R in combinations(range(5), size):
                    G = H[np.ix_(R, A)]
                    if abs(np.linalg.det(G)) > 1e-9:
                        for signs in np.ndindex(*(2,) * size):
                            w = np.zeros(5)
                            w[list(A)] = np.linalg.solve(G, b[list(R)] - gamma * (1.0 - 2.0 * np.array(signs)))
                            vertices.append(w)
        points = np.array([w for w in vertices if (np.abs(b - H @ w) <= gamma + 1e-9).all()])
        best = points[np.abs(points).sum(axis=1) <= np.abs(points).sum(axis=1).min() + 1e-9]
        checked += np.ptp(best, axis=0).max() > 1e-6
        chosen = best[np.argmin(np.abs(best) @ weights)]
        np.testing.assert_allclose(solve(H, b, gamma).w, chosen, atol=1e-9)
    assert checked >= 10


def test_another_order_may_choose_another_solution_of_the_same_norm() -> None:
    H, b = np.ones((3, 3)), np.ones(3)
    chosen = set()
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        sol = sequence(H, b, np.array(order)).solve(0.5)
        assert sol.objective == pytest.approx(0.5)
        chosen.add(int(np.flatnonzero(sol.w)[0]))
        assert np.argmin(preferences(np.array(order))) == np.flatnonzero(sol.w)[0]
    assert chosen == {0, 1, 2}


class Fixed(Stateful):
    """A width of 0.5."""

    def observe(self, B: Ints, deviation: Floats) -> None:
        pass

    def gamma(self, s: int) -> float:
        return 0.5


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
def test_the_order_of_a_learner_is_the_order_that_decides(order: list[int]) -> None:
    estimate = DantzigEstimate(3, 1, Fixed(), np.array(order))
    estimate.accumulate(np.arange(3), np.ones(3), 1.0, np.ones((3, 3)))
    estimate.solve()
    assert estimate.S.tolist() == [np.argmin(preferences(np.array(order)))]


def test_a_solution_that_is_alone_is_left_as_it_is() -> None:
    H, b = np.diag([1.0, 2.0, 4.0]), np.array([1.0, -1.0, 0.3])
    sol = solve_highs(H, b, np.full(3, 0.25))
    again = untie(Dense(H, symmetric=True), b, np.full(3, 0.25), sol, preferences(np.arange(3)))
    np.testing.assert_allclose(again.w, sol.w, rtol=1e-12)


def test_whole_runs_on_signs_do_not_depend_on_the_engine() -> None:
    for seed in range(4):
        rng = np.random.default_rng([5, seed])
        X = rng.choice([-1.0, 1.0], (400, 60))
        y = X[:, :8].mean(axis=1)
        learners = [
            kh.make("ds-oslrc", d=60, k=8, seed=seed, explore="2 t^(-1/3)", engine=engine)
            for engine in ("simplex", "highs")
        ]
        one, two = (kh.play(learner, X, y).predictions for learner in learners)
        np.testing.assert_allclose(one, two, atol=1e-6, err_msg=str(seed))
        assert np.abs(learners[0].weights).max() > 0.01
