"""Explore when a schedule says so, exploit the support in all other rounds."""

from abc import abstractmethod

import numpy as np

from .._internal.typing import Bools, Floats
from ..core.learner import Acquisition, Learner, PlayedRows
from ..estimation.exploration_schedule import Schedule


class Scheduled(Learner):
    """What the learners share that explore in rounds known beforehand.

    Between two explorations the support stays: those rounds are played in one compiled call. An exploit round carries
    the support it was asked with, so that a late label can be distinguished from one of the present epoch.
    """

    schedule: Schedule

    @abstractmethod
    def _explore(self, pool: Bools | None) -> Acquisition:
        """What to buy in a round that explores."""

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        if self.schedule.next(t - 1) == t:
            return self._explore(pool)
        S = self.support
        return Acquisition("exploit", S.copy() if pool is None else S[pool[S]], memo=tuple(map(float, S)))

    @abstractmethod
    def _exploit_rows(self, X: Floats, y: Floats) -> Floats:
        """The predictions of rounds that exploit the support, from its values, learning after each label."""

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        n = min(self.schedule.next(self.t) - self.t - 1, y.size)  # rounds before the next exploration
        if n == 0 or prices is not None:
            return self._play_rows(X[:1], y[:1], prices)
        S = self.support
        predictions = self._exploit_rows(np.ascontiguousarray(X[:n, S]), y[:n])
        self.t += n
        return PlayedRows.alike(predictions, S)
