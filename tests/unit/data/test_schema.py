"""The schema: scaling by the formula it states, sources and prices, and the counts of what was clipped."""

import numpy as np
import pytest

from keyhole.data.streams import Attribute, Panel, Range, Schema
from keyhole.data.value_counts import ValueCounts, ValueRanges
from keyhole.errors import ConfigError

SCHEMA = Schema(
    Range("y", 0.0, 10.0, center=2.0),
    (Attribute("a", 0.0, 4.0), Attribute("b", -1.0, 9.0, center=0.0, price=3.0), Attribute("c", 5.0, 5.0)),
    ignored=("id",),
)


def every(X):
    """All values of a block, each with its attribute."""
    return X.ravel(), np.tile(np.arange(X.shape[1]), len(X))


def test_rows_are_scaled_about_their_centre_and_clipped() -> None:
    X = np.array([[0.0, -1.0, 5.0], [4.0, 9.0, 6.0], [3.0, 0.0, -7.0], [99.0, -99.0, 5.0]])
    expected = [[-1.0, -1 / 9, 0.0], [1.0, 1.0, 0.0], [0.5, 0.0, 0.0], [1.0, -1 / 9, 0.0]]
    np.testing.assert_allclose(SCHEMA.scale(X), expected, rtol=1e-15)


def test_missing_stays_missing_and_infinity_stays_infinite() -> None:
    """A learner must refuse infinity and the keeper stop at it: clipping would hide it."""
    X = np.array([[np.nan, np.inf, -np.inf]])
    np.testing.assert_array_equal(SCHEMA.scale(X), X)
    np.testing.assert_array_equal(SCHEMA.scale_label(np.array([np.nan, np.inf])), [np.nan, np.inf])


def test_labels_scale_to_the_unit_and_back() -> None:
    y = np.array([0.0, 2.0, 10.0])
    np.testing.assert_allclose(SCHEMA.scale_label(y), [-0.25, 0.0, 1.0])
    np.testing.assert_allclose(SCHEMA.unscale_label(SCHEMA.scale_label(y)), y)
    assert SCHEMA.scale_label(np.array([11.0])) == 1.0


def test_a_plain_schema_changes_nothing_within_the_unit() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    assert Schema.plain("y", ["a", "b"]).scale(X).tobytes() == X.tobytes()


def test_prices_and_ignored_columns_can_be_changed() -> None:
    priced = SCHEMA.with_prices({"a": 7})
    assert priced.prices.tolist() == [7.0, 3.0, 1.0]
    with pytest.raises(ConfigError, match="'z', which is neither an attribute nor a source"):
        SCHEMA.with_prices({"z": 1.0})
    less = SCHEMA.without(["b", "nobody"])
    assert (less.names, less.ignored) == (("a", "c"), ("id", "b"))


CLINIC = Schema(
    Range("cost"),
    (
        Attribute("age", 0.0, 100.0, free=True),
        Attribute("sex", type="category", values=("f", "m"), free=True),
        Attribute("site", type="category", values=("north", "south"), price=2.5),
        Attribute("hdl", 0.0, 3.0),
        Attribute("smoker", type="yes/no"),
    ),
    ("notes",),
    (Panel("lipids", ("ldl", "hdl"), 12.0), Panel("urine", ("ph", "colour"))),
    "EUR",
)


def test_columns_become_attributes_that_are_bought_by_source() -> None:
    assert CLINIC.names == ("age", "sex=f", "sex=m", "site=north", "site=south", "hdl", "smoker", "ldl", "ph", "colour")
    assert CLINIC.free == ("age", "sex=f", "sex=m")
    sources = {"lipids": ["ldl", "hdl"], "urine": ["ph", "colour"], "site": ["site=north", "site=south"]}
    assert CLINIC.sources == sources | {"smoker": ["smoker"]}
    assert CLINIC.source_prices == {"lipids": 12.0, "urine": 1.0, "site": 2.5, "smoker": 1.0}
    assert CLINIC.prices.tolist() == [0, 0, 0, 2.5, 2.5, 12, 1, 12, 1, 1]
    assert CLINIC.column_of["sex=m"] == "sex"
    assert (CLINIC.priced, SCHEMA.with_prices({}).priced, Schema.plain("y", ["a"]).priced) == (True, True, False)


def test_sources_are_priced_known_and_ignored_by_name() -> None:
    assert CLINIC.with_prices({"lipids": 3, "site": 4}).source_prices["lipids"] == 3.0
    for name, words in {
        "ldl": "comes with the source 'lipids'",
        "age": "known and costs nothing",
        "x": "nor a source",
    }.items():
        with pytest.raises(ConfigError, match=words):
            CLINIC.with_prices({name: 1.0})
    more = CLINIC.with_free(["site", "ldl"])
    assert "site" not in more.sources
    assert more.sources["lipids"] == ["hdl"]
    assert set(more.free) == {"age", "sex=f", "sex=m", "site=north", "site=south", "ldl"}
    with pytest.raises(ConfigError, match="'sit' cannot be free.*did you mean 'site'"):
        CLINIC.with_free(["sit"])
    less = CLINIC.without(["ldl", "hdl", "sex"])
    assert "lipids" not in less.sources
    assert less.ignored == ("notes", "sex", "hdl", "ldl")


def test_what_has_no_range_is_neither_clipped_nor_stretched() -> None:
    schema = Schema(Range("y"), (Attribute("a"), Attribute("b", low=0.0), Attribute("c", center=3.0)))
    X = np.array([[1e9, -5.0, 4.0], [-7.0, 8.0, 3.0]])
    np.testing.assert_array_equal(schema.scale(X), [[1e9, 0.0, 1.0], [-7.0, 8.0, 0.0]])
    np.testing.assert_array_equal(schema.unscale_label(schema.scale_label(np.array([1e6]))), [1e6])
    assert schema.unbounded == ("a", "b", "c", "y")
    assert ValueRanges.of(schema).count(*every(X)).outside.tolist() == [0, 1, 0, 0]
    assert ValueRanges.of(schema, clip=False).count(*every(X)).outside.tolist() == [0, 0, 0, 0]


def test_a_schema_that_is_not_complete_has_no_names_yet() -> None:
    schema = Schema(Range("y"), (Attribute("sex", type="category"), Attribute("day", type="date")))
    assert not schema.is_complete
    with pytest.raises(ConfigError, match=r"\[attributes\.sex\]: its values are not known yet"):
        _ = schema.names


def test_values_beyond_the_range_are_counted_where_they_were_bought() -> None:
    ranges = ValueRanges.of(SCHEMA)
    X = np.array([[-1.0, 0.0, 5.0], [5.0, 99.0, np.inf], [9.0, 98.0, np.nan]])
    bought = np.array([[True, True, True], [True, False, True], [True, True, True]])
    clips = ranges.count(X[bought], np.nonzero(bought)[1])
    clips += ranges.count(np.array([11.0, 5.0, np.nan, 12.0]), np.full(4, 3))
    assert clips.outside.tolist() == [3, 1, 0, 2]
    assert clips.seen.tolist() == [3, 2, 1, 3]
    assert list(ranges.sentences(clips).values()) == [
        "'a' is outside its range 0..4 in 3 of 3 values (smallest seen -1, largest seen 9): clipped",
        "'b' is outside its range -1..9 in 1 of 2 values (largest seen 98): clipped",
        "'y' is outside its range 0..10 in 2 of 3 values (largest seen 12): clipped",
    ]


def test_counts_continue_after_being_saved() -> None:
    X, y = np.random.default_rng(1).normal(0, 4, (50, 3)), np.random.default_rng(2).normal(0, 9, 50)
    ranges, second = ValueRanges.of(SCHEMA), ValueCounts.zero(4)
    labels = np.full(50, 3)
    whole = ranges.count(*every(X)) + ranges.count(y, labels)
    first = ranges.count(*every(X[:20])) + ranges.count(y[:20], labels[:20])
    second.set_state(first.get_state())
    second += ranges.count(*every(X[20:])) + ranges.count(y[20:], labels[20:])
    for field, value in whole.get_state().items():
        np.testing.assert_array_equal(second.get_state()[field], value)


def test_a_constant_column_is_no_error_and_is_told() -> None:
    ranges = ValueRanges.of(SCHEMA)
    clips = ranges.count(*every(np.array([[1.0, 7.0, 5.0]])))
    assert ranges.constant(clips) == ()
    clips += ranges.count(*every(np.array([[1.0, 8.0, 5.0], [1.0, np.nan, 5.0]])))
    clips += ranges.count(np.array([4.0, 4.0]), np.array([3, 3]))
    assert ranges.constant(clips) == ("a", "c")
    assert SCHEMA.scale(np.array([[1.0, 7.0, 5.0]]))[0, 2] == 0.0
