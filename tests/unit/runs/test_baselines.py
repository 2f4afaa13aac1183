"""The lines a run is compared with."""

import numpy as np
import pytest

from keyhole.core.sources import SourceCatalog
from keyhole.runs.baselines import Baselines, Limits
from keyhole.runs.played_pages import page_length


def alone(prices, limits):
    """References where every attribute is a source."""
    return Baselines(SourceCatalog.build([f"x{j}" for j in range(len(prices))], prices=list(prices)), limits, seed=0)


def feed(references, X, y):
    start = 0
    while start < len(y):
        stop = min(start + page_length(start), len(y))
        references.add(start, X[start:stop], y[start:stop])
        start = stop
    return references


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10)) * np.arange(1, 11) + 3.0
    return X, X[:, 2] + 0.2 * X[:, 7] + rng.normal(size=6000) + 100.0


def test_the_lines_are_in_their_order_and_cost_what_they_buy(table):
    prices = np.arange(1.0, 11.0)
    references = alone(prices, Limits(3))
    lines = feed(references, *table).lines()
    assert lines["everything"].mse < lines["random"].mse < lines["nothing"].mse
    assert 1.0 < lines["everything"].mse < 1.4  # the noise, a first page without weights, and learning ten of them
    assert np.isnan(lines["best"].mse)
    assert lines["best"].hindsight == pytest.approx(1.0, abs=0.06)
    assert (lines["nothing"].attributes, lines["nothing"].price) == (0.0, 0.0)
    assert (lines["everything"].attributes, lines["everything"].price) == (10.0, 55.0)
    assert lines["random"].attributes == 3.0


def test_nothing_is_the_mean_so_far(table):
    X, y = table
    line = feed(alone(np.ones(10), Limits(3)), X[:64], y[:64]).lines()["nothing"]
    before = np.cumsum(y[:63]) / np.arange(1, 64)
    assert np.isclose(line.mse, np.mean((before - y[1:64]) ** 2), rtol=1e-12)  # the first row is left out


def test_a_stated_centre_is_predicted_before_the_first_label(table):
    X, y = table[0], table[1].copy()
    y[0] = np.nan  # the first label comes in the second row
    catalog = SourceCatalog.build([f"x{j}" for j in range(10)], prices=[1.0] * 10)
    line = feed(Baselines(catalog, Limits(3), seed=0, center=7.0), X[:64], y[:64]).lines()["nothing"]
    before = np.append(7.0, np.cumsum(y[1:63]) / np.arange(1, 63))
    assert np.isclose(line.mse, np.mean((before - y[1:64]) ** 2), rtol=1e-12)


def test_the_error_in_hindsight_is_the_final_prediction_error(table):
    X, y = table
    lines = feed(alone(np.ones(10), Limits(3)), X, y).lines()
    V = np.column_stack([np.ones(y.size), X])
    mse = np.mean((y - V @ np.linalg.lstsq(V, y, rcond=None)[0]) ** 2)
    assert lines["everything"].hindsight == pytest.approx(mse * (6000 + 11) / (6000 - 11), rel=1e-7)
    assert lines["nothing"].hindsight == pytest.approx(y.var() * 6001 / 5999, rel=1e-10)


def test_a_line_predicts_a_page_from_earlier_pages_only(table):
    X, y = table
    one, other = alone(np.ones(10), Limits(3)), alone(np.ones(10), Limits(3))
    feed(one, X[:128], y[:128])
    changed = y[:128].copy()
    changed[64:] += 50.0
    feed(other, X[:128], changed)
    # Shift every label of the second page: its predictions cannot know, so the mean's loss moves by exactly this.
    mean = y[:64].mean()
    moved = np.sum((mean - changed[64:]) ** 2) - np.sum((mean - y[64:128]) ** 2)
    low, high = y[:64].min(), y[:64].max()
    assert low <= mean <= high
    assert np.isclose(other.sse[0] - one.sse[0], moved)


def test_missing_values_and_labels_are_left_out(table):
    X, y = table[0].copy(), table[1].copy()
    X[::7, 1] = np.nan
    y[::11] = np.nan
    lines = feed(alone(np.ones(10), Limits(3)), X, y).lines()
    assert all(np.isfinite(line.hindsight) for line in lines.values())
    assert all(np.isfinite(line.mse) for name, line in lines.items() if name != "best")


def test_a_resumed_line_goes_on(table):
    X, y = table
    whole = feed(alone(np.ones(10), Limits(3)), X, y)
    first = feed(alone(np.ones(10), Limits(3)), X[:4096], y[:4096])
    second = alone(np.ones(10), Limits(3))
    second.set_state(first.get_state())
    start = 4096
    while start < 6000:
        stop = min(start + page_length(start), 6000)
        second.add(start, X[start:stop], y[start:stop])
        start = stop
    assert second.lines() == whole.lines()


def test_blind_choices_within_a_sum_of_money_can_be_paid():
    prices = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    references = alone(prices, Limits(5, 6.0))
    assert all(prices[S].sum() <= 6.0 and S.size for S in references.draws)


PANELS = SourceCatalog.build(
    list("abcdefghij"),
    {"pair": ["c", "h"], "rest": list("bdefg")},
    ["a"],
    {"pair": 3.0, "rest": 7.0, "i": 1.0, "j": 2.0},
)


def test_a_panel_is_drawn_and_bought_whole_and_what_is_known_is_in_every_line(table):
    references = feed(Baselines(PANELS, Limits(1), seed=0), *table)
    assert all(0 in S[0] and PANELS.whole(S[0]) for _, S in references._supports)
    lines = references.lines()
    assert (lines["best"].sources, lines["best"].attributes, lines["best"].price) == (1.0, 2.0, 3.0)
    assert np.isnan(lines["best"].mse)
    assert lines["best"].hindsight == pytest.approx(1.0, abs=0.06)
    assert (lines["everything"].sources, lines["everything"].price) == (4.0, 13.0)
    assert (lines["nothing"].sources, lines["nothing"].price) == (0.0, 0.0)


def test_what_is_known_helps_where_nothing_is_bought(table):
    X, y = table
    known = SourceCatalog.build(list("abcdefghij"), None, ["c"], dict.fromkeys("abdefghij", 1.0))
    lines = feed(Baselines(known, Limits(2), seed=0), X, y).lines()
    without = feed(alone(np.ones(10), Limits(2)), X, y).lines()
    assert lines["nothing"].mse < 0.5 * without["nothing"].mse


def test_told_worth_the_best_basket_is_the_one_of_least_cost_and_blind_draws_are_as_many_as_were_bought(table):
    lines = feed(Baselines(PANELS, Limits(4, error_cost=1.0), seed=0), *table).lines(bought=2.2)
    assert (lines["best"].sources, lines["best"].price) == (1.0, 3.0)
    assert lines["random"].sources == 2.0
    dear = feed(Baselines(PANELS, Limits(4, error_cost=0.01), seed=0), *table).lines(bought=0.1)
    assert (dear["best"].sources, dear["random"].sources) == (0.0, 1.0)


def test_a_page_that_stands_for_eight_counts_eight_times():
    """After 2^17 rows one page in eight is looked at: its losses and its moments have weight 8, the others none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(256, 3)), rng.normal(size=256)
    first = 1 << 17
    seen = alone(np.ones(3), Limits(2))
    seen.add(0, X[:64], y[:64])
    before, sums = seen.sse.copy(), seen.sums.G.copy()
    plain = alone(np.ones(3), Limits(2))
    plain.add(0, X[:64], y[:64])
    plain.add(64, X[64:], y[64:])
    seen.add(first, X[64:], y[64:])
    np.testing.assert_allclose(seen.sse - before, 8 * (plain.sse - before), rtol=1e-12)
    np.testing.assert_allclose(seen.sums.G - sums, 8 * (plain.sums.G - sums), rtol=1e-12)
    after = seen.sse.copy()
    seen.add(first + page_length(first), X[64:], y[64:])
    np.testing.assert_array_equal(seen.sse, after)


def test_a_line_predicts_within_the_labels_so_far():
    """A slope of one from x in [0, 1], then a row at x = 100: the prediction is the largest label so far."""
    x = np.linspace(0.0, 1.0, 64)
    references = alone(np.ones(1), Limits(1))
    references.add(0, x[:, None], x)
    before = references.sse.copy()
    references.add(64, np.array([[100.0]]), np.array([0.0]))
    nothing, everything = (references.sse - before)[:2]
    assert everything == pytest.approx(1.0)  # (1 - 0)^2, not (100 - 0)^2
    assert nothing == pytest.approx(0.25)
