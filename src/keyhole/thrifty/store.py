"""The book as something that can be saved: every array a field, the row store growing as rows come."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .._types import Bools, Floats, Ints
from ..errors import StateError
from ..rules import Anything, Rule
from ..state import Stateful, Value
from . import book as at
from .book import Book

__all__ = ["Store"]

# The row store: at most this many rows and values, older ones are overwritten; it starts small.
_MOST_ROWS, _MOST_VALUES, _FIRST_ROWS = 1 << 15, 1 << 22, 256


class Store(Stateful):
    """Holds the arrays of a `Book` for d attributes, k bought before the label and k0 after it."""

    _fields: ClassVar[tuple[str, ...]] = Book._fields
    _grows: ClassVar[tuple[str, ...]] = ("who", "what", "mass")
    _rules: ClassVar[Mapping[str, Rule]] = dict.fromkeys(Book._fields, Anything())

    def __init__(self, order: Ints, k: int, k0: int, price: Floats, spend: float, half_life: float | None) -> None:
        d, width = order.size, k + k0
        self.at: Floats = np.zeros((d, at.COLUMNS))
        self.at[:, at.PRICE] = price
        self.idx: Ints = np.zeros((at.INDICES, d), dtype=np.int64)
        self.idx[at.PLACE], self.idx[at.MARK] = -1, -1
        self.idx[at.ORDER] = order[np.argsort(price[order], kind="stable")]  # the cheaper of equals is met first
        self.pair: Floats = np.zeros((d, k, at.PAIRS))
        self.who: Ints = np.full((_FIRST_ROWS, width), -1, dtype=np.int64)
        self.what: Floats = np.zeros((_FIRST_ROWS, width))
        self.mass: Floats = np.zeros((_FIRST_ROWS, 2))
        self.M: Ints = np.zeros((2, k), dtype=np.int64)
        self.vec: Floats = np.zeros((2, at.VECTORS, k))
        self.gram: Floats = np.zeros((2, k + 2, k + 2))
        self.inv: Floats = np.zeros((2, 2, k, k))
        self.top: Floats = np.zeros((2, 2))
        self.num: Floats = np.zeros(at.NUMS)
        self.num[at.G], self.num[at.ALPHA], self.num[at.SPEND] = 1.0, 1.0, spend
        self.num[at.DECAY] = 1.0 if half_life is None else 0.5 ** (1.0 / half_life)
        self.cnt: Ints = np.zeros(at.CNTS, dtype=np.int64)
        self.cnt[at.K], self.cnt[at.K0], self.cnt[at.NEXT] = k, k0, 1
        self.everything: Bools = np.ones(d, dtype=np.bool_)
        self.most_rows = max(_FIRST_ROWS, min(_MOST_ROWS, _MOST_VALUES // width))

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a state whose indices fit: compiled functions do not check them."""
        super().set_state(flat)
        rows, d = self.mass.shape[0], self.at.shape[0]
        fits = self.who.shape[0] == self.what.shape[0] == rows <= self.most_rows
        inside = all(a.min(initial=0) >= -1 and a.max(initial=0) < d for a in (self.who, self.idx, self.M))
        if not (fits and inside and 0 <= self.cnt[at.SIZE] <= self.M.shape[1] and 0 <= self.cnt[at.QUEUED] <= d):
            raise StateError("the row store or the indices in the state do not fit together")

    @property
    def members(self) -> Ints:
        """The support, in the order in which it was joined."""
        return self.M[at.NOW, : self.cnt[at.SIZE]].copy()

    def free(self) -> int:
        """How many rows can be told before the row store must grow again; without end once it is a ring."""
        size = self.mass.shape[0]
        if self.cnt[at.TOLD] >= size and size < self.most_rows:
            more = min(size, self.most_rows - size)
            self.who = np.concatenate([self.who, np.full((more, self.who.shape[1]), -1, dtype=np.int64)])
            self.what = np.concatenate([self.what, np.zeros((more, self.what.shape[1]))])
            self.mass = np.concatenate([self.mass, np.zeros((more, 2))])
        size = self.mass.shape[0]
        return size - int(self.cnt[at.TOLD]) if size < self.most_rows else 1 << 40

    def book(self) -> Book:
        """The arrays, for compiled functions."""
        return Book(*(getattr(self, name) for name in Book._fields))
