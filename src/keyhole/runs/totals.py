"""Running totals of a run: purchases, missing values, clipped values, money, alarms and interval coverage."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.learner import Plain
from ..core.round import Alarm
from ..core.state import CountCheck, NoCheck, NumberCheck, Part, Stateful, StateSchema
from ..data.streams import ClipCounter, Schema, UnseenCategories
from ..simulation import scored
from .stream_blocks import RunPage

__all__ = ["LEVELS", "CoverageTracker", "Totals"]

LEVELS = (0.5, 0.9, 0.95)


class CoverageTracker(Stateful):
    """Counts over the labels so far: `n_labels`, those with an interval, and those inside the interval at each level.

    `lines` holds one line per alarm: the row of the file, a tab, and what changed. It is complete, unlike the learner's
    own list, which has only the last few alarms.
    """

    _state: ClassVar[StateSchema] = {
        "n_labels": CountCheck(),
        "n_intervals": CountCheck(),
        "n_inside": CountCheck(),
        "lines": NoCheck(),
    }

    def __init__(self) -> None:
        self.n_labels = self.n_intervals = 0
        self.n_inside: Ints = np.zeros(len(LEVELS), dtype=np.int64)
        self.lines = ""

    def add(self, first: int, labels: Floats, levels: Floats, alarms: Sequence[Alarm]) -> None:
        """Add rows after `first`, with the lowest level whose interval held each label, and the learner's alarms."""
        labelled = np.flatnonzero(~np.isnan(labels))
        for alarm in alarms:
            if self.n_labels < alarm.row <= self.n_labels + labelled.size:
                self.lines += f"{first + int(labelled[alarm.row - self.n_labels - 1]) + 1}\t{alarm.what}\n"
        self.n_labels += labelled.size
        self.n_intervals += int((~np.isnan(levels)).sum())
        self.n_inside += [int((levels <= level).sum()) for level in LEVELS]

    @property
    def alarms(self) -> list[Plain]:
        """The detected changes, oldest first."""
        split = (line.split("\t", 1) for line in self.lines.splitlines())
        return [{"row": int(row), "what": what} for row, what in split]

    @property
    def shares(self) -> dict[str, Plain] | None:
        """The share of labels inside the intervals, by level; None if there were no intervals."""
        if not self.n_intervals:
            return None
        return {str(level): int(n) / self.n_intervals for level, n in zip(LEVELS, self.n_inside, strict=True)}


# Shares of missing values at which to warn, once each, and the minimum number of purchases.
_SHARES = (0.01, 0.05, 0.2)
_ENOUGH = 100


class Totals(Stateful):
    """Totals over all rows, and their values at the beginning of the current page.

    `loss` is for display during a run; the summary uses the recorded losses.
    """

    _state: ClassVar[StateSchema] = {
        "rows": CountCheck(),
        "abandoned": CountCheck(),
        "loss": NumberCheck(),
        "scored": CountCheck(),
        "bought": CountCheck(),
        "unobserved": CountCheck(),
        "clips": Part(),
        "unseen": Part(),
        "page_start_counts": CountCheck(),
        "warned_level": CountCheck(),
        "messages": NoCheck(),
        "coverage": Part(),
    }

    def __init__(self, schema: Schema, clip: bool = True, informed: bool = False) -> None:
        """`informed`: the learner has seen labels before the first row, so that this row is scored like any other."""
        self.informed = informed
        d, self.center = len(schema.names), schema.label.stated_center
        self.names, self.catalog, self.prices = schema.names, schema.catalog, schema.catalog.charge
        self.rows = self.abandoned = self.scored = 0
        self.loss = 0.0
        self.bought: Ints = np.zeros(d, dtype=np.int64)
        self.unobserved: Ints = np.zeros(d, dtype=np.int64)
        self.clips, self.unseen = ClipCounter(schema), UnseenCategories(schema)
        if not clip:  # without clipping no value is out of range
            self.clips.low[:], self.clips.high[:] = -np.inf, np.inf
        self.page_start_counts: Ints = np.zeros((3, d), dtype=np.int64)
        self.warned_level = 0
        self.messages = ""
        self.coverage = CoverageTracker()

    def add(self, page: RunPage, predictions: Floats, alarms: Sequence[Alarm] = ()) -> None:
        """Add the new rows of a page with their predictions in the label's units and the learner's alarms."""
        y, d = page.raw_labels, len(self.names)
        self.coverage.add(page.first + page.begun, y, page.levels[page.new], alarms)
        counts = scored(y, self.center, before=self.labels_before)
        self.rows += y.size
        self.abandoned += int(np.isnan(y).sum())
        self.scored += int(counts.sum())
        self.loss += float(((predictions - y)[counts] ** 2).sum())
        for purchases in (page.first_buys, page.extra_buys):
            i, x = purchases.attributes, purchases.values
            self.bought += np.bincount(i, minlength=d)
            self.unobserved += np.bincount(i[np.isnan(x)], minlength=d)
            self.clips.count(x, i)
        self.clips.count_labels(y)
        self.unseen.count(page.raw.X[page.new])

    def close_page(self) -> list[str]:
        """Complete a page and return the warnings that are due, one at each share."""
        self.page_start_counts = self._counts
        n, m = int(self.bought.sum()), int(self.unobserved.sum())
        level = sum(m >= share * n for share in _SHARES) if n >= _ENOUGH else 0
        if level <= self.warned_level:
            return []
        self.warned_level = level
        most = int(np.argmax(self.unobserved))
        return [f"{m} of {n} values bought were missing so far ({m / n:.1%}): {self._missing(most)}"]

    @property
    def on_page(self) -> Ints:
        """The counts of bought, unobserved and clipped values (3, d) since the current page began."""
        return self._counts - self.page_start_counts

    @property
    def spent(self) -> float:
        """The total price of all purchases."""
        return float(self.bought @ self.prices)

    @property
    def ordered(self) -> float:
        """The total number of orders of sources."""
        return float(sum(self.bought[brings[0]] for brings in self.catalog.members))

    @property
    def mean_loss(self) -> float:
        """The mean squared error so far, over the scored rows."""
        return self.loss / max(self.scored, 1)

    @property
    def labels_before(self) -> int:
        """A lower bound on the number of labels the learner has seen, which decides whether a row is scored."""
        return self.labelled + int(self.informed)

    @property
    def labelled(self) -> int:
        """The number of rows with a label."""
        return self.rows - self.abandoned

    @property
    def _counts(self) -> Ints:
        return np.stack([self.bought, self.unobserved, self.clips.outside[:-1]])

    @property
    def missing(self) -> dict[str, str]:
        """One sentence per attribute that was missing often, by its name."""
        often = self.unobserved >= np.maximum(_SHARES[0] * self.bought, 1)
        return {self.names[i]: self._missing(int(i)) for i in np.flatnonzero(often)}

    def _missing(self, i: int) -> str:
        n, m = int(self.bought[i]), int(self.unobserved[i])
        return f"'{self.names[i]}' was missing in {m} of the {n} times it was bought: paid, not observed"
