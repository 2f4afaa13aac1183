"""What the best baskets leave in hindsight, and which worths are worth playing."""

from typing import NamedTuple

import numpy as np

from ..._internal.typing import Floats
from ...core.sources import Market
from ...errors import ConfigError
from ...estimation.moment_regression import Moments
from ...theory.hindsight import best_basket_of
from ..stream_spec import Rows
from .frontier_result import Point

__all__ = ["Past", "levels_of"]

_POINTS = 9
_NODES = 400


class Past(NamedTuple):
    """Covariances of all rows, what is missing at its column's mean, and the market."""

    n: int
    C: Floats
    c: Floats
    variance: float
    market: Market

    @classmethod
    def of(cls, rows: Rows) -> "Past":
        """Of the rows that have a label."""
        there = np.isfinite(rows.y)
        if there.sum() < 10:
            raise ConfigError(f"{int(there.sum())} rows have a label: too few to say what money buys")
        X, y = rows.X[there], rows.y[there]
        counts = np.maximum(np.isfinite(X).sum(axis=0), 1)
        X = X - np.where(np.isfinite(X), X, 0.0).sum(axis=0) / counts
        V = np.column_stack([np.ones(y.size), np.nan_to_num(X, nan=0.0, posinf=0.0, neginf=0.0), y - y.mean()])
        moments = Moments.of(V.T @ V)
        return cls(int(y.size), moments.C, moments.c, moments.variance, rows.schema.market)

    def best(self, spend: float, k: int | None = None) -> Point:
        """The best basket for at most this much a row."""
        spend = max(spend, 0.0)
        found = best_basket_of(self.C, self.c, self.variance, self.market, spend=spend, k=k, nodes=_NODES)
        names = tuple(self.market.sources[s] for s in found.chosen)
        return Point(found.price, found.mse, names, found.optimal, found.gap)

    def curve(self, k: int | None = None) -> tuple[Point, ...]:
        """From nothing to everything, close where prices are low; baskets that leave no less are left out."""
        prices = self.market.prices[self.market.prices > 0]
        first, last = float(prices.min()), float(self.market.prices.sum())
        spends = [0.0, *np.geomspace(first, last, _POINTS).tolist()]
        points: list[Point] = []
        for spend in spends:
            point = self.best(spend, k)
            if not points or point.mse < points[-1].mse * (1 - 1e-9):
                points.append(point)
        return tuple(points)


def levels_of(past: Past, levels: int) -> list[float]:
    """Worths from one at which nothing is bought to one at which everything is that helps, evenly in ratio.

    A source alone is bought from worth = price / gain on; one beside all the others from the same with what it adds to
    them. It helps where that is more than chance explains: (q + 3 sqrt(2 q)) s2 / n for q attributes.
    """
    market, s2 = past.market, _left(past, list(range(len(past.market.sources))))
    nothing = _left(past, [])
    first, last = np.inf, 0.0
    everything = list(range(len(market.sources)))
    for s, (price, brings) in enumerate(zip(market.prices, market.members, strict=True)):
        alone = nothing - _left(past, [s])
        beside = _left(past, [o for o in everything if o != s]) - s2
        chance = (brings.size + 3 * np.sqrt(2 * brings.size)) * s2 / past.n
        if price > 0 and alone > chance:
            first, last = min(first, price / alone), max(last, price / alone)
        if price > 0 and beside > chance:
            last = max(last, price / beside)
    if not np.isfinite(first):  # nothing helps: say so from both sides
        first = float(market.prices[market.prices > 0].min()) / max(nothing, 1e-300)
        last = first * 100
    low, high = first / 2.0, max(last * 1.5, first * 4.0)
    return [float(f"{worth:.3g}") for worth in np.geomspace(low, high, levels)]


def _left(past: Past, basket: list[int]) -> float:
    """The variance that least squares on a basket leaves."""
    S = past.market.attributes(basket)
    S = S[np.diag(past.C)[S] > 0]
    if not S.size:
        return past.variance
    size = np.sqrt(np.diag(past.C)[S])
    R = past.C[np.ix_(S, S)] / np.outer(size, size) + 1e-9 * np.eye(S.size)
    return float(past.variance - (past.c[S] / size) @ np.linalg.solve(R, past.c[S] / size))
