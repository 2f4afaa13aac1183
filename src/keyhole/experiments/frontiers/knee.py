"""Which levels are on the frontier, where the next unit of money stops paying, and the sentences that say so."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ..._internal.formatting import Units, digits, listed
from .frontier_result import Choice, Level

__all__ = ["advice", "bend", "hull", "named", "on_frontier", "stop_at"]


def on_frontier(
    levels: Sequence[Level], lowers: Callable[[Choice, Choice], bool]
) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """The levels by the price of their baskets, and those left out: a basket that costs more and lowers nothing.

    `lowers(dearer, cheaper)` says whether the dearer basket leaves less error. Levels with one basket stay together.
    """
    kept: list[Level] = []
    left_out: list[Level] = []
    for level in sorted(levels, key=lambda one: (one.basket.price, one.basket.mse, one.basket.sources, one.error_cost)):
        last = kept[-1].basket if kept else level.basket
        good = level.basket.sources == last.sources or lowers(level.basket, last)
        (kept if good else left_out).append(level)
    return tuple(kept), tuple(left_out)


class Priced(Protocol):
    """Something that costs money and leaves an error."""

    @property
    def price(self) -> float:
        """What a row costs."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""


def hull(baskets: Sequence[Priced]) -> list[int]:
    """The baskets that no mixture of others beats: the lower convex hull of typical error over price."""
    order = sorted(range(len(baskets)), key=lambda i: (baskets[i].price, baskets[i].typical_error))
    kept: list[int] = []
    for i in order:
        if kept and baskets[i].typical_error >= baskets[kept[-1]].typical_error:
            continue
        while len(kept) > 1 and _slope(baskets, kept[-2], i) <= _slope(baskets, kept[-2], kept[-1]):
            kept.pop()
        kept.append(i)
    return kept


def _slope(baskets: Sequence[Priced], a: int, b: int) -> float:
    """Typical error per unit of money from a to b."""
    first, second = baskets[a], baskets[b]
    return (second.typical_error - first.typical_error) / max(second.price - first.price, 1e-300)


def bend(baskets: Sequence[Priced]) -> int:
    """The bend of the hull: the basket farthest below the line from its first to its last.

    Where none is below it (a hull of two), the last: all that helps is in one step.
    """
    on = hull(baskets)
    first, last = baskets[on[0]], baskets[on[-1]]
    if len(on) == 1:
        return on[0]
    money = np.array([baskets[i].price - first.price for i in on]) / max(last.price - first.price, 1e-300)
    error = np.array([baskets[i].typical_error - last.typical_error for i in on])
    error /= max(first.typical_error - last.typical_error, 1e-300)
    below = 1.0 - (money + error)
    return on[int(np.argmax(below))] if below.max() > 1e-9 else on[-1]


def stop_at(levels: Sequence[Level]) -> int:
    """The level whose basket is at the bend."""
    return bend([level.basket for level in levels])


def named(level: Level, most: int = 8) -> str:
    """The basket of a level in words; where equally many seeds ended with equally good ones, "bmi or waist"."""
    return " or ".join(listed(b.sources, most) or "nothing" for b in level.equals)


def advice(levels: Sequence[Level], at: int, seeds: int, units: Units) -> tuple[str, str]:
    """What to buy, with its price and error in hindsight; then what finding it took, and what more would bring."""
    here = levels[at]
    error = units.error(here.typical_error)
    learning = f"While learning, the runs paid {units.money(here.price)} a row and had a typical error of {error}."
    return _buy(here, seeds, units), f"{learning} {_beyond(levels, at, units)}"


def _buy(level: Level, seeds: int, units: Units) -> str:
    """One basket with its own price and error, or equals, each with its own; and how many seeds agree."""
    equals = level.equals
    facts = [f"{units.money(b.price)} a row, typical error {units.error(b.typical_error)} in hindsight" for b in equals]
    if len(equals) > 1:
        each = [f"{listed(b.sources) or 'nothing'} ({fact})" for b, fact in zip(equals, facts, strict=True)]
        return f"Buy {' or '.join(each)}: they are about equally good, and the seeds disagree."
    agree = "" if level.basket.seeds == seeds else f" ({level.basket.seeds} of {seeds} seeds ended with it)"
    return f"Buy {named(level)}: {facts[0]}{agree}."


def _beyond(levels: Sequence[Level], at: int, units: Units) -> str:
    """What one unit of money more brings beyond a level, and the error cost there."""
    of_label = f" {units.label}" if units.label else ""
    here = levels[at]
    baskets = [level.basket for level in levels]
    after = [i for i in hull(baskets) if baskets[i].price > here.basket.price]
    price = units.money(here.basket.price)
    error_cost = f"The error cost at this point is {units.error_cost(here.error_cost)}."
    if not after:
        return f"What helps costs {price} a row in all, and more money buys nothing. {error_cost}"
    gained = -_slope(baskets, at, after[0])
    gain = f"{digits(gained, 2)}{of_label}"
    lowers = f"one {units.currency or 'unit of money'} more lowers the typical error by less than {gain}"
    return f"Beyond {price} a row, {lowers}. {error_cost}"
