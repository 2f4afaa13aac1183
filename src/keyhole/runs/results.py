"""Statistics of a run, accumulated while its results are written, for the summary and the report."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from .._internal.formatting import decimals_of, shown_decimals
from .._internal.typing import Floats, Ints
from ..core.introspection import Reason
from ..core.sources import SourceCatalog
from ..data.streams import Schema
from ..errors import StateError
from ..estimation.moment_regression import Moments
from ..simulation import bought_now
from .recommendation import Advice, advise
from .stream_blocks import page_length

__all__ = ["RunData"]

_STRETCHES = 24
# The number of rounds sampled for individual display, all from the second half of a run.
_SAMPLE = 400


@dataclass(eq=False)
class RunData:
    """A run in at most 24 stretches of rows, aligned with pages; memory use does not grow with its length.

    `see` receives every record as it is written, so that nothing has to be read back.
    """

    rows: int
    names: Sequence[str]
    """The names of all attributes."""
    summary: dict[str, Any] = field(default_factory=dict)
    """The content of `summary.json`."""
    schema: Schema | None = None
    moments: Moments | None = None
    """The moments of all rows, in hindsight; None if there are too many attributes."""
    reasons: Sequence[Reason] = ()
    """The learner's explanation of each source, those it buys first."""

    def __post_init__(self) -> None:
        self.edges = _edges(self.rows)
        """Borders (n + 1,): stretch i consists of the rows edges[i] + 1 to edges[i + 1]."""
        n, d = self.edges.size - 1, len(self.names)
        self._place = {name: i for i, name in enumerate(self.names)}
        self._sums, self._bought = np.zeros((3, n)), np.zeros((d, n))
        self._weights = np.zeros((d, n))
        self.explored = self.labelled = self.scored = self.late_scored = 0
        self.total_loss = self.late_loss = 0.0
        self._decimals, self._low, self._high = 0, np.inf, -np.inf
        self._chosen = np.unique(np.linspace(self.rows // 2 + 1, self.rows, _SAMPLE).astype(np.int64))
        self._sample: list[Floats] = []
        self._late_bought, self._late_rows = np.zeros(d, dtype=np.int64), 0

    def see(self, kind: str, table: pa.Table) -> None:
        """Add records of a kind ("rounds" or "ledger"), in order."""
        self._see_rounds(table) if kind == "rounds" else self._see_ledger(table)

    @cached_property
    def advice(self) -> Advice:
        """The recommendation, shared by the terminal, the summary and the report."""
        if self.schema is None:
            raise StateError("this run has no schema; run it again")
        return advise(self.summary, self.schema.catalog, self.moments, self.schema.priced)

    @property
    def decimals(self) -> int | None:
        """The number of decimals of a displayed prediction."""
        return shown_decimals(self._decimals, float(self._high - self._low))

    @property
    def ends(self) -> Floats:
        """The last row of each stretch."""
        return self.edges[1:].astype(np.float64)

    @property
    def loss(self) -> Floats:
        """The mean squared error in each stretch (n,); NaN if it has no scored row."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self._sums[0] / self._sums[1]
        return mean

    @property
    def loss_so_far(self) -> Floats:
        """The mean squared error from the first row to the end of each stretch (n,)."""
        mean: Floats = np.cumsum(self._sums[0]) / np.maximum(np.cumsum(self._sums[1]), 1)
        return mean

    @property
    def money(self) -> Floats:
        """The money spent up to the end of each stretch (n,)."""
        return np.cumsum(self._sums[2])

    @property
    def bought(self) -> list[str]:
        """The attributes that were ever bought, the most frequent first."""
        return [name for name, facts in self.summary["attributes"].items() if facts["bought"]]

    @property
    def share(self) -> Floats:
        """The share of the rows of each stretch in which an attribute was bought (bought, n)."""
        return self._bought[[self._place[name] for name in self.bought]] / np.diff(self.edges)

    @property
    def weights(self) -> Floats:
        """The weights at the end of each stretch (bought, n)."""
        return self._weights[[self._place[name] for name in self.bought]]

    @property
    def sample(self) -> Floats:
        """Predictions and labels (2, n) of rows spread evenly over the second half."""
        return np.concatenate([np.zeros((2, 0)), *self._sample], axis=1)

    def bought_now(self, catalog: SourceCatalog, support: Sequence[int]) -> list[str]:
        """Return the sources of the learner's support, and those bought in most of the last tenth of the rows."""
        return [catalog.sources[s] for s in bought_now(catalog, support, self._late_bought, self._late_rows)]

    def _see_rounds(self, table: pa.Table) -> None:
        row, loss, price = (np.asarray(table[c]) for c in ("row", "loss", "price"))
        there, late = ~np.isnan(loss), row > 0.9 * self.rows
        losses = np.where(there, loss, 0.0)
        at = np.searchsorted(self.edges, row - 1, side="right") - 1
        for i, values in enumerate((losses, there, price)):
            self._sums[i] += np.bincount(at, weights=values, minlength=self.edges.size - 1)
        self.explored += int(np.asarray(table["explored"]).sum())
        labels = np.asarray(table["label"])
        labels = labels[~np.isnan(labels)]
        self.labelled += labels.size
        self._decimals = decimals_of(labels, self._decimals)
        self._low, self._high = labels.min(initial=self._low), labels.max(initial=self._high)
        self.total_loss, self.scored = self.total_loss + float(losses.sum()), self.scored + int(there.sum())
        self.late_loss += float(losses[late].sum())
        self.late_scored += int(there[late].sum())
        lists = table["bought"].combine_chunks()
        if late.any() and pa.types.is_integer(lists.type.value_type):  # a finished run has names and a summary
            numbers = np.asarray(lists.slice(int(late.argmax())).flatten())
            self._late_bought += np.bincount(numbers, minlength=len(self.names))
            self._late_rows += int(late.sum())
        kept = there & np.isin(row, self._chosen)
        self._sample.append(np.stack([np.asarray(table[c])[kept] for c in ("prediction", "label")]))

    def _see_ledger(self, table: pa.Table) -> None:
        last, bought, weight = (np.asarray(table[c]) for c in ("last_row", "bought", "weight"))
        i = np.array([self._place[name] for name in table["attribute"].to_pylist()], dtype=np.int64)
        at = np.searchsorted(self.edges, last, side="left") - 1
        np.add.at(self._bought, (i, at), bought)
        ends = last == self.edges[at + 1]
        self._weights[i[ends], at[ends]] = weight[ends]


def _edges(rows: int) -> Ints:
    """Return the borders of stretches of about equal length, at borders of pages."""
    borders = [0]
    while borders[-1] < rows:
        borders.append(min(rows, borders[-1] + page_length(borders[-1])))
    wanted = np.linspace(0, rows, min(_STRETCHES, len(borders) - 1) + 1)
    nearest = np.searchsorted(borders, wanted)
    return np.unique(np.array(borders, dtype=np.int64)[nearest])
