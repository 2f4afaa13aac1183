"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from .._internal.numba._bare import inner, short
from .._internal.typing import Bools, Floats, Ints

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
    pick_top(w, k, inside, order, places)
    return np.sort(places[:k])


def only(w: Floats, S: Ints) -> Floats:
    """w on S, zero elsewhere."""
    kept = np.zeros(w.size)
    kept[S] = w[S]
    return kept


@short
def pick_top(w: Floats, k: int, inside: Bools, order: Ints, places: Ints) -> None:
    """The first k of `places` become the k largest, the largest first."""
    n = by_preference(w, k, inside, order, places)
    for r in range(k):  # the largest of what is left; the earlier one, where two are equal
        best = r
        for c in range(r + 1, n):
            if abs(w[places[c]]) > abs(w[places[best]]):
                best = c
        chosen = places[best]
        for c in range(best, r, -1):  # the others keep their order of preference
            places[c] = places[c - 1]
        places[r] = chosen


@inner
def by_preference(w: Floats, k: int, inside: Bools, order: Ints, places: Ints) -> int:
    """What can be among the k largest, and how many: every non-zero, and zeros to fill up; of each kind those inside S
    first, then by `order`."""
    n = 0
    most = w.size
    for zeros in range(2):
        for outside in range(2):
            for a in range(order.size):
                i = order[a]
                if n < most and inside[i] == (outside == 0) and (w[i] == 0.0) == (zeros == 1):
                    places[n] = i
                    n += 1
        if n + k < most:
            most = n + k
    return n


def identified(w: Floats, S: Ints) -> int:
    """How many of the places in S are held by more than a tie: |w_i| above everything outside S.

    >>> identified(np.array([0.0, 0.5, 0.2, 0.2]), np.array([1, 2]))
    1
    """
    outside = np.abs(w).copy()
    outside[S] = 0.0
    return int((np.abs(w[S]) > outside.max(initial=0.0)).sum())
