"""The knapsack of a basket, against all baskets."""

from itertools import combinations

import numpy as np
import pytest

from keyhole._core import thrifty as core


def best_of_all(values, prices, count, money):
    """The largest sum of values among all baskets of at most `count` things that cost at most `money`."""
    baskets = (list(b) for n in range(min(count, values.size) + 1) for b in combinations(range(values.size), n))
    return max(values[b].sum() for b in baskets if prices[b].sum() <= money)


def problems():
    rng = np.random.default_rng(0)
    for n in range(9):
        for _ in range(12):
            count = int(rng.integers(0, n + 2))
            yield rng.random(n), rng.random(n), count, float(rng.random() * n / 2)
            # Whole numbers: many baskets are equally good, cost nothing, or cost exactly what there is.
            prices = rng.integers(0, 4, n).astype(float)
            yield rng.integers(1, 4, n).astype(float), prices, count, float(rng.integers(0, 8))


def test_the_best_basket_is_found():
    for values, prices, count, money in problems():
        taken = np.array(core.knapsack(values, prices, count, money), bool)
        assert taken.sum() <= count
        assert prices[taken].sum() <= money
        assert values[taken].sum() == pytest.approx(best_of_all(values, prices, count, money), abs=1e-12)


def test_money_without_a_limit_buys_the_most_valuable_things():
    values = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
    assert core.knapsack(values, np.arange(5.0), 2, float("inf")) == [0, 0, 1, 0, 1]


def test_a_search_that_would_not_end_stops_at_a_good_basket():
    """Things that are all worth their price: no bound excludes a basket, and 2^60 baskets are too many."""
    prices = 1.0 + 1e-9 * np.random.default_rng(1).random(60)
    taken = np.array(core.knapsack(prices, prices, 60, 30.5), bool)
    assert prices[taken].sum() <= 30.5
    assert taken.sum() == 30
