"""`learn`: rows that are known already, for every learner that takes them."""

import numpy as np
import pandas as pd
import pytest

import keyhole as kh
from keyhole.algorithms._pairwise_moments import Pooled
from keyhole.core.serialization import from_bytes, to_bytes
from keyhole.testing import answer_round

from .cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning")

RECORDS = {a.name: a for a in kh.list_algorithms()}
LEARNING = [case for case in CASES if RECORDS[case.name].past_rows]
COMPLETE = [case for case in LEARNING if RECORDS[case.name].past_rows == "complete"]
GAPS = [case for case in LEARNING if RECORDS[case.name].past_rows == "any"]
OTHERS = [case for case in CASES if not RECORDS[case.name].past_rows]


def names_of(cases):
    return {"ids": [str(case) for case in cases]}


@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_past_rows_cost_nothing_and_survive_saving(case):
    X, y = case.stream(120)
    learner, twin = case.make(), case.make()
    open_round = learner.ask()
    twin.ask()
    for each in (learner, twin):
        each.learn(X[:80], y[:80])
    assert (learner.t, learner.n_past_rows, len(learner.open_rounds)) == (1, 80, 1)
    assert to_bytes(learner) == to_bytes(twin) == to_bytes(from_bytes(to_bytes(learner)))
    answer_round(learner, open_round, X[80], float(y[80]))
    loaded = from_bytes(to_bytes(learner))
    np.testing.assert_array_equal(
        kh.play(learner, X[81:], y[81:]).predictions, kh.play(loaded, X[81:], y[81:]).predictions
    )
    assert "80, free" in repr(learner) or "80, free" in str(learner._facts())


@pytest.mark.parametrize("labels", ["constant", "tiny"])
@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_past_rows_whose_labels_tell_nothing_leave_a_learner_that_can_be_saved(case, labels):
    X, y = case.stream(120)
    y = np.full_like(y, 7.0) if labels == "constant" else y * 1e-155  # so small that its square is 0
    learner = case.make()
    learner.learn(X[:80], y[:80])
    kh.play(learner, X[80:100], y[80:100])
    loaded = from_bytes(to_bytes(learner))
    assert to_bytes(loaded) == to_bytes(learner)
    assert np.isfinite(kh.play(loaded, X[100:], y[100:]).predictions).all()


@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_past_rows_lower_the_loss(case):
    if case.name == "fixed-random" or case.options.get("tuning") == "theory":
        pytest.skip("chosen without looking at any row, or with a width that leaves the estimate at zero")
    X, y = case.stream(1500, seed=1)
    fresh, taught = case.make(), case.make()
    taught.learn(X[:1000], y[:1000])
    assert kh.play(taught, X[1000:], y[1000:]).losses.sum() < kh.play(fresh, X[1000:], y[1000:]).losses.sum()


@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_a_table_that_is_refused_changes_no_byte(case):
    X, y = case.stream(40)
    learner = case.make()
    learner.learn(X[:20], y[:20])
    before = to_bytes(learner)
    infinite_cell, infinite_label = X.copy(), y.copy()
    infinite_cell[30, 2], infinite_label[17] = np.inf, -np.inf
    frame = pd.DataFrame(X, columns=learner.names)
    refused = [
        (infinite_cell, y, "row 31, column 'x2' is inf"),
        (X, infinite_label, "the label of row 18 is -inf"),
        (X[:, :-1], y, "X must have 9 columns|X must have 8 columns"),
        (X, y[:-1], "y must have one label per row of X, which has 40"),
        ([*X.tolist()[:2], ["a"] * learner.d], y[:3], "X must be numbers"),
        (X, ["yes"] * 40, "y must be numbers"),
        (frame.drop(columns="x1"), y, "no column 'x1'"),
        (frame.assign(other=1.0), y, "column 'other'"),
    ]
    for table, labels, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            learner.learn(table, labels)
        assert to_bytes(learner) == before


@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_rows_without_a_label_are_skipped_and_counted(case):
    X, y = case.stream(60)
    learner, without = case.make(), case.make()
    gaps = y.copy()
    gaps[[3, 50]] = np.nan
    learner.learn(X, gaps)
    without.learn(np.delete(X, [3, 50], axis=0), np.delete(y, [3, 50]))
    assert (learner.n_past_rows, learner.n_unlabelled_past_rows) == (58, 2)
    np.testing.assert_array_equal(learner.weights, without.weights)
    learner.learn(X[:0], y[:0])
    assert learner.n_past_rows == 58


@pytest.mark.parametrize("case", LEARNING, **names_of(LEARNING))
def test_a_frame_is_matched_by_name(case):
    X, y = case.stream(50)
    learner, twin = case.make(), case.make()
    learner.learn(X, y)
    frame = pd.DataFrame(X, columns=twin.names)
    twin.learn(frame[list(reversed(twin.names))], pd.Series(y))
    assert to_bytes(learner) == to_bytes(twin)


@pytest.mark.parametrize("case", COMPLETE, **names_of(COMPLETE))
def test_incomplete_rows_are_refused_by_learners_that_need_complete_ones(case):
    X, y = case.stream(20)
    learner = case.make()
    before = to_bytes(learner)
    X[4, 3] = np.nan
    with pytest.raises(kh.ConfigError, match="labelled row 5 has no 'x3'"):
        learner.learn(X, y)
    assert to_bytes(learner) == before


@pytest.mark.parametrize("case", GAPS, **names_of(GAPS))
def test_any_pattern_of_missing_cells_is_taken(case):
    X, y = case.stream(400, seed=2)
    learner = case.make()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X[7] = np.nan  # a row of which only the label is known
    X[:, 5] = np.nan  # an attribute that was never observed
    learner.learn(X, y)
    Xn, yn = case.stream(60, seed=2)
    assert np.isfinite(kh.play(learner, Xn, yn).predictions).all()
    assert to_bytes(from_bytes(to_bytes(learner))) == to_bytes(learner)


@pytest.mark.parametrize("case", OTHERS, **names_of(OTHERS))
def test_the_others_name_those_that_learn(case):
    X, y = case.stream(5)
    with pytest.raises(kh.ConfigError, match=r"cannot learn from past rows; thrifty, ds-oslrc,.* can$"):
        case.make().learn(X, y)


# -- exactly what is learnt


@pytest.mark.parametrize("name", ["vaw", "fixed-random", "oracle-support"])
def test_past_rows_move_the_weights_as_rounds_do(name):
    case = next(case for case in CASES if case.name == name)
    X, y = case.stream(50)
    learner, told = case.make(), case.make()
    learner.learn(X, y)
    kh.play(told, X, y)
    np.testing.assert_array_equal(learner.weights, told.weights)


@pytest.mark.parametrize("name", ["ds-oslrc", "ds-poslrc", "kale2017-dantzig"])
def test_a_complete_row_enters_the_estimates_unweighted(name):
    case = next(case for case in CASES if case.name == name)
    X, y = case.stream(50)
    learner = case.make()
    learner.learn(X[:20], y[:20])
    learner.learn(X[20:], y[20:])
    np.testing.assert_allclose(learner.estimate.seq.H, X.T @ X, rtol=0, atol=1e-12)
    np.testing.assert_allclose(learner.estimate.seq.b, X.T @ y, rtol=0, atol=1e-12)
    assert learner.estimate.seq.s == 50


def test_dual_averaging_takes_the_full_gradient():
    X, y, _ = kh.streams.synthetic(9, 3, 30, seed=0)
    learner = kh.make("ito2017-1", d=9, k=3, k0=4, seed=0, tuning="theory")
    learner.learn(X, y)
    h, w = np.zeros(9), np.zeros(9)
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        h += 2.0 * (w @ x - label) * x
        w = -h / max(8.0 * 9 / 4 * np.sqrt(n + 1.0), np.linalg.norm(h))
    np.testing.assert_allclose(learner.weights[learner.support], w[learner.support], rtol=1e-12)


def test_pooled_sums_of_a_table_equal_those_of_its_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3.0, 2.0, (40, 6)), rng.normal(5.0, 1.0, 40)
    X[rng.random(X.shape) < 0.4] = np.nan
    X[:25, 2] = np.nan
    table, rows = Pooled(6), Pooled(6)
    for part in (slice(0, 10), slice(10, 40)):
        table.add_rows(X[part], y[part])
    for x, label in zip(X, y.tolist(), strict=True):
        there = np.flatnonzero(~np.isnan(x))
        rows.add(there, x[there], label)
    for field in ("attr", "pairs", "labels"):
        for name in getattr(rows, field).dtype.names:
            np.testing.assert_allclose(getattr(table, field)[name], getattr(rows, field)[name], rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(table.ref, rows.ref)


def test_a_source_that_no_row_can_pay_for_is_not_learnt():
    """Only past rows can show it: it must not take the place of what the budget buys."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = 3.0 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=300)
    learner = kh.make("thrifty", d=4, prices=[50.0, 2.0, 2.0, 2.0], budget_per_row=10.0, seed=0)
    learner.learn(X, y)
    assert learner.support.tolist() == [1]
    assert 1 in learner.ask().attributes
