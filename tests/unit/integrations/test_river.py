"""The River adapter: River's own checks, and the promise that nothing is read which was not bought."""

import numpy as np
import pandas as pd
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.errors import KeyholeWarning

river = pytest.importorskip("river")

from river import checks, compose, evaluate, metrics, model_selection, preprocessing  # noqa: E402

from keyhole.integrations.river import BudgetedClassifier, BudgetedRegressor  # noqa: E402


class Counting(dict):
    """A row that knows which of its values were read."""

    def __init__(self, *args):
        super().__init__(*args)
        self.read = set()

    def __getitem__(self, key):
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.read.add(key)
        return super().get(key, default)

    def items(self):
        raise AssertionError("every value was read")

    values = items


def stream(T=300, d=8, make=dict):
    X, y, _ = kh.streams.synthetic(d=d, k=2, T=T, seed=3)
    return [
        (make({f"x{i}": float(v) for i, v in enumerate(row)}), float(label)) for row, label in zip(X, y, strict=True)
    ]


@pytest.mark.parametrize("check", list(checks.yield_checks(BudgetedRegressor(k=3, seed=42))), ids=lambda c: c.__name__)
def test_rivers_own_checks_pass(check):
    check(BudgetedRegressor(k=3, seed=42))


@pytest.mark.parametrize("algorithm", ["thrifty", "ds-oslrc", "fixed-random"])
def test_only_what_was_bought_is_read(algorithm):
    rows = stream(make=Counting)
    model = BudgetedRegressor(algorithm, k=3, seed=0)
    evaluate.progressive_val_score(rows, model, metrics.MAE())
    assert all(len(x.read) <= 3 for x, _ in rows)
    assert sum(bool(x.read) for x, _ in rows) > 200


def test_extras_are_read_when_the_label_is_there():
    rows = stream(make=Counting)
    model = BudgetedRegressor(k=2, k0=2, seed=0)
    for x, y in rows:
        model.predict_one(x)
        assert len(x.read) <= 2
        model.learn_one(x, y)
        assert len(x.read) <= 4


def test_it_predicts_what_the_learner_predicts():
    rows = stream()
    model, plain = BudgetedRegressor(k=3, seed=0), kh.make("thrifty", names=sorted(rows[0][0]), k=3, seed=0)
    X = np.array([[x[n] for n in plain.names] for x, _ in rows])
    expected = kh.play(plain, X, np.array([y for _, y in rows])).predictions
    for (x, y), want in zip(rows, expected, strict=True):
        assert model.predict_one(x) == pytest.approx(want, abs=1e-12)
        model.learn_one(x, y)


def test_late_labels_find_their_rounds():
    rows = stream(T=60)
    model = BudgetedRegressor(k=3, seed=0)
    for x, _ in rows:
        model.predict_one(x)
    assert len(model.learner.open_rounds) == 60
    for x, y in reversed(rows):
        model.learn_one(dict(x), y)  # a copy, as River hands it over
    assert model.learner.open_rounds == ()
    assert model.learner.t == 60


def test_rows_that_wait_too_long_are_given_up():
    model = BudgetedRegressor(k=3, seed=0, max_open=5)
    for x, _ in stream(T=20):
        model.predict_one(x)
    assert len(model.learner.open_rounds) == 5


def test_keys_may_vanish_and_new_ones_are_counted_and_not_read():
    model = BudgetedRegressor(k=3, seed=0)
    for i, (x, y) in enumerate(stream(T=100)):
        if i > 50:
            x = Counting({"x1": x["x1"], "new": 1.0})
        model.predict_one(x)
        model.learn_one(x, y)
    assert model.unknown_keys == {"new": 49}
    assert x.read <= {"x1"}


def test_keys_need_not_be_text():
    model = BudgetedRegressor(k=2, seed=0)
    for x, y in stream(T=50):
        row = {int(n[1:]): v for n, v in x.items()}
        model.predict_one(row)
        model.learn_one(row, y)
    assert model.learner.names == tuple("01234567")


def test_a_transformer_that_reads_everything_is_named():
    model = preprocessing.StandardScaler() | BudgetedRegressor(k=3, seed=0)
    with pytest.warns(KeyholeWarning, match="StandardScaler reads every feature"):
        evaluate.progressive_val_score(stream(T=20), model, metrics.MAE())


def test_a_selector_before_it_is_no_reason_to_warn(recwarn):
    model = compose.Select("x0", "x1", "x2") | BudgetedRegressor(k=2, seed=0)
    evaluate.progressive_val_score(stream(T=20), model, metrics.MAE())
    assert not [w for w in recwarn if issubclass(w.category, KeyholeWarning)]


def test_it_works_in_model_selection():
    models = [BudgetedRegressor(k=1, seed=0), BudgetedRegressor(k=3, seed=0)]
    race = model_selection.GreedyRegressor(models, metric=metrics.MSE())
    evaluate.progressive_val_score(stream(T=400), race, metrics.MSE())
    assert race.best_model.k == 3


def test_a_word_among_the_values_is_named():
    with pytest.raises(kh.ProtocolError, match="feature 'a' is 'red'"):
        BudgetedRegressor(k=1, seed=0).predict_one({"a": "red"})


@pytest.mark.parametrize("check", list(checks.yield_checks(BudgetedClassifier(k=3, seed=42))), ids=lambda c: c.__name__)
def test_rivers_own_checks_pass_for_the_classifier(check):
    check(BudgetedClassifier(k=3, seed=42))


def test_a_classifier_buys_gives_probabilities_and_names_a_third_label():
    rows = [(x, "ill" if y > 0 else "well") for x, y in stream(T=600, make=Counting)]
    model = BudgetedClassifier(k=3, seed=0)
    assert evaluate.progressive_val_score(rows, model, metrics.Accuracy()).get() > 0.7
    assert all(len(x.read) <= 3 for x, _ in rows)
    assert set(model.classes) == {"ill", "well"}
    assert sum(model.predict_proba_one(rows[0][0]).values()) == pytest.approx(1.0)
    with pytest.raises(kh.ProtocolError, match="'odd' is a third label"):
        model.learn_one(rows[1][0], "odd")
    booleans = BudgetedClassifier(k=3, seed=0)
    booleans.learn_one(rows[0][0], True)
    assert booleans.classes == (False, True)
    assert booleans.predict_proba_one(rows[1][0])[True] == pytest.approx(2 / 3)


def test_a_table_that_is_there_is_learnt_for_free():
    rows = stream(T=400)
    frame = pd.DataFrame([x for x, _ in rows]).assign(odd=1.0)
    labels = pd.Series([y for _, y in rows])
    labels[3], frame.loc[5, "x1"] = np.nan, np.nan
    model = compose.Pipeline(BudgetedRegressor(k=2, seed=0, names=[f"x{i}" for i in range(8)]))
    model.learn_many(frame, labels)
    mine, plain = model["BudgetedRegressor"], kh.make("thrifty", names=[f"x{i}" for i in range(8)], k=2, seed=0)
    plain.learn(frame.drop(columns="odd"), labels)
    assert to_bytes(mine.learner) == to_bytes(plain)
    assert (mine.learner.n_past_rows, mine.learner.t, mine.unknown_keys) == (399, 0, {"odd": 400})
    x = Counting(rows[0][0])
    assert mine.predict_one(x) == pytest.approx(rows[0][1], abs=0.5)
    assert len(x.read) <= 2
    mine.learn_many(frame[["x0", "odd"]], labels)  # what is not in the table was not observed
    assert (mine.learner.n_past_rows, mine.unknown_keys) == (798, {"odd": 800})


def test_a_classifier_learns_named_labels_of_a_table():
    rows = stream(T=300)
    frame = pd.DataFrame([x for x, _ in rows])
    labels = pd.Series(["ill" if y > 0 else "well" for _, y in rows])
    model = BudgetedClassifier(k=2, seed=0)
    with pytest.raises(kh.ProtocolError, match="'odd' is a third label"):
        model.learn_many(frame, labels.where(labels.index != 299, "odd"))
    assert (model.learner, model.classes) == (None, (False, True))
    with pytest.raises(kh.ProtocolError, match="row 1, column 'x0' is inf"):
        model.learn_many(frame.assign(x0=np.inf), labels)
    assert model.classes == (False, True)
    model.learn_many(frame, labels.where(labels.index != 0))
    assert model.learner.n_past_rows == 299
    truth = [model.predict_one(x) == label for (x, _), label in zip(rows, labels, strict=True)]
    assert np.mean(truth) > 0.9
    before = to_bytes(model.learner)
    with pytest.raises(kh.ProtocolError, match="row 1, column 'x0' is inf"):
        model.learn_many(frame.assign(x0=np.inf), labels)
    assert to_bytes(model.learner) == before
