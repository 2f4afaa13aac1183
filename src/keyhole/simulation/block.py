"""Playing a block of rows: the only place where a learner meets data."""

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

# Rows given to a learner at a time: small enough to show progress and to react to an interrupt.
_ROWS = 4096


class RowBlock:
    """A block of rows and the records made while it is played.

    The calls that a learner receives depend only on its state and on where the block ends. A block that stops after any
    of these calls and continues later, even in another process, therefore plays the remaining rows bit for bit.
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
        """Play the remaining rows; `progress` is called from time to time and may raise to stop.

        The learner is locked meanwhile. `compiled=False` plays every row through the protocol, which checks it. A block
        with a value or label that the protocol rejects is always played this way, so that the error names the row.
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
        """Release the rows after they were played; an empty view would keep the whole array alive."""
        self.rows = np.empty((0, self.rows.shape[1]))
        self.__dict__.pop("_checked", None)

    def record(self, learner: Learner, start: int, played: PlayedRows) -> None:
        """Record the rows played from `start` on."""
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
        """Return whether any label is not 0, 1 or NaN."""
        return bool(((self.labels != 0.0) & (self.labels != 1.0) & ~np.isnan(self.labels)).any())

    @cached_property
    def _checked(self) -> tuple[Floats, Floats] | None:
        """Return rows and labels as the protocol would pass them on, or None if it would reject any of them."""
        pieces = (self.rows[i : i + _ROWS].ravel("K") for i in range(0, len(self.rows), _ROWS))
        beyond, extreme = np.sum(
            [count_extremes(np.ascontiguousarray(x), LARGEST, MOST, LEAST) for x in (self.labels, *pieces)], axis=0
        )
        if beyond:
            return None
        return (clip_magnitude(self.rows), clip_magnitude(self.labels)) if extreme else (self.rows, self.labels)

    def _by_learner(self, learner: Learner, t: int, rows: Floats, labels: Floats) -> PlayedRows:
        """Play as many rows as the learner takes at a time, without the checks of the protocol, which have passed."""
        part = slice(t, t + _ROWS)
        played = learner._play_block(rows[part], labels[part], None if self.prices is None else self.prices[part])
        if isinstance(learner.calibrator, ProbabilityCalibrator):
            scores = played.predictions
            probabilities = learner.calibrator.run(scores, labels[t : t + scores.size])
            played = played._replace(predictions=probabilities, levels=np.full(scores.size, np.nan))
        return played

    def _by_protocol(self, learner: Learner, t: int) -> PlayedRows:
        """Play one round through the protocol."""
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
