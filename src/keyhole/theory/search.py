"""Branch and bound over groups of columns: the smallest loss plus price within a budget, and a proof of it."""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from .squares import Leaving, Squares

__all__ = ["Budget", "Search"]

# What rounding may cost, on labels of length one.
ROUNDING = 1e-9
# A price below this is none.
_FREE = 1e-12


class Budget(NamedTuple):
    """What a choice of groups costs and may cost."""

    toll: Floats
    """(m,) what a group adds to the objective."""
    most: int
    """How many groups at most."""
    prices: Floats
    """(m,), of which"""
    spend: float
    """this much may be spent in all."""

    def admits(self, chosen: Ints) -> bool:
        """Whether the groups are within the budget; prices add up to a rounding error."""
        return chosen.size <= self.most and float(self.prices[chosen].sum()) <= self.spend * (1 + 1e-12)


class Search:
    """min over sets of groups of loss + toll, best part first.

    A part (F, A) stands for the choices that contain the groups F and lie within A. None of them has a smaller loss
    than A; leaving out some of A adds what `Squares.leaving` says, which gives a bound on them all. A part is divided
    by the free groups c_1, c_2, ... in the order of what leaving each out alone adds: a choice lacks c_1, or has c_1
    and lacks c_2, and so on, until no further group is affordable.
    """

    def __init__(self, squares: Squares, group: Ints, budget: Budget) -> None:
        self.squares, self.group, self.budget = squares, group, budget
        self.m = budget.toll.size
        self.best = np.empty(0, dtype=np.int64)
        self.value = self._value(self.best)
        self.heap: list[tuple[float, int, Ints, Bools]] = []
        self.ticket = count()  # breaks ties in the heap: arrays cannot be compared

    def run(self, nodes: int) -> tuple[Ints, float]:
        """The best choice found, and how much better another could be at most."""
        self._climb()
        some = np.isin(np.arange(self.m), self.group)  # a group whose columns are all constant has none
        self._queue(self.squares.outside, np.empty(0, dtype=np.int64), some)
        for _ in range(nodes):
            if self._proved():
                break
            self._divide(*heapq.heappop(self.heap)[2:])
        return np.sort(self.best), 0.0 if self._proved() else self.value - max(0.0, self.heap[0][0])

    def _proved(self) -> bool:
        return not self.heap or self.heap[0][0] >= self.value - ROUNDING

    def _columns(self, chosen: Ints) -> Ints:
        return np.flatnonzero(np.isin(self.group, chosen))

    def _value(self, chosen: Ints) -> float:
        return self.squares.loss(self._columns(chosen)) + float(self.budget.toll[chosen].sum())

    def _offer(self, chosen: Ints) -> bool:
        """Keep a choice that is better than the best so far."""
        value = self._value(chosen) if self.budget.admits(chosen) else np.inf
        if value < self.value - ROUNDING / 100:
            self.best, self.value = chosen, value
            return True
        return False

    def _climb(self) -> None:
        """A good choice to begin with: grown from nothing, then one group leaves and others take its place.

        Where money is short, what is most useful may be so dear that cheaper groups together are better: then also by
        what a group is worth for its price, and for the root of that.
        """
        powers = (0.0,) if np.isinf(self.budget.spend) else (0.0, 0.5, 1.0)
        for power in powers:
            self._offer(self._grown(np.empty(0, dtype=np.int64), power))
        improved = True
        while improved:
            kept = [(self.best[self.best != g], int(g)) for g in self.best]
            improved = any(self._offer(self._grown(rest, power, g)) for rest, g in kept for power in powers)

    def _grown(self, chosen: Ints, power: float, left: int = -1) -> Ints:
        """Groups join while that pays, the most useful for price^power first; but not the one that just left."""
        value = self._value(chosen)
        while chosen.size < self.budget.most:
            larger = np.append(chosen, self._addition(chosen, power, left))
            if not self.budget.admits(larger) or self._value(larger) >= value - ROUNDING / 100:
                break
            chosen, value = larger, self._value(larger)
        return chosen

    def _addition(self, chosen: Ints, power: float, left: int) -> int:
        """The affordable group whose columns' gains, taken alone, exceed its toll most, for price^power."""
        gains = self.squares.gains(self._columns(chosen))
        worth = np.zeros(self.m)
        np.maximum.at(worth, self.group[self.group >= 0], gains[self.group >= 0])
        worth = (worth - self.budget.toll) / np.maximum(self.budget.prices, _FREE) ** power
        spent = self.budget.prices + self.budget.prices[chosen].sum()
        worth[spent > self.budget.spend * (1 + 1e-12)] = -np.inf
        worth[chosen] = -np.inf
        worth[[left] * (left >= 0)] = -np.inf
        return int(np.argmax(worth))

    def _divide(self, forced: Ints, allowed: Bools) -> None:
        money = self.budget.spend * (1 + 1e-12) - float(self.budget.prices[forced].sum())
        allowed = allowed & (self.budget.prices <= money)
        allowed[forced] = True
        while True:
            groups = np.flatnonzero(allowed)
            free = np.setdiff1d(groups, forced)
            if free.size == 0 or self.budget.most - forced.size <= 1:
                self._finish(forced, free)
                return
            A = self._columns(groups)
            left = self.squares.leaving(A, self.group[A], free)
            floor = left.loss + float(self.budget.toll[forced].sum())
            least, with_it = self._least(left, free, forced)
            if floor + least >= self.value - ROUNDING:
                return
            useless = floor + with_it >= self.value - ROUNDING
            if not useless.any():
                break
            allowed[free[useless]] = False
        self._offer(groups)
        self._split(forced, allowed, free, left.alone, floor, least)

    def _split(self, forced: Ints, allowed: Bools, free: Ints, alone: Floats, floor: float, least: float) -> None:
        """Lack c_1; or have it and lack c_2; and so on."""
        bound, chain = floor + least, forced
        for i in np.argsort(-alone, kind="stable"):
            without = allowed.copy()
            without[free[i]] = False
            self._queue(max(bound, floor + float(alone[i])), chain, without)
            chain = np.append(chain, free[i])
            if not self.budget.admits(chain):
                return
            floor += float(self.budget.toll[free[i]])
            if floor >= self.value - ROUNDING or chain.size == self.budget.most:
                break
        self._offer(chain)

    def _finish(self, forced: Ints, free: Ints) -> None:
        """At most one more group fits: nothing, or the best of them."""
        self._offer(forced)
        if forced.size == self.budget.most or not free.size:
            return
        if np.unique(self.group[self.group >= 0]).size == (self.group >= 0).sum():  # one column each
            gains = self.squares.gains(self._columns(forced))
            columns = np.flatnonzero(np.isin(self.group, free))
            worth = gains[columns] - self.budget.toll[self.group[columns]]
            self._offer(np.append(forced, self.group[columns[int(np.argmax(worth))]]))
        else:
            for g in free:
                self._offer(np.append(forced, g))

    def _least(self, left: Leaving, free: Ints, forced: Ints) -> tuple[float, Floats]:
        """The least that the free groups add, by what is left out or by toll; and the least if this one is chosen."""
        b = self.budget
        places = b.most - forced.size
        toll, prices = b.toll[free], b.prices[free]
        saved = left.share - toll
        best = np.sort(np.maximum(saved, 0.0))[::-1]
        kept = best[:places].sum()
        last = best[places - 1] if places < free.size else 0.0  # who is chosen takes the place of this one
        with_it = left.share.sum() - kept + np.maximum(last - saved, 0.0)
        if np.isfinite(b.spend):
            money = b.spend * (1 + 1e-12) - float(b.prices[forced].sum())
            kept = min(kept, _fractional(np.maximum(saved, 0.0), prices, money))
        either = np.minimum(left.alone, toll).max()
        dropped = free.size - places
        pushed_out = np.sort(left.alone)[dropped - 1] if dropped > 0 else 0.0
        return float(max(left.share.sum() - kept, either, pushed_out)), with_it

    def _queue(self, bound: float, forced: Ints, allowed: Bools) -> None:
        """Keep a part for later, if there can be something better in it."""
        if bound < self.value - ROUNDING:
            heapq.heappush(self.heap, (bound, next(self.ticket), forced, allowed))


def _fractional(saved: Floats, prices: Floats, money: float) -> float:
    """What the best fractions of the groups save for this much money: no whole groups save more."""
    order = np.argsort(-saved / np.maximum(prices, 1e-300))
    spent = np.cumsum(prices[order])
    part = np.clip((money - (spent - prices[order])) / np.maximum(prices[order], 1e-300), 0.0, 1.0)
    part[prices[order] == 0] = 1.0
    return float(saved[order] @ part)
