"""S = the k largest |w_i|, with ties broken so that a tie never looks like a discovery."""

import numpy as np

from ._types import Floats, Ints

__all__ = ["identified", "top_k"]


def top_k(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """The k indices of largest |w|, ascending; ties go to the current S, then to whoever is earlier in `order`.

    `order` is a permutation drawn once with the seed: "the first k columns" is never an answer. O(d + n log n) for n
    non-zeros: a Dantzig estimate has few.

    >>> top_k(np.array([0.0, 0.0, 0.3, 0.0]), 2, S=np.array([1, 3]), order=np.array([3, 2, 1, 0])).tolist()
    [2, 3]
    """
    # Deviation: the paper leaves ties open (E13); an arbitrary choice would reset the Newton step for nothing.
    candidates = np.flatnonzero(w)
    if candidates.size < k:
        candidates = np.concatenate([candidates, _fillers(w, k, S, order)])
    rank = np.empty(w.size, dtype=np.int64)
    rank[order] = np.arange(w.size)
    outside = np.ones(w.size, dtype=bool)
    outside[S] = False
    by_size = np.lexsort((rank[candidates], outside[candidates], -np.abs(w[candidates])))
    return np.sort(candidates[by_size[:k]])


def _fillers(w: Floats, k: int, S: Ints, order: Ints) -> Ints:
    """Enough indices with w = 0 to fill k places: those of S, then the earliest in `order`."""
    idle = S[w[S] == 0.0]
    others = order[: 2 * k + np.count_nonzero(w)]
    others = others[(w[others] == 0.0) & ~np.isin(others, idle)]
    return np.concatenate([idle, others])


def identified(w: Floats, S: Ints) -> int:
    """How many of the places in S are held by more than a tie: |w_i| above everything outside S.

    >>> identified(np.array([0.0, 0.5, 0.2, 0.2]), np.array([1, 2]))
    1
    """
    outside = np.abs(w).copy()
    outside[S] = 0.0
    return int((np.abs(w[S]) > outside.max(initial=0.0)).sum())
