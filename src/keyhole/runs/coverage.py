"""How far a run's learner can be trusted: the changes it noticed, and how often its intervals held the label."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.learner import Plain
from ..core.round import Alarm
from ..core.state import CountCheck, NoCheck, Stateful, StateSchema

__all__ = ["LEVELS", "CoverageTracker"]

LEVELS = (0.5, 0.9, 0.95)


class CoverageTracker(Stateful):
    """Counts over the labels so far: `told`, those that came with an interval, those that lay inside at each level.

    `lines` has the alarms, a line each: the row of the file, a tab, what changed. A learner remembers the last
    few only.
    """

    _state: ClassVar[StateSchema] = {
        "told": CountCheck(),
        "given": CountCheck(),
        "inside": CountCheck(),
        "lines": NoCheck(),
    }

    def __init__(self) -> None:
        self.told = self.given = 0
        self.inside: Ints = np.zeros(len(LEVELS), dtype=np.int64)
        self.lines = ""

    def add(self, first: int, labels: Floats, levels: Floats, alarms: Sequence[Alarm]) -> None:
        """Rows after `first`, with the lowest level whose interval held each label; the learner's alarms after them."""
        labelled = np.flatnonzero(~np.isnan(labels))
        for alarm in alarms:
            if self.told < alarm.row <= self.told + labelled.size:
                self.lines += f"{first + int(labelled[alarm.row - self.told - 1]) + 1}\t{alarm.what}\n"
        self.told += labelled.size
        self.given += int((~np.isnan(levels)).sum())
        self.inside += [int((levels <= level).sum()) for level in LEVELS]

    @property
    def alarms(self) -> list[Plain]:
        """The changes noticed, oldest first."""
        split = (line.split("\t", 1) for line in self.lines.splitlines())
        return [{"row": int(row), "what": what} for row, what in split]

    @property
    def coverage(self) -> dict[str, Plain] | None:
        """The share of labels inside the intervals, by level; None where none was given."""
        if not self.given:
            return None
        return {str(level): int(n) / self.given for level, n in zip(LEVELS, self.inside, strict=True)}
