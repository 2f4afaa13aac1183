"""The schema: scaling by the formula it states, prices, and TOML with messages that name the column."""

from pathlib import Path

import numpy as np
import pytest

from keyhole.errors import ConfigError
from keyhole.streams import Attribute, Clips, Range, Schema, read_prices

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
    with pytest.raises(ConfigError, match="'z', which is not an attribute"):
        SCHEMA.with_prices({"z": 1.0})
    less = SCHEMA.without(["b", "nobody"])
    assert (less.names, less.ignored) == (("a", "c"), ("id", "b"))


def test_a_schema_file_can_be_written_by_hand() -> None:
    text = 'ignored = ["id"]\n[label]\nname = "y"\n[attributes]\n"a b" = {low = 0, high = 2}\nc = {}\n'
    schema = Schema.from_toml(text)
    assert schema == Schema(Range("y"), (Attribute("a b", 0.0, 2.0), Attribute("c")), ("id",))


ATTRIBUTES = '[label]\nname = "y"\n[attributes]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[label\n", r"s\.toml is not TOML: .*line 1"),
        ('[attributes]\na = {low = "0"}', r"needs a table \[label\]"),
        ('[label]\nname = "y"', r"needs a table \[attributes\]"),
        (ATTRIBUTES, "at least one"),
        (ATTRIBUTES + 'a = {low = "0"}', r"s\.toml, column 'a': low must be a number, not '0'"),
        (ATTRIBUTES + "a = {low = true}", "low must be a number"),
        (ATTRIBUTES + "a = {lo = 0}", r"column 'a': 'lo' is not known here; there can be low, high"),
        (ATTRIBUTES + "a = 3", r"'a' must be a table such as"),
        (ATTRIBUTES + "a = {low = 3, high = 2}", r"s\.toml: column 'a': the range 3.0\.\.2.0 must be finite"),
        (ATTRIBUTES + "a = {high = inf}", "must be finite"),
        (ATTRIBUTES + "a = {center = 2}", "centre 2.0 lies outside"),
        (ATTRIBUTES + "a = {price = -1}", "'a': the price must be a finite number >= 0"),
        (ATTRIBUTES + "a = {price = nan}", "'a': the price must be"),
        (ATTRIBUTES + "y = {}", "'y' occurs twice"),
        ('ignored = ["y"]\n' + ATTRIBUTES + "a = {}", "'y' occurs twice"),
        ('ignored = "y"\n' + ATTRIBUTES + "a = {}", "ignored must be a list"),
        ("more = 1\n" + ATTRIBUTES + "a = {}", "'more' is not known here"),
        ('[label]\nname = "y"\nprice = 3\n[attributes]\na = {}', "'price' is not known here"),
    ],
)
def test_a_wrong_schema_file_is_refused_with_the_column_and_the_fix(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        Schema.read(tmp_path / "s.toml")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        Schema.read(tmp_path / "none.toml")
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"p\.toml cannot be read as text"):
        read_prices(tmp_path / "p.toml")


def test_prices_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('age = 2\n"blood pressure" = 5.5\n')
    assert read_prices(path) == {"age": 2.0, "blood pressure": 5.5}
    for wrong in ('age = "2"', "age = -1", "age = inf", "age = [1]"):
        path.write_text(wrong)
        with pytest.raises(ConfigError, match=r"p\.toml: the price of 'age' must be a"):
            read_prices(path)


def test_values_beyond_the_range_are_counted_where_they_were_bought() -> None:
    clips = Clips(SCHEMA)
    X = np.array([[-1.0, 0.0, 5.0], [5.0, 99.0, np.inf], [9.0, 98.0, np.nan]])
    bought = np.array([[True, True, True], [True, False, True], [True, True, True]])
    clips.count(X[bought], np.nonzero(bought)[1])
    clips.count_labels(np.array([11.0, 5.0, np.nan, 12.0]))
    assert clips.outside.tolist() == [3, 1, 0, 2]
    assert clips.seen.tolist() == [3, 2, 1, 3]
    assert clips.total == 6
    assert clips.report() == [
        "'a' is outside its range 0..4 in 3 of 3 values (smallest seen -1, largest seen 9): clipped",
        "'b' is outside its range -1..9 in 1 of 2 values (largest seen 98): clipped",
        "'y' is outside its range 0..10 in 2 of 3 values (largest seen 12): clipped",
    ]


def test_counts_continue_after_being_saved() -> None:
    X, y = np.random.default_rng(1).normal(0, 4, (50, 3)), np.random.default_rng(2).normal(0, 9, 50)
    whole, first, second = Clips(SCHEMA), Clips(SCHEMA), Clips(SCHEMA)
    whole.count(*every(X))
    whole.count_labels(y)
    first.count(*every(X[:20]))
    first.count_labels(y[:20])
    second.set_state(first.get_state())
    second.count(*every(X[20:]))
    second.count_labels(y[20:])
    for field, value in whole.get_state().items():
        np.testing.assert_array_equal(second.get_state()[field], value)


def test_a_constant_column_is_no_error_and_is_told() -> None:
    clips = Clips(SCHEMA)
    clips.count(*every(np.array([[1.0, 7.0, 5.0]])))
    assert clips.constant == ()
    clips.count(*every(np.array([[1.0, 8.0, 5.0], [1.0, np.nan, 5.0]])))
    clips.count_labels(np.array([4.0, 4.0]))
    assert clips.constant == ("a", "c")
    assert SCHEMA.scale(np.array([[1.0, 7.0, 5.0]]))[0, 2] == 0.0
