"""Totals over the rows of a run: purchases, missing and clipped values, money, alarms and interval coverage.

`totals_of` computes them for the rows of one page; the totals of a run are the sum over its pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.learner import Plain
from ..core.round import Alarm
from ..core.sources import SourceCatalog
from ..core.state import CountCheck, NoCheck, NumberCheck, Part, Stateful, StateSchema
from ..data.streams import Schema
from ..data.value_counts import ValueCounts, ValueRanges, count_unseen
from .played_pages import PlayedPage

__all__ = ["LEVELS", "Totals", "missing_sentences", "missing_warning", "totals_of"]

LEVELS = (0.5, 0.9, 0.95)
"""The levels whose interval coverage is reported."""

# Shares of missing values at which to warn, once each, and the minimum number of purchases.
_SHARES = (0.01, 0.05, 0.2)
_ENOUGH = 100


@dataclass(eq=False)
class Totals(Stateful):
    """Totals over some rows; those of different rows are added with `+`, in the order of the rows.

    `loss` is for display during a run; the summary uses the recorded losses. `paid` is recorded, so a run extends its
    totals with `with_page`, whose sums do not depend on where an interrupted page was split.
    """

    _state: ClassVar[StateSchema] = {
        "rows": CountCheck(),
        "unlabelled": CountCheck(),
        "scored": CountCheck(),
        "loss": NumberCheck(),
        "bought": CountCheck(),
        "paid": NumberCheck(least=0),
        "unobserved": CountCheck(),
        "values": Part(),
        "unseen": CountCheck(),
        "n_intervals": CountCheck(),
        "n_inside": CountCheck(),
        "alarm_lines": NoCheck(),
    }

    catalog: SourceCatalog
    rows: int
    unlabelled: int
    scored: int
    loss: float
    bought: Ints
    """(d,) the purchases of each attribute."""
    paid: Floats
    """(d,) the sum of the prices of these purchases, if prices differ between rows; otherwise empty."""
    unobserved: Ints
    """(d,) the purchases that brought no value."""
    values: ValueCounts
    """The bought values of each attribute and, last, the labels."""
    unseen: Ints
    """The rows with an undeclared value, per category."""
    n_intervals: int
    """The labels that came with an interval."""
    n_inside: Ints
    """The labels inside the interval, at each of `LEVELS`."""
    alarm_lines: str
    """A line per detected change: the row of the file, a tab, and what changed. A learner keeps only the last few."""

    @classmethod
    def zero(cls, schema: Schema) -> "Totals":
        """Return the totals over no rows."""
        d = len(schema.names)
        nothing = np.zeros(d, dtype=np.int64)
        unseen = count_unseen(schema, np.empty((0, d)))
        inside = np.zeros(len(LEVELS), dtype=np.int64)
        values = ValueCounts.zero(d + 1)
        paid = np.zeros(d if schema.price_columns else 0)
        return cls(schema.catalog, 0, 0, 0, 0.0, nothing, paid, nothing.copy(), values, unseen, 0, inside, "")

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.catalog,
            self.rows + other.rows,
            self.unlabelled + other.unlabelled,
            self.scored + other.scored,
            self.loss + other.loss,
            self.bought + other.bought,
            self.paid + other.paid,
            self.unobserved + other.unobserved,
            self.values + other.values,
            self.unseen + other.unseen,
            self.n_intervals + other.n_intervals,
            self.n_inside + other.n_inside,
            self.alarm_lines + other.alarm_lines,
        )

    def with_page(self, new: "Totals", page: PlayedPage) -> "Totals":
        """Return these totals and those of the next page, with its prices added one by one in the order of the rows."""
        total = self + new
        if self.paid.size:
            total.paid = _paid(page, self.catalog, self.paid)
        return total

    @property
    def labelled(self) -> int:
        """The number of rows with a label."""
        return self.rows - self.unlabelled

    @property
    def clipped(self) -> Ints:
        """(d,) the bought values outside the range of their attribute."""
        return self.values.outside[:-1]

    @property
    def spent(self) -> float:
        """The total price of all purchases."""
        return fsum(self.paid) if self.paid.size else float(self.bought @ self.catalog.charge)

    @property
    def spent_on_each(self) -> Floats:
        """(d,) the total price of the purchases of each attribute; the price of a source is that of its first one."""
        return self.paid if self.paid.size else self.bought * self.catalog.charge

    @property
    def mean_prices(self) -> Floats:
        """(d,) the mean price paid for each attribute; the usual price if it was never bought."""
        if not self.paid.size:
            return self.catalog.charge
        return np.where(self.bought > 0, self.paid / np.maximum(self.bought, 1), self.catalog.charge)

    @property
    def ordered(self) -> float:
        """The total number of orders of sources."""
        return float(sum(self.bought[brings[0]] for brings in self.catalog.members))

    @property
    def mean_loss(self) -> float:
        """The mean squared error over the scored rows."""
        return self.loss / max(self.scored, 1)

    @property
    def alarms(self) -> list[Plain]:
        """The detected changes, oldest first."""
        split = (line.split("\t", 1) for line in self.alarm_lines.splitlines())
        return [{"row": int(row), "what": what} for row, what in split]

    @property
    def coverage(self) -> dict[str, Plain] | None:
        """The share of labels inside the intervals, by level; None if there were no intervals."""
        if not self.n_intervals:
            return None
        return {str(level): int(n) / self.n_intervals for level, n in zip(LEVELS, self.n_inside, strict=True)}


def totals_of(page: PlayedPage, schema: Schema, ranges: ValueRanges, alarms: Sequence[Alarm] = ()) -> Totals:
    """Return the totals over the rows of a page; `alarms` are the learner's own, which count labels."""
    y, d = page.labels, len(schema.names)
    i = np.concatenate([page.before.attributes, page.after.attributes])
    x = np.concatenate([page.before.values, page.after.values])
    return Totals(
        catalog=schema.catalog,
        rows=y.size,
        unlabelled=int(np.isnan(y).sum()),
        scored=int(page.scored.sum()),
        loss=float(((page.predictions - y)[page.scored] ** 2).sum()),
        bought=np.bincount(i, minlength=d),
        paid=_paid(page, schema.catalog, np.zeros(d if schema.price_columns else 0)),
        unobserved=np.bincount(i[np.isnan(x)], minlength=d),
        values=ranges.count(np.concatenate([x, y]), np.concatenate([i, np.full(y.size, d)])),
        unseen=count_unseen(schema, page.X),
        n_intervals=int((~np.isnan(page.levels)).sum()),
        n_inside=np.array([int((page.levels <= level).sum()) for level in LEVELS]),
        alarm_lines="".join(_alarm_lines(page, alarms)),
    )


def _paid(page: PlayedPage, catalog: SourceCatalog, paid: Floats) -> Floats:
    """Return what was paid for each attribute before and on a page; nothing if every row has the usual prices."""
    if not paid.size:
        return paid
    bought = (page.before, page.after)
    order = np.argsort(np.concatenate([purchases.rows for purchases in bought]), kind="stable")
    attributes = np.concatenate([purchases.attributes for purchases in bought])[order]
    prices = np.concatenate([page.charges(purchases, catalog) for purchases in bought])[order]
    total = paid.copy()
    np.add.at(total, attributes, prices)  # one after another
    return total


def _alarm_lines(page: PlayedPage, alarms: Sequence[Alarm]) -> list[str]:
    """Return a line for each alarm at a label of these rows."""
    labelled = np.flatnonzero(~np.isnan(page.labels))
    numbered = ((alarm, alarm.row - page.labels_before - 1) for alarm in alarms)
    return [f"{page.first + int(labelled[i]) + 1}\t{alarm.what}\n" for alarm, i in numbered if 0 <= i < labelled.size]


def missing_warning(totals: Totals, level: int) -> tuple[int, str]:
    """Return the number of shares of missing values that were reached, and a warning if it exceeds `level`."""
    n, m = int(totals.bought.sum()), int(totals.unobserved.sum())
    reached = sum(m >= share * n for share in _SHARES) if n >= _ENOUGH else 0
    if reached <= level:
        return level, ""
    most = _missing_sentence(totals, int(np.argmax(totals.unobserved)))
    return reached, f"{m} of {n} values bought were missing so far ({m / n:.1%}). For example, {most}"


def missing_sentences(totals: Totals) -> dict[str, str]:
    """Return one sentence per attribute that was missing often, by its name."""
    often = totals.unobserved >= np.maximum(_SHARES[0] * totals.bought, 1)
    return {totals.catalog.names[i]: _missing_sentence(totals, int(i)) for i in np.flatnonzero(often)}


def _missing_sentence(totals: Totals, i: int) -> str:
    n, m = int(totals.bought[i]), int(totals.unobserved[i])
    return f"'{totals.catalog.names[i]}' was paid for {n} times and missing {m} times"
