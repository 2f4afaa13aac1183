"""What a learner can say of itself, whichever learner it is: the one place that knows which of them say it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._types import Floats
from ..protocol import Learner
from ..rounds import Round

__all__ = ["Order", "Reason", "alarms", "interval", "order", "reasons"]


@dataclass(frozen=True)
class Order:
    """What to order for a round, by name, each with its price."""

    sources: tuple[str, ...]
    prices: tuple[float, ...]

    @property
    def price(self) -> float:
        """Of the whole basket."""
        return float(sum(self.prices))


@dataclass(frozen=True)
class Reason:
    """Why something is or is not bought."""

    name: str
    weight: float
    bought: int | None
    price: float
    in_support: bool
    reason: str


def order(learner: Learner, r: Round) -> Order:
    """What a round orders, the extras after the label included."""
    names = (*r.names, *(learner.names[i] for i in r.extra))
    price = _prices(learner)
    places = [*r.attributes.tolist(), *r.extra.tolist()]
    return Order(names, tuple(float(price[i]) for i in places))


def interval(learner: Learner, r: Round, values: Sequence[float]) -> tuple[float | None, float | None]:
    """(low, high) of the learner's interval; (None, None) where it has none, or none yet."""
    ask = getattr(learner, "interval", None)
    if ask is None:
        return None, None
    try:
        low, high = ask(r, values)
    except (NotImplementedError, ValueError):
        return None, None
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else (None, None)


def alarms(learner: Learner) -> list[str]:
    """The changes a learner noticed, in words."""
    return [str(alarm) for alarm in getattr(learner, "alarms", ())]


def reasons(learner: Learner) -> list[Reason]:
    """One record per attribute that is in the support or was bought: the largest weights first."""
    explain = getattr(learner, "explain", None)
    if explain is None:
        return _weights(learner)
    found = [Reason(e.name, e.weight, e.bought, e.price, e.in_support, e.reason) for e in explain()]
    return sorted(found, key=lambda e: (not e.in_support, -(e.bought or 0)))


def _weights(learner: Learner) -> list[Reason]:
    weights, price = learner.weights, _prices(learner)
    order = sorted(learner.support.tolist(), key=lambda i: -abs(weights[i]))
    text = "in the support"
    return [Reason(learner.names[i], float(weights[i]), None, float(price[i]), True, text) for i in order]


def _prices(learner: Learner) -> Floats:
    prices: Floats | None = getattr(learner, "prices", None)
    return np.zeros(learner.d) if prices is None else prices
