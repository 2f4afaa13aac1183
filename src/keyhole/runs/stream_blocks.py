"""The pages of a run, and a page that records every purchase."""

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
    """Return the length of the page that begins after `start` rows: about start/64, a power of two from 64 to 4096.

    A short run thus has a fine resolution and a long one has few pages. The grid depends only on the row number, so an
    interrupted and resumed run has the same pages as an uninterrupted one.

    >>> [page_length(r) for r in (0, 4096, 8192, 10_000_000)]
    [64, 64, 128, 4096]
    """
    return min(LARGEST, max(_SMALLEST, 1 << max(start // _SMALLEST, 1).bit_length() - 1))


def page_start(row: int) -> int:
    """Return the start of the page that contains the row after `row` rows.

    >>> page_start(8200)
    8192
    """
    start = row // LARGEST * LARGEST
    while start + page_length(start) <= row:
        start += page_length(start)
    return start


def pages(table: Table, attributes: Sequence[str], target: str, start: int) -> Iterator[Batch]:
    """Yield the raw rows of a table page by page, from the start of a page on."""
    # Page lengths divide the batch length, so that a page never spans two batches.
    for batch in table.batches(attributes, target, start=start // LARGEST * LARGEST, size=LARGEST):
        at = max(batch.first, start)
        while at < batch.first + batch.y.size:
            part = slice(at - batch.first, at - batch.first + page_length(at))
            yield Batch(at, batch.X[part], batch.y[part])
            at += page_length(at)


@dataclass(frozen=True, eq=False)
class Purchases:
    """The purchased attributes of each row: `counts[i]` for row i, concatenated in `attributes`."""

    counts: Ints
    attributes: Ints
    values: Floats
    """The raw value of each purchase."""

    @cached_property
    def rows(self) -> Ints:
        """The row of each purchase."""
        return np.repeat(np.arange(self.counts.size), self.counts)

    def sums(self, of_each: Floats | Bools) -> Floats:
        """Return the sum of a per-purchase number over the purchases of each row (n,)."""
        sums: Floats = np.bincount(self.rows, weights=of_each, minlength=self.counts.size).astype(np.float64)
        return sums


class RunPage(RowBlock):
    """A page of a run: raw rows, rows as the learner sees them, and the attributes that each row bought.

    It may begin after `skip` rows that an interrupted process has played and recorded. `free` attributes are not
    purchases.
    """

    def __init__(self, raw: Batch, scaling: Scaling, skip: int, free: Ints | None = None) -> None:
        self.raw, self.free = raw, np.empty(0, dtype=np.int64) if free is None else free
        super().__init__(scaling.rows(raw.X), scaling.labels(raw.y), first=raw.first)
        self.begun = self.played = skip
        self._bought: tuple[list[_Bought], list[_Bought]] = ([], [])

    def record(self, learner: Learner, start: int, played: PlayedRows) -> None:
        """Record the rows, and the purchases of each before and after the label."""
        super().record(learner, start, played)
        copies = played.predictions.size // len(played.sizes)  # one line if all rows bought the same
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
        """The purchases of the new rows before the prediction, available once they have been played."""
        return self._joined(self._bought[0])

    @cached_property
    def extra_buys(self) -> Purchases:
        """The purchases of the new rows after the label, available once they have been played."""
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
    """The purchases of some rows: `counts[i]` for row i, concatenated in `attributes`."""

    counts: Ints
    attributes: Ints
