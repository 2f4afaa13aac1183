"""Laws of the schema: what is written is read back, and scaling lands in [-1, 1] without changing any order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from keyhole.streams import Attribute, Range, Schema

numbers = st.floats(-1e12, 1e12)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, float | None]:
    low, center, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return {"low": low, "high": high, "center": draw(st.sampled_from([None, center]))}


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    columns = draw(st.lists(names, min_size=2, max_size=8, unique=True))
    ignored = columns[2 : 2 + draw(st.integers(0, 3))]
    attributes = [name for name in columns[1:] if name not in ignored]
    price = st.floats(0, 1e9)
    made = tuple(Attribute(name, **draw(ranges()), price=draw(price)) for name in attributes)  # type: ignore[arg-type]
    return Schema(Range(columns[0], **draw(ranges())), made, tuple(ignored))  # type: ignore[arg-type]


@given(schemas())
def test_a_schema_survives_toml(schema: Schema) -> None:
    assert Schema.from_toml(schema.to_toml()) == schema


@given(ranges(), st.lists(st.floats(-1e15, 1e15), min_size=2, max_size=2))
def test_scaling_stays_in_the_unit_and_keeps_the_order(range_: dict[str, float], values: list[float]) -> None:
    schema = Schema(Range("y"), (Attribute("a", **range_),))
    scaled = schema.scale(np.sort(values)[:, None])[:, 0]
    assert (np.abs(scaled) <= 1).all()
    assert scaled[0] <= scaled[1]


@given(ranges(), st.floats(0, 1))
def test_labels_within_the_range_come_back(range_: dict[str, float], share: float) -> None:
    schema = Schema(Range("y", **range_), (Attribute("a"),))
    label = schema.label
    y = np.clip(label.low + share * (label.high - label.low), label.low, label.high)
    back = schema.unscale_label(schema.scale_label(np.array([y])))[0]
    assert abs(back - y) <= 1e-14 * (abs(label.low) + abs(label.high))
