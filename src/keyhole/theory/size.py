"""Products of powers whose factors may be far beyond what a double holds while the product is not."""

import math

__all__ = ["log1p_of", "product"]


def product(*powers: tuple[float, float]) -> float:
    """x1^p1 x2^p2 ... for x >= 0, with nothing rounded to 0 or infinity on the way; infinite only where the result is.

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
    """ln(1 + x) from ln x."""
    return max(log_x, 0.0) + math.log1p(math.exp(-abs(log_x)))
