"""The keeper: history, purchases, streams in other shapes, and what bad rows do."""

import sys

import numpy as np
import pytest

import keyhole as kh


@pytest.fixture
def stream():
    return kh.streams.synthetic(10, 3, 300, seed=0)


def learner(**options):
    return kh.make("ds-oslrc", d=10, k=3, seed=0, explore="t^(-1/3)", **options)


def test_history_adds_up(stream):
    X, y, w = stream
    history = kh.play(learner(), X, y)
    assert np.array_equal(history.losses, (history.predictions - y) ** 2)
    regret = history.regret(w)
    assert regret[-1] == pytest.approx(history.losses.sum() - ((y - X @ w) ** 2).sum())
    assert history.regret(np.zeros(10))[-1] == pytest.approx(history.losses.sum() - (y**2).sum())
    assert history.bought.sum() == 300 * 3
    assert history.abandoned == 0


def test_an_iterable_of_rows_is_played_like_an_array(stream, monkeypatch):
    X, y, w = stream
    monkeypatch.setattr(sys.modules["keyhole.simulation.play"], "_BLOCK", 37)
    whole = kh.play(learner(), X, y)
    streamed = kh.play(learner(), (row.tolist() for row in X), iter(y.tolist()))
    assert np.array_equal(whole.predictions, streamed.predictions)
    assert np.array_equal(whole.regret(w), streamed.regret(w))
    assert np.array_equal(whole.bought, streamed.bought)


def test_without_the_rows_there_is_no_regret(stream):
    X, y, w = stream
    history = kh.play(learner(), X, y, keep=False)
    with pytest.raises(kh.ConfigError, match="keep=True"):
        history.regret(w)


def test_a_comparator_of_another_length_is_refused(stream):
    X, y, _ = stream
    with pytest.raises(kh.ConfigError, match="length d = 10"):
        kh.play(learner(), X, y).regret(np.zeros(9))


def test_a_row_without_label_is_abandoned_and_in_no_sum(stream):
    X, y, w = stream
    gaps = y.copy()
    gaps[[0, 7, 50, 299]] = np.nan
    history = kh.play(learner(), X, gaps)
    assert history.abandoned == 4
    assert np.isnan(history.losses[[0, 7, 50, 299]]).all()
    assert np.isfinite(history.predictions).all()
    assert np.isfinite(history.regret(w)).all()
    assert history.bought.sum() == 900


@pytest.mark.parametrize("compiled", [True, False])
def test_an_infinite_label_stops_at_its_row(stream, compiled):
    X, y, _ = stream
    y = y.copy()
    y[123] = np.inf
    player = learner()
    with pytest.raises(kh.ProtocolError, match="row 124: the label is inf"):
        kh.play(player, X, y, compiled=compiled)
    assert player.open_rounds == ()
    before = learner()
    kh.play(before, X[:123], y[:123])
    assert np.array_equal(player.weights, before.weights)


def test_infinity_in_a_bought_value_stops_and_elsewhere_does_nothing(stream):
    X, y, _ = stream
    player = learner()
    S = None
    kh.play(player, X[:200], y[:200])
    S = player.support
    bad = X[200:230].copy()
    bad[:, np.setdiff1d(np.arange(10), S)] = np.inf
    exploit = 0
    while player.schedule.next(player.t) > player.t + 1 and exploit < 30:
        kh.play(player, bad[exploit : exploit + 1], y[200 + exploit : 201 + exploit])
        exploit += 1
    assert exploit > 2
    bad[:, S[0]] = np.inf
    with pytest.raises(kh.ProtocolError, match="row 1: the value of"):
        kh.play(player, bad, y[:30])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((5, 9)), np.zeros(5), "10 columns"),
        (np.zeros(10), np.zeros(1), "10 columns"),
        (np.zeros((5, 10)), np.zeros(4), "one label per row"),
        ([["a"] * 10], [0.0], "must be numbers"),
        ([[0.0] * 10], [0.0, 1.0], "more labels"),
        ([[0.0] * 10] * 2, [0.0], "one label per row"),
    ],
)
def test_what_does_not_fit_is_refused(X, y, message):
    with pytest.raises(kh.ConfigError, match=message):
        kh.play(learner(), X, y)


def test_progress_is_reported_to_the_last_row(stream):
    X, y, _ = stream
    seen = []
    kh.play(learner(), X, y, progress=seen.append)
    assert seen[-1] == 300
    assert seen == sorted(seen)


def test_a_second_stream_continues_the_first(stream):
    X, y, _ = stream
    once, twice = learner(), learner()
    whole = kh.play(once, X, y)
    parts = [kh.play(twice, X[:77], y[:77]), kh.play(twice, X[77:], y[77:])]
    assert np.array_equal(whole.predictions, np.concatenate([p.predictions for p in parts]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_played_by_the_names_of_its_columns(library):
    frame = __import__(library)
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=200, seed=0)
    names = [f"c{i}" for i in range(6)]
    make = frame.table if library == "pyarrow" else frame.DataFrame
    shuffled = make({names[i]: X[:, i] for i in (3, 1, 5, 0, 2, 4)})
    labels = frame.array(y) if library == "pyarrow" else frame.Series(y)
    plain = kh.play(kh.make("thrifty", names=names, k=3, seed=0), X, y)
    framed = kh.play(kh.make("thrifty", names=names, k=3, seed=0), shuffled, labels)
    assert np.array_equal(plain.predictions, framed.predictions)
    with pytest.raises(kh.ConfigError, match="X has no column 'x0'"):
        kh.play(kh.make("thrifty", d=6, k=3, seed=0), shuffled, labels)


def test_an_array_is_not_copied():
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=50, seed=0)
    assert kh.play(kh.make("thrifty", d=6, k=3, seed=0), X, y).rows is X


def test_wide_rows_of_a_generator_are_gathered_by_bytes():
    gathered, most = 0, 0

    def rows():
        nonlocal gathered, most
        for _ in range(40):
            gathered += 1
            most = max(most, gathered)
            yield np.ones(1_000_000)

    def progress(t):
        nonlocal gathered
        gathered = 0

    learner = kh.make("fixed-random", d=1_000_000, k=2, seed=0)
    kh.play(learner, rows(), [1.0] * 40, keep=False, progress=progress)
    assert most <= 3


def test_what_cannot_be_played_is_said():
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=5, seed=0)
    with pytest.raises(kh.ConfigError, match="play needs a learner"):
        kh.play("thrifty", X, y)
    with pytest.raises(kh.ConfigError, match="complex"):
        kh.play(kh.make("thrifty", d=6, k=3, seed=0), X + 0j, y)
    for rows, labels, said in (
        (5, y, "X must be an array, a frame"),
        (None, None, "X must be"),
        (X, 5.0, "y must be"),
    ):
        with pytest.raises(kh.ConfigError, match=said):
            kh.play(kh.make("thrifty", d=6, k=3, seed=0), rows, labels)


@pytest.mark.parametrize("compiled", [True, False])
def test_the_price_of_a_row_is_that_of_all_it_bought_the_extras_too(stream, compiled):
    X, y, _ = stream
    prices = np.arange(1.0, 11.0)
    one, other = (kh.make("thrifty", d=10, k=3, k0=2, seed=0, prices=prices.tolist()) for _ in range(2))
    history, extras = kh.play(one, X, y, compiled=compiled), 0
    for x, label, price in zip(X, y, history.price, strict=True):
        r = other.ask()
        assert price == pytest.approx(prices[r.attributes].sum() + prices[r.extra].sum())
        other.tell(r, x[r.attributes], label, r.extra, x[r.extra])
        extras += r.extra.size
    assert extras > 100


def test_the_price_of_a_row_is_the_same_in_a_block_and_by_the_protocol():
    X, y, _ = kh.streams.synthetic(d=6, k=2, T=200, seed=0)
    options = {"prices": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], "error_cost": 50.0}
    block, rows = (
        kh.play(kh.make("thrifty", d=6, k=4, seed=0, **options), X, y, compiled=c).price for c in (True, False)
    )
    assert len(set(block.tolist())) > 2
    assert block.tolist() == rows.tolist()
