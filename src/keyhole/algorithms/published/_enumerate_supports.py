"""Enumeration of all supports: the k-subsets of d positions, as the arms of a bandit or the experts of Hedge."""

from itertools import chain, combinations
from math import comb

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...errors import ConfigError

__all__ = ["all_supports", "most_available", "pick"]

_LARGEST = 100_000
_NUMBERS = 50_000_000


def all_supports(name: str, d: int, k: int, per_support: int) -> Ints:
    """Return the (N, k) k-subsets of d positions in lexicographic order.

    More than 1e5 subsets, or more than a few hundred megabytes at `per_support` numbers each, raise `ConfigError`.

    >>> all_supports("demo", 3, 2, per_support=2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    N = comb(d, k)
    if N > _LARGEST:
        raise ConfigError(f"{name} stores every support: d = {d}, k = {k} give {N}, at most {_LARGEST} fit; reduce d")
    if N * per_support > _NUMBERS:
        raise ConfigError(f"{name} would store {per_support} numbers for each of {N} supports; choose a smaller d")
    return np.fromiter(chain.from_iterable(combinations(range(d), k)), dtype=np.int64, count=N * k).reshape(N, k)


def most_available(U: Ints, places: Bools) -> Bools:
    """Return the (N,) mask of the supports of which the most attributes can be bought; `places` is the availability
    mask.
    """
    count = places[U].sum(axis=1)
    return np.asarray(count == count.max())


def pick(p: Floats, awake: Bools | None, rng: np.random.Generator) -> tuple[int, float]:
    """Draw a support from p restricted to those awake; return it with its probability."""
    if awake is not None:
        p = np.where(awake, p, 0.0)
        p = p if p.sum() > 0.0 else awake.astype(np.float64)
    cdf = np.cumsum(p)
    i = int(np.searchsorted(cdf, rng.random() * cdf[-1], side="right"))
    i = i if i < p.size else int(np.flatnonzero(p)[-1])
    return i, float(p[i] / cdf[-1])
