"""The regret bounds: the printed terms written out again, when they apply, and what the corrections change."""

import math

import pytest

from keyhole.errors import ConfigError
from keyhole.theory import Constants

BASE = {"d": 20, "k": 5, "sigma": 0.1, "delta_s": 1.0, "delta": 0.01}
H = 1 / 5


def test_theorem_1_is_the_sum_of_its_printed_terms() -> None:
    c, T, k, d = Constants(**BASE | {"delta_s": 0.9}), 1e12, 5, 20
    terms = c.regret_terms(T, H)
    assert terms.parts["exploration"] == 4e6
    front = 2 * (c.mu2 * c.a5) ** 2 / 0.9**4 * k**3 * (d - 1) / ((k - 1) * H**2)
    assert terms.parts["newton"] == pytest.approx(front * math.log(4 * (1 + c.Y) ** 2 * T + 1))
    log = math.log((d - 2) * math.log(d / 0.01) / (k - 2))
    assert terms.parts["middle"] == pytest.approx(22 * c.a4**2 / 0.9**8 * k**4 * c.g**2 * log)
    late = 2 * (2 * c.mu2 * c.a5) ** 4 / 0.9**8 * k**4 * (d - 1) ** 2 / (H**2 * (k - 1) ** 2)
    assert terms.parts["late"] == pytest.approx(late)
    assert c.regret_bound(T, H) == terms.total == pytest.approx(sum(terms.parts.values()))
    assert terms.failure == pytest.approx((T + math.sqrt(T) * (6 + math.log(25 / 3) / math.log(1.5)) + 1) * 0.01)


def test_theorem_2_is_the_sum_of_its_printed_terms_and_needs_no_w_min() -> None:
    c, T, k, k0, d1 = Constants(**BASE, k0=4), 1e9, 5, 4, 15
    L2 = math.log(400 / 0.01)
    terms = c.regret_terms(T)
    assert terms.parts["start"] == pytest.approx(48**2 * k**2 * c.g * L2)
    assert terms.parts["middle"] == pytest.approx(2.7 * c.a4**2 * k**2 * c.g / (64 * L2))
    late = 9 * c.mu2**2 * c.a5**2 * k**2 * (d1 - 1) / (k0 - 1) * math.log(T / (c.s1 + 1))
    assert terms.parts["late"] == pytest.approx(late)
    assert c.regret_bound(T) == c.regret_bound(T, 0.3) == c.regret_bound(T, -1.0) == terms.total
    assert terms.failure == pytest.approx((T * (6 + math.log(25 / 3) / math.log(1.5)) + 1) * 0.01)


@pytest.mark.parametrize(
    ("d", "k", "start", "middle", "late"),
    [(20, 5, 7.6e13, 2.3e15, 5.2e15), (100, 5, 1.0e17, 2.4e18, 1.5e17), (500, 10, 4.6e19, 9.8e20, 6.0e19)],
)
def test_known_sizes_of_the_terms(d: int, k: int, start: float, middle: float, late: float) -> None:
    """Worked out beforehand outside this code base, two digits each."""
    terms = Constants(**BASE | {"d": d, "k": k}).regret_terms(1.0, 1 / k)
    assert terms.hidden["start"] == pytest.approx(start, rel=0.05)
    assert terms.parts["middle"] == pytest.approx(middle, rel=0.05)
    assert terms.parts["late"] == pytest.approx(late, rel=0.05)


def test_theorem_1_applies_from_s2_on_and_says_so() -> None:
    c = Constants(**BASE)
    needed = (c.s2(H) + 1) ** 2
    assert c.s2(H) > c.s1
    early, late = c.regret_terms(needed, H), c.regret_terms(needed * 1.01, H)
    assert (early.applies, late.applies) == (False, True)
    assert early.T_needed == late.T_needed == needed
    assert f"T > (s2 + 1)^2 = {needed:.3g}" in early.why
    assert late.failure >= 1
    assert "smaller delta" in late.why
    # With a delta of order 1/T the promise is kept with some probability.
    assert "smaller delta" not in Constants(**BASE | {"delta": 1e-25}).regret_terms(1e22, H).why


def test_theorem_1_never_applies_where_s2_is_below_s1() -> None:
    terms = Constants(**BASE | {"k": 3}).regret_terms(1e30, 1.0)
    assert not terms.applies
    assert terms.T_needed == math.inf
    assert "no T is enough" in terms.why
    assert math.isfinite(terms.total)


def test_theorem_2_is_printed_for_T_above_s1_and_corrected_for_T_above_s0() -> None:
    printed, corrected = (Constants(**BASE, k0=5, corrected=flag) for flag in (False, True))
    for c, needed in ((printed, (printed.s1 + 1) ** 2), (corrected, corrected.s0)):
        assert not c.regret_terms(needed).applies
        assert c.regret_terms(needed * 1.01).applies
    assert printed.regret_terms(1.0).parts["late"] < 0
    assert corrected.regret_terms(1.0).parts["late"] == corrected.regret_terms(1.0).parts["middle"] == 0


def test_the_corrections_change_what_they_say_and_nothing_else() -> None:
    c, fixed = Constants(**BASE), Constants(**BASE, corrected=True)
    for same in ("g", "mu1", "mu2", "s0", "s1", "a1", "a3", "Y", "rho", "eps"):
        assert getattr(c, same) == getattr(fixed, same)
    assert fixed.a2 / c.a2 == pytest.approx((6.9 + 0.166) / (6.9 + 0.12))
    after = fixed.regret_terms(1e20, H)
    assert after.failure == pytest.approx((1e20 + 1e10 * (6 + math.log(7) / math.log(1.5)) + 1) * 0.01)
    logs = fixed.s2(H) * math.log1p(2 * (fixed.s2(H) + 1) ** 2 / 5) + math.log1p(2e20 / 5)
    assert after.parts["newton"] == pytest.approx(5 * (1 + c.Y) ** 2 * logs)
    reg3 = sum(after.parts[name] for name in ("exploration", "start", "middle", "late"))
    assert after.parts["noise"] == pytest.approx(2 * 0.1 * math.sqrt(2 * reg3 * math.log(100)))
    assert after.parts["start"] == 4 * math.ceil(c.s0) * (math.ceil(c.s0) + 1)
    assert after.parts["restarts"] == pytest.approx(2 * 5 * (fixed.s2(H) + 1))
    assert after.parts["late"] == pytest.approx(8 * fixed.s2(H) * H**2 / 4 * (fixed.s2(H) - fixed.s1))
    assert not after.hidden
    extra = Constants(**BASE, k0=4, corrected=True).regret_terms(100.0)
    assert extra.failure == pytest.approx((100 * (6 + math.log(15 / 2) / math.log(1.5)) + 1) * 0.01)


def test_without_noise_the_early_terms_stay() -> None:
    c, fixed = (Constants(**BASE | {"sigma": 0.0}, corrected=flag) for flag in (False, True))
    before, after = c.regret_terms(1e20, H), fixed.regret_terms(1e20, H)
    assert {name for name in before.parts if before.parts[name] != pytest.approx(after.parts[name])} == {
        "newton",
        "middle",
        "late",
    }
    assert after.parts["noise"] == 0 < before.hidden["noise"]


def test_corrected_theorem_1_covers_the_case_that_the_paper_leaves_to_the_reader() -> None:
    """E29: with large weights the support is known before s1, and the late wrong supports cost nothing."""
    c = Constants(**BASE | {"k": 3}, corrected=True)
    s2 = c.s2(1.0)
    assert c.s0 < s2 < c.s1
    assert 2 * c.error_bound(s2 * 1.0001) < 1.0 < 2 * c.error_bound(s2 * 0.9999)
    terms = c.regret_terms(1e30, 1.0)
    assert terms.applies
    assert terms.T_needed == (s2 + 1) ** 2
    assert terms.parts["late"] == 0
    whole = Constants(**BASE | {"k": 3}).regret_terms(1e30, 1.0).parts["middle"]
    assert terms.parts["middle"] < whole


def test_bad_horizons_and_weights_are_refused() -> None:
    c = Constants(**BASE)
    for T in (0, -1.0, math.nan, math.inf):
        with pytest.raises(ConfigError, match="> 0"):
            c.regret_bound(T, H)
    for w_min in (0.0, -0.1, 1.5, math.nan):
        with pytest.raises(ConfigError, match=r"\(0, 1\]"):
            c.regret_bound(100, w_min)
    with pytest.raises(ConfigError, match=r"w_min.*needed"):
        c.regret_bound(100)
