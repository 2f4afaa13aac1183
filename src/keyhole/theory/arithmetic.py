"""Sums and products that stay accurate over hundreds of orders of magnitude.

sum 1/tau and sum 1/tau^2 over integers tau in [lo, hi], for limits from 1 to beyond 1e15: up to `DIRECT` terms are
added one by one. A longer sum adds the terms below `SAFE` and evaluates the rest by Euler-Maclaurin,

    sum_{lo}^{hi} f = int_{lo}^{hi} f + (f(lo) + f(hi))/2 + sum_j B_2j/(2j)! (f^(2j-1)(hi) - f^(2j-1)(lo)),

with three corrections: the first omitted one is below tau^-8 <= 1e-16 for tau >= SAFE. The integrals are written in
hi - lo (log1p and (hi - lo)/(lo hi)), so nothing cancels if lo and hi are large and close.
"""

import math

import numpy as np

__all__ = ["DIRECT", "log1p_of", "product", "sum_inverse", "sum_inverse_square", "total"]

DIRECT = 100_000
SAFE = 128


def product(*powers: tuple[float, float]) -> float:
    """Return x1^p1 x2^p2 ... for x >= 0 without intermediate overflow or underflow.

    >>> print(f"{product((1e200, 2), (1e-150, 2), (9.0, 0.5)):.12g}")
    3e+100
    """
    mantissa, exponent = 1.0, 0
    for x, p in powers:
        f, n = math.frexp(x)
        whole = math.floor(n * p)
        mantissa, shift = math.frexp(mantissa * f**p * 2.0 ** (n * p - whole))
        exponent += whole + shift
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.inf


def log1p_of(log_x: float) -> float:
    """Return ln(1 + x), given ln x, so that x itself may be too large for a float."""
    return max(log_x, 0.0) + math.log1p(math.exp(-abs(log_x)))


def total(values: "list[float]") -> float:
    """Return the correctly rounded sum; infinite if a term is infinite."""
    return math.fsum(values) if all(map(math.isfinite, values)) else math.inf


def sum_inverse(lo: int, hi: int) -> float:
    """Return sum_{tau=lo}^{hi} 1/tau; 0 if hi < lo."""
    if hi - lo < DIRECT:
        return _direct(lo, hi, 1)
    start = max(lo, SAFE)
    a, b = float(start), float(hi)
    middle = math.log1p((hi - start) / a) + (1 / a + 1 / b) / 2
    ends = (a**-2 - b**-2) / 12 - (a**-4 - b**-4) / 120 + (a**-6 - b**-6) / 252
    return _direct(lo, start - 1, 1) + middle + ends


def sum_inverse_square(lo: int, hi: int) -> float:
    """Return sum_{tau=lo}^{hi} 1/tau^2; 0 if hi < lo."""
    if hi - lo < DIRECT:
        return _direct(lo, hi, 2)
    start = max(lo, SAFE)
    a, b = float(start), float(hi)
    middle = (hi - start) / a / b + (a**-2 + b**-2) / 2
    ends = (a**-3 - b**-3) / 6 - (a**-5 - b**-5) / 30 + (a**-7 - b**-7) / 42
    return _direct(lo, start - 1, 2) + middle + ends


def _direct(lo: int, hi: int, power: int) -> float:
    terms = 1.0 / (float(lo) + np.arange(max(0, hi - lo + 1), dtype=np.float64))
    return float(terms.sum() if power == 1 else (terms * terms).sum())
