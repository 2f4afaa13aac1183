"""A history as frames and pictures, and purchases over time against a plain count."""

import numpy as np
import pandas as pd
import pytest

import keyhole as kh
from keyhole.figures import number
from keyhole.simulation import history as module
from keyhole.simulation.history import PurchaseCounts, plot_bought, plot_loss, plot_money


def test_stretches_count_what_was_bought_in_them():
    rng, d, T = np.random.default_rng(0), 7, 1000
    sizes = rng.integers(0, 4, T)
    attributes = np.array([rng.permutation(d)[:4] for _ in range(T)])
    line, t = PurchaseCounts(d), 0
    while t < T:
        n = min(int(rng.integers(1, 90)), T - t)
        if rng.random() < 0.3:
            attributes[t : t + n], sizes[t : t + n] = attributes[t], sizes[t]
            line.add(t, n, attributes[t : t + 1], sizes[t : t + 1])
        else:
            line.add(t, n, attributes[t : t + n], sizes[t : t + n])
        t += n
    starts = np.concatenate([[0], line.ends[:-1]])
    for i, (a, b) in enumerate(zip(starts, line.ends, strict=True)):
        bought = np.concatenate([attributes[r, : sizes[r]] for r in range(a, b)])
        assert np.array_equal(line.counts[i], np.bincount(bought, minlength=d))
    assert line.ends[-1] == T
    assert line.bought.sum() == sizes.sum()


def test_wide_rows_have_fewer_stretches():
    assert PurchaseCounts(10).counts.shape == (48, 10)
    assert PurchaseCounts(1_000_000).counts.size <= 4_194_304


@pytest.fixture(scope="module")
def history():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=500, seed=0)
    y[7] = np.nan
    return kh.play(kh.make("thrifty", d=8, k=3, seed=0, prices=np.arange(1.0, 9.0)), X, y)


def test_a_history_is_a_frame(history):
    frame = history.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["row", "prediction", "label", "loss", "price", "explored"]
    assert frame["loss"].isna().sum() == 1
    ledger = history.ledger()
    assert ledger["bought"].tolist() == history.bought.tolist()
    assert history.price.sum() == pytest.approx(float(history.bought @ np.arange(1.0, 9.0)))


def test_the_ledger_counts_past_rows_as_free():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=60, seed=0)
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    learner.learn(X[:50], y[:50])
    history = kh.play(learner, X[50:], y[50:])
    first, *others = history.ledger().itertuples(index=False)
    assert tuple(first) == ("past rows: 50, free", 0, 0.0)
    assert [line.attribute for line in others] == list(learner.names)
    assert [line.bought for line in others] == history.bought.tolist()


def test_a_history_is_drawn(history):
    both = history.plot() | history.plot_money()
    assert "hconcat" in both.to_dict()
    loss, cells, money = plot_loss(history), plot_bought(history), plot_money(history)
    assert float(loss.rows[-1][loss.head.index("so far")]) == pytest.approx(np.nanmean(history.losses), rel=0.01)
    assert {row[0] for row in cells.rows} == {history.names[j] for j in np.flatnonzero(history.bought)}
    assert money.rows[-1][1] == number(float(history.price.sum()))


def test_the_line_of_buying_nothing_is_the_mean_so_far():
    labels = np.array([2.0, np.nan, 4.0, 9.0])
    assert module._predicting_the_mean(labels)[[0, 2, 3]].tolist() == [4.0, 4.0, 36.0]
