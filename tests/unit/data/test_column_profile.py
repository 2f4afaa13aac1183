"""A look at a whole table: numbers as numpy finds them, columns that cannot help left out with their reason."""

from pathlib import Path

import numpy as np
import pytest

from keyhole.data.column_profile import Profile, covariance, scaled_first_rows
from keyhole.data.streams import DataError, open_table
from keyhole.errors import ConfigError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N = 10_000


def frame() -> "pd.DataFrame":
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(N) * 3 + 7, "a": rng.normal(5, 2, N), "b": rng.integers(0, 2, N), "c": 4.0})
    table["y"] = table["a"] * 2 + rng.normal(size=N)
    table.loc[rng.random(N) < 0.1, "a"] = np.nan
    table.loc[:2, "y"] = np.nan
    return table.assign(notes="words", empty=np.nan, kept=table["a"] ** 2)


def test_ranges_means_and_missing_values_are_counted() -> None:
    table, calls = frame(), []
    profile = Profile(open_table(table), "y", ["kept"], calls.append)
    assert profile.names == ("a", "b")
    assert profile.rows == N == calls[-1]
    schema = profile.schema({"b": 3.0, "notes": 9.0})
    a, label = schema.attributes[0], schema.label
    assert (a.low, a.high) == (table["a"].min(), table["a"].max())
    assert a.center == pytest.approx(table["a"].mean())
    assert (label.low, label.high) == (table["y"].min(), table["y"].max())
    assert schema.prices.tolist() == [1.0, 3.0]
    assert profile.missing_share() == {"a": table["a"].isna().mean()}
    assert profile.missing[-1] == 3


def test_what_cannot_help_is_dropped_with_its_reason() -> None:
    profile = Profile(open_table(frame()), "y", ["kept"])
    reasons = {"notes": "constant", "id": "numbers the rows", "c": "constant", "empty": "empty", "kept": ""}
    assert profile.dropped == reasons
    assert set(profile.schema().ignored) == set(reasons)


def test_numbers_of_rows_are_told_from_numbers() -> None:
    rows = np.arange(30.0)
    table = pd.DataFrame({"falls": -rows, "halves": rows / 2, "once": np.where(rows == 9, 8, rows), "y": rows % 7})
    assert Profile(open_table(table), "y").names == ("falls", "halves", "once")
    few = pd.DataFrame({"a": [1, 2, 3], "y": [1, 3, 2]})
    assert Profile(open_table(few), "y").names == ("a",)


def test_moments_are_the_covariance_of_the_scaled_rows() -> None:
    source = frame()
    table = open_table(source)
    schema = Profile(table, "y", ["kept"]).schema()
    n, C = covariance(table, schema)
    assert n == N - 3
    rows = source.dropna(subset=["y"])
    Z = np.column_stack([schema.scale(rows[["a", "b"]].to_numpy(float)), schema.scale_label(rows["y"].to_numpy())])
    Z = np.where(np.isnan(Z), 0.0, Z)
    np.testing.assert_allclose(C, np.cov(Z.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(scaled_first_rows(table, schema, n), Z - Z.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(scaled_first_rows(table, schema, 9), Z[:9] - Z[:9].mean(axis=0), atol=1e-12)


def test_infinity_is_named_with_its_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 5000 + "3,inf\n4,1\n")
    with pytest.raises(DataError, match=r"t\.csv: row 5001 .*column 'y' is infinite"):
        Profile(open_table(path), "y")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1.0, 2.0], "y": [np.nan, np.nan]}, "the target 'y' is missing in every row"),
        ({"a": [1.0, 2.0, 3.0], "y": [4.0, 4.0, np.nan]}, "the target 'y' is 4 in all 2 rows that have it: there is"),
        ({"a": [1.0, 1.0], "y": [1.0, 2.0]}, "no usable column besides 'y'"),
        ({"a": [1.0, 2.0], "y": ["x", "z"]}, "the target 'y' holds text"),
        ({"a": [1.0, 2.0], "z": [1.0, 2.0]}, "no column 'y'"),
        ({"a": np.empty(0), "y": np.empty(0)}, "has no rows"),
    ],
)
def test_a_table_that_is_of_no_use_says_why(columns: dict[str, list[float]], words: str) -> None:
    with pytest.raises(DataError, match=words):
        Profile(open_table(pd.DataFrame(columns)), "y")


def test_prices_of_what_is_no_column_are_refused() -> None:
    with pytest.raises(ConfigError, match="the prices name 'z'"):
        Profile(open_table(frame()), "y").schema({"z": 1.0})


def test_a_point_before_three_digits_is_no_decimal_point_where_others_write_a_decimal_comma(tmp_path: Path) -> None:
    """12.591 beside 640 is read as 12591; a weight of 0.250, an odd 1.5 and whole numbers stay what they are."""
    path = tmp_path / "german.csv"
    rows = [f"{i % 7},5;{'640' if i % 3 else '12.591'};0.{250 + i};{1 + i % 2}.5;{i % 5}" for i in range(30)]
    path.write_text("y;income;share;odd;whole\n" + "\n".join(rows))
    profile = Profile(open_table(path), "y")
    assert profile.proposed == {"income": "numbers written as 1.234,56"}
    assert {a.name: a.high for a in profile.used} == {"income": 12591.0, "share": 0.279, "odd": 2.5, "whole": 4.0}
    path.write_text(path.read_text().replace(",5;", ".5;"))
    assert not Profile(open_table(path), "y").proposed
