"""Where the rows of H are kept. The engine reads the rows of its basis and of what enters it, and no other."""

from typing import ClassVar, Protocol

import numpy as np

from .._types import Floats, Ints
from ..errors import StateError
from ..state import Stateful, Value
from ._rows import Store

__all__ = ["Dense", "Rows"]


class Rows(Protocol):
    """A store of rows: what the kernels get, and how a row that is absent is brought in."""

    store: Store

    def load(self, j: int, keep: Ints) -> None:
        """Build row j; rows in `keep` stay."""

    def require(self, idx: Ints) -> None:
        """Build those of the rows that are absent."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns (side 0) or rows (side 1) of H, each as a row."""


class Dense(Stateful):
    """All of H, and its transpose where the two differ."""

    _fields: ClassVar[tuple[str, ...]] = ("H", "HT")
    _grows: ClassVar[tuple[str, ...]] = ("HT",)

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
        self.store = Store(P, self.H, place, np.full_like(place, -1), np.empty((0, 4), np.int64), no_log, np.empty(0))

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
