"""What holds for the paper's constants whatever the problem."""

import math

from hypothesis import given
from hypothesis import strategies as st

from keyhole.theory import Constants


@st.composite
def constants(draw: st.DrawFn, extras: bool | None = None) -> Constants:
    d = draw(st.integers(6, 1000))
    k = draw(st.integers(3, d - 3))
    some = draw(st.booleans()) if extras is None else extras
    return Constants(
        d=d,
        k=k,
        sigma=draw(st.floats(0, 10)),
        delta_s=draw(st.floats(1e-3, 30)),
        delta=draw(st.floats(1e-12, 0.999)),
        k0=draw(st.integers(3, 2 * d)) if some else None,
        corrected=draw(st.booleans()),
    )


@given(constants(), st.sampled_from(["one", "s0", "s1"]), st.floats(0, 3), st.integers(0, 200_000))
def test_what_nu_adds_up_never_shrinks(c: Constants, where: str, factor: float, step: int) -> None:
    """s nu_s estimates a growing sum; and the threshold stays finite, around s0 and s1 too."""
    start = 1.0 if where == "one" else getattr(c, where)
    s = max(1, math.floor(start * 10 ** (factor - 1)))
    assert s * c.nu(s) <= (s + step) * c.nu(s + step) * (1 + 1e-12)
    assert c.nu(s) < c.gamma(s) < math.inf


@given(constants())
def test_the_three_phases_come_in_order(c: Constants) -> None:
    assert 0 < c.s0 < c.s1 < math.inf
    assert c.g >= 1 - 1e-12
    assert c.mu1 > 1 < c.mu2


@given(constants(extras=False), st.floats(1e-3, 1))
def test_where_theorem_1_can_apply_the_late_term_pays_for_the_start(c: Constants, w_min: float) -> None:
    """The proof has 8 X (s2 - s1) and prints 8 X s2: what it drops covers the 4 s0 (s0 + 1) it leaves to the O(1)."""
    X = c.s2(1e-12) * 1e-24 / 4
    hidden = 4 * c.s0 * (c.s0 + 1)
    assert 8 * X * c.s1 >= hidden or c.s0 < 1


@given(constants(), st.floats(1e-3, 1e30), st.floats(1e-3, 1e30), st.floats(1e-3, 1))
def test_a_longer_horizon_never_lowers_the_bound(c: Constants, T: float, U: float, w_min: float) -> None:
    T, U = min(T, U), max(T, U)
    assert c.regret_bound(T, w_min) <= c.regret_bound(U, w_min)
    assert math.isfinite(c.regret_bound(U, w_min))
    assert not c.regret_terms(T, w_min).applies or c.regret_terms(U, w_min).applies
