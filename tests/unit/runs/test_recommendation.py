"""Baskets in hindsight: the errors are those of least squares, and what is advised is enough and no more."""

import numpy as np
import pytest

from keyhole._internal.formatting import Units
from keyhole.core.sources import SourceCatalog
from keyhole.estimation.moment_regression import Moments
from keyhole.runs.recommendation import Basket, Baskets, _everything, _rest

NAMES = ("age", "weight", "ldl", "hdl", "noise")


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] += 0.5 * X[:, 2]
    y = 3 * X[:, 0] + X[:, 1] + 0.05 * X[:, 2] + rng.normal(size=n) + 10
    return X, y


def baskets(catalog, n=400):
    X, y = people(n)
    V = np.column_stack([np.ones(n), X, y])
    return Baskets(Moments.of(V.T @ V), catalog)


def plain():
    return SourceCatalog.build(NAMES, prices=[2.0, 5.0, 4.0, 4.0, 1.0])


@pytest.mark.parametrize("S", [(), (0,), (0, 3), (0, 1, 2, 3, 4)])
def test_the_error_is_that_of_least_squares_corrected_for_its_weights(S):
    X, y = people()
    A = np.column_stack([np.ones(400), X[:, list(S)]])
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    n, p = 400, len(S)
    expected = np.sqrt(np.mean(left**2) * (n + p + 1) / (n - p - 1))
    assert baskets(plain()).of(S).error == pytest.approx(expected, rel=1e-6)


def test_the_price_of_a_panel_is_paid_once_and_what_is_known_is_in_every_basket():
    catalog = SourceCatalog.build(
        NAMES, {"lipids": ["ldl", "hdl"]}, ["age"], {"lipids": 4.0, "weight": 5.0, "noise": 1.0}
    )
    found = baskets(catalog)
    assert found.of([catalog.sources.index("lipids")]).price == 4.0
    alone = baskets(plain())
    assert found.of(()).error == pytest.approx(alone.of((0,)).error)
    assert found.of([catalog.sources.index("lipids")]).error == pytest.approx(alone.of((0, 2, 3)).error)


def test_the_way_goes_down_and_begins_with_nothing():
    way = baskets(plain()).way(range(5))
    assert way[0].sources == ()
    assert way[0].price == 0
    errors = [step.error for step in way]
    assert errors == sorted(errors, reverse=True)
    assert way[1].sources == (0,)  # age explains most for its money


def test_enough_leaves_at_most_one_percent_and_nothing_in_it_is_superfluous():
    found = baskets(plain(), n=4000)
    whole, enough = found.of(range(5)), found.enough(range(5))
    assert set(enough.sources) == {0, 1}
    assert enough.error <= 1.01 * whole.error
    for s in enough.sources:
        assert found.of([t for t in enough.sources if t != s]).error > 1.01 * whole.error


def test_by_worth_the_cheapest_part_is_bought():
    found = baskets(plain())
    assert found.enough(range(5), error_cost=0.0).sources == ()
    assert found.enough(range(5), error_cost=1.0).sources == (0,)  # weight explains 1 for 5
    assert set(found.enough(range(5), error_cost=20.0).sources) == {0, 1}


def test_more_weights_than_rows_have_no_error():
    assert np.isnan(baskets(plain(), n=6).of(range(5)).error)


def test_what_came_early_and_became_superfluous_is_left_out():
    """A cheap blend of two sources comes first; beside both of them it adds nothing."""
    rng = np.random.default_rng(1)
    parts = rng.normal(size=(500, 2))
    blend = parts.sum(axis=1) + 0.3 * rng.normal(size=500)
    y = parts.sum(axis=1) + 0.05 * rng.normal(size=500)
    V = np.column_stack([np.ones(500), blend, parts, y])
    found = Baskets(Moments.of(V.T @ V), SourceCatalog.build(("blend", "one", "two"), prices=[1.0, 3.0, 3.0]))
    assert found.way((0, 1, 2), most=3)[1].sources == (0,)
    assert sorted(found.enough((0, 1, 2)).sources) == [1, 2]


@pytest.mark.parametrize(
    ("error", "price", "weighed", "sentence"),
    [
        (4.32, 5.0, False, "What else it buys (weight) lowers the error by 0.010 points for 3.00 EUR a row."),
        (4.3299936, 5.0, False, "What else it buys (weight) does not lower the error and costs 3.00 EUR a row."),
        (4.3299936, 2.0, False, "What else it buys (weight) does not lower the error."),
        (4.34, 2.0, False, "What else it buys (weight) does not lower the error."),
        (
            4.32,
            5.0,
            True,
            "Stop buying weight: that lowers the error by 0.010 points, which is not worth 3.00 EUR a row.",
        ),
        (4.3299936, 5.0, True, "Stop buying weight: that costs 3.00 EUR a row and does not lower the error."),
        (4.34, 2.0, True, "Stop buying weight: that does not lower the error."),
    ],
)
def test_a_difference_that_the_errors_do_not_show_is_none(error, price, weighed, sentence):
    """The advice said "lowers the error by 0.0000064 points" and "does not lower the error for 0.00 a row"."""
    units, buy = Units("%", "EUR"), Basket((0,), 2.0, 4.33)
    assert _rest(buy, Basket((0, 1), price, error), plain(), units, weighed) == sentence


def test_all_sources_that_change_nothing_visible_do_not_lower_the_error():
    found = baskets(plain(), n=4000)
    every, best = found.of(range(5)), found.of((0, 1))
    buy = best._replace(error=every.error * (1 + 1e-6))
    text = _everything(buy, buy, found, Units())
    assert text == "In hindsight, buying all 5 sources would not lower the error and cost 9.00 more a row."
    assert "would lower" in _everything(best._replace(error=every.error * 1.1), buy, found, Units())
