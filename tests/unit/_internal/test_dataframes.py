"""Frames of three libraries, matched by name in any order."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keyhole as kh
from keyhole._internal import dataframes

DATA = {"b": [1.0, 2.0], "a": [3, 4], "c": [True, False]}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", LIBRARIES)
def test_columns_are_matched_by_name(make):
    frame = make(DATA)
    assert dataframes.is_frame(frame)
    assert dataframes.column_names(frame) == ["b", "a", "c"]
    assert dataframes.matrix_of(frame, ["a", "b", "c"]).tolist() == [[3.0, 1.0, 1.0], [4.0, 2.0, 0.0]]


@pytest.mark.parametrize("make", LIBRARIES)
def test_a_lacking_or_extra_column_is_named(make):
    with pytest.raises(kh.ConfigError, match=r"X has no column 'z'; it has 'b', 'a' and 'c'"):
        dataframes.matrix_of(make(DATA), ["a", "z"])
    with pytest.raises(kh.ConfigError, match=r"X has a column 'b' \(and 1 more\) that is not an attribute"):
        dataframes.matrix_of(make(DATA), ["a"])
    assert dataframes.matrix_of(make(DATA), ["a"], only=False).tolist() == [[3.0], [4.0]]


@pytest.mark.parametrize("make", LIBRARIES)
def test_missing_entries_are_nan_and_words_are_refused(make):
    assert np.isnan(dataframes.matrix_of(make({"a": [None, 1.5]}), ["a"])[0, 0])
    with pytest.raises(kh.ConfigError, match="column 'a' of X is .*encode it first"):
        dataframes.matrix_of(make({"a": ["x", "y"]}), ["a"])


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(kh.ConfigError, match="two columns 'a'"):
        dataframes.column_names(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_arrays_and_lists_are_no_frames():
    assert not dataframes.is_frame(np.zeros((2, 2)))
    assert not dataframes.is_frame([[1.0]])
    assert dataframes.is_series(pd.Series([1.0]))
    assert dataframes.labels_of(pl.Series([1, 2])).tolist() == [1.0, 2.0]


def test_columns_that_are_numbered_have_their_numbers_as_names():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    assert dataframes.matrix_of(frame, ["1", "0"]).tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert kh.play(kh.make("vaw", names=frame.columns, seed=0), frame, [1.0, 2.0]).labels.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([1, None], dtype="Float64"),
        pd.array([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pa.array([1, None]),
        pa.chunked_array([[1, None]]),
        pd.DataFrame({"y": [1.0, None]}),
        pl.DataFrame({"y": [1, None]}),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_a_missing_label_is_nan_in_every_library(y):
    np.testing.assert_array_equal(dataframes.labels_of(y), [1.0, np.nan])


def test_labels_of_two_columns_or_words_are_refused():
    with pytest.raises(kh.ConfigError, match="y must be one column, not a frame of 3: 'b', 'a' and 'c'"):
        dataframes.labels_of(pd.DataFrame(DATA))
    with pytest.raises(kh.ConfigError, match="y must be numbers"):
        dataframes.labels_of(pl.Series(["high", "low"]))
    for text in (pl.Series(["1.5", "2"]), pd.Series(["1.5", "2"], dtype="string")):
        with pytest.raises(kh.ConfigError, match="y must be numbers: they are text"):
            dataframes.labels_of(text)


def test_a_column_of_numbers_is_no_list_of_names():
    assert kh.make("vaw", names=pd.Series(["a", "b"])).names == ("a", "b")
    for column in (pd.Series([0.5, 2.0]), pl.Series([1, 2])):
        with pytest.raises(kh.ConfigError, match="names must be names, not a column of numbers"):
            kh.make("vaw", names=column)


@pytest.mark.parametrize("make", [*LIBRARIES, pl.LazyFrame, lambda data: pa.RecordBatch.from_pydict(data)])
def test_a_learner_takes_its_names_rows_and_labels_from_frames(make):
    X, y, _ = kh.streams.synthetic(d=3, k=2, T=50, seed=0)
    frame = make({name: X[:, i] for i, name in enumerate("abc")})
    learner, plain = (
        kh.make("thrifty", names=frame, k=2, seed=0),
        kh.make("thrifty", names=["a", "b", "c"], k=2, seed=0),
    )
    backwards = make({name: X[:, "abc".index(name)] for name in "cba"})
    assert learner.names == ("a", "b", "c")
    assert np.array_equal(kh.play(learner, backwards, y).losses, kh.play(plain, X, y).losses)


def asked():
    learner = kh.make("fixed-random", names=["a", "b", "c"], k=2, seed=0)
    for t in range(20):
        r = learner.ask()
        learner.tell(r, [t % 3, t % 5], t % 3 - t % 5)
    return learner, learner.ask()


@pytest.mark.parametrize("make", [*LIBRARIES, lambda data: pd.DataFrame(data).iloc[0]], ids=["pd", "pl", "pa", "row"])
def test_the_values_of_a_round_may_be_a_row_of_a_frame_in_any_order(make):
    learner, r = asked()
    expected = learner.predict(r, {r.names[0]: 2.0, r.names[1]: 5.0})
    assert learner.predict(r, make({r.names[1]: [5.0], r.names[0]: [2.0]})) == expected
    with pytest.raises(kh.ProtocolError, match="not requested in this round: 'z'"):
        learner.predict(r, make({r.names[1]: [5.0], r.names[0]: [2.0], "z": [1.0]}))
    with pytest.raises(kh.ProtocolError, match=f"no value for '{r.names[0]}'"):
        learner.tell(r, make({r.names[1]: [5.0]}), 1.0)
    learner.tell(r, make({r.names[1]: [5.0], r.names[0]: [2.0]}), 1.0)


def test_a_series_without_names_is_in_the_order_asked_and_a_frame_of_two_rows_is_refused():
    learner, r = asked()
    assert learner.predict(r, pd.Series([2.0, 5.0])) == learner.predict(r, [2.0, 5.0])
    with pytest.raises(kh.ProtocolError, match="expected one row, not a frame of 2; learner.predict_rows takes many"):
        learner.predict(r, pd.DataFrame({n: [1.0, 2.0] for n in r.names}))


def test_explanations_are_a_frame_and_a_table():
    X, y, _ = kh.streams.synthetic(d=4, k=2, T=200, seed=0)
    plain, priced = kh.make("thrifty", d=4, k=2, seed=0), kh.make("thrifty", d=4, k=2, sources={"<p>": ["x0", "x1"]})
    for learner, first in ((plain, "x0"), (priced, "<p>")):
        kh.play(learner, X, y)
        frame = learner.explain().to_frame()
        assert frame["name"][0] == first
        assert frame["bought"].tolist() == [record.bought for record in learner.explain()]
        assert "<p>" not in learner.explain()._repr_html_()
        assert learner.explain()._repr_html_().count("<tr>") == 1 + len(frame)


def seconds_to_match(d):
    """The processor's time for a frame of d columns in reverse order, at its best of three."""
    names, taken = [f"x{i}" for i in range(d)], []
    frame = pa.table({name: [1.0] for name in names})
    for _ in range(3):
        began = time.process_time()
        assert dataframes.matrix_of(frame, names[::-1]).shape == (1, d)
        taken.append(time.process_time() - began)
    return min(taken)


def test_many_columns_are_matched_in_linear_time():
    """Eight times the columns took 6.5 times the time; 64 times, if it were their square."""
    assert seconds_to_match(8000) < 24 * seconds_to_match(1000)


def test_explanations_print_as_a_table():
    """One line per source under the names of the fields; what no source has, a fair price here, has no column."""
    learner = kh.make("thrifty", names=["age", "bmi", "pulse"], k=1, seed=0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    kh.play(learner, X, X[:, 1])
    head, *lines = repr(learner.explain()).splitlines()
    assert [line.split()[0] for line in lines] == ["age", "bmi", "pulse"]
    assert {"name", "weight", "bought", "in_support", "reason"} <= set(head.split())
    assert "fair_price" not in head
    at = head.index("in_support") + len("in_support")
    assert [line[:at].split()[-1] for line in lines] == ["no", "yes", "no"]
    assert str(learner.explain()) == repr(learner.explain())
