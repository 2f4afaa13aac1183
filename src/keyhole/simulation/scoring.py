"""Which rows count in a loss, and how good probabilities of 0/1 labels are."""

from typing import NamedTuple

import numpy as np

from .._internal.dataframes import to_frame
from .._internal.typing import Bools, Floats
from ..errors import ConfigError

__all__ = ["FIRST_ROW", "Reliability", "auc", "log_loss", "reliability", "require_binary", "scored", "with_center"]

# One rule for every learner, command and page: before the first label a learner knows nothing. If a person stated the
# label's centre in the schema, every learner predicts that centre until the first label, and the row counts. Otherwise
# the first labelled row trains the learner and its purchases are paid for, but its squared error is in no loss, regret
# or chart.
FIRST_ROW = (
    "The first row with a label trains the learner and is paid for, but its error is left out: no learner can know "
    "anything about it, and the schema states no centre for the label."
)
"""What a page says where the first row is left out."""


def scored(labels: Floats, center: float | None = None, before: int = 0) -> Bools:
    """Which rows count in a loss.

    Parameters
    ----------
    labels
        The labels in the order they came, NaN where there is none.
    center
        The label's centre if a person stated it.
    before
        How many labels came before these.

    >>> scored(np.array([np.nan, 155.0, 140.0])).tolist()
    [False, False, True]
    >>> scored(np.array([155.0, 140.0]), center=150.0).tolist()
    [True, True]
    """
    counts = np.isfinite(labels)
    if center is None and before == 0 and counts.any():
        counts[int(np.argmax(counts))] = False
    return counts


def with_center(predictions: Floats, labels: Floats, center: float | None, before: int = 0) -> Floats:
    """The predictions with the stated centre up to and including the first labelled row; a copy.

    >>> with_center(np.array([0.0, 0.0, 149.0]), np.array([np.nan, 155.0, 140.0]), 150.0).tolist()
    [150.0, 150.0, 149.0]
    """
    known = np.isfinite(labels)
    if center is None or before:
        return predictions
    end = int(np.argmax(known)) + 1 if known.any() else labels.size
    return np.concatenate([np.full(end, center), predictions[end:]])


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
    labelled = ~np.isnan(labels)
    y, p = labels[labelled], predictions[labelled]
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
