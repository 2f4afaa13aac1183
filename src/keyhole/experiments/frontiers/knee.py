"""Where the next unit of money stops paying, and the sentence that says so."""

from collections.abc import Sequence

import numpy as np

from .frontier_result import Level

__all__ = ["hull", "sentence", "stop_at"]


def hull(levels: Sequence[Level]) -> list[int]:
    """The levels that no mixture of others beats: the lower convex hull of typical error over money, by money."""
    order = sorted(range(len(levels)), key=lambda i: (levels[i].price, levels[i].mse))
    kept: list[int] = []
    for i in order:
        if kept and levels[i].typical_error >= levels[kept[-1]].typical_error:
            continue
        while len(kept) > 1 and _slope(levels, kept[-2], i) <= _slope(levels, kept[-2], kept[-1]):
            kept.pop()
        kept.append(i)
    return kept


def _slope(levels: Sequence[Level], a: int, b: int) -> float:
    """Typical error per unit of money from a to b."""
    return (levels[b].typical_error - levels[a].typical_error) / max(levels[b].price - levels[a].price, 1e-300)


def stop_at(levels: Sequence[Level]) -> int:
    """The bend of the hull: the level farthest below the line from its first to its last."""
    on = hull(levels)
    first, last = levels[on[0]], levels[on[-1]]
    if len(on) == 1:
        return on[0]
    money = np.array([levels[i].price - first.price for i in on]) / max(last.price - first.price, 1e-300)
    error = np.array([levels[i].typical_error - last.typical_error for i in on])
    error /= max(first.typical_error - last.typical_error, 1e-300)
    return on[int(np.argmin(money + error))]


def sentence(levels: Sequence[Level], at: int, currency: str, unit: str) -> str:
    """What the next unit of money brings beyond a level, and what a unit of error less would cost there."""
    money, of_label = currency or "money", f" {unit}" if unit else ""
    on, here = hull(levels), levels[at]
    after = [i for i in on if levels[i].price > here.price]
    worth = f"one unit of squared error is worth {here.worth:.3g} {money} there"
    if not after:
        return f"what helps costs {here.price:.3g} {money} a row in all: {worth}, and more money buys nothing"
    gained = -_slope(levels, at, after[0])
    bought = f"the next {currency or 'unit of money'} lowers the typical error by less than {gained:.2g}{of_label}"
    costs = f"one{of_label or ' unit of error'} less would cost {1 / gained:.3g} {money} a row"
    return f"beyond {here.price:.3g} {money} a row {bought} ({costs}): {worth}"
