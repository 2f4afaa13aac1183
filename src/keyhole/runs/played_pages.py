"""The pages of a run, and the columns of a page that was played."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..core.learner import PlayedRows
from ..core.sources import SourceCatalog
from ..data.scaling import Scaling
from ..data.streams import Batch, Table
from ..simulation import scored, with_center

__all__ = ["LARGEST", "PlayedPage", "Purchases", "page_length", "page_of", "page_start", "pages"]

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


@dataclass(frozen=True, eq=False)
class PlayedPage:
    """The rows of a page that one process has played, in columns; all totals and records of a run follow from them."""

    raw: Batch
    """The whole page, raw; an interrupted process may have played its first rows."""
    begun: int
    """The number of rows of the page that an interrupted process has played and recorded."""
    predictions: Floats
    """(n,) the predictions in the units of the label."""
    scored: Bools
    """(n,) whether the row counts in a loss."""
    explored: Bools
    levels: Floats
    """(n,) the lowest level whose interval contained the label; NaN without an interval or a label."""
    before: Purchases
    """What the rows bought before the prediction; free attributes are not purchases."""
    after: Purchases
    """What the rows bought after the label."""
    labels_before: int
    """The number of labels that the run has seen before these rows."""

    @property
    def first(self) -> int:
        """The number of rows of the file before these."""
        return self.raw.first + self.begun

    @property
    def last(self) -> int:
        """The number of the last of these rows in the file, counted from 1."""
        return self.first + self.predictions.size

    @property
    def complete(self) -> bool:
        """Whether the last row of the page has been played."""
        return self.begun + self.predictions.size == self.raw.y.size

    @property
    def X(self) -> Floats:
        """(n, d) the raw values of these rows."""
        return self.raw.X[self.begun : self.begun + self.predictions.size]

    @property
    def labels(self) -> Floats:
        """(n,) the raw labels of these rows; NaN if missing."""
        return self.raw.y[self.begun : self.begun + self.predictions.size]

    def charges(self, purchases: Purchases, catalog: SourceCatalog) -> Floats:
        """Return what each purchase added to the price of its row: a source's price at its first attribute, else 0."""
        i = purchases.attributes
        if self.raw.prices is None:
            return catalog.charge[i]
        prices = self.raw.prices[self.begun + purchases.rows, catalog.of[i]]
        return np.where(np.isin(i, catalog.first), prices, 0.0)


def page_of(
    raw: Batch,
    begun: int,
    played: Sequence[PlayedRows],
    scaling: Scaling,
    labels_before: int = 0,
    informed: bool = False,
) -> PlayedPage:
    """Return the columns of the rows that were played on a page from row `begun` on.

    `informed` says that the learner has seen labels before the first row of the run, so that its first labelled row
    counts like any other.
    """
    n = sum(rows.predictions.size for rows in played)
    new = slice(begun, begun + n)
    y, center, known = raw.y[new], scaling.schema.label.stated_center, labels_before + int(informed)
    predictions = scaling.predictions(np.concatenate([np.empty(0), *(rows.predictions for rows in played)]))
    before, after = _purchases(played, raw.X[new], scaling.schema.catalog.free)
    return PlayedPage(
        raw=raw,
        begun=begun,
        predictions=with_center(predictions, y, center, known),
        scored=scored(y, center, known),
        explored=np.concatenate([np.empty(0, dtype=np.bool_), *(rows.explored for rows in played)]),
        levels=np.concatenate([np.empty(0), *(rows.levels for rows in played)]),
        before=before,
        after=after,
        labels_before=labels_before,
    )


def _purchases(played: Sequence[PlayedRows], X: Floats, free: Ints) -> tuple[Purchases, Purchases]:
    """Return what each row bought before and after its label, without the free attributes."""
    counts: tuple[list[Ints], list[Ints]] = ([np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)])
    bought: tuple[list[Ints], list[Ints]] = ([np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)])
    for rows in played:
        copies = rows.predictions.size // len(rows.sizes)  # one line if all rows bought the same
        attributes, sizes = np.repeat(rows.attributes, copies, axis=0), np.repeat(rows.sizes, copies, axis=0)
        column, ends = np.arange(attributes.shape[1]), np.cumsum(sizes, axis=1)
        for i in (0, 1):
            start, end = ends[:, i : i + 1] - sizes[:, i : i + 1], ends[:, i : i + 1]
            counts[i].append(sizes[:, i])
            bought[i].append(attributes[(column >= start) & (column < end)])
    before, after = (_paid(np.concatenate(c), np.concatenate(b), X, free) for c, b in zip(counts, bought, strict=True))
    return before, after


def _paid(counts: Ints, attributes: Ints, X: Floats, free: Ints) -> Purchases:
    if free.size:
        paid = ~np.isin(attributes, free)
        counts = np.bincount(np.repeat(np.arange(counts.size), counts)[paid], minlength=counts.size)
        attributes = attributes[paid]
    return Purchases(counts, attributes, X[np.repeat(np.arange(counts.size), counts), attributes])
