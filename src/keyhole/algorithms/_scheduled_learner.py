"""Learners that explore on a fixed schedule and exploit the support in all other rounds."""

from abc import abstractmethod

import numpy as np

from .._internal.typing import Bools, Floats
from ..core.learner import Acquisition, Learner, PlayedRows
from ..estimation.exploration_schedule import Schedule


class Scheduled(Learner):
    """The base class of learners whose exploration rounds are known in advance.

    The support is constant between two explorations, so these rounds are played in one compiled call. An exploiting
    round stores its support, so that a late label of an earlier epoch can be recognized.
    """

    schedule: Schedule

    @abstractmethod
    def _explore(self, pool: Bools | None) -> Acquisition:
        """Return what to buy in an exploration."""

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        if self.schedule.next(t - 1) == t:
            return self._explore(pool)
        S = self.support
        return Acquisition("exploit", S.copy() if pool is None else S[pool[S]], memo=tuple(map(float, S)))

    @abstractmethod
    def _exploit_rows(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions of exploiting rounds from the values of the support, learning after each label."""

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        n = min(self.schedule.next(self.t) - self.t - 1, y.size)  # rounds before the next exploration
        if n == 0 or prices is not None:
            return self._play_rows(X[:1], y[:1], prices)
        S = self.support
        predictions = self._exploit_rows(np.ascontiguousarray(X[:n, S]), y[:n])
        self.t += n
        return PlayedRows.alike(predictions, S)
