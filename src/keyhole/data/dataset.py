"""A data set as a value."""

from dataclasses import dataclass

import numpy as np

from .._types import Floats
from ..streams.columns import Attribute, Range
from ..streams.schema import Schema

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows X (n, d), labels y (n,), what the columns are called and cost, and where it all is from."""

    name: str
    X: Floats
    y: Floats
    names: tuple[str, ...]
    """The d attributes' names."""
    target: str
    prices: Floats
    """(d,); 1 each where no real prices are known."""
    source: str
    licence: str
    control: bool = False
    """True where columns are interchangeable, so that no choice of attributes can win much."""

    @property
    def schema(self) -> Schema:
        """Ranges and means as seen in the whole data set, and the prices: what `keyhole diagnose` would write."""
        ranges = np.nanmin(self.X, axis=0), np.nanmax(self.X, axis=0), np.nanmean(self.X, axis=0)
        rows = zip(self.names, *(r.tolist() for r in ranges), self.prices.tolist(), strict=True)
        label = Range(self.target, float(self.y.min()), float(self.y.max()), float(self.y.mean()))
        return Schema(label, tuple(Attribute(*row) for row in rows))
