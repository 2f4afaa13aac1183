"""The plots of a history, drawn on demand."""

from typing import TYPE_CHECKING

import numpy as np

from .._internal.typing import Floats, Ints

if TYPE_CHECKING:
    from ..figures import Figure
    from .history import History

__all__ = ["bought", "loss", "money", "reliability"]

_MOST = 20


def _means(values: Floats, ends: Ints) -> tuple[Floats, Floats]:
    """Return the mean of each interval and the cumulative mean at its end, ignoring NaN."""
    there = ~np.isnan(values)
    starts = np.concatenate([[0], ends[:-1]])
    sums = np.add.reduceat(np.where(there, values, 0.0), starts)
    counts = np.add.reduceat(there.astype(np.float64), starts)
    return sums / np.maximum(counts, 1), np.cumsum(sums) / np.maximum(np.cumsum(counts), 1)


def _predicting_the_mean(labels: Floats) -> Floats:
    """Return the (T,) squared errors of predicting the running label mean, which is 0 before the first label."""
    there = ~np.isnan(labels)
    sums, counts = np.cumsum(np.where(there, labels, 0.0)), np.cumsum(there)
    before = np.concatenate([[0.0], sums[:-1] / np.maximum(counts[:-1], 1)])
    return np.asarray((labels - before) ** 2)


def loss(history: "History") -> "Figure":
    """Plot the mean squared error over time."""
    from ..figures import Curve, curves

    ends = history.purchases.ends
    each, so_far = _means(history.losses, ends)
    lines = [Curve("in each stretch", each), Curve("so far", so_far)]
    lines.append(Curve("buying nothing, so far", _means(_predicting_the_mean(history.labels), ends)[1]))
    return curves("Mean squared error", ends.astype(np.float64), lines, "row", "mean squared error")


def bought(history: "History") -> "Figure":
    """Plot the purchases of each attribute over time."""
    from ..figures import heat

    ends = history.purchases.ends
    rows = np.diff(np.concatenate([[0], ends]))
    order = [j for j in np.argsort(-history.bought, kind="stable")[:_MOST] if history.bought[j]]
    share = (history.purchases.counts[: ends.size, order] / rows[:, None]).T
    return heat("Attributes bought", ends.astype(np.float64), [history.names[j] for j in order], share, "row")


def money(history: "History") -> "Figure":
    """Plot the cumulative cost over time."""
    from ..figures import Curve, curves

    ends = history.purchases.ends
    spent = np.cumsum(history.price)[ends - 1]
    return curves("Money", ends.astype(np.float64), [Curve("spent", spent)], "row", "spent so far", cumulative=True)


def reliability(history: "History", bins: int = 10) -> "Figure":
    """Plot observed frequency of ones against predicted probability, with bands of two standard errors."""
    from ..figures import Curve, curves

    found = history.reliability(bins)
    p, share, error = found.predicted, found.observed, 2.0 * found.standard_error
    lines = [Curve("observed", share, share - error, share + error), Curve("calibrated", p)]
    return curves("Reliability", p, lines, "predicted probability", "observed share of ones", cumulative=True)
