"""What happened in a run: predictions, losses, purchases."""

from dataclasses import dataclass

import numpy as np

from .._types import Bools, Floats, Ints
from ..errors import ConfigError
from ..shown import Facts, Shown, short

__all__ = ["History"]


@dataclass(frozen=True, repr=False)
class History(Shown):
    """One entry per row, in the order of the stream; a row whose label was NaN has loss NaN and is in no sum."""

    predictions: Floats
    labels: Floats
    explored: Bools
    bought: Ints
    """(d,) how often each attribute was bought, before or after the label; known ones are not bought."""
    price: Floats
    """(T,) what each row's purchases cost; 0 without prices."""
    rows: Floats | None
    """(T, d) the stream itself, for regret against a fixed vector; None where it was not kept."""

    @property
    def losses(self) -> Floats:
        """(T,) squared errors."""
        return (self.predictions - self.labels) ** 2

    def _facts(self) -> Facts:
        told = ~np.isnan(self.labels)
        loss = short(float(self.losses[told].mean())) if told.any() else "-"
        facts = [("history", f"of {self.labels.size} rows"), ("mean loss", loss)]
        facts.append(("bought", f"{short(self.bought.sum() / max(self.labels.size, 1))} attributes a row"))
        facts += [("price", f"{short(float(self.price.mean()))} a row")] if self.price.any() else []
        return [*facts, ("without label", str(self.abandoned))] if self.abandoned else facts

    @property
    def abandoned(self) -> int:
        """How many rows had no label."""
        return int(np.isnan(self.labels).sum())

    def regret(self, w: Floats) -> Floats:
        """(T,) cumulative regret against predicting <w, x>; a missing entry of x counts as zero there."""
        if self.rows is None:
            raise ConfigError("the rows were not kept, so there is nothing to compare w with; play with keep=True")
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (self.bought.size,):
            raise ConfigError(f"w must have length d = {self.bought.size}, not shape {w.shape}")
        S = np.flatnonzero(w)
        rival = np.nan_to_num(self.rows[:, S], nan=0.0) @ w[S]
        return np.cumsum(np.nan_to_num(self.losses - (rival - self.labels) ** 2, nan=0.0))
