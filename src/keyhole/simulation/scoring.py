"""Which rows count in a loss: one rule for every learner, command and page.

Before the first label a learner knows nothing. If a person stated the label's centre in the schema, every learner
predicts that centre until the first label, and the row counts. Otherwise the first labelled row trains the learner and
its purchases are paid for, but its squared error is in no loss, regret or chart.
"""

import numpy as np

from .._internal.typing import Bools, Floats

__all__ = ["FIRST_ROW", "scored", "with_center"]

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
