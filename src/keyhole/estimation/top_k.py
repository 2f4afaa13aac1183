"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from .. import _core
from .._internal.typing import Floats, Ints

__all__ = ["identified", "only", "top_k"]


def top_k(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """The k indices of largest |w|, ascending; ties go to the current S, then to whoever is earlier in `order`.

    `order` is a permutation drawn once with the seed: "the first k columns" is never an answer. O(d + n k) for n
    non-zeros: a Dantzig estimate has few.

    >>> top_k(np.array([0.0, 0.0, 0.3, 0.0]), 2, np.array([1, 3]), np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    # Deviation: the paper leaves ties open (E13); an arbitrary choice would reset the Newton step for nothing.
    inside = np.zeros(w.size, np.bool_)
    inside[S] = True
    places = np.empty(w.size, np.int64)
    _core.top_k(w, k, inside, order, places)
    return np.sort(places[:k])


def top_k_by_sorting(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """`top_k` in one line: sort by |w|, then membership in S, then the order. `top_k` does the same by the core.

    >>> top_k_by_sorting(np.array([0.0, 0.0, 0.3, 0.0]), 2, np.array([1, 3]), np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    rank = np.argsort(order)
    return np.sort(np.lexsort((rank, ~np.isin(np.arange(w.size), S), -np.abs(w)))[:k])


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
