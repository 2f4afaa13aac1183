"""The best k-sparse vector in hindsight."""

from typing import NamedTuple

from .._types import Floats

__all__ = ["BestSparse", "best_sparse"]


class BestSparse(NamedTuple):
    """The comparator and how sure it is."""

    weights: Floats
    """(d,), at most k of them not 0."""
    optimal: bool
    """True where no other support can do better (proved)."""
    gap: float
    """An upper bound on (loss - best possible loss) / |y|^2; 0 where optimal."""


def best_sparse(X: Floats, y: Floats, k: int) -> BestSparse:
    """min |y - X w|^2 subject to |w|_0 <= k, without intercept."""
    raise NotImplementedError
