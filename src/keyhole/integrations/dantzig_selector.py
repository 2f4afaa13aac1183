"""The Dantzig selector as a scikit-learn estimator, for ordinary data (X, y).

min |w|_1   s.t.   |X'(y - X w) / n|_i <= gamma_i   for every attribute i
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from .._internal.typing import Floats
from ..estimation.dantzig import Path, Solution, gamma_max, path, solve

__all__ = ["Certificate", "DantzigSelector", "DantzigSelectorCV"]


class Certificate(NamedTuple):
    """Residuals and duality gap of the coefficients; all 0 up to rounding at the optimum."""

    primal_residual: float
    dual_residual: float
    gap: float


class _Centred(NamedTuple):
    """X'X / n and X'y / n of the centred data, and the means."""

    H: Floats
    b: Floats
    x_mean: Floats
    y_mean: float


def _moments(X: Floats, y: Floats, fit_intercept: bool) -> _Centred:
    x_mean = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    y_mean = float(y.mean()) if fit_intercept else 0.0
    X = X - x_mean
    return _Centred(X.T @ X / len(X), X.T @ (y - y_mean) / len(X), x_mean, y_mean)


def _solve(data: _Centred, gamma: "float | Floats") -> Solution:
    """Return the solution, with slightly larger gamma if rounding makes the problem infeasible.

    X'y is in the range of X'X, so the problem is feasible in exact arithmetic.
    """
    sol, more = solve(data.H, data.b, gamma), 1e-12
    while sol.status != "optimal" and more < 1.0:
        wider = np.asarray(gamma) + more * gamma_max(data.b)
        sol, more = solve(data.H, data.b, wider), 10.0 * more
    if sol.status != "optimal":
        raise ValueError(
            f"the Dantzig problem of these data is {sol.status} at every gamma tried; scale the columns of X"
        )
    if more > 1e-12:
        text = f"no solution at this gamma to machine precision; solved at gamma + {more * gamma_max(data.b) / 10:.1e}"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
    return sol


class DantzigSelector(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression by the Dantzig selector (Candes and Tao 2007), exactly, with a certificate.

    Parameters
    ----------
    gamma : float or array of shape (n_features,)
        The bound on the correlation of the residual with each attribute; from |X'y/n|_inf on all coefficients are 0.
    fit_intercept : bool
        Whether to centre X and y first.

    Attributes
    ----------
    coef_, intercept_ : the solution
    certificate_ : `Certificate` (primal residual, dual residual, gap), all 0 up to rounding
    dual_ : the dual solution
    n_iter_ : the number of pivots

    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> DantzigSelector(0.1).fit(X, X @ [2.0, 0.0]).coef_.round(6).tolist()
    [1.8, 0.0]
    """

    def __init__(self, gamma: "float | Floats" = 0.1, *, fit_intercept: bool = True) -> None:
        self.gamma = gamma
        self.fit_intercept = fit_intercept

    def fit(self, X: Floats, y: Floats) -> "DantzigSelector":
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._take(_moments(X, np.asarray(y, float), self.fit_intercept), self.gamma)
        return self

    def _take(self, data: _Centred, gamma: "float | Floats") -> None:
        """Solve, and store the solution and its certificate."""
        sol = _solve(data, gamma)
        self.coef_ = sol.w
        self.intercept_ = data.y_mean - float(data.x_mean @ sol.w)
        self.dual_ = sol.dual
        self.certificate_ = Certificate(sol.primal_residual, sol.dual_residual, sol.gap)
        self.n_iter_ = max(1, sol.pivots)

    def predict(self, X: Floats) -> Floats:
        """Return X w + intercept."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)


class DantzigSelectorCV(DantzigSelector):
    """The Dantzig selector at the gamma with the smallest cross-validated squared error.

    Parameters
    ----------
    gammas : int or array
        The values to try, or their number, evenly on a log scale from gamma_max down to `eps` gamma_max.
    eps : float
        The smallest value tried, as a share of gamma_max.
    cv : int, splitter or iterable
        A cross-validation splitter as in scikit-learn; None means five folds.

    Attributes
    ----------
    gamma_ : the chosen gamma
    gammas_ : the candidates, in descending order
    mse_path_ : (n_gammas, n_folds) the error of each candidate on each fold; one path per fold serves all gammas
    """

    def __init__(
        self, gammas: "int | Floats" = 100, *, eps: float = 1e-3, cv: object = None, fit_intercept: bool = True
    ) -> None:
        self.gammas = gammas
        self.eps = eps
        self.cv = cv
        self.fit_intercept = fit_intercept

    def fit(self, X: Floats, y: Floats) -> "DantzigSelectorCV":
        """Choose gamma by cross-validation, then fit to all rows."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, float)
        data = _moments(X, y, self.fit_intercept)
        self.gammas_ = self._grid(gamma_max(data.b))
        folds = check_cv(self.cv).split(X, y)
        self.mse_path_ = np.column_stack([self._errors(X, y, train, test) for train, test in folds])
        self.gamma_ = float(self.gammas_[self.mse_path_.mean(axis=1).argmin()])
        self._take(data, self.gamma_)
        return self

    def _grid(self, top: float) -> Floats:
        """Return the gammas to try, in descending order."""
        if isinstance(self.gammas, int | np.integer):
            return np.geomspace(1.0, self.eps, int(self.gammas)) * top
        return np.sort(np.asarray(self.gammas, float))[::-1]

    def _errors(self, X: Floats, y: Floats, train: Floats, test: Floats) -> Floats:
        """Return the squared error on `test`, at every gamma, of the solution path of `train`."""
        data = _moments(X[train], y[train], self.fit_intercept)
        curve: Path = path(data.H, data.b, float(self.gammas_[-1]))
        w = np.array([curve.at(max(gamma, curve.gammas[-1])) for gamma in self.gammas_])
        errors = (X[test] - data.x_mean) @ w.T - (y[test] - data.y_mean)[:, None]
        return np.asarray((errors**2).mean(axis=0))
