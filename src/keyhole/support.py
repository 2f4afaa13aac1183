"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from ._jit import jit
from ._types import Bools, Floats, Ints

__all__ = ["identified", "top_k"]


@jit
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
    places = _by_preference(w, k, inside, order)
    chosen = np.empty(k, np.int64)
    for r in range(k):  # the largest of what is left; the earlier one, where two are equal
        best = r
        for c in range(r + 1, places.size):
            if abs(w[places[c]]) > abs(w[places[best]]):
                best = c
        chosen[r] = places[best]
        for c in range(best, r, -1):  # the others keep their order of preference
            places[c] = places[c - 1]
        places[r] = chosen[r]
    return np.sort(chosen)


@jit
def _by_preference(w: Floats, k: int, inside: Bools, order: Ints) -> Ints:
    """What can be among the k largest: every non-zero, and zeros to fill up; those inside S first, then by `order`."""
    places, n = np.empty(w.size, np.int64), 0
    for want in (True, False):
        for i in order:
            if inside[i] == want and w[i] != 0.0:
                places[n] = i
                n += 1
    zeros = n
    for want in (True, False):
        for i in order:
            if zeros < n + k and zeros < w.size and inside[i] == want and w[i] == 0.0:
                places[zeros] = i
                zeros += 1
    return places[:zeros]


def identified(w: Floats, S: Ints) -> int:
    """How many of the places in S are held by more than a tie: |w_i| above everything outside S.

    >>> identified(np.array([0.0, 0.5, 0.2, 0.2]), np.array([1, 2]))
    1
    """
    outside = np.abs(w).copy()
    outside[S] = 0.0
    return int((np.abs(w[S]) > outside.max(initial=0.0)).sum())
