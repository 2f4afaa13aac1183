"""Long sums against exact ones."""

import math

import numpy as np
import pytest

from keyhole.theory.sums import DIRECT, sum_inverse, sum_inverse_square

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
