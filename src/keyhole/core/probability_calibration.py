"""Online calibration: map a linear score to a probability that is calibrated in the long run.

    u = s + shift                      shift: the running mean of y - s, soft-thresholded at z_0 standard errors; it is
                                       for learners without an intercept, and zero for the others
    q(u)                               the isotonic, piecewise linear curve through (X_j / W_j, Y_j / W_j), j the knots;
                                       a row adds its hat weights phi_j to W_j, phi_j u to X_j and phi_j y to Y_j
    p = q + sum_j psi_j(q) delta_j     delta_j = rate soft(R_j, z sqrt(V_j))
    R_j += psi_j (y - p),   V_j += psi_j^2 p (1 - p)

The curve starts at the identity. A map that varies with time costs ranking (AUC) even if it is monotone in every row,
because rows of different times are compared; hence the threshold of the shift and the low rate. Old rows are
discounted, because the scores of an early learner carry no information about those of a later one. The last two lines
are integral control with a dead zone: deviations within chance are not corrected, and for any label sequence the sum
R_j of y - p over the rows near a knot stays within z sqrt(V_j) + 1 / rate of zero, so in the long run frequencies and
probabilities agree.
"""

from bisect import bisect_right
from itertools import pairwise
from math import copysign, sqrt
from typing import ClassVar

import numpy as np

from .._internal.typing import Floats
from .state import NumberCheck, Stateful, StateSchema

__all__ = ["ProbabilityCalibrator", "Uncalibrated"]

# Scores are least squares predictions of 0/1 labels: most lie in [0, 1], a few outside.
_KNOTS = (-0.6, -0.2, 0.0, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 1.0, 1.2, 1.6)
# Prior rows per knot, at the identity.
_PRIOR_ROWS = 30.0
# Discounting: the effective sample size is about this share of all rows, up to a maximum.
_MEMORY_SHARE, _MEMORY_ROWS = 0.9, 20_000.0
# Probabilities are kept away from 0 and 1 by at least this share of a row among the rows seen.
_LEAST_ROWS = 0.5
# The isotonic curve can be flat where scores still rank rows; this share of a strictly increasing curve is mixed in.
_ORDER_SHARE = 0.004
# The correction: number of probability cells, rate, and width of the dead zone in standard deviations.
_CELLS, _RATE, _DEAD_ZONE = 10, 0.015, 1.5
# The shift: prior rows at zero, and the threshold in standard errors.
_SHIFT_ROWS, _SHIFT_THRESHOLD = 50.0, 2.0


class Uncalibrated(Stateful):
    """The null calibrator for real-valued labels: it has no state and calibrates nothing."""


class ProbabilityCalibrator(Stateful):
    """Map scores to probabilities and learn from each score once its label is known; O(1) per row.

    Until both labels have been seen, the probability is the smoothed frequency (n_1 + 1) / (n + 2) of the label 1.
    """

    _state: ClassVar[StateSchema] = {
        "counts": NumberCheck(least=0.0),
        "level": NumberCheck(),
        "weight": NumberCheck(least=_PRIOR_ROWS / 2),
        "score_sum": NumberCheck(),
        "label_sum": NumberCheck(),
        "residual": NumberCheck(),
        "variance": NumberCheck(least=0.0),
    }

    def __init__(self) -> None:
        self.counts: Floats = np.zeros(2)
        self.level: Floats = np.array([_SHIFT_ROWS, 0.0])
        self.weight, self.score_sum, self.label_sum = (prior.copy() for prior in _PRIORS)
        self.residual: Floats = np.zeros(_CELLS + 1)
        self.variance: Floats = np.zeros(_CELLS + 1)

    def count(self, labels: Floats) -> None:
        """Count labels of rows without a score; they update only the frequency of each label."""
        ones = float(labels.sum())
        self.counts += [labels.size - ones, ones]

    def probability(self, score: float) -> float:
        """Return the probability of the label 1 at this score; no side effects."""
        zeros, ones = self.counts.tolist()
        if not (zeros and ones):
            return float((ones + 1.0) / (zeros + ones + 2.0))
        return self._corrected(self._curve(self._shifted(score)))

    def fit(self, scores: Floats, labels: Floats) -> None:
        """Learn the curve from past rows; the correction is learnt from predicted rows only."""
        for score, label in zip(scores.tolist(), labels.tolist(), strict=True):
            self.update(score, label, correct=False)

    def update(self, score: float, label: float, correct: bool = True) -> None:
        """Learn from a row with this score and this label, 0 or 1."""
        zeros, ones = self.counts.tolist()
        self.counts[int(label)] += 1.0
        fade = 1.0 - 1.0 / max(min(_MEMORY_SHARE * (zeros + ones), _MEMORY_ROWS), 50.0)
        if zeros and ones:
            if correct:
                self._correct(self._curve(self._shifted(score)), label)
            self._bend(self._shifted(score), label, fade)
        self.level *= fade
        self.level += [1.0 + (1.0 - fade) * _SHIFT_ROWS, label - score]

    def _shifted(self, score: float) -> float:
        (rows, off), (zeros, ones) = self.level.tolist(), self.counts.tolist()
        variance = (zeros + 1.0) * (ones + 1.0) / (zeros + ones + 2.0) ** 2
        chance = _SHIFT_THRESHOLD * sqrt(max(rows - _SHIFT_ROWS, 0.0) * variance)
        return float(min(max(score + _soft(off, chance) / rows, _KNOTS[0]), _KNOTS[-1]))

    def _curve(self, u: float) -> float:
        x, y = (self.score_sum / self.weight).tolist(), (self.label_sum / self.weight).tolist()
        q = _interpolated(x, _isotonic(y, self.weight.tolist()), u)
        ordered = 0.5 + (u - 0.5) / (2.0 * (_KNOTS[-1] - _KNOTS[0]))
        return min(max((1.0 - _ORDER_SHARE) * q + _ORDER_SHARE * ordered, 0.0), 1.0)

    def _bend(self, u: float, label: float, fade: float) -> None:
        """Add a row to the sums of the knots adjacent to its score."""
        for sums, prior in zip((self.weight, self.score_sum, self.label_sum), _PRIORS, strict=True):
            sums *= fade
            sums += (1.0 - fade) * prior  # the prior of a knot is not discounted
        j = min(max(bisect_right(_KNOTS, u), 1), len(_KNOTS) - 1)
        upper = (u - _KNOTS[j - 1]) / (_KNOTS[j] - _KNOTS[j - 1])
        for place, share in ((j - 1, 1.0 - upper), (j, upper)):
            self.weight[place] += share
            self.score_sum[place] += share * u
            self.label_sum[place] += share * label

    def _delta(self, cell: int) -> float:
        return _RATE * _soft(float(self.residual[cell]), _DEAD_ZONE * sqrt(float(self.variance[cell])))

    def _corrected(self, q: float) -> float:
        j, upper = _cell(q)
        p = q + (1.0 - upper) * self._delta(j) + upper * self._delta(j + 1)
        least = _LEAST_ROWS / (float(self.counts.sum()) + 1.0)
        return min(max(p, least), 1.0 - least)

    def _correct(self, q: float, label: float) -> None:
        (j, upper), p = _cell(q), self._corrected(q)
        for place, share in ((j, 1.0 - upper), (j + 1, upper)):
            self.residual[place] += share * (label - p)
            self.variance[place] += share * share * p * (1.0 - p)

    def run(self, scores: Floats, labels: Floats) -> Floats:
        """Return the probabilities of consecutive rows, learning from each row whose label is not NaN."""
        found: Floats = np.empty(scores.size)
        for i, (score, label) in enumerate(zip(scores.tolist(), labels.tolist(), strict=True)):
            found[i] = self.probability(score)
            if label == label:  # not NaN
                self.update(score, label)
        return found


_PRIORS = (
    np.full(len(_KNOTS), _PRIOR_ROWS),
    _PRIOR_ROWS * np.array(_KNOTS),
    _PRIOR_ROWS * np.clip(np.array(_KNOTS), 0.0, 1.0),
)


def _soft(x: float, threshold: float) -> float:
    """Return x moved toward zero by the threshold, at most to zero."""
    return copysign(max(abs(x) - threshold, 0.0), x)


def _cell(q: float) -> tuple[int, float]:
    """Return the knot below a probability and the hat weight of the knot above."""
    j = min(int(q * _CELLS), _CELLS - 1)
    return j, q * _CELLS - j


def _interpolated(x: list[float], y: list[float], at: float) -> float:
    """Evaluate the piecewise linear curve through (x, y), x ascending; constant beyond its ends."""
    if at <= x[0]:
        return y[0]
    if at >= x[-1]:
        return y[-1]
    j = bisect_right(x, at)
    return y[j - 1] + (y[j] - y[j - 1]) * (at - x[j - 1]) / (x[j] - x[j - 1])


def _isotonic(y: list[float], weight: list[float]) -> list[float]:
    """Return the weighted least squares isotonic fit (pool adjacent violators).

    >>> _isotonic([0.0, 0.6, 0.4, 1.0], [1.0, 1.0, 1.0, 1.0])
    [0.0, 0.5, 0.5, 1.0]
    """
    if all(a <= b for a, b in pairwise(y)):
        return y
    blocks: list[tuple[float, float, int]] = []
    for value, w in zip(y, weight, strict=True):
        block = (value, w, 1)
        while blocks and blocks[-1][0] >= block[0]:
            v, u, n = blocks.pop()
            block = ((v * u + block[0] * block[1]) / (u + block[1]), u + block[1], n + block[2])
        blocks.append(block)
    return [value for value, _, n in blocks for _ in range(n)]
