"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from .. import _core
from .._internal.typing import Floats, Ints

__all__ = ["identified", "only", "top_k"]


def top_k(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """The k indices of largest |w|, ascending; ties go to the current S, then to what is earlier in `order`.

    Weights that differ by less than 1e-9 of the larger one are tied: what is left is rounding, which depends on the
    solver. `order` is a permutation drawn once with the seed: "the first k columns" is never an answer. O(d + n k) for
    n non-zeros: a Dantzig estimate has few.

    >>> top_k(np.array([0.0, 0.0, 0.3, 0.0]), 2, np.array([1, 3]), np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    # Deviation: the paper leaves ties open (E13); an arbitrary choice would reset the Newton step for nothing.
    inside = np.zeros(w.size, np.bool_)
    inside[S] = True
    places = np.empty(w.size, np.int64)
    _core.top_k(w, k, inside, order, places)
    return np.sort(places[:k])


def top_k_by_definition(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """`top_k` from its definition: the first in order of preference among the largest left. The core does the same.

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
    """w on S, zero elsewhere."""
    kept = np.zeros(w.size)
    kept[S] = w[S]
    return kept


def identified(w: Floats, S: Ints) -> int:
    """How many of the places in S are held by more than a tie: |w_i| above everything outside S.

    >>> identified(np.array([0.0, 0.5, 0.2, 0.2]), np.array([1, 2]))
    1
    """
    outside = np.abs(w).copy()
    outside[S] = 0.0
    return int((np.abs(w[S]) > outside.max(initial=0.0)).sum())
