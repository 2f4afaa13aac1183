"""sum 1/tau and sum 1/tau^2 over whole tau in [lo, hi], for limits from 1 to beyond 1e15.

Up to `DIRECT` terms are added one by one. A longer sum adds the terms below `SAFE` and closes the rest by
Euler-Maclaurin,

    sum_{lo}^{hi} f = int_{lo}^{hi} f + (f(lo) + f(hi))/2 + sum_j B_2j/(2j)! (f^(2j-1)(hi) - f^(2j-1)(lo)),

with three corrections: the first one left out is below tau^-8 <= 1e-16 for tau >= SAFE. The integrals are written in
hi - lo (log1p and (hi - lo)/(lo hi)), so nothing cancels where lo and hi are large and close.
"""

import math

import numpy as np

__all__ = ["DIRECT", "sum_inverse", "sum_inverse_square"]

DIRECT = 100_000
SAFE = 128


def sum_inverse(lo: int, hi: int) -> float:
    """sum_{tau=lo}^{hi} 1/tau; 0 where hi < lo."""
    if hi - lo < DIRECT:
        return _direct(lo, hi, 1)
    start = max(lo, SAFE)
    a, b = float(start), float(hi)
    middle = math.log1p((hi - start) / a) + (1 / a + 1 / b) / 2
    ends = (a**-2 - b**-2) / 12 - (a**-4 - b**-4) / 120 + (a**-6 - b**-6) / 252
    return _direct(lo, start - 1, 1) + middle + ends


def sum_inverse_square(lo: int, hi: int) -> float:
    """sum_{tau=lo}^{hi} 1/tau^2; 0 where hi < lo."""
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
