"""H for large d: the log of the rounds it is the sum of, and the few rows of it that are needed, built on demand.

A dense H takes 8 d^2 bytes, 80 GB at d = 1e5; the log takes 8 k^2 a round. A row is built from the rounds that saw its
attribute, in their order, so that it has the same bits as in a dense H however often it is built.
"""

from typing import ClassVar, Protocol

import numpy as np

from ..._core import DantzigStore
from ..._internal.typing import Floats, Ints
from ...core.state import CountCheck, Growing, NoCheck, NumberCheck, Stateful, StateSchema, Value
from ...errors import StateError

__all__ = ["Dense", "Log", "Rows"]

# A row of H that must be built before it is read; one that is read off the log of rounds each time.
ABSENT, LISTED = -1, -2


class Rows(Protocol):
    """A store of rows: what the kernels get, and how a row that is absent is brought in."""

    store: DantzigStore

    def load(self, j: int, keep: Ints) -> None:
        """Build row j; rows in `keep` stay."""

    def require(self, idx: Ints) -> None:
        """Build those of the rows that are absent."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns (side 0) or rows (side 1) of H, each as a row."""


class Dense(Stateful):
    """All of H, and its transpose where the two differ."""

    _state: ClassVar[StateSchema] = {
        "H": NumberCheck(),
        "HT": Growing(NumberCheck()),
    }

    def __init__(self, H: Floats, *, symmetric: bool) -> None:
        self.H = H
        self.HT: Floats = np.empty((0, 0)) if symmetric else np.ascontiguousarray(H.T)
        self._fit()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a saved H."""
        super().set_state(flat)
        if self.HT.shape not in ((0, 0), self.H.shape):
            raise StateError("H and its transpose differ in size in the state; the file is damaged")
        self._fit()

    def _fit(self) -> None:
        """Rows of the transpose, rows of H, and where they are; no log."""
        # Not symmetric: then the transpose has to follow every round.
        self.lopsided = self.follows = self.HT.size > 0
        P = self.HT if self.lopsided else self.H
        place, no_log = np.arange(len(self.H)), np.empty(0, np.int64)
        self.store = DantzigStore(
            P, self.H, place, np.full_like(place, -1), np.empty((0, 4), np.int64), no_log, np.empty(0)
        )

    def load(self, j: int, keep: Ints) -> None:
        """Nothing is ever absent here."""

    def require(self, idx: Ints) -> None:
        """Nothing is ever absent here."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns (side 0) or rows (side 1) of H, each as a row."""
        return (self.H if side == 1 or self.HT.size == 0 else self.HT)[idx]

    def make_lopsided(self) -> bool:
        """From now on keep the transpose as well; True: that can be done."""
        self.HT = np.ascontiguousarray(self.H.T)
        self._fit()
        return True

    def follow(self, B: Ints, h: Floats) -> None:
        """H[B, B] has grown by h; so does the transpose. Only called where `follows`."""
        self.HT[np.ix_(B, B)] += h.T


# What the rows kept may take, in bytes, before one that is not in use makes place for another.
MEMORY = 200_000_000


class Log(Stateful):
    """Rounds, linked by attribute. A row with more than `listed` numbers in the log is built and kept, others are read
    off the log each time; `listed = 0` builds every one."""

    _state: ClassVar[StateSchema] = {
        "n": CountCheck(),
        "start": CountCheck(),
        "link": Growing(NoCheck()),  # `_check` covers it
        "B": Growing(CountCheck()),
        "h": Growing(NumberCheck()),
    }

    def __init__(self, d: int, listed: int = 0) -> None:
        self.d, self.listed = d, listed
        self.H, self.lopsided, self.follows = np.empty((0, 0)), False, True
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
        self._first = np.full(d, -1, np.int64)
        self._tail = np.full(d, -1, np.int64)
        self._tail[B] = positions
        self._first[B[::-1]] = positions[::-1]
        self._length = np.bincount(B, weights=self.link[: self.n, 2], minlength=d).astype(np.int64)
        short = (self._length <= self.listed) & (self.listed > 0)
        self._place = np.where(short, LISTED, ABSENT)
        self._C = np.zeros((min(32, d), d))
        self._owner = np.full(len(self._C), -1, np.int64)
        self._hand = 0
        self._fit()

    def _fit(self) -> None:
        self.store = DantzigStore(self._C, self._C, self._place, self._first, self.link, self.B, self.h)

    def make_lopsided(self) -> bool:
        """A row of the log is taken for a column as well, so that an H that is not symmetric cannot be kept."""
        return False

    def follow(self, B: Ints, h: Floats) -> None:
        """H[B, B] has grown by h: the log does, and the rows that are kept."""
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
        if self.listed:
            self._place[B[(self._place[B] == LISTED) & (self._length[B] > self.listed)]] = ABSENT

    def _reserve(self, k: int) -> None:
        """Room in the log for a round of k, twice what is needed whenever it runs out."""
        if self.n + k > len(self.B):
            self.link, self.B = np.pad(self.link, ((0, self.n + k), (0, 0))), np.pad(self.B, (0, self.n + k))
        if self.start + k * k > len(self.h):
            self.h = np.pad(self.h, (0, self.start + k * k))
        self._fit()

    def require(self, idx: Ints) -> None:
        """Build those of the rows that are absent."""
        for j in idx[self._place[idx] == ABSENT].tolist():
            if self._place[j] == ABSENT:
                self.load(j, idx)

    def load(self, j: int, keep: Ints) -> None:
        """Build row j in the place of one that is not in `keep`."""
        place = self._free(keep)
        if self._owner[place] >= 0:
            self._place[self._owner[place]] = ABSENT
        self._owner[place], self._place[j] = j, place
        self._C[place] = self._row(j)

    def _row(self, j: int) -> Floats:
        """Row j, its terms added in the order of the rounds, as in a dense H."""
        seen = np.flatnonzero(self.B[: self.n] == j)
        _, begin, size, row = self.link[seen].T
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        columns, terms = self.B[np.repeat(begin, size) + within], self.h[np.repeat(row, size) + within]
        return np.asarray(np.bincount(columns, terms, self.d), float)

    def _free(self, keep: Ints) -> int:
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
        return np.array([self._row(j) for j in idx.tolist()]).reshape(idx.size, self.d)
