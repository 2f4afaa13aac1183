"""Where the rows of H are kept. The engine reads the rows of its basis and of what enters it, and no other."""

from typing import ClassVar, Protocol

import numpy as np

from .._types import Floats, Ints
from ..state import Stateful
from ._push import push
from ._rows import Store

__all__ = ["Dense", "Rows"]


class Rows(Protocol):
    """A store of rows: what the kernels get, and how a row that is absent is brought in."""

    @property
    def store(self) -> Store: ...

    def load(self, j: int, keep: Ints) -> None:
        """Build row j; rows in `keep` stay."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns (side 0) or rows (side 1) of H, each as a row."""


class Dense(Stateful):
    """All of H, and its transpose where the two differ."""

    _fields: ClassVar[tuple[str, ...]] = ("H", "HT")

    def __init__(self, H: Floats, *, symmetric: bool) -> None:
        self.H = H
        self.HT: Floats = np.empty((0, 0)) if symmetric else np.ascontiguousarray(H.T)
        self._at = np.vstack([np.arange(len(H)), np.full(len(H), -1)])
        self._log: tuple[Ints, Ints, Floats] = (np.empty((0, 4), np.int64), np.empty(0, np.int64), np.empty(0))

    @property
    def store(self) -> Store:
        """Rows of the transpose, rows of H, and where they are; no log."""
        return (self.H if self.HT.size == 0 else self.HT, self.H, self._at, *self._log)

    def load(self, j: int, keep: Ints) -> None:
        """Nothing is ever absent here."""

    def take(self, side: int, idx: Ints) -> Floats:
        """Columns (side 0) or rows (side 1) of H, each as a row."""
        return (self.H if side == 1 or self.HT.size == 0 else self.HT)[idx]

    def update(self, b: Floats, B: Ints, h: Floats, v: Floats, *, symmetric: bool) -> None:
        """H[B, B] += h, b[B] += v."""
        if not symmetric and self.HT.size == 0:
            self.HT = np.ascontiguousarray(self.H.T)
        push(self.H, b, B, h, v)
        if self.HT.size:
            push(self.HT, np.zeros_like(b), B, np.ascontiguousarray(h.T), v)
