"""What a learner knows of its own errors: how far off it may be, and whether the world has changed."""

import math
from abc import abstractmethod
from typing import ClassVar

from . import _checks
from ._checks import Values
from ._locked import Locked
from ._types import Floats
from .errors import ProtocolError
from .rounds import Alarm, Round

__all__ = ["Doubts"]


class Doubts(Locked):
    """`interval` and `alarms`, for every learner."""

    name: ClassVar[str]
    gives_intervals: ClassVar[bool] = False
    """Whether `interval` has an answer."""

    def interval(self, r: Round, values: Values, level: float = 0.9) -> tuple[float, float]:
        """(low, high): where the label lies with probability `level`, in the long run; changes nothing.

        Infinite before there are enough labels for that level. A learner without intervals: `ProtocolError`.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=2000, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0)
        >>> round(kh.play(learner, X, y).coverage(0.9), 2)
        0.9
        >>> r = learner.ask()
        >>> low, high = learner.interval(r, X[0][r.attributes], level=0.9)
        >>> bool(low < learner.predict(r, X[0][r.attributes]) < high)
        True
        """
        self._check_open(r)
        return self._interval(r, _checks.values(values, r.names), _checks.level(level))

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes of the world that it noticed, oldest first; none, where it looks for none."""
        return ()

    @abstractmethod
    def _check_open(self, r: Round) -> None:
        """A `ProtocolError` unless the round is open."""

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        """(low, high) around the prediction of this moment."""
        raise ProtocolError(f"{self.name} gives no intervals, only predictions; thrifty gives both")

    def _level(self) -> float:
        """The lowest level whose interval held the label told last; NaN: no intervals are given."""
        return math.nan
