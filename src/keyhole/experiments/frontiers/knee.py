"""Which levels are on the frontier, where the next unit of money stops paying, and the sentences that say so."""

from collections.abc import Callable, Sequence

import numpy as np

from ..._internal.formatting import Units, listed
from .frontier_result import Choice, Level

__all__ = ["advice", "hull", "named", "on_frontier", "stop_at"]


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


def hull(levels: Sequence[Level]) -> list[int]:
    """The levels whose baskets no mixture of others beats: the lower convex hull of typical error over price."""
    order = sorted(range(len(levels)), key=lambda i: (levels[i].basket.price, levels[i].basket.mse))
    kept: list[int] = []
    for i in order:
        if kept and levels[i].basket.typical_error >= levels[kept[-1]].basket.typical_error:
            continue
        while len(kept) > 1 and _slope(levels, kept[-2], i) <= _slope(levels, kept[-2], kept[-1]):
            kept.pop()
        kept.append(i)
    return kept


def _slope(levels: Sequence[Level], a: int, b: int) -> float:
    """Typical error per unit of money from the basket of a to that of b."""
    first, second = levels[a].basket, levels[b].basket
    return (second.typical_error - first.typical_error) / max(second.price - first.price, 1e-300)


def stop_at(levels: Sequence[Level]) -> int:
    """The bend of the hull: the level farthest below the line from its first to its last.

    Where none is below it (a hull of two), the last: all that helps is in one step.
    """
    on = hull(levels)
    first, last = levels[on[0]].basket, levels[on[-1]].basket
    if len(on) == 1:
        return on[0]
    money = np.array([levels[i].basket.price - first.price for i in on]) / max(last.price - first.price, 1e-300)
    error = np.array([levels[i].basket.typical_error - last.typical_error for i in on])
    error /= max(first.typical_error - last.typical_error, 1e-300)
    below = 1.0 - (money + error)
    return on[int(np.argmax(below))] if below.max() > 1e-9 else on[-1]


def named(level: Level, most: int = 8) -> str:
    """The basket of a level in words; where equally many seeds ended with equally good ones, "bmi or waist"."""
    return " or ".join(listed(b.sources, most) or "nothing" for b in level.equals)


def advice(levels: Sequence[Level], at: int, seeds: int, units: Units) -> str:
    """What to buy, what that costs and leaves, what finding it took, and what more money would bring."""
    here = levels[at]
    paid = f"paid {units.money(here.price)} a row, exploration included, with a typical error of "
    return " ".join(
        [
            _buy(here, seeds, units),
            f"While learning, the runs {paid}{units.error(here.typical_error)}.",
            _beyond(levels, at, units),
        ]
    )


def _buy(level: Level, seeds: int, units: Units) -> str:
    """One basket with its own price and error, or equals, each with its own; and how many seeds agree."""
    equals = level.equals
    facts = [f"{units.money(b.price)} a row, typical error {units.error(b.typical_error)}" for b in equals]
    if len(equals) > 1:
        each = [f"{listed(b.sources) or 'nothing'} ({fact})" for b, fact in zip(equals, facts, strict=True)]
        return f"Buy {' or '.join(each)}: they are about equally good, and the seeds disagree."
    agree = "" if level.basket.seeds == seeds else f" ({level.basket.seeds} of {seeds} seeds ended with it)"
    return f"Buy {named(level)}: {facts[0]}{agree}."


def _beyond(levels: Sequence[Level], at: int, units: Units) -> str:
    """What the next unit of money brings beyond a level, and what a unit of error less would cost there."""
    money, of_label = units.currency or "money", f" {units.label}" if units.label else ""
    here = levels[at]
    after = [i for i in hull(levels) if levels[i].basket.price > here.basket.price]
    price = units.money(here.basket.price)
    error_cost = f"one unit of squared error is worth {here.error_cost:.3g} {money} there"
    if not after:
        return f"What helps costs {price} a row in all: {error_cost}, and more money buys nothing."
    gained = -_slope(levels, at, after[0])
    lowers = (
        f"the next {units.currency or 'unit of money'} lowers the typical error by less than {gained:.2g}{of_label}"
    )
    costs = f"one{of_label or ' unit of error'} less would cost {1 / gained:.3g} {money} a row"
    return f"Beyond {price} a row {lowers} ({costs}): {error_cost}."
