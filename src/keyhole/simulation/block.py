"""A block of rows, played: the one place where a learner meets data."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np

from .._core import count_extremes
from .._internal.typing import Bools, Floats, Ints
from ..core.learner import Learner
from ..core.probability_calibration import ProbabilityCalibrator
from ..core.round import Round
from ..core.validation import LARGEST, LEAST, MOST, clip_magnitude
from ..errors import ProtocolError
from .purchase_counts import Timeline

__all__ = ["Page", "Progress"]

Progress: TypeAlias = Callable[[int], None]

_PIECE = 4096


class Page:
    """A block of rows and what is written down while it is played.

    The calls a learner sees depend on its state and on where the page ends, on nothing else: a page that stopped after
    any of them and goes on later, in another process too, plays the rest bit for bit.
    """

    def __init__(
        self,
        rows: Floats,
        labels: Floats,
        first: int,
        timeline: Timeline | None = None,
        prices: Floats | None = None,
    ) -> None:
        self.rows, self.labels, self.first, self.prices = rows, labels, first, prices
        self.played = 0
        self.predictions: Floats = np.full(labels.size, np.nan)
        self.explored: Bools = np.zeros(labels.size, dtype=np.bool_)
        self.levels: Floats = np.full(labels.size, np.nan)
        self.timeline = timeline
        self.price: Floats = np.zeros(labels.size)
        self._charge: Floats | None = None

    def play(self, learner: Learner, compiled: bool, progress: Progress) -> None:
        """The rows not played yet, several at a time where the learner promises that; `progress` may stop it.

        No call of another thread gets between them.
        """
        self._charge = learner.catalog.charge if learner.catalog.priced else None
        with learner.locked():
            compiled = compiled and not (learner.binary and self._has_other_labels)
            while self.played < self.labels.size:
                t = self.played
                alike = compiled and self.prices is None
                quick = alike and (self._in_a_block(learner, t) or self._steadily(learner, t))
                quick = quick or (compiled and self._quickly(learner, t))
                if quick and isinstance(learner.calibrator, ProbabilityCalibrator):
                    self._calibrate(learner.calibrator, t, t + quick)
                self.played += quick or self._row(learner, t)
                progress(self.first + self.played)

    def release(self) -> None:
        """Let go of the rows, which have been played; not a view of nothing: that would hold on to them."""
        self.rows = np.empty((0, self.rows.shape[1]))
        self.__dict__.pop("_checked", None)

    def note(self, start: int, stop: int, attributes: Ints, extra: Ints) -> None:
        """Write down what rows start to stop bought before and after the label."""
        if self.timeline is not None:
            self.timeline.add_alike(self.first + start, self.first + stop, np.concatenate([attributes, extra]))
        if self._charge is not None:
            self.price[start:stop] = self._charge[attributes].sum() + self._charge[extra].sum()

    def note_each(self, start: int, attributes: Ints, sizes: Ints) -> None:
        """The same for rows that differ: row i bought attributes[i], first sizes[i, 0], then sizes[i, 1]."""
        if self.timeline is not None:
            self.timeline.add(self.first + start, attributes, sizes.sum(axis=1))
        if self._charge is not None:
            bought = np.arange(attributes.shape[1]) < sizes.sum(axis=1)[:, None]
            self.price[start : start + len(sizes)] = (self._charge[attributes] * bought).sum(axis=1)

    @property
    def _has_other_labels(self) -> bool:
        """Whether a label is none of 0, 1 and NaN: then the protocol names its row."""
        return bool(((self.labels != 0.0) & (self.labels != 1.0) & ~np.isnan(self.labels)).any())

    def _calibrate(self, calibrator: ProbabilityCalibrator, start: int, stop: int) -> None:
        """Make probabilities of the scores of rows that were played without the protocol."""
        part = slice(start, stop)
        self.predictions[part] = calibrator.run(self.predictions[part], self.labels[part])
        self.levels[part] = np.nan

    @cached_property
    def _checked(self) -> tuple[Floats, Floats] | None:
        """Rows and labels as the protocol would hand them on; None where it would refuse one of them."""
        pieces = (self.rows[i : i + _PIECE].ravel("K") for i in range(0, len(self.rows), _PIECE))
        beyond, extreme = np.sum(
            [count_extremes(np.ascontiguousarray(x), LARGEST, MOST, LEAST) for x in (self.labels, *pieces)], axis=0
        )
        if beyond:
            return None
        return (clip_magnitude(self.rows), clip_magnitude(self.labels)) if extreme else (self.rows, self.labels)

    def _in_a_block(self, learner: Learner, t: int) -> int:
        """As many rows as the learner's compiled block takes at a time; 0 where it has none."""
        block = learner._block()
        if block is None or self._checked is None:
            return 0
        rows, labels = self._checked
        attributes, sizes = block(rows[t:], labels[t:], self.predictions[t:], self.explored[t:], self.levels[t:])
        self.note_each(t, attributes, sizes)
        return len(attributes)

    def _quickly(self, learner: Learner, t: int) -> int:
        """One round without the protocol's checks, where they could find nothing; 0 where they could."""
        if self._checked is None:
            return 0
        row, y, r = self._checked[0][t], float(self._checked[1][t]), learner._next(None, self._paid(t))
        values = row[r.attributes]
        self.predictions[t] = learner._predict(r, values)
        if y == y:  # not NaN
            learner._tell(r, values, y, row[r.extra])
            self.levels[t] = learner._level()
        self.explored[t] = r.kind == "explore"
        self.note(t, t + 1, r.attributes, r.extra)
        self._note_price(t, r)
        return 1

    def _row(self, learner: Learner, t: int) -> int:
        """One round by the protocol."""
        row, y = self.rows[t], float(self.labels[t])
        paid = self._paid(t)
        r = learner.ask(prices=None if paid is None else dict(zip(learner.catalog.sources, paid.tolist(), strict=True)))
        values, extra = row[r.attributes], learner.ask_more(r)
        try:
            self.predictions[t] = learner.predict(r, values)
            if np.isnan(y):
                learner.abandon(r)
            else:
                learner.tell(r, values, y, extra_attributes=extra, extra_values=row[extra])
                self.levels[t] = np.nan if learner.binary else learner._level()
        except ProtocolError as fault:
            learner.abandon(r)
            raise ProtocolError(f"row {self.first + t + 1}: {fault}") from None
        self.explored[t] = r.kind == "explore"
        self.note(t, t + 1, r.attributes, extra)
        self._note_price(t, r)
        return 1

    def _note_price(self, t: int, r: Round) -> None:
        if self.prices is not None:
            self.price[t] = r.price

    def _paid(self, t: int) -> Floats | None:
        return None if self.prices is None else self.prices[t]

    def _steadily(self, learner: Learner, t: int) -> int:
        """As many rounds as the learner promises to buy the same attributes in; 0 where one must go row by row."""
        S, n = learner._steady()
        stop = min(t + n, self.labels.size)
        if stop - t < 2:
            return 0
        bought, labels = np.ascontiguousarray(self.rows[t:stop, S]), self.labels[t:stop]
        if (np.abs(bought) > LARGEST).any() or (np.abs(labels) > LARGEST).any():
            return 0  # row by row, to stop at the row and name it
        self.predictions[t:stop] = learner._run(clip_magnitude(bought), clip_magnitude(labels))
        self.note(t, stop, S, _NOTHING)
        return stop - t


_NOTHING: Ints = np.empty(0, dtype=np.int64)
