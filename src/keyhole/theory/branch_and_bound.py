"""Branch and bound over groups of columns: minimise loss plus price within a budget, with a proof of optimality.

S and A are sets of columns, Z the matrix of all columns, and d their number. The *toll* of a group is its price in
units of the loss.
"""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

from .._internal.typing import Bools, Floats, Ints

__all__ = ["Budget", "LeastSquares", "Removal", "Search"]

# Ridge on columns of unit length, so that collinear columns need no special treatment.
_RIDGE = 1e-14
# Tolerance for rounding errors, for labels of unit norm.
ROUNDING = 1e-9
# Prices below this count as zero.
_FREE = 1e-12


class Removal(NamedTuple):
    """How much the loss of a set A grows when groups of columns are removed from it; one entry per free group."""

    loss: float
    """The loss of A itself."""
    alone: Floats
    """The increase when this group alone is removed."""
    share: Floats
    """Removing several groups increases the loss by at least the sum of their shares."""


class LeastSquares:
    """Least squares min_w |y - Z_S w|^2 for |y| = 1 and columns of unit length; every S contains the `fixed` columns.

    Everything is computed from the triangular factor of Z = Q R: each loss is one small triangular system.
    """

    def __init__(self, Z: Floats, y: Floats, fixed: Ints) -> None:
        d = Z.shape[1]
        Q, R = np.linalg.qr(np.vstack([Z, np.sqrt(_RIDGE) * np.eye(d)]))
        part = Q.T @ np.append(y, np.zeros(d))
        self.outside = max(0.0, 1.0 - float(part @ part))
        """The part of the loss that no column can reduce."""
        K = np.linalg.qr(R[:, fixed])[0]
        self.R, self.y = R - K @ (K.T @ R), part - K @ (K.T @ part)

    def loss(self, S: Ints) -> float:
        """Return the loss of the columns S."""
        return self.outside + self._triangle(S)[1]

    def gains(self, S: Ints) -> Floats:
        """Return, as a (d,) array, by how much adding each single column to S would reduce the loss; 0 for columns in
        the span of S.
        """
        Q = np.linalg.qr(self.R[:, S])[0]
        left = self.R - Q @ (Q.T @ self.R)
        spread = (left**2).sum(axis=0)
        return np.where(spread > 100 * _RIDGE, (left.T @ self.y) ** 2 / np.maximum(spread, _RIDGE), 0.0)

    def removal(self, A: Ints, group: Ints, free: Ints) -> Removal:
        """Return the increase of the loss when free groups are removed from A; `group` maps columns of A to groups.

        With P = (R_A'R_A)^-1 and w the weights, removing the columns J adds w_J' (P_JJ)^-1 w_J. Scaled so that each
        group's own block of P is I, P is at most the block diagonal matrix of r_g I, r_g = sum_h |P_gh| over the free
        groups h: removing any of them adds at least the sum of (the increase for each alone) / r_g.
        """
        T, loss = self._triangle(A)
        inverse: Floats = np.linalg.inv(T[:, :-1])  # type: ignore[assignment]
        w, members = inverse @ T[:, -1], np.isin(group, free)
        w, half, group = w[members], inverse[members], np.searchsorted(free, group[members])
        if free.size == w.size:  # one column per group
            size = np.sqrt((half**2).sum(axis=1))
            alone, near = (w / size) ** 2, np.abs((half / size[:, None]) @ (half / size[:, None]).T)
        else:
            alone, near = _by_groups(half, w, group, free.size)
        return Removal(self.outside + loss, alone, alone / near.sum(axis=1))

    def _triangle(self, S: Ints) -> tuple[Floats, float]:
        """Return the triangular factor R of the columns S and the label, (|S|, |S|+1), and the squared norm of the
        residual.
        """
        r: Floats = np.linalg.qr(np.column_stack([self.R[:, S], self.y]), mode="r")  # type: ignore[assignment]
        return r[: S.size], float((r[S.size :, -1] ** 2).sum())


def _by_groups(half: Floats, w: Floats, group: Ints, n: int) -> tuple[Floats, Floats]:
    """Return how much the loss grows when each group alone is removed, and |P_gh| (Frobenius norms) after scaling to
    P_gg = I, where P = half half'.
    """
    alone, scaled = np.empty(n), np.empty_like(half)
    for g in range(n):
        J = group == g
        # half_J = L Q, where the rows of Q are orthonormal: P_JJ = L L', and L^-1 half_J = Q.
        Q, L = np.linalg.qr(half[J].T)
        scaled[J] = Q.T
        alone[g] = (np.linalg.solve(L.T, w[J]) ** 2).sum()
    squares = (scaled @ scaled.T) ** 2
    indicator = np.eye(n)[group]
    return alone, np.sqrt(indicator.T @ squares @ indicator)


class Budget(NamedTuple):
    """The prices of the groups, and the limits on the price and the number of the chosen groups."""

    toll: Floats
    """(m,) the cost of each group in the objective."""
    most: int
    """The maximum number of groups."""
    prices: Floats
    """(m,) the price of each group."""
    spend: float
    """The maximum total price."""

    def admits(self, chosen: Ints) -> bool:
        """Return whether the groups are within the budget, up to rounding of the total price."""
        return chosen.size <= self.most and float(self.prices[chosen].sum()) <= self.spend * (1 + 1e-12)


class Search:
    """Minimize loss + toll over sets of groups, best-first.

    A node (F, A) represents the sets that contain the groups F and are contained in A. None of them has a smaller loss
    than A; removing groups from A increases the loss as `LeastSquares.removal` says, which gives a lower bound. A node
    is split by the free groups c_1, c_2, ... in decreasing order of the increase when each is removed alone: a set
    lacks c_1, or has c_1 and lacks c_2, and so on, until no further group is affordable.
    """

    def __init__(self, squares: LeastSquares, group: Ints, budget: Budget) -> None:
        self.squares, self.group, self.budget = squares, group, budget
        self.m = budget.toll.size
        self.best = np.empty(0, dtype=np.int64)
        self.value = self._value(self.best)
        self.heap: list[tuple[float, int, Ints, Bools]] = []
        self.ticket = count()  # breaks ties in the heap, because arrays cannot be compared

    def run(self, nodes: int) -> tuple[Ints, float]:
        """Return the best set of groups found after at most `nodes` nodes, and an upper bound on how much better any
        other set can be.
        """
        self._climb()
        some = np.isin(np.arange(self.m), self.group)  # a group of constant columns only has no columns here
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
        """Keep a set if it is better than the best so far; return whether it is."""
        value = self._value(chosen) if self.budget.admits(chosen) else np.inf
        if value < self.value - ROUNDING / 100:
            self.best, self.value = chosen, value
            return True
        return False

    def _climb(self) -> None:
        """Find a good initial set: grow it greedily from nothing, then repeatedly replace one group by others.

        If money is scarce, several cheaper groups may be better than the most useful one. Greedy selection is therefore
        also done by gain per price and by gain per root of the price.
        """
        powers = (0.0,) if np.isinf(self.budget.spend) else (0.0, 0.5, 1.0)
        for power in powers:
            self._offer(self._grown(np.empty(0, dtype=np.int64), power))
        improved = True
        while improved:
            kept = [(self.best[self.best != g], int(g)) for g in self.best]
            improved = any(self._offer(self._grown(rest, power, g)) for rest, g in kept for power in powers)

    def _grown(self, chosen: Ints, power: float, left: int = -1) -> Ints:
        """Add groups to `chosen` greedily, by gain per price^power, while this lowers the objective; `left`, which was
        just removed, is not added.
        """
        value = self._value(chosen)
        while chosen.size < self.budget.most:
            larger = np.append(chosen, self._addition(chosen, power, left))
            if not self.budget.admits(larger) or self._value(larger) >= value - ROUNDING / 100:
                break
            chosen, value = larger, self._value(larger)
        return chosen

    def _addition(self, chosen: Ints, power: float, left: int) -> int:
        """Return the affordable group with the largest (best single-column gain - toll) per price^power."""
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
            left = self.squares.removal(A, self.group[A], free)
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
        """Queue the parts of a node: the sets without c_1; those with c_1 and without c_2; and so on."""
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
        """Finish a node to which at most one group can be added: try none, and the best one."""
        self._offer(forced)
        if forced.size == self.budget.most or not free.size:
            return
        if np.unique(self.group[self.group >= 0]).size == (self.group >= 0).sum():  # one column per group
            gains = self.squares.gains(self._columns(forced))
            columns = np.flatnonzero(np.isin(self.group, free))
            worth = gains[columns] - self.budget.toll[self.group[columns]]
            self._offer(np.append(forced, self.group[columns[int(np.argmax(worth))]]))
        else:
            for g in free:
                self._offer(np.append(forced, g))

    def _least(self, left: Removal, free: Ints, forced: Ints) -> tuple[float, Floats]:
        """Return a lower bound on the loss or toll that the free groups add, and such a bound given that each of them
        is chosen.
        """
        b = self.budget
        places = b.most - forced.size
        toll, prices = b.toll[free], b.prices[free]
        saved = left.share - toll
        best = np.sort(np.maximum(saved, 0.0))[::-1]
        kept = best[:places].sum()
        last = best[places - 1] if places < free.size else 0.0  # the chosen group takes the place of this one
        with_it = left.share.sum() - kept + np.maximum(last - saved, 0.0)
        if np.isfinite(b.spend):
            money = b.spend * (1 + 1e-12) - float(b.prices[forced].sum())
            kept = min(kept, _fractional(np.maximum(saved, 0.0), prices, money))
        either = np.minimum(left.alone, toll).max()
        dropped = free.size - places
        pushed_out = np.sort(left.alone)[dropped - 1] if dropped > 0 else 0.0
        return float(max(left.share.sum() - kept, either, pushed_out)), with_it

    def _queue(self, bound: float, forced: Ints, allowed: Bools) -> None:
        """Queue a node unless its bound shows that it contains nothing better."""
        if bound < self.value - ROUNDING:
            heapq.heappush(self.heap, (bound, next(self.ticket), forced, allowed))


def _fractional(saved: Floats, prices: Floats, money: float) -> float:
    """Return the optimum of the fractional knapsack, an upper bound on what whole groups can save for this money."""
    order = np.argsort(-saved / np.maximum(prices, 1e-300))
    spent = np.cumsum(prices[order])
    part = np.clip((money - (spent - prices[order])) / np.maximum(prices[order], 1e-300), 0.0, 1.0)
    part[prices[order] == 0] = 1.0
    return float(saved[order] @ part)
