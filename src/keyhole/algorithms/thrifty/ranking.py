"""The best few of many, kept in order while they come."""

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats, Ints

__all__ = ["insert"]


@inner
def insert(values: Floats, items: Ints, n: int, value: float, item: int) -> int:
    """Put `item` among the first n, best first, behind its equals; the new n. The worst falls out when all is full."""
    if n == values.size and value <= values[n - 1]:
        return n
    i = n if n < values.size else n - 1
    n = min(n + 1, values.size)
    while i > 0 and values[i - 1] < value:
        values[i], items[i] = values[i - 1], items[i - 1]
        i -= 1
    values[i], items[i] = value, item
    return n
