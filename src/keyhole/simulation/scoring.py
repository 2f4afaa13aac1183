"""Which rows count in a loss, and scores for probabilities of 0/1 labels."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from .._internal.dataframes import to_frame
from .._internal.typing import Bools, Floats
from ..data.columns import Range
from ..errors import ConfigError

__all__ = [
    "ProbabilityScores",
    "Reliability",
    "auc",
    "first_row_note",
    "log_loss",
    "pooled",
    "reliability",
    "require_binary",
    "score",
    "scored",
    "with_center",
]

_BINS = 10


# The same rule holds for every learner, command and page: before the first label a learner knows nothing. If the schema
# states the label's centre, and not as an estimate from the file, every learner predicts that centre until the first
# label, and the row counts. Otherwise the first labelled row trains the learner and its purchases are paid for, but its
# squared error enters no loss, regret or chart.
def first_row_note(label: Range | None = None) -> str:
    """Return the note shown where the first row is excluded; `label` is that of the schema, if the rows have one."""
    why = "no centre of the label was stated beforehand"
    if label is not None and label.center is not None:
        why = "the schema's centre of the label was estimated from the file (estimated = true)"
    return (
        "The first row with a label trains the learner and is paid for, but its error is left out: no learner can know "
        f"anything about it, and {why}."
    )


def scored(labels: Floats, center: float | None = None, before: int = 0) -> Bools:
    """Return the mask of the rows that count in a loss.

    Parameters
    ----------
    labels
        The labels in order of arrival; NaN if missing.
    center
        The label's centre, if the schema states it.
    before
        The number of labels before these.

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
    """Return a copy of the predictions with the stated centre up to and including the first labelled row.

    >>> with_center(np.array([0.0, 0.0, 149.0]), np.array([np.nan, 155.0, 140.0]), 150.0).tolist()
    [150.0, 150.0, 149.0]
    """
    known = np.isfinite(labels)
    if center is None or before:
        return predictions
    end = int(np.argmax(known)) + 1 if known.any() else labels.size
    return np.concatenate([np.full(end, center), predictions[end:]])


class Reliability(NamedTuple):
    """A reliability diagram with bins of equal width: mean prediction, observed frequency, standard error, rows."""

    predicted: Floats
    observed: Floats
    standard_error: Floats
    rows: Floats

    def to_frame(self) -> object:
        """Return a frame with one line per bin."""
        return to_frame({name: getattr(self, name) for name in self._fields})


def require_binary(labels: Floats, predictions: Floats) -> tuple[Floats, Floats]:
    """Return the labelled rows; raise a `ConfigError` unless labels are 0 or 1 and predictions are probabilities."""
    labelled = ~np.isnan(labels)
    y, p = labels[labelled], predictions[labelled]
    if not (np.isin(y, (0.0, 1.0)).all() and ((p >= 0.0) & (p <= 1.0)).all()):
        raise ConfigError('this needs labels 0 and 1 and probabilities: make the learner with label="binary"')
    return y, p


def auc(y: Floats, p: Floats) -> float:
    """Return the probability that a random 1 ranks above a random 0, ties counting half; NaN if a class is missing.

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
    """Return the mean of -ln of the probability assigned to the observed label."""
    p = np.clip(p, 1e-15, 1.0 - 1e-15)
    return float(-np.where(y == 1.0, np.log(p), np.log1p(-p)).mean()) if y.size else float("nan")


def reliability(y: Floats, p: Floats, bins: int = 5) -> Reliability:
    """Return mean predictions and observed frequencies of ones in bins of equal width, omitting empty bins.

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


class ProbabilityScores(TypedDict):
    """The scores of a run's probabilities as JSON-compatible data; `reliability` has the lists of `Reliability`."""

    auc: float
    brier: float
    log_loss: float
    reliability: dict[str, list[float]]


def score(y: Floats, p: Floats) -> ProbabilityScores:
    """Return AUC, Brier score, log loss and ten bins; raise a `ConfigError` if the predictions are not probabilities.

    >>> found = score(np.array([0.0, 1.0, np.nan]), np.array([0.25, 0.75, 0.5]))
    >>> found["auc"], found["brier"], found["reliability"]["observed"]
    (1.0, 0.0625, [0.0, 1.0])
    """
    y, p = require_binary(y, p)
    bins = reliability(y, p, _BINS)
    return ProbabilityScores(
        auc=auc(y, p),
        brier=float(((y - p) ** 2).mean()) if y.size else float("nan"),
        log_loss=log_loss(y, p),
        reliability={name: getattr(bins, name).tolist() for name in bins._fields},
    )


def pooled(several: Sequence[ProbabilityScores]) -> ProbabilityScores:
    """Return the mean scores of several runs, and the bins of all their rows together."""
    sums = np.zeros((3, _BINS))
    for one in several:
        predicted, observed, rows = (np.array(one["reliability"][name]) for name in ("predicted", "observed", "rows"))
        cell = np.minimum((predicted * _BINS).astype(np.int64), _BINS - 1)
        for line, values in zip(sums, (rows, rows * predicted, rows * observed), strict=True):
            np.add.at(line, cell, values)
    rows, *others = sums[:, sums[0] > 0]
    p, share = (each / rows for each in others)
    bins = Reliability(p, share, np.sqrt(np.maximum(p * (1.0 - p), 0.0) / rows), rows)
    return ProbabilityScores(
        auc=float(np.mean([one["auc"] for one in several])),
        brier=float(np.mean([one["brier"] for one in several])),
        log_loss=float(np.mean([one["log_loss"] for one in several])),
        reliability={name: getattr(bins, name).tolist() for name in bins._fields},
    )
