"""Every bound against an evaluation in 60 digits, at ordinary and extreme arguments; valid, vacuous, from which T."""

import math
from decimal import Decimal
from math import comb

import numpy as np
import pytest

from keyhole.errors import ConfigError
from keyhole.theory import Constants, bound, bounds_beside
from keyhole.theory.published_bounds import STATEMENTS

from .exact import Exact, others

CASES = [
    {"d": 20, "k": 5, "sigma": 0.1, "delta_s": 0.5, "delta": 1e-6},
    {"d": 6, "k": 3, "sigma": 0.0, "delta_s": 1.7, "delta": 0.9},
    {"d": 100_000, "k": 40, "sigma": 3.0, "delta_s": 1e-3, "delta": 1e-30},
    {"d": 1000, "k": 997, "sigma": 1e-9, "delta_s": 1.0, "delta": 1e-300},
    {"d": 500, "k": 3, "sigma": 1e12, "delta_s": 1e-22, "delta": 1e-12},
    {"d": 50, "k": 7, "sigma": 0.3, "delta_s": 30.0, "delta": 0.01},
    {"d": 10**9, "k": 4, "sigma": 1e140, "delta_s": 1e-30, "delta": 1e-300},
    {"d": 30, "k": 5, "sigma": 1e290, "delta_s": 1.0, "delta": 1e-9},
    {"d": 30, "k": 5, "sigma": 0.2, "delta_s": 1e30, "delta": 0.3},
    {"d": 10, "k": 3, "sigma": 0.1, "delta_s": 1.0, "delta": 0.01},  # s0 < s2 < s1 at h = 1
]


LARGEST = Decimal("1.79e308")


def close(value: float, truth: Decimal, slack: Decimal = Decimal(0)) -> bool:
    """To 1e-12; infinite exactly where the truth is beyond a double, and next to nothing where it is below one."""
    if abs(truth) > LARGEST:
        return value == math.copysign(math.inf, truth)
    if 0 < abs(truth) < Decimal("1e-307"):
        return 0 <= value < 1e-307
    return math.isfinite(value) and abs(Decimal(value) - truth) <= Decimal("1e-12") * abs(truth) + slack


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k0", [None, 3, 7, 10**6])
def test_constants_equal_an_independent_evaluation(case: dict[str, float], k0: int | None, corrected: bool) -> None:
    if k0 is not None and case["d"] - case["k"] < 4:
        return  # everything is seen: D and R are 1 by definition, 0/0 in the formulas
    c, e = Constants(**case, k0=k0, corrected=corrected), Exact(**case, k0=k0, corrected=corrected)  # type: ignore[arg-type]
    for letter in ("D", "R", "g", "L1", "L2", "mu1", "mu2", "s0", "s1", "a1", "a2", "a3", "a4", "a5", "Y", "rho"):
        assert close(getattr(c, letter), getattr(e, letter)), letter
    for h in (1.0, 0.01, 1e-60):
        assert close(c.s2(h), e.s2(h))
    for s in (1, 1e3, max(1.0, float(e.s0) * 1.01), max(1.0, float(e.s1) * 1.01), 1e290):
        assert close(c.error_bound(s), e.error(s)), s


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("T", [1.0, 1e6, 1e24, 1e300])
def test_theorem_1_equals_an_independent_evaluation(case: dict[str, float], T: float, corrected: bool) -> None:
    e = Exact(**case, corrected=corrected)  # type: ignore[arg-type]
    for h in (1.0, 1e-3, 1e-40):
        b = bound("ds-oslrc", **case, T=T, w_min=h, corrected=corrected)  # type: ignore[arg-type]
        parts, hidden = e.theorem_1(T, h)
        assert (b.parts.keys(), b.hidden.keys()) == (parts.keys(), hidden.keys())
        for name, value in (parts | hidden).items():
            # The noise grows with the root of other terms, and is infinite where one of those is.
            beyond = name == "noise" and max(parts["middle"], parts["late"]) > LARGEST
            assert close((b.hidden | b.parts)[name], max(LARGEST * 2, value) if beyond else value), name
        assert close(b.total, sum(parts.values(), Decimal(0)))
        assert close(b.failure, min(Decimal(1), (Decimal(T) + Decimal(T).sqrt() * e.events() + 1) * e.delta))
        never = not corrected and e.s2(h) <= e.s1
        assert b.T_needed == math.inf if never else close(b.T_needed, (e.s2(h) + 1) ** 2)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("case", [case for case in CASES if case["d"] - case["k"] > 4])
@pytest.mark.parametrize("T", [1.0, 1e6, 1e24, 1e300])
def test_theorem_2_equals_an_independent_evaluation(case: dict[str, float], T: float, corrected: bool) -> None:
    e = Exact(**case, k0=4, corrected=corrected)  # type: ignore[arg-type]
    b = bound("ds-poslrc", **case, T=T, k0=4, corrected=corrected)  # type: ignore[arg-type]
    parts, hidden = e.theorem_2(T)
    assert (b.parts.keys(), b.hidden.keys()) == (parts.keys(), hidden.keys())
    for name, value in (parts | hidden).items():
        if name == "noise" and max(map(abs, parts.values())) > LARGEST:
            continue  # it has the root of the others: infinite or, below s1, worthless as they are
        # Where T is near s1 the logarithm of their ratio is small: as exact as the ratio itself.
        slack = Decimal("1e-12") * (9 * e.X if name == "late" else parts["start"] if name == "noise" else 0)
        assert close((b.hidden | b.parts)[name], value, slack), name
    assert close(b.failure, min(Decimal(1), (Decimal(T) * e.events() + 1) * e.delta))
    assert close(b.T_needed, e.s0 if corrected else (e.s1 + 1) ** 2)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("case", [case for case in CASES if case["d"] - case["k"] > 4])
@pytest.mark.parametrize("T", [1.0, 1e6, 1e24, 1e300])
def test_the_lemmas_equal_an_independent_evaluation(case: dict[str, float], T: float, corrected: bool) -> None:
    for name, k0, s, power in (("ds-oslrc-error", None, math.isqrt(int(T)), 2), ("ds-poslrc-error", 4, T, 1)):
        e = Exact(**case, k0=k0, corrected=corrected)  # type: ignore[arg-type]
        b = bound(name, **case, T=T, k0=k0, corrected=corrected)  # type: ignore[arg-type]
        assert close(b.total, e.error(s))
        spent = Decimal(T) if power == 1 else Decimal(T).sqrt()
        assert close(b.failure, min(Decimal(1), spent * e.events() * e.delta))
        assert b.T_needed == 0 if corrected else close(b.T_needed, (e.s1 + 1) ** 2)
        family = name.removesuffix("-error")
        for norm in ("l1", "l2"):
            assert close(bound(f"{family}-{norm}", **case, T=T, k0=k0, corrected=corrected).total, 2 * e.error(s))  # type: ignore[arg-type]
        letters = {letter: value for letter, value in case.items() if letter != "delta_s"}
        restricted = bound(f"{family}-l2-restricted", **letters, kappa=case["delta_s"], T=T, k0=k0, corrected=corrected)  # type: ignore[arg-type]
        assert close(restricted.total, (2 / Decimal(case["k"])).sqrt() * e.error(s))
        assert restricted.failure == b.failure


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("T", [1.0, 1e4, 1e300])
@pytest.mark.parametrize("size", [1.0, 1e-20])
@pytest.mark.parametrize("sigma", [0.3, 1e-150, 1e150])
def test_the_quoted_bounds_equal_an_independent_evaluation(
    T: float, size: float, sigma: float, corrected: bool
) -> None:
    seen = {s.name for s in STATEMENTS if s.name.startswith("ds-")}  # above
    for d, k, k0 in ((20, 5, 4), (10**6, 12, 40), (6, 3, 2)):
        letters = {"d": d, "k": k, "T": T, "k0": k0, "sigma": sigma, "delta_s": size}
        letters |= {"sigma_d": size / 2, "w_min": size / 3, "delta": 0.01, "corrected": corrected}
        for name, truth in others(d, k, T, k0, sigma, size, size / 2, size / 3, 0.01, corrected).items():
            assert close(bound(name, **letters).total, truth), (name, letters)  # type: ignore[arg-type]
            seen.add(name)
    assert seen == {statement.name for statement in STATEMENTS}


def test_the_bandit_counts_supports() -> None:
    assert bound("support-bandit", d=20, k=5, T=1e6).total == pytest.approx(math.sqrt(comb(20, 5) * 1e6), rel=1e-12)
    assert bound("support-bandit", d=2200, k=1000, T=1e6).total == math.inf
    assert bound("support-bandit", d=10**6, k=10**5, T=1e6).total == math.inf
    assert close(
        bound("support-bandit", d=900, k=440, T=1e40).total, (Decimal(comb(900, 440)) * Decimal("1e40")).sqrt()
    )


def test_corrected_ito_is_the_sum_of_the_papers_text() -> None:
    letters = {"d": 20, "k": 5, "T": 1e6, "delta_s": 0.7, "w_min": 0.1, "sigma_d": 0.6, "corrected": True}
    truth = 5 * 8192**2 * 20**4 * 19**4 / (0.6**8 * 0.1**7 * 5**4 * 4**4)
    assert bound("ito2017-2", **letters).parts["supports"] == pytest.approx(truth, rel=1e-12)  # type: ignore[arg-type]
    truth = 5 * 128**2 * 36**8 * 20**4 * 19**4 / (0.7**8 * 0.1**7 * 4**4)
    assert bound("ito2017-3", **letters).parts["supports"] == pytest.approx(truth, rel=1e-12)  # type: ignore[arg-type]


def test_journey_3() -> None:
    b = bound("ds-oslrc", d=20, k=5, sigma=0.1, delta_s=0.5, w_min=0.1, delta=1e-6, T=1e6)
    assert (f"{b.setting.oslr.s0:.2e}", f"{b.setting.oslr.s1:.2e}") == ("1.30e+08", "1.31e+10")
    assert (f"{b.total:.1e}", f"{b.T_needed:.1e}", b.verdict) == ("2.0e+19", "8.8e+20", "does not apply, vacuous")
    assert b.failure == 1.0


PROMISES = [s.name for s in STATEMENTS if s.kind in ("regret", "error")]
SETTING = {"d": 20, "k": 5, "sigma": 0.1, "delta_s": 0.9, "w_min": 0.1, "k0": 6, "kappa": 0.7, "failure": 0.1}


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize(
    "change", [{}, {"w_min": 0.01, "delta_s": 0.3}, {"d": 6, "k": 3, "k0": 3, "sigma": 5.0}], ids=str
)
@pytest.mark.parametrize("name", PROMISES)
def test_from_T_useful_on_it_is_useful_and_just_before_it_is_not(
    name: str, change: dict[str, float], corrected: bool
) -> None:
    """Looked for by evaluation at 751 T: the last one that is useful, and the last one before it that is not."""
    letters = SETTING | change | {"corrected": corrected}

    def is_useful(T: float) -> bool:
        b = bound(name, **letters, T=T)  # type: ignore[arg-type]
        assert b.failure <= 0.1 * (1 + 1e-12)
        anyway = T if b.statement.kind == "regret" else 1.0  # what predicting 0, or w = 0, has in any case
        assert (b.verdict == "useful") == (b.T_needed < T and b.total < anyway and b.failure < 1)
        return b.verdict == "useful"

    at, grid = bound(name, **letters, T=1e6).T_useful, 10.0 ** np.linspace(0, 300, 751)  # type: ignore[arg-type]
    useful = np.array([is_useful(float(T)) for T in grid])
    if not useful.any():
        assert at == math.inf
        return
    last = np.flatnonzero(useful)[-1]
    idle = np.flatnonzero(~useful[:last])
    if idle.size == 0:
        assert at == 1.0
        return
    assert grid[idle[-1]] <= at <= grid[idle[-1] + 1] * (1 + 1e-9)
    assert not is_useful(at * 0.999999)
    assert is_useful(at * 1.000001)


def test_the_printed_theorem_1_can_be_of_no_use_for_any_T() -> None:
    """With delta of order 1/T, s1 outgrows s2; with delta fixed, T delta soon exceeds one."""
    b = bound("ds-oslrc", d=20, k=5, sigma=0.1, delta_s=0.5, w_min=0.1, T=1e6)
    assert b.T_useful == math.inf
    fixed = bound("ds-oslrc", d=20, k=5, sigma=0.1, delta_s=0.5, w_min=0.1, T=1e22, delta=1e-6)
    assert fixed.applies
    assert fixed.vacuous
    assert fixed.total < 1e22


def test_delta_is_chosen_for_the_failure_that_is_wanted() -> None:
    letters = {"d": 20, "k": 5, "sigma": 0.1, "delta_s": 0.5, "w_min": 0.1, "T": 1e9}
    b = bound("ds-oslrc", **letters, failure=0.03)  # type: ignore[arg-type]
    assert b.failure == pytest.approx(0.03)
    assert bound("ds-oslrc", **letters, delta=b.setting.delta).total == b.total  # type: ignore[arg-type]
    assert bound("ito2017-2", **letters).in_mean  # type: ignore[arg-type]


def test_monotone_where_they_must_be() -> None:
    """More rounds, more attributes, more noise, smaller weights, a worse design: never a smaller bound."""
    base = {
        "d": 40,
        "k": 5,
        "sigma": 0.2,
        "delta_s": 0.8,
        "w_min": 0.1,
        "k0": 6,
        "kappa": 0.7,
        "T": 1e26,
        "delta": 1e-30,
    }
    worse = {"d": (41, 60, 300), "sigma": (0.3, 1.0, 9.0), "delta_s": (0.7, 0.3, 1e-3), "w_min": (0.09, 1e-4, 1e-9)}
    worse |= {"T": (1e27, 1e60, 1e300), "delta": (1e-31, 1e-60, 1e-300)}
    for corrected in (False, True):
        start = {n: b for n, b in bounds_beside(**base, corrected=corrected) if not isinstance(b, str)}
        assert len(start) == len(STATEMENTS)
        for letter, values in worse.items():
            for value in values:
                for name, b in bounds_beside(**base | {letter: value}, corrected=corrected):
                    # The lemma's cases do not meet at s1, which these letters move.
                    falls = letter in ("T", "d", "delta", "delta_s") and (
                        start[name].statement.kind == "error" or name == "lower-error"
                    )
                    assert not isinstance(b, str)
                    assert falls or b.total >= start[name].total * (1 - 1e-12), (name, letter, value)
    for name in ("ds-poslrc", "kale2017-dantzig", "foster2016", "ito2017-1"):
        totals = [bound(name, **base | {"k0": k0}).total for k0 in (3, 6, 12, 30)]  # type: ignore[arg-type]
        assert totals == sorted(totals, reverse=True)


def test_what_stands_in_and_what_is_missing_is_said() -> None:
    b = bound("ito2017-1", d=20, k=5, T=100, k0=3, delta_s=0.5)
    assert "is used for sigma_d" in b.notes[0]
    assert b.total == bound("ito2017-1", d=20, k=5, T=100, k0=3, sigma_d=0.5).total
    with pytest.raises(ConfigError, match="needs values for: sigma, delta_s, w_min"):
        bound("ds-oslrc", d=20, k=5, T=100)
    with pytest.raises(ConfigError, match="no bound 'x'"):
        bound("x", d=20, k=5, T=100)
    with pytest.raises(ConfigError, match="not both"):
        bound("lower-regret", d=20, k=5, T=100, delta=0.1, failure=0.1)
    wrong_ones = ({"k": 20}, {"T": 0.5}, {"T": math.inf}, {"failure": 1.0}, {"sigma_d": 0.0}, {"k0": 0})
    for wrong in (*wrong_ones, {"sigma": -1.0}, {"sigma": math.nan}, {"w_min": 0.0}, {"w_min": 2.0}, {"delta_s": -1.0}):
        with pytest.raises(ConfigError):
            bound("lower-regret", **{"d": 20, "k": 5, "T": 100} | wrong)  # type: ignore[arg-type]
