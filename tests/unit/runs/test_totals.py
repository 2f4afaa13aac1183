"""Running totals of a run."""

import numpy as np

from keyhole.data.streams import Attribute, Batch, Range, Schema
from keyhole.data.value_counts import ValueRanges
from keyhole.runs.played_pages import PlayedPage, Purchases
from keyhole.runs.totals import Totals, missing_warning, totals_of


def test_a_panel_is_ordered_once_however_much_it_brings():
    schema = Schema.from_toml(
        """
[attributes.age]
low = 0
high = 100
price = 1.0
[attributes.ldl]
low = 0
high = 10
[attributes.hdl]
low = 0
high = 10
[attributes.fats]
low = 0
high = 10
[sources.lipids]
price = 4.0
columns = ["ldl", "hdl", "fats"]
[label]
name = "y"
low = 0
high = 1
"""
    )
    totals = Totals.zero(schema)
    totals.bought = np.array([{"age": 2}.get(name, 5) for name in schema.names])
    assert totals.ordered == 7.0
    assert totals.spent == 2 * 1.0 + 5 * 4.0


def test_missing_values_are_warned_of_once_at_each_share():
    attributes = "".join(f"[attributes.{name}]\nlow = 0\nhigh = 1\n" for name in "ab")
    totals = Totals.zero(Schema.from_toml(f'{attributes}[label]\nname = "y"\nlow = 0\nhigh = 1\n'))
    totals.bought, totals.unobserved = np.array([100, 100]), np.array([0, 3])
    level, text = missing_warning(totals, 0)
    assert text == (
        "3 of 200 values bought were missing so far (1.5%). For example, 'b' was paid for 100 times and missing 3 times"
    )
    assert missing_warning(totals, level) == (level, "")
    totals.unobserved = np.array([0, 60])
    higher, text = missing_warning(totals, level)
    assert text
    assert missing_warning(totals, higher) == (higher, "")
    totals.unobserved = np.array([0, 3])
    assert missing_warning(totals, higher) == (higher, "")


def test_prices_of_rows_are_added_in_the_order_of_the_rows_wherever_a_page_was_split():
    rng, n = np.random.default_rng(0), 60
    schema = Schema(Range("y"), (Attribute("a", price=1.0, price_column="a_eur"), Attribute("b", price=2.0)))
    prices = np.column_stack([rng.uniform(0.0, 9.0, n).round(2), np.full(n, 2.0)])
    raw, late = Batch(0, np.ones((n, 2)), np.zeros(n), prices), rng.random(n) < 0.5

    def bought(there):
        """The rows of the mask buy `a`."""
        return Purchases(there.astype(np.int64), np.zeros(there.sum(), dtype=np.int64), np.ones(there.sum()))

    def page(start, stop):
        m, after = stop - start, late[start:stop]
        flags, zeros = np.zeros(m, dtype=bool), np.zeros(m)
        return PlayedPage(raw, start, zeros, flags, flags, zeros * np.nan, bought(~after), bought(after), start)

    expected = 0.0
    for price in prices[:, 0].tolist():
        expected += price
    for split in range(n + 1):
        totals = Totals.zero(schema)
        for part in (page(0, split), page(split, n)):
            totals = totals.with_page(totals_of(part, schema, ValueRanges.of(schema)), part)
        assert totals.paid.tolist() == [expected, 0.0]
        assert totals.spent == expected
        assert totals.mean_prices.tolist() == [expected / n, 2.0]
