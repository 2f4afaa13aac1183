"""Many rows at once: what is read, and that it equals a round that exploits."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes

NAMES = list("abcdef")


@pytest.fixture(scope="module")
def trained():
    X, y, w = kh.streams.synthetic(d=6, k=2, T=400, seed=1)
    learner = kh.make("thrifty", names=NAMES, k=2, seed=0)
    kh.play(learner, X, y)
    assert learner.support.tolist() == np.flatnonzero(w).tolist()
    return learner, X


def test_each_row_is_what_the_learner_says_of_it(trained):
    learner, X = trained
    before = to_bytes(learner)
    said = learner.predict_rows(X[:20])
    assert to_bytes(learner) == before  # nothing was asked of the learner itself
    twin = kh.make("thrifty", names=NAMES, k=2, seed=0)
    kh.play(twin, *kh.streams.synthetic(d=6, k=2, T=400, seed=1)[:2])
    r = twin.ask()
    while r.kind != "exploit":
        r = twin.ask()
    assert said.tolist() == [twin.predict(r, x[r.attributes]) for x in X[:20]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_needs_only_the_columns_of_the_support(trained, make):
    learner, X = trained
    support = [NAMES[i] for i in learner.support]
    frame = make({name: X[:, NAMES.index(name)] for name in reversed(support)} | {"text": ["x"] * len(X)})
    assert np.array_equal(learner.predict_rows(frame), learner.predict_rows(X))
    with pytest.raises(kh.ConfigError, match=f"X has no column '{support[0]}'"):
        learner.predict_rows(make(dict.fromkeys(support[1:], X[:, 0])))


def test_the_other_columns_of_an_array_are_not_looked_at(trained):
    learner, X = trained
    others = [i for i in range(6) if i not in learner.support]
    blank, words = X.copy(), X.astype(object)
    blank[:, others], words[:, others] = np.nan, "unread"
    expected = learner.predict_rows(X)
    for rows in (blank, words, blank.tolist(), iter(words.tolist())):
        assert np.array_equal(learner.predict_rows(rows), expected)


def test_a_missing_value_takes_no_part_and_rows_stand_alone(trained):
    learner, X = trained
    rows = X[:5].copy()
    rows[2, learner.support[0]] = np.nan
    said = learner.predict_rows(rows)
    assert np.isfinite(said).all()
    assert np.array_equal(np.delete(said, 2), learner.predict_rows(np.delete(X[:5], 2, axis=0)))
    assert learner.predict_rows(np.empty((0, 6))).shape == (0,)
    assert learner.predict_rows([]).shape == (0,)


def test_rows_of_another_width_or_of_words_are_refused(trained):
    learner, _ = trained
    for rows in (np.ones((2, 5)), np.ones(6), [[1.0] * 6, [1.0]]):
        with pytest.raises(kh.ConfigError, match="X must have 6 columns"):
            learner.predict_rows(rows)
    with pytest.raises(kh.ConfigError, match="X must be numbers"):
        learner.predict_rows([["x"] * 6])


def test_known_attributes_are_read_too_and_panels_whole():
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=600, seed=2)
    learner = kh.make("thrifty", names=NAMES, k=2, sources={"panel": ["a", "b"]}, free=["c"], seed=0)
    kh.play(learner, X, y)
    needed = {"c", *(NAMES[i] for i in learner.support)}
    frame = pd.DataFrame(X, columns=NAMES)[sorted(needed)]
    assert np.array_equal(learner.predict_rows(frame), learner.predict_rows(X))
    with pytest.raises(kh.ConfigError, match="X has no column 'c'"):
        learner.predict_rows(frame.drop(columns="c"))


def test_a_total_that_is_spent_does_not_limit_frozen_use():
    X, y, _ = kh.streams.synthetic(d=6, k=2, T=2000, seed=1)
    learner = kh.make(
        "thrifty", names=NAMES, k=2, seed=0, prices=dict.fromkeys(NAMES, 1.0), total_budget=800.0, expected_rows=1000
    )
    kh.play(learner, X, y)
    assert learner.spent > 795.0
    assert learner.ask().attributes.size == 0  # nothing is left
    assert learner.support.size > 0
    unread = X.copy()
    unread[:, np.setdiff1d(np.arange(6), learner.support)] = np.nan
    error = learner.predict_rows(unread) - y
    assert np.isfinite(error).all()
    assert (error**2).mean() < 0.8 * y.var()  # by what it knows: one true attribute leaves 0.4 to 0.7 of it, none all
