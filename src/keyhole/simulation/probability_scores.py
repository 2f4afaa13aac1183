"""How good probabilities of yes/no labels are: ranking, log loss, and how often what was likely came true."""

from typing import NamedTuple

import numpy as np

from .._internal.dataframes import to_frame
from .._internal.typing import Floats
from ..errors import ConfigError

__all__ = ["Reliability", "auc", "log_loss", "reliability", "require_binary"]


class Reliability(NamedTuple):
    """Rows by predicted probability, in bins of equal width: mean prediction, observed share, standard error, rows."""

    predicted: Floats
    observed: Floats
    standard_error: Floats
    rows: Floats

    def to_frame(self) -> object:
        """One line per bin."""
        return to_frame({name: getattr(self, name) for name in self._fields})


def require_binary(labels: Floats, predictions: Floats) -> tuple[Floats, Floats]:
    """The labelled rows; a `ConfigError` unless their labels are 0 and 1 and their predictions probabilities."""
    told = ~np.isnan(labels)
    y, p = labels[told], predictions[told]
    if not (np.isin(y, (0.0, 1.0)).all() and ((p >= 0.0) & (p <= 1.0)).all()):
        raise ConfigError('this needs labels 0 and 1 and probabilities: make the learner with label="binary"')
    return y, p


def auc(y: Floats, p: Floats) -> float:
    """The probability that a random 1 has a larger prediction than a random 0, ties counted half; NaN without both.

    >>> auc(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    ones = float(y.sum())
    zeros = y.size - ones
    if not (ones and zeros):
        return float("nan")
    _, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2.0
    return float((rank[place][y == 1.0].sum() - ones * (ones + 1.0) / 2.0) / (ones * zeros))


def log_loss(y: Floats, p: Floats) -> float:
    """The mean of -ln of the probability that was given to what happened."""
    p = np.clip(p, 1e-15, 1.0 - 1e-15)
    return float(-np.where(y == 1.0, np.log(p), np.log1p(-p)).mean()) if y.size else float("nan")


def reliability(y: Floats, p: Floats, bins: int = 5) -> Reliability:
    """Predictions in bins of equal width beside the share of ones among them; empty bins are omitted.

    >>> reliability(np.array([0.0, 1.0, 1.0]), np.array([0.25, 0.3, 0.9]), bins=2).observed.tolist()
    [0.5, 1.0]
    """
    if bins < 1:
        raise ConfigError(f"bins must be at least 1; it is {bins}")
    cell = np.minimum((p * bins).astype(np.int64), bins - 1)
    rows = np.bincount(cell, minlength=bins).astype(np.float64)
    there = rows > 0
    predicted = np.bincount(cell, p, bins)[there] / rows[there]
    observed = np.bincount(cell, y, bins)[there] / rows[there]
    error = np.sqrt(np.maximum(predicted * (1.0 - predicted), 0.0) / rows[there])
    return Reliability(predicted, observed, error, rows[there])
