"""What happens when the path is lost: each fallback in turn, all with the same answer."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from keyhole._internal.typing import Floats, Ints
from keyhole.estimation.dantzig import Sequence, simplex, solve
from keyhole.estimation.dantzig.gram_storage import Dense
from keyhole.estimation.dantzig.highs import solve_by_generation, solve_highs
from keyhole.estimation.dantzig.simplex import Verdict

from .stress import LAWS, rounds

Loop = Callable[..., tuple[float, ...]]


def failing(calls: Iterator[bool], end: int) -> Loop:
    """A `follow_path` that ends in `end` whenever the next of `calls` is true."""
    real: Loop = simplex.follow_path

    def follow_path(*args: object) -> tuple[float, ...]:
        return (end, args[3], 0, 0, 0.0, 0.0, 0.0, 0.0) if next(calls) else real(*args)

    return follow_path


def warm_sequence() -> tuple[Sequence, float]:
    """A sequence whose last solve was at a larger gamma, so that the next one has to pivot."""
    *_, (seq, _) = rounds("uniform", seed=4, length=20)
    seq.solve(0.4 * seq.gamma_max)
    return seq, 0.3 * seq.gamma_max


@pytest.mark.parametrize(
    ("lost", "path"), [(0, "warm"), (1, "cold"), (2, "reseeded"), (3, "equilibrated"), (5, "generation")]
)
def test_the_fallbacks_come_in_order(lost: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seq, gamma = warm_sequence()
    expected = solve(seq.H / seq.s, seq.b / seq.s, gamma).objective
    # A stuck path whose ray is no proof of infeasibility is a lost path.
    monkeypatch.setattr(simplex.Simplex, "_infeasible", lambda self, rows, b: False)
    monkeypatch.setattr(simplex, "follow_path", failing((i < lost for i in range(10**6)), Verdict.STUCK))
    sol = seq.solve(gamma)
    assert (sol.status, sol.path) == ("optimal", path)
    assert sol.objective == pytest.approx(expected, rel=1e-9)
    assert max(sol.primal_residual, sol.dual_residual, sol.gap) <= 1e-9


def test_highs_gets_all_of_it_if_generation_fails_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seq, gamma = warm_sequence()
    monkeypatch.setattr(simplex, "follow_path", failing((True for _ in range(10**6)), Verdict.LOST))
    monkeypatch.setattr("keyhole.estimation.dantzig.highs._ROUNDS", 0)
    assert seq.solve(gamma).path == "highs"


def test_the_next_solve_after_a_lost_one_is_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    seq, gamma = warm_sequence()
    with monkeypatch.context() as patch:
        patch.setattr(simplex, "follow_path", failing((True for _ in range(10**6)), Verdict.LOST))
        first = seq.solve(gamma)
    again = seq.solve(gamma)
    assert again.path == "cold"
    assert again.objective == pytest.approx(first.objective, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_generation_agrees_with_highs(name: str) -> None:
    for i, (seq, gamma) in enumerate(rounds(name, seed=11, length=9)):
        if i % 4 == 0:
            Gamma = np.broadcast_to(np.asarray(gamma, float), seq.d) * seq.s
            one, two = solve_by_generation(seq.rows, seq.b, Gamma), solve_highs(seq.H, seq.b, Gamma)
            assert one.status == two.status
            if one.status == "optimal":
                assert one.objective == pytest.approx(two.objective, rel=1e-8)


def test_generation_looks_at_a_small_part_of_a_large_problem() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 300))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=400)
    H, b = X.T @ X / 400, X.T @ y / 400
    seen: list[int] = []

    class Watched(Dense):
        def take(self, side: int, idx: Ints) -> Floats:
            seen.append(idx.size)
            return super().take(side, idx)

    sol = solve_by_generation(Watched(H, symmetric=True), b, np.full(300, 0.2))
    assert sol.objective == pytest.approx(solve(H, b, 0.2).objective, rel=1e-9)
    assert max(seen) < 150


def test_an_inverse_that_is_none_is_computed_anew() -> None:
    seq, gamma = warm_sequence()
    expected = seq.solve(gamma).objective
    seq.simplex.GG[1] *= 1.5
    assert seq.solve(gamma).objective == pytest.approx(expected, rel=1e-12)
    seq.simplex.GG[1] = np.nan
    assert seq.solve(gamma).objective == pytest.approx(expected, rel=1e-12)


def test_a_singular_basis_is_dropped() -> None:
    seq, gamma = warm_sequence()
    expected = seq.solve(gamma).objective
    seq.simplex.GG[:] = 0.0
    assert seq.solve(gamma).objective == pytest.approx(expected, rel=1e-9)


def test_the_basis_outgrows_its_room_in_the_middle_of_a_path() -> None:
    rng = np.random.default_rng(1)
    H, b = np.diag(rng.uniform(1, 2, 50)), rng.normal(size=50)
    seq = Sequence(50)
    seq.update(np.arange(50), H, b)
    assert seq.simplex.idx.shape[1] < 50
    sol = seq.solve(0.0)
    np.testing.assert_allclose(sol.w, b / np.diag(H), rtol=1e-12)
    assert seq.simplex.idx.shape[1] >= 50
