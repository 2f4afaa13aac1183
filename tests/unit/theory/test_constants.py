"""The constants against the paper's formulas written out again, its five cases, and a table of known values."""

import math

import numpy as np
import pytest

from keyhole.errors import ConfigError
from keyhole.theory import Constants
from keyhole.theory.constants import OracleTrace

BASE = {"d": 10, "k": 5, "sigma": 0.3, "delta_s": 1.0, "delta": 0.05}
# A large delta_S makes s0 and s1 small, so that all five cases are reached.
SMALL = [
    Constants(**BASE | {"delta_s": 12.0}),
    Constants(**BASE | {"delta_s": 11.0, "k0": 3}),
    Constants(**BASE | {"delta_s": 11.0, "k0": 3, "corrected": True}),
]


def five_cases(c: Constants, s: float) -> float:
    """nu_s as the paper prints it: five cases, each with its own sum, limits rounded up."""
    n, m = (c.d, c.k) if c.k0 is None else (c.d - c.k, c.k0)
    g = (n - 1) * (n - 2) / ((m - 1) * (m - 2))
    front = math.sqrt(3 * g * math.log(c.d / c.delta))
    plateau = 48 * c.k / c.delta_s**2 * math.sqrt(g * math.log(c.d**2 / c.delta)) + 2

    def total(first: float, last: float, term: float, power: int) -> float:
        return math.sqrt(math.fsum(term / tau**power for tau in range(math.ceil(first), math.ceil(last) + 1)))

    if s <= c.s0:
        return 2 / math.sqrt(s) * front
    if s <= c.s0 + 1:
        return front / s * plateau
    if s <= c.s1:
        middle = c.mu1 * c.a4 / c.delta_s**4 * total(c.s0 + 1, s - 1, c.k**4 * g**2, 2)
        return (c.s0 + 1) / s * five_cases(c, c.s0 + 1) + front / s * middle
    if s <= c.s1 + 1:
        return (
            front / s * (plateau + c.mu1 * c.a4 * c.k**2 * g / c.delta_s**4 * total(c.s0 + 1, min(s - 1, c.s1), 1, 2))
        )
    late = c.mu2 * c.a5 / c.delta_s**2 * total(c.s1 + 1, s - 1, c.k**2 * (n - 1) / (m - 1), 1)
    return (c.s1 + 1) / s * five_cases(c, c.s1 + 1) + front / s * late


@pytest.mark.parametrize("c", SMALL)
def test_nu_is_the_five_cases_of_the_paper(c: Constants) -> None:
    assert 2 < c.s0 < 50 < c.s1 < 2000
    exact = [1, c.s0, c.s0 + 1, c.s0 + 2, c.s1, c.s1 + 1, c.s1 + 2]
    whole = [1, *(math.ceil(x) + j for x in (c.s0, c.s1) for j in (-1, 1, 2, 3, 50))]
    for s in exact + whole:
        assert c.nu(s) == pytest.approx(five_cases(c, s), rel=1e-13)
        rest = c.gamma(s) - c.nu(s)
        first = (8 / 3 + 2 * c.sigma) * c.g * math.log(c.d / c.delta) / s
        noise = 1.66 if c.corrected else 1.2
        assert rest == pytest.approx(first + (6.9 + noise * c.sigma) * math.sqrt(c.D * c.L1 / s), rel=1e-12)


def test_the_oslr_constants_are_those_printed() -> None:
    d, k, sigma, dS, delta = 12, 4, 0.7, 0.8, 0.02
    c = Constants(d=d, k=k, sigma=sigma, delta_s=dS, delta=delta)
    g, L1, L2 = 11 * 10 / (3 * 2), math.log(d / delta), math.log(d**2 / delta)
    assert c.g == pytest.approx(g)
    assert c.mu1 == pytest.approx(9 / (9 - 2 * math.sqrt(3)))
    assert c.mu2 == pytest.approx(1 / (1 - math.sqrt(6) / (9 * math.sqrt(10 / 2 * L2))))
    assert c.s0 == pytest.approx(24**2 * k**2 * g / dS**4 * L2)
    assert c.s1 == pytest.approx(24**2 * k**2 * g / dS**4 * 10 / 2 * L1 * L2)
    assert c.a1 == pytest.approx((64 / 3 + 32 / 3 * sigma) * L1)
    assert c.a2 == pytest.approx(16 * (6.9 + 1.2 * sigma) / 3 * math.sqrt(L1))
    assert c.a3 == pytest.approx(8 / 3 * math.sqrt(3 * L1))
    a4 = dS**2 * c.a1 / k + 24 * c.a2 * math.sqrt(2 / 10 * L2)
    assert c.a4 == pytest.approx(a4 + 4 * c.a3 * (24 * math.sqrt(L2) + dS**2 / (k * math.sqrt(g))))
    inner = (
        dS**2 * (8 + 4 * sigma) / (9 * k) + 32 / math.sqrt(3) + 4 * math.sqrt(3) * dS**2 / (9 * k * math.sqrt(g * L2))
    )
    last = 2 * math.sqrt(3) * c.a2 / (9 - 2 * math.sqrt(3)) * math.sqrt(2 / (10 * L2))
    assert c.a5 == pytest.approx(c.mu1 * inner + c.a2 + last)
    assert (c.eps, c.Y) == (k, pytest.approx(1 + sigma * math.sqrt(2 * math.log(1 / delta))))
    assert c.rho == pytest.approx(1 / (2 * (1 + c.Y) ** 2))
    assert c.s2(0.1) == pytest.approx(4 * (c.mu2 * c.a5) ** 2 / dS**4 * k**2 * 11 / (0.1**2 * 3))


def test_the_poslr_constants_are_those_printed() -> None:
    d, k, k0, sigma, dS, delta = 14, 4, 3, 0.7, 0.8, 0.02
    c = Constants(d=d, k=k, k0=k0, sigma=sigma, delta_s=dS, delta=delta)
    dd, L1, L2 = d - k, math.log(d / delta), math.log(d**2 / delta)
    g, R = (dd - 1) * (dd - 2) / ((k0 - 1) * (k0 - 2)), (dd - 2) / (k0 - 2)
    assert c.g == pytest.approx(g)
    assert c.mu2 == pytest.approx(1 / (1 - math.sqrt(6) / (9 * math.sqrt(R * L2))))
    assert c.s0 == pytest.approx(24**2 * k**2 * g / dS**4 * L2)
    assert c.s1 == pytest.approx(24**2 * k**2 * g / dS**4 * R * L1 * L2)
    a4 = dS**2 * c.a1 / k + 24 * c.a2 * math.sqrt(L2 / R)
    assert c.a4 == pytest.approx(a4 + 4 * c.a3 * (24 * math.sqrt(L2) + dS**2 / (k * math.sqrt(g))))
    inner = dS**2 * (2 + sigma) / (9 * k) + 8 / math.sqrt(3) + math.sqrt(3) / 9 * dS**2 / (k * math.sqrt(g * L2))
    last = 2 * math.sqrt(3) * c.a2 / (9 - 2 * math.sqrt(3)) / math.sqrt(R * L2)
    assert c.a5 == pytest.approx(36 / (9 - 2 * math.sqrt(3)) * inner + c.a2 + last)


# d, k: g, s0, s1, s2(1/k), gamma(100), gamma(1000), at sigma = 0.1, delta = 0.01, delta_s = 1; worked out beforehand
# outside this code base and kept to the digits they were printed with.
TABLE = {
    (10, 3): ("36", "1.7e6", "9.5e7", "2.9e7", "17", "3.7"),
    (10, 5): ("6", "8.0e5", "1.5e7", "1.3e8", "6.2", "1.7"),
    (20, 10): ("4.75", "2.9e6", "5.0e7", "2.0e9", "5.9", "1.7"),
    (50, 3): ("1.2e3", "7.6e7", "3.1e10", "1.7e8", "330", "43"),
    (100, 5): ("809", "1.6e8", "4.8e10", "1.4e9", "250", "34"),
    (500, 10): ("3.5e3", "3.4e9", "2.3e12", "5.5e10", "1.2e3", "130"),
}


@pytest.mark.parametrize(("d", "k"), TABLE)
def test_known_values_to_their_printed_digits(d: int, k: int) -> None:
    c = Constants(d=d, k=k, sigma=0.1, delta_s=1.0, delta=0.01)
    for value, printed in zip((c.g, c.s0, c.s1, c.s2(1 / k), c.gamma(100), c.gamma(1000)), TABLE[d, k], strict=True):
        digits = len(printed.split("e")[0].replace(".", "").rstrip("0") or "0")
        assert value == pytest.approx(float(printed), rel=0.5 * 10 ** (1 - max(2, digits)))


def test_the_error_bound_has_three_cases() -> None:
    for c in SMALL:
        r = c.k / c.delta_s**2
        root = 4 * (6.9 + 1.66 * c.sigma) if c.corrected else 26 + 4.8 * c.sigma
        s = c.s0
        early = (16 + 8 * c.sigma) * c.g * c.L1 / s + root * math.sqrt(c.D * c.L1 / s) + 22 * math.sqrt(c.g * c.L1 / s)
        assert c.error_bound(s) == pytest.approx(r * early)
        middle, noise = 9 / (9 - 2 * math.sqrt(3)) * c.a4, 0.0
        if c.corrected:  # E35
            middle, noise = middle - 24 * c.a2 * math.sqrt(c.L2 / c.R), c.a2 * r * math.sqrt(c.D / c.s1)
        assert c.error_bound(c.s1) == pytest.approx(middle * r**2 * c.g / c.s1 + noise)
        assert c.error_bound(2 * c.s1) == pytest.approx(c.mu2 * c.a5 * r * math.sqrt(c.D / (2 * c.s1)))


def test_more_extra_attributes_than_there_are_means_all_of_them() -> None:
    c = Constants(**BASE, k0=100)
    assert c == Constants(**BASE, k0=5)
    assert (c.k0, c.g, c.D) == (5, 1.0, 1.0)


def test_s_up_to_1e15_is_finite() -> None:
    """And nothing is summed up to s: that would take years."""
    for c in (*SMALL, Constants(**BASE), Constants(**BASE, k0=4)):
        values = [c.gamma(10.0**e) for e in range(16)] + [c.gamma(10**15)]
        assert all(math.isfinite(v) and v > 0 for v in values)
        assert values[-1] == values[-2] < values[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 2}, "3..7.*support-bandit"),
        ({"k": 8}, "3..7.*support-bandit"),
        ({"d": 5}, "d >= 6"),
        ({"k": 3.5}, "whole"),
        ({"d": math.nan}, "whole"),
        ({"k0": 2}, "at least 3"),
        ({"sigma": -0.1}, "sigma.*>= 0"),
        ({"sigma": math.nan}, "sigma.*>= 0"),
        ({"delta_s": 0.0}, "delta_s.*> 0"),
        ({"delta_s": math.inf}, "delta_s.*1e30"),
        ({"delta": 0.0}, "between 0 and 1"),
        ({"delta": 1.0}, "between 0 and 1"),
    ],
)
def test_a_bad_argument_names_the_legal_range(change: dict[str, float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Constants(**BASE | change)


def test_a_round_before_the_first_is_refused() -> None:
    c = Constants(**BASE)
    for function in (c.nu, c.gamma, c.error_bound):
        for s in (0, 0.5, -1, math.nan, math.inf):
            with pytest.raises(ConfigError, match=">= 1"):
                function(s)


def test_a_trace_whose_numbers_equal_their_bounds_holds():
    one = np.array([0.1, 0.3, 7.0])
    trace = OracleTrace(error=one, gamma=one, gamma_hat=one, bound=one)
    assert trace.gamma_suffices.all()
    assert trace.bound_holds.all()
    worse = trace._replace(error=one * (1 + 1e-9), gamma=one * (1 + 1e-9))
    assert not worse.gamma_suffices.any()
    assert not worse.bound_holds.any()
