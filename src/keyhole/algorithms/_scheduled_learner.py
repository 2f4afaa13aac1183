"""Explore when a schedule says so, exploit the support in all other rounds."""

from abc import abstractmethod

from .._internal.typing import Bools, Ints
from ..core.learner import Acquisition, Learner
from ..estimation.exploration_schedule import Schedule


class Scheduled(Learner):
    """What the learners share that explore in rounds known beforehand.

    Between two explorations the support stays: those rounds are played in one compiled call. An exploit round carries
    the support it was asked with, so that a late label is told from one of the present epoch.
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

    def _steady(self) -> tuple[Ints, int]:
        return self.support, self.schedule.next(self.t) - self.t - 1
