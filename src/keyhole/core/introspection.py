"""Uniform access to the optional information of a learner: order, interval, drift alarms, and weights with reasons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .learner import Learner
from .round import Round

__all__ = ["Reason", "alarms", "basket", "interval", "reasons"]


@dataclass(frozen=True)
class Reason:
    """The reason why an attribute is or is not bought."""

    name: str
    weight: float
    bought: int | None
    price: float
    in_support: bool
    reason: str
    uncertainty: float | None = None
    """The standard error of the weight; None if the learner does not estimate it."""


def basket(learner: Learner, r: Round) -> list[tuple[str, float]]:
    """Return the sources that a round orders as (name, price), those bought before the label first."""
    catalog = learner.catalog
    before, after = catalog.basket(r.attributes).tolist(), catalog.basket(r.extra).tolist()
    places = [*before, *(source for source in after if source not in before)]
    prices = r.prices or catalog.prices[places].tolist()
    return [(catalog.sources[source], float(price)) for source, price in zip(places, prices, strict=True)]


def interval(learner: Learner, r: Round, values: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the learner's prediction interval (low, high), or (None, None) if there is none, or none yet."""
    if not learner.gives_intervals:
        return None, None
    low, high = learner.interval(r, values)
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else (None, None)


def alarms(learner: Learner) -> list[str]:
    """Return the changes in the data that the learner detected, as text."""
    return [str(alarm) for alarm in learner.alarms]


def reasons(learner: Learner) -> list[Reason]:
    """Return one record per attribute that is in the support or was bought, sorted by decreasing absolute weight."""
    explain = getattr(learner, "explain", None)
    if explain is None:
        return _weights(learner)
    found = [
        Reason(e.name, e.weight, e.bought, e.price, e.in_support, e.reason, getattr(e, "uncertainty", None))
        for e in explain()
    ]
    return sorted(found, key=lambda e: (not e.in_support, -(e.bought or 0)))


def _weights(learner: Learner) -> list[Reason]:
    weights, catalog = learner.weights, learner.catalog
    order = sorted(learner.support.tolist(), key=lambda i: -abs(weights[i]))
    return [
        Reason(learner.names[i], float(weights[i]), None, float(catalog.charge[i]), True, "in the support")
        for i in order
    ]
