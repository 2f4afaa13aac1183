"""`Sequence`: what enters, what comes out, and that a saved one goes on as if nothing had happened."""

import numpy as np
import pytest

from keyhole._internal.typing import Floats, Ints
from keyhole.errors import ConfigError
from keyhole.estimation.dantzig import Sequence, solve

from .stress import rounds


def some_round(rng: np.random.Generator, d: int, k: int) -> tuple[Ints, Floats, Floats]:
    x = rng.normal(size=k)
    return rng.choice(d, k, replace=False), np.outer(x, x), 0.5 * x + 0.1 * rng.normal(size=k)


def test_the_sums_are_those_of_the_rounds() -> None:
    rng = np.random.default_rng(0)
    seq, H, b = Sequence(9), np.zeros((9, 9)), np.zeros(9)
    for _ in range(20):
        B, h, v = some_round(rng, 9, 4)
        seq.update(B, h, v)
        H[np.ix_(B, B)] += h
        b[B] += v
    assert seq.s == 20
    np.testing.assert_array_equal(seq.H, H)
    np.testing.assert_array_equal(seq.b, b)
    assert seq.gamma_max == np.abs(b).max() / 20


def test_a_sequence_solves_the_problem_of_the_means() -> None:
    for seq, gamma in rounds("vector", seed=3, length=15):
        sol, mean = seq.solve(gamma), solve(seq.H / seq.s, seq.b / seq.s, gamma)
        assert sol.objective == pytest.approx(mean.objective, rel=1e-11)
        assert np.abs(seq.H.T @ sol.dual / seq.s).max() <= 1 + 1e-9
        bound = seq.b @ sol.dual / seq.s - np.asarray(gamma) @ np.abs(sol.dual)
        assert bound == pytest.approx(sol.objective, rel=1e-9)


def test_the_second_solve_of_the_same_problem_takes_no_pivot() -> None:
    for seq, gamma in rounds("uniform", seed=1, length=10):
        first, second = seq.solve(gamma), seq.solve(gamma)
        assert (second.path, second.pivots) == ("warm", 0)
        np.testing.assert_allclose(second.w, first.w, rtol=1e-12, atol=1e-13)


def test_both_engines_say_the_same() -> None:
    fast, slow, rng = Sequence(8), Sequence(8, engine="highs"), np.random.default_rng(2)
    for _ in range(12):
        B, h, v = some_round(rng, 8, 3)
        fast.update(B, h, v)
        slow.update(B, h, v)
        a, b = fast.solve(0.2 * fast.gamma_max), slow.solve(0.2 * slow.gamma_max)
        assert (a.status, b.path) == (b.status, "highs")
        assert a.objective == pytest.approx(b.objective, rel=1e-9)
        assert b.gap <= 1e-9


def test_many_updates_without_a_solve_are_no_trouble() -> None:
    rng = np.random.default_rng(5)
    seq = Sequence(12)
    for i in range(400):
        seq.update(*some_round(rng, 12, 5))
        if i % 100 == 30:
            sol = seq.solve(0.1 * seq.gamma_max)
            assert sol.objective == pytest.approx(solve(seq.H, seq.b, 0.1 * seq.gamma_max * seq.s).objective, rel=1e-9)


def test_rounds_that_are_not_symmetric_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(6)
    seq = Sequence(10)
    for i in range(30):
        B, h, v = some_round(rng, 10, 6)
        seq.update(B, h + (i > 10) * rng.normal(size=h.shape), v)
        gamma = 0.3 * seq.gamma_max
        sol, mean = seq.solve(gamma), solve(seq.H / seq.s, seq.b / seq.s, gamma)
        assert sol.status == mean.status
        if sol.status == "optimal":
            assert sol.objective == pytest.approx(mean.objective, rel=1e-9)


@pytest.mark.parametrize("name", ["signs", "jumps", "often without solution"])
def test_a_restored_sequence_continues_bit_for_bit(name: str) -> None:
    for seq, gamma in rounds(name, seed=8, length=25):
        twin = Sequence(seq.d)
        twin.set_state(seq.get_state())
        one, two = seq.solve(gamma), twin.solve(gamma)
        assert (one.status, one.path, one.pivots) == (two.status, two.path, two.pivots)
        np.testing.assert_array_equal(one.w, two.w)
        np.testing.assert_array_equal(one.dual, two.dual)
        assert {k: np.asarray(v).tolist() for k, v in seq.get_state().items()} == {
            k: np.asarray(v).tolist() for k, v in twin.get_state().items()
        }


@pytest.mark.parametrize(
    ("B", "h", "v"),
    [
        ([0, 5], np.eye(2), np.ones(2)),
        ([-1, 1], np.eye(2), np.ones(2)),
        ([1, 1], np.eye(2), np.ones(2)),
        ([0, 1], np.full((2, 2), np.nan), np.ones(2)),
        ([0, 1], np.eye(2), np.array([1.0, np.inf])),
        ([0, 1], np.eye(3), np.ones(2)),
        ([0, 1], np.eye(2), np.ones(3)),
    ],
)
def test_a_bad_round_changes_nothing(B: list[int], h: Floats, v: Floats) -> None:
    seq = Sequence(5)
    with pytest.raises(ConfigError, match="round"):
        seq.update(np.array(B), h, v)
    assert seq.s == 0
    assert not seq.H.any()
    assert not seq.b.any()


def test_an_empty_round_counts() -> None:
    seq = Sequence(4)
    seq.update(np.empty(0, np.int64), np.empty((0, 0)), np.empty(0))
    assert seq.s == 1
    assert seq.solve(0.1).path == "zero"


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match="engine"):
        Sequence(3, engine="magic")
