"""The knapsack is exact: it equals enumeration."""

from itertools import product

import numpy as np
import pytest

from keyhole.algorithms.thrifty.knapsack import knapsack
from tests.compiled import entry


@entry
def fill(values, prices, n, count, money, taken):
    knapsack(values, prices, n, count, money, taken)


def packed(values, prices, count, money):
    taken = np.ones(values.size, dtype=np.int64)
    fill(values, prices, values.size, count, money, taken)
    return taken == 1


def best_by_enumeration(values, prices, count, money):
    takes = np.array(list(product([False, True], repeat=values.size)))
    legal = takes[(takes.sum(1) <= count) & (takes @ prices <= money)]
    return (legal @ values).max()


@pytest.mark.parametrize("seed", range(40))
def test_it_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    values, prices = rng.uniform(0.01, 1, n), rng.choice([rng.uniform(0, 1, n), rng.integers(0, 4, n)]).astype(float)
    count, money = int(rng.integers(0, n + 1)), float(rng.uniform(0, prices.sum() + 0.1))
    taken = packed(values, prices, count, money)
    assert taken.sum() <= count
    assert prices[taken].sum() <= money + 1e-12
    assert values[taken].sum() == pytest.approx(best_by_enumeration(values, prices, count, money), rel=1e-12)


def test_thirty_things_whose_value_is_their_price_are_still_quick():
    prices = np.random.default_rng(0).uniform(1, 2, 30)
    taken = packed(prices.copy(), prices, 30, 20.0)
    assert 19.9 < prices[taken].sum() <= 20.0
