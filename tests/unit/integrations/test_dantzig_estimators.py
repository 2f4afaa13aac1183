"""The Dantzig selector as scikit-learn has its estimators."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.model_selection import KFold  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from keyhole._internal.typing import Floats  # noqa: E402
from keyhole.estimation.dantzig import solve  # noqa: E402
from keyhole.estimation.dantzig.problem import no_solution  # noqa: E402
from keyhole.integrations.dantzig_selector import DantzigSelector, DantzigSelectorCV  # noqa: E402


@parametrize_with_checks([DantzigSelector(), DantzigSelectorCV(gammas=10, cv=3)])
def test_scikit_learn_accepts_the_estimators(estimator: object, check: object) -> None:
    check(estimator)


def sparse_data(seed: int = 0, n: int = 80, d: int = 12) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] - 2 * X[:, 3] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("gamma", [0.2, np.linspace(0.1, 0.5, 12)])
def test_the_coefficients_solve_the_stated_problem(gamma: "float | Floats") -> None:
    X, y = sparse_data()
    model = DantzigSelector(gamma, fit_intercept=False).fit(X, y)
    sol = solve(X.T @ X / 80, X.T @ y / 80, gamma)
    np.testing.assert_array_equal(model.coef_, sol.w)
    assert (np.abs(X.T @ (y - X @ model.coef_)) / 80 <= gamma + 1e-12).all()
    assert max(model.certificate_) <= 1e-9
    assert model.intercept_ == 0.0


def test_the_intercept_takes_up_every_shift() -> None:
    X, y = sparse_data()
    one, two = DantzigSelector(0.1).fit(X, y), DantzigSelector(0.1).fit(X + 3.0, y - 7.0)
    np.testing.assert_allclose(two.coef_, one.coef_, atol=1e-10)
    np.testing.assert_allclose(two.predict(X + 3.0), one.predict(X) - 7.0, atol=1e-9)
    assert np.mean(y - one.predict(X)) == pytest.approx(0, abs=1e-12)


def test_cross_validation_gives_the_error_of_each_fit_and_takes_the_best() -> None:
    X, y = sparse_data(1, n=40, d=8)
    grid = np.array([0.05, 0.4, 0.1])
    model = DantzigSelectorCV(grid, cv=KFold(4)).fit(X, y)
    np.testing.assert_array_equal(model.gammas_, [0.4, 0.1, 0.05])
    for i, gamma in enumerate(model.gammas_):
        for fold, (train, test) in enumerate(KFold(4).split(X)):
            error = np.mean((DantzigSelector(gamma).fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2)
            assert model.mse_path_[i, fold] == pytest.approx(error, rel=1e-6)
    assert model.gamma_ == model.gammas_[model.mse_path_.mean(axis=1).argmin()]
    np.testing.assert_array_equal(model.coef_, DantzigSelector(model.gamma_).fit(X, y).coef_)


def test_cross_validation_finds_the_support() -> None:
    X, y = sparse_data(2, n=300, d=30)
    model = DantzigSelectorCV(cv=5).fit(X, y)
    assert set(np.argsort(-np.abs(model.coef_))[:2]) == {0, 3}
    assert model.score(X, y) > 0.95


def test_more_attributes_than_rows_are_no_trouble() -> None:
    X, y = sparse_data(3, n=15, d=40)
    model = DantzigSelector(0.05).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 15
    assert max(model.certificate_) <= 1e-9


def test_where_rounding_takes_the_solution_away_gamma_grows_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sparse_data(4)
    asked: list[float] = []

    def reluctant(H: Floats, b: Floats, gamma: float) -> object:
        asked.append(float(gamma))
        return no_solution(b.size, "infeasible", "test") if len(asked) < 3 else solve(H, b, gamma)

    monkeypatch.setattr("keyhole.integrations.dantzig_selector.solve", reluctant)
    with pytest.warns(ConvergenceWarning, match="no solution at this gamma"):
        model = DantzigSelector(0.1).fit(X, y)
    assert asked[0] == 0.1
    assert asked == sorted(set(asked))
    np.testing.assert_allclose(model.coef_, solve(*_centred(X, y), 0.1).w, atol=1e-9)


def _centred(X: Floats, y: Floats) -> tuple[Floats, Floats]:
    X, y = X - X.mean(axis=0), y - y.mean()
    return X.T @ X / len(X), X.T @ y / len(X)
