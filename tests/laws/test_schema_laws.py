"""Laws of the schema: what is written is read back, and scaling lands in [-1, 1] without changing any order."""

import numpy as np
from hypothesis import given, reject
from hypothesis import strategies as st

from keyhole.data import schema as schema_module
from keyhole.data.columns import FORMATS, TYPES
from keyhole.data.streams import Attribute, Label, Panel, Range, Schema
from keyhole.errors import ConfigError

numbers = st.floats(-1e12, 1e12)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, float | None]:
    low, center, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return {"low": low, "high": high, "center": draw(st.sampled_from([None, center]))}


@st.composite
def attributes(draw: st.DrawFn, name: str, together: bool) -> Attribute:
    """A column of any type; one that stands alone may have a price or be known."""
    price = None if together else draw(st.none() | st.floats(0, 1e9))
    known = price is None and not together and draw(st.booleans())
    kind = draw(st.sampled_from(TYPES))
    if kind == "number":
        form = draw(st.sampled_from(["", *FORMATS]))
        return Attribute(name, **draw(ranges()), price=price, free=known, numbers=form)  # type: ignore[arg-type]
    if kind == "category":
        words = names.map(str.strip).filter(bool)
        values = draw(st.none() | st.lists(words, min_size=1, max_size=4, unique=True).map(tuple))
        return Attribute(name, price=price, free=known, type=kind, values=values)
    if kind == "date":
        return Attribute(name, price=price, free=known, type=kind, origin=draw(st.none() | st.dates()))
    return Attribute(name, price=price, free=known, type=kind)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    columns = draw(st.lists(names, min_size=2, max_size=8, unique=True))
    ignored = columns[2 : 2 + draw(st.integers(0, 3))]
    left = [name for name in columns[1:] if name not in ignored]
    together = tuple(left[: draw(st.integers(0, len(left)))])
    panels = (Panel("the panel of all", together, draw(st.none() | st.floats(0, 1e9))),) if together else ()
    made = tuple(draw(attributes(name, name in together)) for name in left)
    label = Label(columns[0], **draw(ranges()), unit=draw(names), numbers=draw(st.sampled_from(["", *FORMATS])))  # type: ignore[arg-type]
    try:
        return Schema(label, made, tuple(ignored), panels, currency=draw(names))
    except ConfigError:  # two attributes of one name, by chance
        reject()


@given(schemas())
def test_a_schema_survives_toml(schema: Schema) -> None:
    text = schema.to_toml()
    schema_module._RECENT.clear()  # read it, do not remember it
    assert Schema.from_toml(text) == schema


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
