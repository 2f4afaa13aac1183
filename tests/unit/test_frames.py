"""Frames of three libraries, matched by name in any order."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keyhole as kh
from keyhole import frames

DATA = {"b": [1.0, 2.0], "a": [3, 4], "c": [True, False]}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", LIBRARIES)
def test_columns_are_matched_by_name(make):
    frame = make(DATA)
    assert frames.is_frame(frame)
    assert frames.column_names(frame) == ["b", "a", "c"]
    assert frames.matrix_of(frame, ["a", "b", "c"]).tolist() == [[3.0, 1.0, 1.0], [4.0, 2.0, 0.0]]


@pytest.mark.parametrize("make", LIBRARIES)
def test_a_lacking_or_extra_column_is_named(make):
    with pytest.raises(kh.ConfigError, match=r"X has no column 'z'; it has 'b', 'a', 'c'"):
        frames.matrix_of(make(DATA), ["a", "z"])
    with pytest.raises(kh.ConfigError, match=r"X has a column 'b' \(and 1 more\) that is no attribute"):
        frames.matrix_of(make(DATA), ["a"])
    assert frames.matrix_of(make(DATA), ["a"], only=False).tolist() == [[3.0], [4.0]]


@pytest.mark.parametrize("make", LIBRARIES)
def test_missing_entries_are_nan_and_words_are_refused(make):
    assert np.isnan(frames.matrix_of(make({"a": [None, 1.5]}), ["a"])[0, 0])
    with pytest.raises(kh.ConfigError, match="column 'a' of X is .*encode it first"):
        frames.matrix_of(make({"a": ["x", "y"]}), ["a"])


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(kh.ConfigError, match="two columns 'a'"):
        frames.column_names(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_arrays_and_lists_are_no_frames():
    assert not frames.is_frame(np.zeros((2, 2)))
    assert not frames.is_frame([[1.0]])
    assert frames.is_series(pd.Series([1.0]))
    assert frames.labels_of(pl.Series([1, 2])).tolist() == [1.0, 2.0]


def test_many_columns_are_matched_in_linear_time():
    names = [f"x{i}" for i in range(20_000)]
    frame = pa.table({name: [1.0] for name in names})
    began = time.process_time()
    assert frames.matrix_of(frame, names[::-1]).shape == (1, 20_000)
    assert time.process_time() - began < 10.0
