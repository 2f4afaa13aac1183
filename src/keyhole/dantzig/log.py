"""H for large d: the log of the rounds it is the sum of, and the few rows of it that are needed, built on demand.

A dense H takes 8 d^2 bytes, 80 GB at d = 1e5; the log takes 8 k^2 a round. A row is built from the rounds that saw its
attribute, in their order, so that it has the same bits as in a dense H however often it is built.
"""

from typing import ClassVar

import numpy as np

from .._jit import jit
from .._types import Floats, Ints
from ..errors import ConfigError, StateError
from ..state import Stateful, Value
from ._rows import ABSENT, LISTED, Store, add_listed

__all__ = ["Log"]

# What the rows kept may take, in bytes, before one that is not in use makes place for another.
MEMORY = 200_000_000


@jit
def record(store: Store, tail: Ints, n: int, start: int, B: Ints, h: Floats) -> None:
    """Append a round at position n of the log and `start` of its numbers; rows that are kept grow with it."""
    _, Q, at, link, B_log, h_log = store
    k = B.size
    for i in range(k):
        j = B[i]
        B_log[n + i] = j
        link[n + i, 0] = -1
        link[n + i, 1] = n
        link[n + i, 2] = k
        link[n + i, 3] = start + i * k
        if tail[j] >= 0:
            link[tail[j], 0] = n + i
        else:
            at[1, j] = n + i
        tail[j] = n + i
        place = at[0, j]
        for t in range(k):
            h_log[start + i * k + t] = h[i, t]
            if place >= 0:
                Q[place, B[t]] += h[i, t]


@jit
def build(store: Store, j: int, out: Floats) -> None:
    """out += row j of H."""
    add_listed(store[2], store[3], store[4], store[5], j, 1.0, out)


class Log(Stateful):
    """Rounds, linked by attribute. A row with more than `listed` numbers in the log is built and kept, others are read
    off the log each time; `listed = 0` builds every one."""

    _fields: ClassVar[tuple[str, ...]] = ("n", "start", "link", "B", "h")
    _grows: ClassVar[tuple[str, ...]] = (
        "link",
        "B",
        "h",
    )

    def __init__(self, d: int, listed: int = 0) -> None:
        self.d, self.listed = d, listed
        self.n = self.start = 0
        self.link: Ints = np.zeros((64, 4), np.int64)
        self.B: Ints = np.zeros(64, np.int64)
        self.h: Floats = np.zeros(1024)
        self._index()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a saved log; rows are built again when they are asked for."""
        super().set_state(flat)
        self._check()
        self._index()

    def _check(self) -> None:
        """The kernels trust these numbers; a file must not be able to make them read elsewhere."""
        n, link = self.n, self.link[: self.n]
        sound = (
            0 <= n <= min(len(self.B), len(self.link)) and self.link.shape[1] == 4 and 0 <= self.start <= self.h.size
        )
        sound = sound and bool(((self.B[:n] >= 0) & (self.B[:n] < self.d)).all())
        if sound and n:
            following, begin, size, row = link.T
            sound = bool(((following == -1) | ((following > np.arange(n)) & (following < n))).all())
            sound = sound and bool((link[:, 1:] >= 0).all() and (begin + size <= n).all())
            sound = sound and bool((row + size <= self.start).all())
        if not sound:
            raise StateError("the log of rounds in the state contradicts itself; the file is damaged")

    def _index(self) -> None:
        """Where each attribute's list begins and ends and how long it is; no row is kept yet."""
        B, d = self.B[: self.n], self.d
        positions = np.arange(self.n)
        self._at = np.full((2, d), -1, np.int64)
        self._tail = np.full(d, -1, np.int64)
        self._tail[B] = positions
        self._at[1, B[::-1]] = positions[::-1]
        self._length = np.bincount(B, weights=self.link[: self.n, 2], minlength=d).astype(np.int64)
        self._at[0] = np.where(self._length > self.listed, ABSENT, LISTED) if self.listed else ABSENT
        self._C = np.zeros((min(32, d), d))
        self._owner = np.full(len(self._C), -1, np.int64)
        self._hand = 0
        self._fit()

    def _fit(self) -> None:
        self.store: Store = (self._C, self._C, self._at, self.link, self.B, self.h)

    def update(self, b: Floats, B: Ints, h: Floats, v: Floats, *, symmetric: bool) -> None:
        """H[B, B] += h, b[B] += v."""
        if not symmetric:
            raise ConfigError(
                "without a dense H every round must be symmetric, and this one is not; nothing was changed"
            )
        k = B.size
        if self.n + k > len(self.B):
            self.link, self.B = np.pad(self.link, ((0, self.n + k), (0, 0))), np.pad(self.B, (0, self.n + k))
        if self.start + k * k > len(self.h):
            self.h = np.pad(self.h, (0, self.start + k * k))
        self._fit()
        record(self.store, self._tail, self.n, self.start, B, h)
        b[B] += v
        self.n += k
        self.start += k * k
        self._length[B] += k
        if self.listed:
            at = self._at[0]
            at[B[(at[B] == LISTED) & (self._length[B] > self.listed)]] = ABSENT

    def require(self, idx: Ints) -> None:
        """Build those of the rows that are absent."""
        for j in idx[self._at[0, idx] == ABSENT].tolist():
            if self._at[0, j] == ABSENT:
                self.load(j, idx)

    def load(self, j: int, keep: Ints) -> None:
        """Build row j in the place of one that is not in `keep`."""
        place = self._place(keep)
        if self._owner[place] >= 0:
            self._at[0, self._owner[place]] = ABSENT
        self._owner[place], self._at[0, j] = j, place
        self._C[place] = 0.0
        build(self.store, j, self._C[place])

    def _place(self, keep: Ints) -> int:
        """The next place that is free or whose row is not in use; more places, if memory allows or if it must be."""
        free = np.flatnonzero((self._owner < 0) | ~np.isin(self._owner, keep))
        rows = len(self._C)
        # A pivot may ask for two rows, one after the other: with a single place they would drive each other out.
        if free.size < 2 or (rows < self.d and (self._owner >= 0).all() and 16 * rows * self.d <= MEMORY):
            self._C = np.vstack([self._C, np.zeros_like(self._C)])
            self._owner = np.append(self._owner, np.full(rows, -1))
            self._fit()
            return rows
        after = free[free >= self._hand]
        place = int(after[0] if after.size else free[0])
        self._hand = place + 1
        return place

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns or rows of H, which are the same."""
        out = np.zeros((idx.size, self.d))
        for row, j in zip(out, idx.tolist(), strict=True):
            build(self.store, j, row)
        return out
