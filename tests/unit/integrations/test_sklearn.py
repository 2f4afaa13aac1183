"""The scikit-learn adapter: its checks, its tools, and predictions that read the support only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import keyhole as kh
from keyhole.integrations.sklearn import BudgetedClassifier, BudgetedRegressor


def table(T=600, d=12, seed=1):
    X, y, w = kh.streams.synthetic(d=d, k=3, T=T, seed=seed)
    return pd.DataFrame(X, columns=[f"c{i}" for i in range(d)]), pd.Series(y, name="y"), w


@parametrize_with_checks(
    [
        BudgetedRegressor(k=3, random_state=0),
        BudgetedRegressor(k=3, random_state=0, training="free"),
        BudgetedClassifier(k=3, random_state=0),
        BudgetedClassifier(k=3, random_state=0, training="free"),
    ],
    # Rows are learnt in their order, and a repeated row would be bought again: SGDRegressor declares the same.
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "an integer weight is not a repeated row",
        "check_sample_weight_equivalence_on_sparse_data": "an integer weight is not a repeated row",
    },
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_it_trains_as_the_learner_does_and_says_so():
    X, y, w = table()
    model = BudgetedRegressor(k=3, random_state=0).fit(X, y)
    learner = kh.make("thrifty", names=list(X), k=3, seed=0)
    history = kh.play(learner, X.to_numpy(), y.to_numpy())
    assert np.array_equal(model.coef_, learner.weights)
    assert model.intercept_ == learner.intercept
    assert np.array_equal(model.history_.losses, history.losses)
    assert set(model.support_) == set(np.flatnonzero(w))
    assert list(model.get_feature_names_out()) == [f"c{i}" for i in np.flatnonzero(w)]
    assert list(model.feature_names_in_) == list(X)


def test_prediction_reads_the_support_only_and_row_by_row():
    X, y, _ = table()
    model = BudgetedRegressor(k=3, random_state=0).fit(X, y)
    blank = X.copy()
    blank[[c for c in X if c not in model.get_feature_names_out()]] = np.nan
    expected = model.predict(X)
    assert np.array_equal(model.predict(blank), expected)
    assert np.array_equal(model.predict(blank[::-1])[::-1], expected)
    assert model.learner_.t == len(X)  # predicting asked nothing of the learner itself


def test_partial_fit_goes_on():
    X, y, _ = table()
    whole = BudgetedRegressor(k=3, random_state=0).fit(X, y)
    parts = BudgetedRegressor(k=3, random_state=0)
    for i in range(0, 600, 100):
        parts.partial_fit(X[i : i + 100], y[i : i + 100])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(parts.bought_, whole.bought_)


def test_the_ledger_adds_up():
    X, y, _ = table()
    prices = {c: 1.0 + i for i, c in enumerate(X)}
    model = make_pipeline(BudgetedRegressor(k=3, prices=prices, random_state=0)).fit(X, y)[-1]
    ledger = model.ledger_
    assert list(ledger.columns) == ["attribute", "bought", "price", "spent"]
    assert ledger["spent"].sum() == pytest.approx(float(model.history_.bought @ np.array(list(prices.values()))))
    assert ledger["bought"].sum() <= 3 * len(X)


@pytest.mark.parametrize(
    "money",
    [
        {"algorithm": "fixed-random", "k": 3},
        {"k": 2},
        {"k": None, "budget_per_row": 2.5},
        {"k": None, "error_cost": 100.0},
        {"k": None, "total_budget": 900.0, "expected_rows": 600},
    ],
    ids=str,
)
def test_the_ledger_adds_up_with_panels_and_what_is_known(money):
    X, y, _ = table()
    sources, known = {"panel": ["c0", "c1"], "pair": ["c5", "c4"]}, ["c2"]
    prices = {"panel": 3.0, "pair": 0.5} | {c: 1.0 for c in X if c not in ("c0", "c1", "c2", "c4", "c5")}
    model = BudgetedRegressor(**money, sources=sources, free=known, prices=prices, random_state=0)
    model.fit(X[:400], y[:400])
    spent = model.history_.price.sum()
    model.partial_fit(X[400:], y[400:])
    spent += model.history_.price.sum()
    assert spent > 0
    assert model.ledger_["spent"].sum() == pytest.approx(spent)
    assert model.ledger_["price"].tolist()[:6] == [3.0, 0.0, 0.0, 1.0, 0.5, 0.0]  # at the first column of a panel
    assert model.ledger_["bought"][2] == 0  # it is known


def test_it_works_in_grid_search_cross_validation_and_clone():
    X, y, _ = table()
    search = GridSearchCV(BudgetedRegressor(random_state=0), {"k": [1, 3]}, cv=2).fit(X, y)
    assert search.best_params_ == {"k": 3}
    assert cross_val_score(clone(search.best_estimator_), X, y, cv=2, n_jobs=2).min() > 0.3


def test_it_selects_columns_as_a_frame():
    X, y, _ = table()
    model = BudgetedRegressor(k=3, random_state=0).set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())


def test_other_algorithms_and_their_options():
    X, y, _ = table(T=200)
    model = BudgetedRegressor("ds-oslrc", k=4, options={"explore": "2 t^(-1/3)"}, random_state=0).fit(X, y)
    assert model.learner_.name == "ds-oslrc"
    with pytest.raises(kh.ConfigError, match="no option 'nonsense'"):
        BudgetedRegressor("ds-oslrc", k=4, options={"nonsense": 1}).fit(X, y)


def test_a_free_training_table_buys_nothing_and_may_have_gaps():
    X, y, w = kh.streams.synthetic(d=20, k=4, T=600, seed=1)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = BudgetedRegressor(k=4, random_state=0, training="free").fit(X, y)
    assert sorted(model.support_) == sorted(w.nonzero()[0])
    assert model.bought_.sum() == 0
    assert (model.learner_.t, model.learner_.n_past_rows) == (0, 600)
    assert not hasattr(model, "history_")
    with pytest.raises(kh.ConfigError, match="training must be 'paid' or 'free', not 'gift'"):
        BudgetedRegressor(training="gift").fit(X, y)


@pytest.mark.parametrize("training", ["paid", "free"])
def test_a_classifier_gives_probabilities_of_both_classes(training):
    X, y, _ = kh.streams.synthetic(d=10, k=3, T=1500, seed=1)
    words = np.where(y > 0, "ill", "well")
    model = BudgetedClassifier(k=3, random_state=0, training=training).fit(X, words)
    assert model.classes_.tolist() == ["ill", "well"]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert model.score(X, words) > 0.85
    assert (model.predict(X) == np.where(p[:, 1] > 0.5, "well", "ill")).all()
    with pytest.raises(ValueError, match="only one class"):
        BudgetedClassifier().fit(X, np.zeros(1500))
    with pytest.raises(ValueError, match="'odd', which is not one of"):
        model.partial_fit(X[:3], ["ill", "odd", "well"])
    began = BudgetedClassifier(k=3, random_state=0).partial_fit(X[:5], ["ill"] * 5, classes=["ill", "well"])
    assert began.predict_proba(X[:1])[0, 0] > 0.5


def test_a_second_fit_begins_a_new_ledger_and_partial_fit_goes_on_with_it():
    X, y, _ = table(T=200)
    model = BudgetedRegressor(k=3, random_state=0).fit(X, y)
    once = model.bought_.copy()
    assert model.fit(X, y).bought_.tolist() == once.tolist()
    assert model.fit(X[:50], y[:50]).bought_.sum() == 50 * 3
    model.partial_fit(X[50:], y[50:])
    assert model.bought_.sum() == 200 * 3


@pytest.mark.parametrize("training", ["paid", "free"])
@pytest.mark.parametrize("kind", [BudgetedRegressor, BudgetedClassifier])
def test_equal_weights_change_nothing_and_a_weight_of_zero_removes_its_row(kind, training):
    X, y, _ = table(T=300)
    y = y if kind is BudgetedRegressor else y > 0
    model = kind(k=3, random_state=0, training=training)
    plain = clone(model).fit(X, y)
    assert np.array_equal(clone(model).fit(X, y, sample_weight=np.full(300, 7.0)).coef_, plain.coef_)
    weights = np.arange(300) % 3 > 0
    fewer = clone(model).fit(X[weights], y[weights])
    weighted = clone(model).fit(X, y, sample_weight=weights)
    assert np.array_equal(weighted.coef_, fewer.coef_)
    assert np.array_equal(weighted.bought_, fewer.bought_)
    again = clone(model)
    for i in range(0, 300, 50):
        again.partial_fit(X[i : i + 50], y[i : i + 50], sample_weight=weights[i : i + 50])
    np.testing.assert_allclose(again.coef_, fewer.coef_, rtol=0.0 if training == "paid" else 0.05)


def test_a_row_is_kept_and_paid_for_as_often_as_its_weight_says():
    n = 20_000
    y = np.arange(n) % 4.0
    model = BudgetedRegressor("fixed-random", k=1, random_state=3).fit(np.ones((n, 2)), y, sample_weight=2.0 * y)
    kept = np.bincount(model.history_.labels.astype(int), minlength=4)
    assert kept[0] == 0
    assert kept[3] == n / 4  # the largest weight
    share = np.array([1, 2]) / 3
    assert np.abs(kept[1:3] - n / 4 * share).max() < 5 * np.sqrt(n / 4 * 2 / 9)
    assert model.bought_.sum() == kept.sum()  # a row that is not kept is not bought
    part = BudgetedRegressor("fixed-random", k=1, random_state=3).partial_fit(np.ones((1, 2)), [0.0], sample_weight=[8])
    for _ in range(40):
        part.partial_fit(np.ones((5, 2)), np.zeros(5), sample_weight=np.full(5, 2.0))  # a quarter of the largest
    assert 20 < part.bought_.sum() < 90


def test_the_weights_move_the_estimate_to_the_weighted_rows():
    rng = np.random.default_rng(0)
    X, heavy = rng.normal(size=(3000, 4)), rng.random(3000) < 0.5
    y = X[:, 0] * np.where(heavy, 1.0, -1.0)
    model = BudgetedRegressor(k=1, random_state=0, training="free").fit(X, y, sample_weight=np.where(heavy, 9.0, 1.0))
    assert model.coef_[0] == pytest.approx(0.8, abs=0.1)  # (9 - 1) / (9 + 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "one weight per row: 200 rows, weights of shape"),
        ([-1.0] * 200, "finite numbers >= 0"),
        ([np.nan] * 200, "finite numbers >= 0"),
        ([0.0] * 200, "every sample_weight is zero"),
        (["heavy"] * 200, "sample_weight must be numbers"),
    ],
)
def test_weights_that_cannot_be_leave_the_learner_as_it_was(weights, message):
    X, y, _ = table(T=200)
    model = BudgetedRegressor(k=3, random_state=0).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(kh.ConfigError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    assert model.learner_.t == 200
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize(
    ("training", "step", "message"),
    [
        (
            "paid",
            StandardScaler(),
            r"StandardScaler before BudgetedRegressor .* ledger_ does not count; thrifty needs no",
        ),
        ("paid", PCA(), r"PCA before BudgetedRegressor .* values that ledger_ does not count$"),
        ("paid", SelectKBest(f_regression, k=5), "ledger_ does not count"),
        ("free", PCA(), "a prediction then needs more columns than the support"),
        ("free", make_column_transformer((PCA(), ["c0", "c1"])), "more columns than the support"),
        ("free", StandardScaler(), None),
        ("free", SelectKBest(f_regression, k=5), None),
        ("paid", "passthrough", None),
    ],
)
def test_a_step_that_reads_all_columns_before_it_is_reported(recwarn, training, step, message):
    X, y, _ = table(T=100)
    model = make_pipeline(step, BudgetedRegressor(k=2, random_state=0, training=training))
    cross_val_score(model, X, y, cv=2)
    said = [str(w.message) for w in recwarn if issubclass(w.category, kh.KeyholeWarning)]
    assert len(said) == (2 if message else 0)
    recwarn.clear()
    if message:
        with pytest.warns(kh.KeyholeWarning, match=message):
            model.fit(X, y)


@pytest.mark.parametrize(
    "named", [{"prices": {"c1": 2.0, "*": 1.0}}, {"sources": {"panel": ["c1", "c2"]}}, {"free": ["c1"]}], ids=str
)
def test_columns_that_lost_their_names_are_said_to_have_lost_them(named):
    X, y, _ = table(T=100)
    model = BudgetedRegressor(k=2, random_state=0, **named)
    with pytest.raises(kh.ConfigError, match="X has no column 'c1', because it has no column names"):
        model.fit(X.to_numpy(), y)
    with pytest.warns(kh.KeyholeWarning, match="StandardScaler"):
        make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(X, y)
    BudgetedRegressor(k=2, prices={"x1": 2.0, "*": 1.0}).fit(X.to_numpy(), y)  # the names of nameless columns


def test_a_k_beyond_the_columns_is_told():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(kh.KeyholeWarning, match="k = 30 is more than the 3 attributes"):
        BudgetedRegressor(k=30, random_state=0).fit(X, X[:, 0])
