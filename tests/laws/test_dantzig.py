"""Laws of DS(gamma) that hold whatever the data."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keyhole._internal.typing import Floats
from keyhole.estimation.dantzig import Sequence, Solution, solve
from keyhole.estimation.dantzig.highs import solve_highs

# Numbers with many ties and exact zeros among them, and none so small that its square is lost.
tied = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0])
ragged = st.floats(-4, 4).map(lambda x: round(x, 3))
numbers = st.one_of(tied, ragged)


@st.composite
def problems(draw: st.DrawFn, most: int = 7) -> tuple[Floats, Floats, Floats]:
    d = draw(st.integers(1, most))
    H = draw(arrays(float, (d, d), elements=numbers))
    H = H + H.T if draw(st.booleans()) else H
    b = draw(arrays(float, d, elements=numbers))
    gamma = draw(arrays(float, d, elements=st.sampled_from([0.0, 0.01, 0.25, 0.5, 1.0, np.inf])))
    return H, b, gamma


def certificate(sol: Solution) -> float:
    return max(sol.primal_residual, sol.dual_residual, sol.gap)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_answer_is_certified_or_highs_agrees_that_there_is_none(problem: tuple[Floats, Floats, Floats]) -> None:
    sol = solve(*problem)
    if sol.status == "optimal":
        assert certificate(sol) <= 1e-9
    else:
        assert sol.status == "infeasible"
        assert solve_highs(*problem).status != "optimal"


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_attributes_does_not_matter(problem: tuple[Floats, Floats, Floats], seed: int) -> None:
    H, b, gamma = problem
    order = np.random.default_rng(seed).permutation(b.size)
    one, two = solve(H, b, gamma), solve(H[np.ix_(order, order)], b[order], gamma[order])
    assert one.status == two.status
    if one.status == "optimal":
        np.testing.assert_allclose(one.objective, two.objective, rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([1e-6, 0.5, 3.0, 1e6]), st.sampled_from([1e-6, 0.25, 1e6]))
def test_the_units_of_the_data_are_the_units_of_the_answer(
    problem: tuple[Floats, Floats, Floats], a: float, c: float
) -> None:
    H, b, gamma = problem
    one, two = solve(H, b, gamma), solve(a * H, c * b, c * gamma)
    assert one.status == two.status
    if one.status == "optimal":
        np.testing.assert_allclose(one.objective * c / a, two.objective, rtol=1e-8, atol=0)


@settings(max_examples=60, deadline=None)
@given(arrays(float, st.integers(1, 12), elements=numbers), st.floats(0, 3))
def test_the_identity_is_soft_thresholding(b: Floats, gamma: float) -> None:
    sol = solve(np.eye(b.size), b, gamma)
    np.testing.assert_allclose(sol.w, np.sign(b) * np.maximum(np.abs(b) - gamma, 0), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.floats(0, 3))
def test_one_attribute_has_a_closed_form(h: float, b: float, gamma: float) -> None:
    sol = solve(np.array([[h]]), np.array([b]), gamma)
    need = max(abs(b) - gamma, 0.0)
    assume(need == 0.0 or need > 1e-9)
    if need == 0.0:
        assert sol.w.tolist() == [0.0]
    elif h == 0.0:
        assert sol.status == "infeasible"
    else:
        np.testing.assert_allclose(sol.w[0], np.sign(b) * need / h, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 9), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_a_sequence_saved_anywhere_continues_bit_for_bit(d: int, seed: int, script: list[int]) -> None:
    """Rounds (0, 1), solves (2) and saves (3) in any order."""
    rng = np.random.default_rng(seed)
    seq, twin = Sequence(d), Sequence(d)
    for step in script:
        if step < 2:
            B, x = rng.choice(d, 3, replace=False), rng.choice([-1.0, 0.0, 1.0, 0.3], 3)
            for one in (seq, twin):
                one.update(B, np.outer(x, x) * (1 + step), 0.5 * x)
        elif step == 2:
            gamma = 0.2 * seq.gamma_max
            one, two = seq.solve(gamma), twin.solve(gamma)
            assert (one.status, one.path, one.pivots) == (two.status, two.path, two.pivots)
            np.testing.assert_array_equal(one.w, two.w)
            np.testing.assert_array_equal(one.dual, two.dual)
        else:
            state, twin = twin.get_state(), Sequence(d)
            twin.set_state(state)


def test_a_basis_saved_with_a_stale_inverse_is_taken_back() -> None:
    """In this script an update makes the inverse singular right before a save: infinities that nobody reads again."""
    which = np.random.default_rng([291, 1])
    d, script = int(which.integers(3, 10)), which.integers(0, 4, 12)
    rng, seq, saved = np.random.default_rng(291), Sequence(d), 0
    for step in script:
        if step < 2:
            B, x = rng.choice(d, 3, replace=False), rng.choice([-1.0, 0.0, 1.0, 0.3], 3)
            seq.update(B, np.outer(x, x) * (1 + step), 0.5 * x)
        elif step == 2:
            seq.solve(0.2 * seq.gamma_max)
        else:
            Sequence(d).set_state(seq.get_state())
            saved += 1
    assert saved
