"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from .. import _core
from .._internal.typing import Floats, Ints

__all__ = ["identified", "only", "top_k"]


def top_k(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """Return the k indices of largest |w|, ascending; ties go to the current S, then to earlier positions in `order`.

    Weights whose relative difference is below 1e-9 are tied, because such differences are rounding errors that depend
    on the solver. `order` is a seeded permutation, so that the result is never just the first k columns. O(d + n k)
    for n non-zeros; a Dantzig estimate has few.

    >>> top_k(np.array([0.0, 0.0, 0.3, 0.0]), 2, np.array([1, 3]), np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    # Deviation: the paper leaves ties open (E13); an arbitrary choice would restart the Newton step needlessly.
    inside = np.zeros(w.size, np.bool_)
    inside[S] = True
    places = np.empty(w.size, np.int64)
    _core.top_k(w, k, inside, order, places)
    return np.sort(places[:k])


def top_k_by_definition(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """Compute `top_k` from its definition: repeatedly the most preferred among the largest remaining (as in the core).

    >>> top_k_by_definition(np.array([0.0, 0.0, 0.3, 0.0]), 2, np.array([1, 3]), np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    left = sorted(order.tolist(), key=lambda i: i not in S)
    chosen = []
    for _ in range(k):
        size = np.abs(w[left])
        chosen.append(left.pop(int(np.argmax(size >= (1.0 - 1e-9) * size.max()))))
    return np.sort(chosen)


def only(w: Floats, S: Ints) -> Floats:
    """Return w on S, zero elsewhere."""
    kept = np.zeros(w.size)
    kept[S] = w[S]
    return kept


def identified(w: Floats, S: Ints) -> int:
    """Return how many members of S are not merely tied: their |w_i| exceeds everything outside S.

    >>> identified(np.array([0.0, 0.5, 0.2, 0.2]), np.array([1, 2]))
    1
    """
    outside = np.abs(w).copy()
    outside[S] = 0.0
    return int((np.abs(w[S]) > outside.max(initial=0.0)).sum())
