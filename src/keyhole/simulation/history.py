"""What happened in a run: predictions, losses, purchases."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._internal.dataframes import to_frame
from .._internal.formatting import Facts, Shown, short
from .._internal.typing import Bools, Floats, Ints
from ..core import validation
from ..errors import ConfigError
from . import probability_scores as scores
from .purchase_counts import Timeline

if TYPE_CHECKING:
    import altair as alt

__all__ = ["History"]


@dataclass(frozen=True, repr=False)
class History(Shown):
    """One entry per row, in the order of the stream; a row whose label was NaN has loss NaN and is in no sum."""

    predictions: Floats
    labels: Floats
    explored: Bools
    levels: Floats
    """(T,) the lowest level whose interval, as it was given at the time, held the label; NaN without either."""
    price: Floats
    """(T,) what each row's purchases cost; 0 without prices."""
    names: tuple[str, ...]
    free: Ints
    """The attributes that were there for free; they are not bought."""
    timeline: Timeline
    """How often each attribute was handed over, stretch by stretch."""
    rows: Floats | None
    """(T, d) the stream itself, for regret against a fixed vector; None where it was not kept."""

    @property
    def bought(self) -> Ints:
        """(d,) how often each attribute was bought, before or after the label; known ones are not bought."""
        bought = self.timeline.bought
        bought[self.free] = 0
        return bought

    @property
    def losses(self) -> Floats:
        """(T,) squared errors."""
        return (self.predictions - self.labels) ** 2

    @property
    def abandoned(self) -> int:
        """How many rows had no label."""
        return int(np.isnan(self.labels).sum())

    def coverage(self, level: float = 0.9) -> float:
        """The share of labels that lay in the interval of that level, as it was given at the time."""
        level, given = validation.level(level), self.levels[~np.isnan(self.levels)]
        if not given.size:
            raise ConfigError("no label came with an interval: the learner gives none, or there were no labels")
        return float((given <= level).mean())

    def regret(self, w: Floats) -> Floats:
        """(T,) cumulative regret against predicting <w, x>; a missing entry of x counts as zero there."""
        if self.rows is None:
            raise ConfigError("the rows were not kept, so there is nothing to compare w with; play with keep=True")
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (len(self.names),):
            raise ConfigError(f"w must have length d = {len(self.names)}, not shape {w.shape}")
        S = np.flatnonzero(w)
        rival = np.nan_to_num(self.rows[:, S], nan=0.0) @ w[S]
        return np.cumsum(np.nan_to_num(self.losses - (rival - self.labels) ** 2, nan=0.0))

    def auc(self) -> float:
        """For yes/no labels: the probability that a random 1 was given a larger probability than a random 0.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=2000, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0, label="binary")
        >>> history = kh.play(learner, X, y > 0)
        >>> bool(history.auc() > 0.9), history.reliability().to_frame().shape
        (True, (5, 4))
        """
        return scores.auc(*scores.require_binary(self.labels, self.predictions))

    def log_loss(self) -> float:
        """For yes/no labels: the mean of -ln of the probability that was given to what happened."""
        return scores.log_loss(*scores.require_binary(self.labels, self.predictions))

    def reliability(self, bins: int = 5) -> scores.Reliability:
        """For yes/no labels: the mean probability and the observed share in bins of equal width."""
        return scores.reliability(*scores.require_binary(self.labels, self.predictions), bins)

    def to_frame(self) -> object:
        """A frame with one line per row: prediction, label, loss, price, explored."""
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
        """A frame with one line per attribute: how often it was bought, and in which share of the rows."""
        share = self.bought / max(self.labels.size, 1)
        return to_frame({"attribute": self.names, "bought": self.bought, "share": share})

    def plot(self) -> "alt.LayerChart":
        """The mean squared error, stretch by stretch and so far, beside predicting the mean of the labels so far."""
        from .history_plots import loss

        return loss(self).chart

    def plot_bought(self) -> "alt.LayerChart":
        """Which attributes were bought when, the most bought first."""
        from .history_plots import bought

        return bought(self).chart

    def plot_reliability(self) -> "alt.LayerChart":
        """For yes/no labels: the observed share of ones against the predicted probability."""
        from .history_plots import reliability

        return reliability(self).chart

    def plot_money(self) -> "alt.LayerChart":
        """What was spent so far."""
        from .history_plots import money

        return money(self).chart

    def _facts(self) -> Facts:
        told = ~np.isnan(self.labels)
        loss = short(float(self.losses[told].mean())) if told.any() else "-"
        facts = [("history", f"of {self.labels.size} rows"), ("mean loss", loss)]
        facts.append(("bought", f"{short(self.bought.sum() / max(self.labels.size, 1))} attributes a row"))
        facts += [("price", f"{short(float(self.price.mean()))} a row")] if self.price.any() else []
        return [*facts, ("without label", str(self.abandoned))] if self.abandoned else facts
