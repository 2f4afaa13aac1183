"""The history of a run: predictions, losses, purchases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._internal.dataframes import to_frame
from .._internal.formatting import Facts, ReprMixin, short
from .._internal.typing import Bools, Floats, Ints
from ..core import validation
from ..core.sources import SourceCatalog
from ..errors import ConfigError
from . import scoring

if TYPE_CHECKING:
    import altair as alt

    from ..figures import Figure

__all__ = [
    "History",
    "PurchaseCounts",
    "bought_now",
    "plot_bought",
    "plot_loss",
    "plot_money",
    "plot_reliability",
]

# The maximum number of intervals of purchase counts over time; fewer for large d, to limit the memory.
_STRETCHES = 48
_NUMBERS = 1 << 22


class PurchaseCounts:
    """Purchase counts over time: counts[i, j] purchases of attribute j in rows i * width to (i + 1) * width.

    When all intervals are used, pairs are merged and the width doubles, so memory does not grow with the stream.
    """

    def __init__(self, d: int) -> None:
        stretches = max(2, min(_STRETCHES, _NUMBERS // d // 2 * 2))
        self.counts: Ints = np.zeros((stretches, d), dtype=np.int64)
        self.width = 1
        self.rows = 0

    def add(self, first: int, n: int, attributes: Ints, sizes: Ints) -> None:
        """Record n rows, beginning with row `first`: row `first + i` bought `attributes[i, :sizes[i]]`. If `attributes`
        has a single line, it applies to all n rows.
        """
        self._make_room(first + n)
        if len(sizes) == 1:
            self._add_alike(first, first + n, attributes[0, : sizes[0]])
            return
        stretch = (first + np.arange(n)) // self.width
        bought = np.arange(attributes.shape[1]) < sizes[:, None]
        np.add.at(self.counts, (np.repeat(stretch, sizes), attributes[bought]), 1)

    def _add_alike(self, start: int, stop: int, attributes: Ints) -> None:
        """Count rows start to stop, which all bought the same attributes."""
        for i in range(start // self.width, (stop - 1) // self.width + 1):
            n = min(stop, (i + 1) * self.width) - max(start, i * self.width)
            self.counts[i, attributes] += n

    @property
    def bought(self) -> Ints:
        """(d,) the number of purchases of each attribute."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def ends(self) -> Ints:
        """The last row of each non-empty interval."""
        n = -(-self.rows // self.width)
        return np.minimum(np.arange(1, n + 1) * self.width, self.rows)

    def _make_room(self, rows: int) -> None:
        self.rows = max(self.rows, rows)
        half = len(self.counts) // 2
        while rows > 2 * half * self.width:
            self.counts[:half] = self.counts[0::2] + self.counts[1::2]
            self.counts[half:] = 0
            self.width *= 2


def bought_now(catalog: SourceCatalog, support: Sequence[int], late: Ints, rows: int) -> list[int]:
    """Return the sources (as indices into the catalog) that a learner buys at the end of a stream.

    These are the sources of its support and any source bought in most of the last rows, because a learner may buy a
    source in every row to explore it. `late` counts the purchases of each attribute in the last `rows` rows.

    >>> catalog = SourceCatalog.build(["a", "b", "c"])
    >>> bought_now(catalog, [0], np.array([10, 6, 5]), 10)
    [0, 1]
    """
    often = [s for s, brings in enumerate(catalog.members) if 2 * late[brings[0]] > rows]
    return sorted({int(catalog.of[i]) for i in support} - {-1} | set(often))


@dataclass(frozen=True, repr=False)
class History(ReprMixin):
    """The outcome of a run, one entry per row in stream order; rows with a NaN label have loss NaN and enter no sum."""

    predictions: Floats
    labels: Floats
    explored: Bools
    levels: Floats
    """(T,) the lowest level whose interval contained the label when it was issued; NaN without interval or label."""
    price: Floats
    """(T,) the cost of each row; 0 without prices."""
    names: tuple[str, ...]
    free: Ints
    """The free attributes, which are never bought."""
    purchases: PurchaseCounts
    """The number of deliveries of each attribute, per interval of rows."""
    rows: Floats | None
    """(T, d) the rows, needed for the regret against a fixed vector; None if they were not kept."""
    n_past_rows: int = 0
    """The past rows that the learner knew at the end, which were free."""

    @property
    def bought(self) -> Ints:
        """(d,) how often each attribute was bought, before or after the label; 0 for free attributes."""
        bought = self.purchases.bought
        bought[self.free] = 0
        return bought

    @property
    def losses(self) -> Floats:
        """(T,) the squared errors."""
        return (self.predictions - self.labels) ** 2

    @property
    def abandoned(self) -> int:
        """The number of rows without a label."""
        return int(np.isnan(self.labels).sum())

    def coverage(self, level: float = 0.9) -> float:
        """Return the share of labels inside the prediction interval of that level, as issued at the time."""
        level, given = validation.level(level), self.levels[~np.isnan(self.levels)]
        if not given.size:
            raise ConfigError("no label has an interval: the learner gives no intervals, or there were no labels")
        return float((given <= level).mean())

    def regret(self, w: Floats) -> Floats:
        """Return the (T,) cumulative regret against predicting <w, x>, where missing entries of x count as zero."""
        if self.rows is None:
            raise ConfigError("the rows were not kept, so there is nothing to compare w with; play with keep=True")
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (len(self.names),):
            raise ConfigError(f"w must have length d = {len(self.names)}, not shape {w.shape}")
        S = np.flatnonzero(w)
        rival = np.nan_to_num(self.rows[:, S], nan=0.0) @ w[S]
        return np.cumsum(np.nan_to_num(self.losses - (rival - self.labels) ** 2, nan=0.0))

    def auc(self) -> float:
        """Return the area under the ROC curve for 0/1 labels: P(a random 1 is ranked above a random 0).

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=2000, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0, label="binary")
        >>> history = kh.play(learner, X, y > 0)
        >>> bool(history.auc() > 0.9), history.reliability().to_frame().shape
        (True, (5, 4))
        """
        return scoring.auc(*scoring.require_binary(self.labels, self.predictions))

    def log_loss(self) -> float:
        """Return the log loss for 0/1 labels: the mean of -ln of the probability assigned to the observed label."""
        return scoring.log_loss(*scoring.require_binary(self.labels, self.predictions))

    def reliability(self, bins: int = 5) -> scoring.Reliability:
        """Return the mean probability and the observed frequency in bins of equal width, for 0/1 labels."""
        return scoring.reliability(*scoring.require_binary(self.labels, self.predictions), bins)

    def to_frame(self) -> object:
        """Return a frame with one line per row: prediction, label, loss, price, explored."""
        numbers = np.arange(1, self.labels.size + 1)
        return to_frame(
            {
                "row": numbers,
                "prediction": self.predictions,
                "label": self.labels,
                "loss": self.losses,
                "price": self.price,
                "explored": self.explored,
            }
        )

    def ledger(self) -> object:
        """Return a frame with one line per attribute: how often it was bought, and in which share of the rows.

        If the learner has learnt from past rows, a first line counts them; they were not bought.
        """
        past = [f"past rows: {self.n_past_rows}, free"] if self.n_past_rows else []
        bought = np.concatenate([np.zeros(len(past), dtype=np.int64), self.bought])
        share = bought / max(self.labels.size, 1)
        return to_frame({"attribute": [*past, *self.names], "bought": bought, "share": share})

    def plot(self) -> "alt.LayerChart":
        """Plot the mean squared error, per interval and cumulative, beside that of the running label mean."""
        return plot_loss(self).chart

    def plot_bought(self) -> "alt.LayerChart":
        """Plot which attributes were bought over time, the most bought first."""
        return plot_bought(self).chart

    def plot_reliability(self) -> "alt.LayerChart":
        """Plot the observed frequency of ones against the predicted probability, for 0/1 labels."""
        return plot_reliability(self).chart

    def plot_money(self) -> "alt.LayerChart":
        """Plot the cumulative cost."""
        return plot_money(self).chart

    def _facts(self) -> Facts:
        labelled = ~np.isnan(self.labels)
        loss = short(float(self.losses[labelled].mean())) if labelled.any() else "-"
        facts = [("history", f"of {self.labels.size} rows"), ("mean loss", loss)]
        facts.append(("bought", f"{short(self.bought.sum() / max(self.labels.size, 1))} attributes a row"))
        facts += [("price", f"{short(float(self.price.mean()))} a row")] if self.price.any() else []
        return [*facts, ("rows without a label", str(self.abandoned))] if self.abandoned else facts


# The number of attributes in the plot of purchases.
_MOST_PLOTTED = 20


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


def plot_loss(history: History) -> "Figure":
    """Plot the mean squared error over time."""
    from ..figures import Curve, curves

    ends = history.purchases.ends
    each, so_far = _means(history.losses, ends)
    lines = [Curve("in each stretch", each), Curve("so far", so_far)]
    lines.append(Curve("buying nothing, so far", _means(_predicting_the_mean(history.labels), ends)[1]))
    return curves("Mean squared error", ends.astype(np.float64), lines, "row", "mean squared error")


def plot_bought(history: History) -> "Figure":
    """Plot the purchases of each attribute over time."""
    from ..figures import heat

    ends = history.purchases.ends
    rows = np.diff(np.concatenate([[0], ends]))
    order = [j for j in np.argsort(-history.bought, kind="stable")[:_MOST_PLOTTED] if history.bought[j]]
    share = (history.purchases.counts[: ends.size, order] / rows[:, None]).T
    return heat("Attributes bought", ends.astype(np.float64), [history.names[j] for j in order], share, "row")


def plot_money(history: History) -> "Figure":
    """Plot the cumulative cost over time."""
    from ..figures import Curve, curves

    ends = history.purchases.ends
    spent = np.cumsum(history.price)[ends - 1]
    return curves("Money", ends.astype(np.float64), [Curve("spent", spent)], "row", "spent so far", cumulative=True)


def plot_reliability(history: History, bins: int = 10) -> "Figure":
    """Plot observed frequency of ones against predicted probability, with bands of two standard errors."""
    from ..figures import Curve, curves

    found = history.reliability(bins)
    p, share, error = found.predicted, found.observed, 2.0 * found.standard_error
    lines = [Curve("observed", share, share - error, share + error), Curve("calibrated", p)]
    return curves("Reliability", p, lines, "predicted probability", "observed share of ones", cumulative=True)
