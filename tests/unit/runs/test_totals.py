"""Running totals of a run."""

import numpy as np

from keyhole.data.streams import Schema
from keyhole.runs.totals import Totals, missing_warning


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
