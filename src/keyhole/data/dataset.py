"""A data set as a value."""

from dataclasses import dataclass, field

import numpy as np

from .._internal.typing import Floats
from .columns import Attribute, Label, Panel
from .schema import Schema

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows X (n, d), labels y (n,), what the columns are called and cost, and where it all is from.

    `kh.make("thrifty", names=data.names, sources=data.sources, free=data.free, prices=data.prices, ...)` fits each.
    """

    name: str
    X: Floats
    y: Floats
    names: tuple[str, ...]
    """The d attributes' names."""
    target: str
    prices: Floats | dict[str, float]
    """(d,), 1 each where no real prices are known; by source where there are `sources`."""
    source: str
    """Where it is from."""
    licence: str
    control: bool = False
    """True where columns are interchangeable, so that no choice of attributes can win much."""
    sources: dict[str, list[str]] = field(default_factory=dict)
    """What is ordered at once, with the attributes it brings; empty where each attribute is ordered alone."""
    free: tuple[str, ...] = ()
    """The attributes that are there before anything is ordered."""
    currency: str = ""
    unit: str = ""
    """The label's."""

    @property
    def schema(self) -> Schema:
        """Ranges and means as seen in the whole data set, and the prices: what `keyhole diagnose` would write."""
        low, high, mean = (f(self.X, axis=0).tolist() for f in (np.nanmin, np.nanmax, np.nanmean))
        ends = float(self.y.min()), float(self.y.max()), float(self.y.mean())
        label = Label(self.target, *ends, unit=self.unit, estimated=True)
        priced = not isinstance(self.prices, dict)
        attributes = tuple(
            Attribute(
                n,
                low[j],
                high[j],
                mean[j],
                price=float(self.prices[j]) if priced else None,  # type: ignore[index]
                free=n in self.free,
                estimated=True,
            )
            for j, n in enumerate(self.names)
        )
        if not isinstance(self.prices, dict):
            return Schema(label, attributes)
        panels = tuple(Panel(name, tuple(brings), self.prices[name]) for name, brings in self.sources.items())
        return Schema(label, attributes, panels=panels, currency=self.currency)
