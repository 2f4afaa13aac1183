"""Running totals of a run."""

import numpy as np

from keyhole.data.streams import Schema
from keyhole.runs.totals import Totals


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
    totals = Totals(schema)
    totals.bought = np.array([{"age": 2}.get(name, 5) for name in schema.names])
    assert totals.ordered == 7.0
    assert totals.spent == 2 * 1.0 + 5 * 4.0


def test_missing_values_are_warned_of_once_at_each_share():
    attributes = "".join(f"[attributes.{name}]\nlow = 0\nhigh = 1\n" for name in "ab")
    totals = Totals(Schema.from_toml(f'{attributes}[label]\nname = "y"\nlow = 0\nhigh = 1\n'))
    totals.bought, totals.unobserved = np.array([100, 100]), np.array([0, 3])
    assert totals.close_page() == [
        "3 of 200 values bought were missing so far (1.5%): "
        "'b' was missing in 3 of the 100 times it was bought: paid, not observed"
    ]
    assert totals.close_page() == []
    totals.unobserved = np.array([0, 60])
    assert len(totals.close_page()) == 1
    assert totals.close_page() == []
