"""Frozen use of a learner: it buys its support, predicts, and learns nothing.

    y_hat(x) = the learner's own prediction in a round that exploits, with the weights it has now

The round is asked of a copy and never told, so the learner does not change, and rows do not depend on each other.
"""

import copy

import numpy as np

from .._internal.typing import Floats
from .learner import Learner
from .round import Round

__all__ = ["Frozen", "exploiting"]

# An exploration may come first; the copy is ours to ask again.
_PATIENCE = 100


class Frozen:
    """A learner as it is at this moment: which attributes it needs, and what it says of their values."""

    def __init__(self, learner: Learner) -> None:
        self._learner = copy.deepcopy(learner)
        self._round = exploiting(self._learner)
        self.names = self._round.names
        """What has to be bought for a prediction."""
        self.attributes = self._round.attributes

    def predict(self, values: Floats) -> Floats:
        """(n,) predictions from (n, |names|) values in the order of `names`; NaN is one that is missing."""
        return np.array([self._learner.predict(self._round, row) for row in values], dtype=np.float64)

    def scores(self, values: Floats) -> Floats:
        """(n,) what `predict` calibrates where labels are 0 or 1; the prediction itself where they are numbers."""
        rows = np.ascontiguousarray(values)
        return np.array([self._learner._predict(self._round, row) for row in rows], dtype=np.float64)


def exploiting(copied: Learner) -> Round:
    """A round that buys the support, of a learner that is ours to ask; a total that is spent is no limit to it."""
    copied._lift_total()
    support = [copied.names[i] for i in copied.support]
    r = copied.ask(available=support)
    for _ in range(_PATIENCE):
        if r.kind == "exploit":
            break
        r = copied.ask(available=support)
    return r
