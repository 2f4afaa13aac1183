"""Where a run's pages begin and end, and a page that remembers every purchase."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..core.learner import Learner, PlayedRows
from ..data.learner_scaling import Scaling
from ..data.streams import Batch, Table
from ..simulation import RowBlock

__all__ = ["LARGEST", "Purchases", "RunPage", "page_length", "page_start", "pages"]

LARGEST = 4096
_SMALLEST = 64


def page_length(start: int) -> int:
    """How many rows the page has that begins after `start` rows: about start/64, a power of two from 64 to 4096.

    So a short run is looked at closely and a long one in few pages; and since the grid depends on nothing but the row
    number, a run that stopped and went on has the same pages as one that did not.

    >>> [page_length(r) for r in (0, 4096, 8192, 10_000_000)]
    [64, 64, 128, 4096]
    """
    return min(LARGEST, max(_SMALLEST, 1 << max(start // _SMALLEST, 1).bit_length() - 1))


def page_start(row: int) -> int:
    """The start of the page that holds the row after `row` rows.

    >>> page_start(8200)
    8192
    """
    start = row // LARGEST * LARGEST
    while start + page_length(start) <= row:
        start += page_length(start)
    return start


def pages(table: Table, attributes: Sequence[str], target: str, start: int) -> Iterator[Batch]:
    """The raw rows of a table, page by page, from a page's `start` on."""
    # Page lengths divide the batches' length, so a page never lies in two batches.
    for batch in table.batches(attributes, target, start=start // LARGEST * LARGEST, size=LARGEST):
        at = max(batch.first, start)
        while at < batch.first + batch.y.size:
            part = slice(at - batch.first, at - batch.first + page_length(at))
            yield Batch(at, batch.X[part], batch.y[part])
            at += page_length(at)


@dataclass(frozen=True, eq=False)
class Purchases:
    """Which attributes each row bought: `counts[i]` of them for row i, one row after another in `attributes`."""

    counts: Ints
    attributes: Ints
    values: Floats
    """What each purchase gave, raw."""

    @cached_property
    def rows(self) -> Ints:
        """The row of each purchase."""
        return np.repeat(np.arange(self.counts.size), self.counts)

    def sums(self, of_each: Floats | Bools) -> Floats:
        """(n,) the sum over a row's purchases of a number that each purchase has."""
        sums: Floats = np.bincount(self.rows, weights=of_each, minlength=self.counts.size).astype(np.float64)
        return sums


class RunPage(RowBlock):
    """A page of a run: raw rows beside those the learner sees, and which attributes each row bought.

    It may begin in the middle, after `skip` rows that an interrupted process has played and written down. What is
    `free` was not bought.
    """

    def __init__(self, raw: Batch, scaling: Scaling, skip: int, free: Ints | None = None) -> None:
        self.raw, self.free = raw, np.empty(0, dtype=np.int64) if free is None else free
        super().__init__(scaling.rows(raw.X), scaling.labels(raw.y), first=raw.first)
        self.begun = self.played = skip
        self._bought: tuple[list[_Bought], list[_Bought]] = ([], [])

    def record(self, learner: Learner, start: int, played: PlayedRows) -> None:
        """Record the rows, and what each bought before and after the label."""
        super().record(learner, start, played)
        copies = played.predictions.size // len(played.sizes)  # one line where all rows bought the same
        attributes, sizes = np.repeat(played.attributes, copies, axis=0), np.repeat(played.sizes, copies, axis=0)
        column, before = np.arange(attributes.shape[1]), sizes[:, :1]
        after = (column >= before) & (column < before + sizes[:, 1:])
        self._bought[0].append(_Bought(sizes[:, 0], attributes[column < before]))
        self._bought[1].append(_Bought(sizes[:, 1], attributes[after]))

    @property
    def new(self) -> slice:
        """The rows played by this process."""
        return slice(self.begun, self.played)

    @property
    def complete(self) -> bool:
        """Whether the last row has been played."""
        return self.played == self.labels.size

    @cached_property
    def first_buys(self) -> Purchases:
        """What the new rows bought before the prediction; to be looked at when they have been played."""
        return self._joined(self._bought[0])

    @cached_property
    def extra_buys(self) -> Purchases:
        """What the new rows bought after the label; to be looked at when they have been played."""
        return self._joined(self._bought[1])

    @property
    def raw_labels(self) -> Floats:
        """The labels of the new rows in their own units."""
        return self.raw.y[self.new]

    def _joined(self, pieces: "list[_Bought]") -> Purchases:
        nothing = np.empty(0, dtype=np.int64)
        counts, attributes = map(np.concatenate, zip((nothing, nothing), *pieces, strict=True))
        if self.free.size:
            bought = ~np.isin(attributes, self.free)
            counts = np.bincount(np.repeat(np.arange(counts.size), counts)[bought], minlength=counts.size)
            attributes = attributes[bought]
        return Purchases(
            counts, attributes, self.raw.X[self.new][np.repeat(np.arange(counts.size), counts), attributes]
        )


class _Bought(NamedTuple):
    """Some rows' purchases: `counts[i]` of them for row i, one row after another in `attributes`."""

    counts: Ints
    attributes: Ints
