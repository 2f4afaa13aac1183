"""How far a label may be from its prediction: quantiles of the errors, tracked as labels come.

    z = ln(|y - y_hat| / spread) - c           spread: the standard deviation that the fit expects of this error
    c <- c + b ([z > 0] - 1/2)                 a running median, quick: what the fit does not know of its errors
    q_p <- q_p + a ([z > q_p] - (1 - p))       for every level p of a grid, slow
    interval at level p: y_hat -+ spread exp(c + q_p)

Every miss lifts q_p by a p, every hit lowers it by a (1 - p). So the share of misses over n rows is
1 - p + (q_p after - q_p before) / (a n), whatever the rows are, as long as q_p stays bounded: a label however absurd
is one miss. The steps are relative, so that errors thirty times as large are caught up with in a hundred rows.

Between two levels q is interpolated. Where a lower level's q is above a higher one's, the higher one uses it too:
intervals are nested, and the sum above still holds, since the smaller q rises faster until it is the larger one.
"""

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats
from ...core.state import NumberCheck, Rule, Stateful
from ...core.validation import HIGHEST
from .state import FEW, Quantiles

__all__ = ["LEVELS", "Calibration", "calibrate"]

LEVELS: Floats = np.array([0.02, *np.arange(1, 20) / 20, 0.98, 0.99, 0.995, HIGHEST])

# The steps a and b once about a hundred labels are there; they are larger before.
_STEP, _QUICK = 0.05, 0.05
# c and q_p stay within -+ this: labels that are hit exactly for long must not take them beyond recovery.
_FARTHEST = 20.0


def _infinite_above(told: int) -> float:
    """After so many labels no interval above this level is finite: n labels say nothing beyond n / (n + 1)."""
    return told / (told + 1.0) if told >= FEW else 0.0


_limit = inner(_infinite_above)


@inner
def calibrate(quantiles: Quantiles, error: float, spread: float, told: int) -> None:
    """Learn from |y - y_hat| after `told` >= 1 labels, and note the lowest level whose interval held the label."""
    quantiles.level[0] = 0.0
    if error <= 0.0 and spread <= 0.0:
        return
    log_q, c = quantiles.log_q, quantiles.centre[0]
    z = -math.inf if error <= 0.0 else math.inf if spread <= 0.0 else math.log(error) - math.log(spread) - c
    step, quick = max(_STEP, 0.5 / math.sqrt(told)), max(_QUICK, 0.5 / math.sqrt(told))
    level, below, q = 1.0, 0.0, -math.inf
    for i in range(log_q.size):
        before, q = q, max(q, log_q[i])
        if z <= q and level == 1.0:
            level = LEVELS[i] * math.exp(z - q) if i == 0 else below + (LEVELS[i] - below) * (z - before) / (q - before)
        below = LEVELS[i]
        moved = log_q[i] + step * ((1.0 if z > q else 0.0) - (1.0 - below))
        log_q[i] = min(_FARTHEST, max(-_FARTHEST, moved))
    quantiles.centre[0] = min(_FARTHEST, max(-_FARTHEST, c + quick * ((1.0 if z > 0.0 else 0.0) - 0.5)))
    quantiles.level[0] = min(level, np.nextafter(_limit(told), 1.0))


class Calibration(Stateful):
    """The quantiles as something that can be saved; before the first label those of normal errors."""

    _fields: ClassVar[tuple[str, ...]] = ("log_q", "centre", "level")
    _rules: ClassVar[Mapping[str, Rule]] = {
        **dict.fromkeys(("log_q", "centre"), NumberCheck(most=_FARTHEST)),
        "level": NumberCheck(0.0, 1.0),
    }

    def __init__(self) -> None:
        log_q = np.log([NormalDist().inv_cdf(0.5 + p / 2.0) for p in LEVELS])
        self.centre: Floats = np.interp([0.5], LEVELS, log_q)
        self.log_q: Floats = log_q - self.centre
        self.level: Floats = np.zeros(1)

    @property
    def quantiles(self) -> Quantiles:
        """The arrays as compiled functions take them."""
        return Quantiles(self.log_q, self.centre, self.level)

    def interval(self, level: float, told: int, expect: Callable[[], tuple[float, float]]) -> tuple[float, float]:
        """(low, high) around what `expect` gives, a prediction and its spread, after `told` labels."""
        reach = self._reach(level, told)
        if math.isinf(reach):
            return -math.inf, math.inf
        y_hat, spread = expect()
        return y_hat - reach * spread, y_hat + reach * spread

    def _reach(self, level: float, told: int) -> float:
        """How many spreads the interval of a level extends to each side; infinite before there are labels for it."""
        if level > _infinite_above(told):
            return math.inf
        q = float(np.interp(level, LEVELS, np.maximum.accumulate(self.log_q)))
        return math.exp(q + min(0.0, math.log(level / LEVELS[0])) + float(self.centre[0]))
