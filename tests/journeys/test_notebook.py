"""Journey 9: a notebook with frames, scikit-learn and River, as it is typed there."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keyhole as kh

TESTS = [f"test{i}" for i in range(9)]


def frame():
    X, y, _ = kh.streams.synthetic(d=9, k=3, T=400, seed=0)
    return pd.DataFrame(X, columns=TESTS).assign(y=y)


def test_scikit_learn():
    from sklearn.pipeline import make_pipeline

    from keyhole.integrations.sklearn import BudgetedRegressor

    df, prices = frame(), {name: 1.0 + i for i, name in enumerate(TESTS)}
    model = make_pipeline(BudgetedRegressor(k=5, prices=prices)).fit(df[TESTS], df["y"])
    assert model.score(df[TESTS], df["y"]) > 0.8
    assert model[-1].ledger_["spent"].sum() > 0
    assert model[-1].support_.size <= 5


def test_river():
    metrics, evaluate = pytest.importorskip("river.metrics"), pytest.importorskip("river.evaluate")
    from keyhole.integrations.river import BudgetedRegressor

    dataset = [(dict(row), y) for row, y in zip(frame()[TESTS].to_dict("records"), frame()["y"], strict=True)]
    said = evaluate.progressive_val_score(dataset, BudgetedRegressor(k=5), metrics.MAE())
    assert said.get() < 0.25


@pytest.mark.parametrize("of", [lambda df: df, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_as_typed(of):
    df = of(frame())
    history = kh.play(kh.make("thrifty", names=df.columns[:-1], k=5), df[TESTS], df["y"])
    drawn = (history.plot() | history.plot_money()).to_dict()
    assert len(drawn["hconcat"]) == 2
    assert history.labels.size == 400


def test_arrow_has_other_words_for_the_same():
    table = pa.Table.from_pandas(frame())
    history = kh.play(kh.make("thrifty", names=table.column_names[:-1], k=5, seed=0), table.select(TESTS), table["y"])
    df = frame()
    same = kh.play(kh.make("thrifty", names=df.columns[:-1], k=5, seed=0), df[TESTS], df["y"])
    assert np.array_equal(history.predictions, same.predictions)
    with pytest.raises(kh.ConfigError, match="names must be names, not a ChunkedArray"):
        kh.make("thrifty", names=table.columns[:-1], k=5)
