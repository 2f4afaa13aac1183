"""Long sums and products of powers against exact ones."""

import math
from decimal import Decimal

import numpy as np
import pytest

from keyhole.theory.arithmetic import DIRECT, log1p_of, product, sum_inverse, sum_inverse_square

LIMITS = [(1, 200_000), (2, 150_000), (127, 300_000), (128, 128 + DIRECT), (5_000, 400_000), (10**9, 10**9 + 250_000)]


@pytest.mark.parametrize(("lo", "hi"), LIMITS)
def test_a_long_sum_is_the_sum_of_its_terms(lo: int, hi: int) -> None:
    assert hi - lo >= DIRECT
    tau = np.arange(lo, hi + 1, dtype=np.float64)
    assert sum_inverse(lo, hi) == pytest.approx(math.fsum(1 / tau), rel=1e-13)
    assert sum_inverse_square(lo, hi) == pytest.approx(math.fsum(1 / tau / tau), rel=1e-13)


@pytest.mark.parametrize("lo", [1, 100, 10_000, 10**7])
def test_one_more_term_adds_that_term_across_the_switch(lo: int) -> None:
    for hi in range(lo + DIRECT - 4, lo + DIRECT + 4):
        for total, term in ((sum_inverse, 1 / (hi + 1)), (sum_inverse_square, (hi + 1) ** -2)):
            step = total(lo, hi + 1) - total(lo, hi)
            assert step > 0
            assert step == pytest.approx(term, abs=1e-14 * total(lo, hi))


def test_short_and_empty_sums() -> None:
    assert sum_inverse(3, 2) == sum_inverse_square(10, 5) == 0.0
    assert sum_inverse(2, 3) == pytest.approx(1 / 2 + 1 / 3, rel=1e-15)
    assert sum_inverse_square(2, 3) == pytest.approx(1 / 4 + 1 / 9, rel=1e-15)


def test_sums_to_1e15_match_their_closed_forms() -> None:
    n = 10**15
    assert sum_inverse(1, n) == pytest.approx(math.log(n) + np.euler_gamma + 0.5 / n, rel=1e-14)
    assert sum_inverse_square(1, n) == pytest.approx(math.pi**2 / 6 - 1 / n, rel=1e-14)


def test_products_do_not_overflow_on_the_way() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        x, p = 10.0 ** rng.uniform(-300, 300, 4), rng.choice([-7.0, -1.0, -0.5, 0.5, 1.0, 2.0, 8.0], 4)
        truth = Decimal(1)
        for base, power in zip(x, p, strict=True):
            truth *= Decimal(base) ** Decimal(power)
        value = product(*zip(x.tolist(), p.tolist(), strict=True))
        if Decimal("1e-307") < truth < Decimal("1.79e308"):
            assert abs(Decimal(value) - truth) <= Decimal("1e-12") * truth
        else:
            assert value == math.inf if truth > 1 else value < 1e-307
    assert product((0.0, 2), (5.0, 1)) == 0.0
    assert log1p_of(math.log(3.0)) == pytest.approx(math.log(4.0), rel=1e-15)
    assert log1p_of(-80.0) == pytest.approx(math.exp(-80.0), rel=1e-12)
    assert log1p_of(1e5) == 1e5
