"""The units that values and labels are kept in, by both engines: (x - ref) / unit, where the unit is a power of two."""

import math

from ..._internal.numba._bare import inner

__all__ = ["power", "scaled"]

# Whatever is larger after scaling is no measurement; its square must stay finite.
_LARGEST = 1e60


@inner
def power(x: float) -> float:
    """The power of two next to |x|: dividing by it loses no digit. A difference below 1e-90 is not resolved."""
    return math.ldexp(1.0, math.frexp(max(abs(x), 1e-90))[1])


@inner
def scaled(x: float, ref: float, unit: float) -> float:
    """(x - ref) / unit; 0 while only one value was seen."""
    return min(max((x - ref) / unit, -_LARGEST), _LARGEST) if unit > 0.0 else 0.0
