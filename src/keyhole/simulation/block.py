"""A block of rows, played: the one place where a learner meets data."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np

from .._core import count_extremes
from .._internal.typing import Bools, Floats
from ..core.learner import Learner, PlayedRows
from ..core.probability_calibration import ProbabilityCalibrator
from ..core.validation import LARGEST, LEAST, MOST, clip_magnitude
from ..errors import ProtocolError
from .history import PurchaseCounts

__all__ = ["Progress", "RowBlock"]

Progress: TypeAlias = Callable[[int], None]

# Rows that a learner is given at a time: a user who waits sees progress, and an interrupt is heard.
_ROWS = 4096


class RowBlock:
    """A block of rows and what is recorded while it is played.

    The calls a learner sees depend on its state and on where the block ends, on nothing else: a block that stopped
    after any of them and goes on later, in another process too, plays the rest bit for bit.
    """

    def __init__(
        self,
        rows: Floats,
        labels: Floats,
        first: int,
        purchases: PurchaseCounts | None = None,
        prices: Floats | None = None,
    ) -> None:
        self.rows, self.labels, self.first, self.prices = rows, labels, first, prices
        self.played = 0
        self.predictions: Floats = np.full(labels.size, np.nan)
        self.explored: Bools = np.zeros(labels.size, dtype=np.bool_)
        self.levels: Floats = np.full(labels.size, np.nan)
        self.price: Floats = np.zeros(labels.size)
        self._purchases = purchases

    def play(self, learner: Learner, compiled: bool, progress: Progress) -> None:
        """Play the rows not played yet; `progress` is called now and then, and may raise to stop.

        No call of another thread gets between them. `compiled=False` plays every row by the protocol, which checks it;
        so are all rows of a block that has a value or a label the protocol refuses, to name its row.
        """
        with learner.locked():
            checked = self._checked if compiled and not (learner.binary and self._has_other_labels) else None
            while self.played < self.labels.size:
                t = self.played
                played = self._by_protocol(learner, t) if checked is None else self._by_learner(learner, t, *checked)
                self.record(learner, t, played)
                self.played += played.predictions.size
                progress(self.first + self.played)

    def release(self) -> None:
        """Let go of the rows, which have been played; not a view of nothing: that would hold on to them."""
        self.rows = np.empty((0, self.rows.shape[1]))
        self.__dict__.pop("_checked", None)

    def record(self, learner: Learner, start: int, played: PlayedRows) -> None:
        """Record the rows that were played from `start` on."""
        n = played.predictions.size
        part = slice(start, start + n)
        self.predictions[part], self.explored[part], self.levels[part] = played[:3]
        bought = played.sizes.sum(axis=1)
        if self._purchases is not None:
            self._purchases.add(self.first + start, n, played.attributes, bought)
        if played.price is not None:
            self.price[part] = played.price
        elif learner.catalog.priced:
            counted = np.arange(played.attributes.shape[1]) < bought[:, None]
            self.price[part] = (learner.catalog.charge[played.attributes] * counted).sum(axis=1)

    @property
    def _has_other_labels(self) -> bool:
        """Whether a label is none of 0, 1 and NaN."""
        return bool(((self.labels != 0.0) & (self.labels != 1.0) & ~np.isnan(self.labels)).any())

    @cached_property
    def _checked(self) -> tuple[Floats, Floats] | None:
        """Rows and labels as the protocol would hand them on; None where it would refuse one of them."""
        pieces = (self.rows[i : i + _ROWS].ravel("K") for i in range(0, len(self.rows), _ROWS))
        beyond, extreme = np.sum(
            [count_extremes(np.ascontiguousarray(x), LARGEST, MOST, LEAST) for x in (self.labels, *pieces)], axis=0
        )
        if beyond:
            return None
        return (clip_magnitude(self.rows), clip_magnitude(self.labels)) if extreme else (self.rows, self.labels)

    def _by_learner(self, learner: Learner, t: int, rows: Floats, labels: Floats) -> PlayedRows:
        """As many rows as the learner plays at a time, without the protocol's checks: they would find nothing."""
        part = slice(t, t + _ROWS)
        played = learner._play_block(rows[part], labels[part], None if self.prices is None else self.prices[part])
        if isinstance(learner.calibrator, ProbabilityCalibrator):
            scores = played.predictions
            probabilities = learner.calibrator.run(scores, labels[t : t + scores.size])
            played = played._replace(predictions=probabilities, levels=np.full(scores.size, np.nan))
        return played

    def _by_protocol(self, learner: Learner, t: int) -> PlayedRows:
        """One round by the protocol."""
        row, y, prices = self.rows[t], float(self.labels[t]), None
        if self.prices is not None:
            prices = dict(zip(learner.catalog.sources, self.prices[t].tolist(), strict=True))
        r = learner.ask(prices=prices)
        values, extra, level = row[r.attributes], learner.ask_more(r), np.nan
        try:
            prediction = learner.predict(r, values)
            if np.isnan(y):
                learner.abandon(r)
            else:
                learner.tell(r, values, y, extra_attributes=extra, extra_values=row[extra])
                level = np.nan if learner.binary else learner._level()
        except ProtocolError as fault:
            learner.abandon(r)
            raise ProtocolError(f"row {self.first + t + 1}: {fault}") from None
        return PlayedRows(
            predictions=np.array([prediction]),
            explored=np.array([r.kind == "explore"]),
            levels=np.array([level]),
            attributes=np.concatenate([r.attributes, extra])[None],
            sizes=np.array([[r.attributes.size, extra.size]]),
            price=None if prices is None else np.array([r.price]),
        )
