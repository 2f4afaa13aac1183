"""The trial becomes the support: the one place where the support changes."""

from .._jit import inner
from .._types import Floats
from .book import COND, ERR, EXPLAINED, MOVES, NOW, PLACE, S2, SIZE, TRIAL, VAR, Book, P
from .scoring import rescore

__all__ = ["residual", "settle"]


@inner
def residual(b: Book) -> None:
    """S2 = variance of the label not explained, but not far below what was seen in predictions; and the cond of M."""
    m = b.cnt[SIZE]
    explained = b.top[NOW, EXPLAINED] if m else 0.0
    b.num[S2] = max(b.num[VAR] - explained, 0.3 * b.num[ERR], 1e-9 * b.num[VAR])
    for a in range(m):
        b.vec[NOW, COND, a] = 1.0 / b.inv[NOW, P, a, a]


@inner
def _copy(both: Floats) -> None:
    """What belongs to the trial becomes what belongs to the support: both[NOW] = both[TRIAL], flat."""
    half = both.size // 2
    for i in range(half):
        both[i] = both[half + i]


@inner
def settle(b: Book, m: int) -> None:
    """The trial becomes the support."""
    for a in range(b.cnt[SIZE]):
        b.idx[PLACE, b.M[NOW, a]] = -1
    _copy(b.vec.ravel())
    _copy(b.gram.ravel())
    _copy(b.inv.ravel())
    _copy(b.top.ravel())
    for a in range(m):
        b.M[NOW, a] = b.M[TRIAL, a]
        b.idx[PLACE, b.M[NOW, a]] = a
    b.cnt[SIZE] = m
    b.cnt[MOVES] += 1
    residual(b)
    rescore(b)
