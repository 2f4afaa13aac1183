"""Storage of H for large d: a log of the rounds that sum to H, from which single rows are built on demand.

A dense H takes 8 d^2 bytes, 80 GB at d = 1e5; the log takes 8 k^2 bytes per round. A row is built from the rounds that
observed its attribute, in their order, so it is bitwise equal to the row of a dense H however often it is rebuilt.
"""

from typing import ClassVar, Protocol

import numpy as np

from ..._core import DantzigStore
from ..._internal.typing import Floats, Ints
from ...core.state import CountCheck, Growing, NoCheck, NumberCheck, Stateful, StateSchema, Value
from ...errors import StateError

__all__ = ["Dense", "Log", "Rows"]

# Markers: a row of H that must be built before it is read, and a row that is read from the log each time.
ABSENT, IN_LOG = -1, -2


class Rows(Protocol):
    """A store of the rows of H: the arrays passed to the compiled kernels, and a way to load a row that is absent."""

    store: DantzigStore

    def load(self, j: int, keep: Ints) -> None:
        """Build row j without evicting the rows in `keep`."""

    def require(self, idx: Ints) -> None:
        """Build the absent rows among `idx`."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Return columns (side 0) or rows (side 1) of H, each as a row."""


class Dense(Stateful):
    """A dense H, with its transpose if H is not symmetric."""

    _state: ClassVar[StateSchema] = {
        "H": NumberCheck(),
        "HT": Growing(NumberCheck()),
    }

    def __init__(self, H: Floats, *, symmetric: bool) -> None:
        self.H = H
        self.HT: Floats = np.empty((0, 0)) if symmetric else np.ascontiguousarray(H.T)
        self._fit()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a saved H."""
        super().set_state(flat)
        if self.HT.shape not in ((0, 0), self.H.shape):
            raise StateError("H and its transpose differ in size in the state; the file is damaged")
        self._fit()

    def _fit(self) -> None:
        """Build the arrays that the kernel reads: the rows of the transpose, the rows of H, and their positions; there
        is no log.
        """
        # If H is not symmetric, the transpose must be updated in every round.
        self.lopsided = self.follows = self.HT.size > 0
        P = self.HT if self.lopsided else self.H
        place, no_log = np.arange(len(self.H)), np.empty(0, np.int64)
        self.store = DantzigStore(
            P, self.H, place, np.full_like(place, -1), np.empty((0, 4), np.int64), no_log, np.empty(0)
        )

    def load(self, j: int, keep: Ints) -> None:
        """Do nothing: no row is ever absent."""

    def require(self, idx: Ints) -> None:
        """Do nothing: no row is ever absent."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Return columns (side 0) or rows (side 1) of H, each as a row."""
        return (self.H if side == 1 or self.HT.size == 0 else self.HT)[idx]

    def make_lopsided(self) -> bool:
        """Keep the transpose too from now on; return True because a dense H supports this."""
        self.HT = np.ascontiguousarray(self.H.T)
        self._fit()
        return True

    def follow(self, B: Ints, h: Floats) -> None:
        """Update the transpose after `H[B, B]` has grown by `h`; called only if `follows`."""
        self.HT[np.ix_(B, B)] += h.T


# Memory for cached rows, in bytes; beyond it an unused row is evicted to make room for another.
MEMORY = 200_000_000


class Log(Stateful):
    """The log of rounds, linked by attribute.

    A row with more than `short_row` numbers in the log is built and cached; shorter rows are read from the log each
    time. `short_row = 0` builds every row.
    """

    _state: ClassVar[StateSchema] = {
        "n": CountCheck(),
        "start": CountCheck(),
        "link": Growing(NoCheck()),  # checked by `_check`
        "B": Growing(CountCheck()),
        "h": Growing(NumberCheck()),
    }

    def __init__(self, d: int, short_row: int = 0) -> None:
        self.d, self.short_row = d, short_row
        self.H, self.lopsided, self.follows = np.empty((0, 0)), False, True
        self.n = self.start = 0
        self.link: Ints = np.zeros((64, 4), np.int64)
        self.B: Ints = np.zeros(64, np.int64)
        self.h: Floats = np.zeros(1024)
        self._index()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a saved log; rows are rebuilt on demand."""
        super().set_state(flat)
        self._check()
        self._index()

    def _check(self) -> None:
        """Validate the indices, because the kernels trust them and a forged file must not cause out-of-bounds reads."""
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
            raise StateError("the log of rounds in the state is inconsistent; the file is damaged")

    def _index(self) -> None:
        """Set the start, end and length of each attribute's list; no row is cached yet."""
        B, d = self.B[: self.n], self.d
        positions = np.arange(self.n)
        self._first = np.full(d, -1, np.int64)
        self._tail = np.full(d, -1, np.int64)
        self._tail[B] = positions
        self._first[B[::-1]] = positions[::-1]
        self._length = np.bincount(B, weights=self.link[: self.n, 2], minlength=d).astype(np.int64)
        short = (self._length <= self.short_row) & (self.short_row > 0)
        self._place = np.where(short, IN_LOG, ABSENT)
        self._C = np.zeros((min(32, d), d))
        self._owner = np.full(len(self._C), -1, np.int64)
        self._hand = 0
        self._fit()

    def _fit(self) -> None:
        self.store = DantzigStore(self._C, self._C, self._place, self._first, self.link, self.B, self.h)

    def make_lopsided(self) -> bool:
        """Return False: the log uses a row as a column too, so it cannot store an asymmetric H."""
        return False

    def follow(self, B: Ints, h: Floats) -> None:
        """Append a round to the log, and update the cached rows, after `H[B, B]` has grown by `h`."""
        k, n = B.size, self.n
        self._reserve(k)
        here, last = np.arange(n, n + k), self._tail[B]
        self.B[here] = B
        self.link[here] = np.column_stack([np.full(k, -1), np.full(k, n), np.full(k, k), self.start + k * np.arange(k)])
        self.link[last[last >= 0], 0] = here[last >= 0]
        self._first[B[last < 0]] = here[last < 0]
        self._tail[B] = here
        self.h[self.start : self.start + k * k] = h.ravel()
        place = self._place[B]
        self._C[np.ix_(place[place >= 0], B)] += h[place >= 0]
        self.n, self.start = n + k, self.start + k * k
        self._length[B] += k
        if self.short_row:
            self._place[B[(self._place[B] == IN_LOG) & (self._length[B] > self.short_row)]] = ABSENT

    def _reserve(self, k: int) -> None:
        """Reserve space in the log for a round of k attributes, doubling the capacity when it is exhausted."""
        if self.n + k > len(self.B):
            self.link, self.B = np.pad(self.link, ((0, self.n + k), (0, 0))), np.pad(self.B, (0, self.n + k))
        if self.start + k * k > len(self.h):
            self.h = np.pad(self.h, (0, self.start + k * k))
        self._fit()

    def require(self, idx: Ints) -> None:
        """Build the absent rows among `idx`."""
        for j in idx[self._place[idx] == ABSENT].tolist():
            if self._place[j] == ABSENT:
                self.load(j, idx)

    def load(self, j: int, keep: Ints) -> None:
        """Build row j in the slot of a row that is not in `keep`."""
        place = self._free(keep)
        if self._owner[place] >= 0:
            self._place[self._owner[place]] = ABSENT
        self._owner[place], self._place[j] = j, place
        self._C[place] = self._row(j)

    def _row(self, j: int) -> Floats:
        """Return row j, summing its terms in the order of the rounds, as in a dense H."""
        seen = np.flatnonzero(self.B[: self.n] == j)
        _, begin, size, row = self.link[seen].T
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        columns, terms = self.B[np.repeat(begin, size) + within], self.h[np.repeat(row, size) + within]
        return np.asarray(np.bincount(columns, terms, self.d), float)

    def _free(self, keep: Ints) -> int:
        """Return the next slot that is free or evictable; add slots if memory allows or if it is necessary."""
        free = np.flatnonzero((self._owner < 0) | ~np.isin(self._owner, keep))
        rows = len(self._C)
        # A pivot may need two rows one after the other: with a single slot they would evict each other.
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
        """Return columns or rows of H, which are equal by symmetry."""
        return np.array([self._row(j) for j in idx.tolist()]).reshape(idx.size, self.d)
