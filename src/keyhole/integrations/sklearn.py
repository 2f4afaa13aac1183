"""Learners of keyhole as scikit-learn estimators: trained on what they bought, or on a free table, and frozen."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .._internal.dataframes import to_frame
from .._internal.typing import Bools, Floats, Ints
from ..core.learner import FrozenLearner, Learner
from ..errors import ConfigError
from ..simulation import play
from ._estimator import learner_of

__all__ = ["BudgetedClassifier", "BudgetedRegressor"]


class _Budgeted(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: the parameters, one learner, and prediction from its support alone."""

    _label = "number"

    # scikit-learn reads its options from this list and finds each again under its name; so does River's twin.
    def __init__(
        self,
        algorithm: str = "thrifty",
        k: int | None = 5,
        *,
        k0: int = 0,
        prices: "Mapping[str, float] | Sequence[float] | None" = None,
        sources: "Mapping[str, Sequence[str]] | None" = None,
        free: "Sequence[str] | None" = None,
        budget_per_row: float | None = None,
        error_cost: float | None = None,
        total_budget: float | None = None,
        expected_rows: int | None = None,
        half_life: float | None = None,
        training: str = "paid",
        options: "Mapping[str, object] | None" = None,
        random_state: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.k = k
        self.k0 = k0
        self.prices = prices
        self.sources = sources
        self.free = free
        self.budget_per_row = budget_per_row
        self.error_cost = error_cost
        self.total_budget = total_budget
        self.expected_rows = expected_rows
        self.half_life = half_life
        self.training = training
        self.options = options
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _get_support_mask(self) -> Bools:
        """What `get_support`, `transform` and `get_feature_names_out` of a selector are made of."""
        check_is_fitted(self)
        mask: Bools = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.support_] = True
        return mask

    def _fitted(self, X: Floats, y: Floats, new: bool) -> None:
        """Train on rows that are checked: buy through the simulation, or learn from a table that is free."""
        if self.training not in ("paid", "free"):
            raise ConfigError(f"training must be 'paid' or 'free', not {self.training!r}")
        if new:
            self.learner_ = self._made()
            self.bought_: Ints = np.zeros(self.n_features_in_, dtype=np.int64)
        if self.training == "free":
            self.learner_.learn(X, y)
        else:
            self.history_ = play(self.learner_, X, y, keep=False)
            self.bought_ = self.bought_ + self.history_.bought
        self._freeze()

    def _frozen_scores(self, X: Floats) -> Floats:
        """What the learner says now; only the columns of the support are read."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return self._frozen.predict(X[:, self._frozen.attributes])

    def _made(self) -> Learner:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            raise ConfigError(f"random_state must be a whole number or None, not {seed!r}")
        given = self.get_params() | {"label": self._label}
        return learner_of(self.algorithm, list(names), self.k, self.k0, seed, given, self.options)

    def _freeze(self) -> None:
        learner = self.learner_
        self.coef_ = learner.weights
        self.intercept_ = float(getattr(learner, "intercept", 0.0))
        self._frozen = FrozenLearner(learner)
        self.support_: Ints = np.sort(self._frozen.attributes)

    @property
    def ledger_(self) -> object:
        """How often each attribute was bought while training, its price, and what it cost, as a frame.

        The price of a panel is paid once: it stands at the first of its attributes.
        """
        check_is_fitted(self)
        names, price = self.learner_.names, self.learner_.catalog.charge
        return to_frame({"attribute": names, "bought": self.bought_, "price": price, "spent": self.bought_ * price})


class BudgetedRegressor(RegressorMixin, _Budgeted):  # type: ignore[misc]
    """Linear regression that buys at most k attributes a row, to train and to predict.

    `fit` plays the rows once, in their order, through `keyhole.play`: the learner is handed the attributes it asks
    for, and NaN among them means bought but unobserved. `predict` is frozen: it reads the support only, so the other
    columns may be NaN, and a row's prediction does not depend on the rows beside it. As a selector, `transform` keeps
    the columns of the support.

    Parameters
    ----------
    algorithm : str
        A name of `kh.list_algorithms()`.
    k : int or None
        Attributes bought a row (sources, where there are); None where money limits.
    k0 : int
        Attributes bought a row after the label.
    prices, sources, free, budget_per_row, error_cost, total_budget, expected_rows, half_life
        As `kh.make` takes them.
    training : "paid" or "free"
        "paid": rows are bought through `keyhole.play`. "free": the training table is there anyway, so that `fit` is
        `learner.learn` and only prediction is paid: a cost-aware sparse regression. Cells may be NaN.
    options : dict or None
        Further options of the algorithm.
    random_state : int or None
        Seed of everything random.

    Attributes
    ----------
    learner_ : the learner, trained
    coef_, intercept_ : its weights and what it predicts where every attribute is 0
    support_ : the attributes it buys, as indices
    ledger_ : one record per attribute: how often it was bought while training, and for how much
    history_ : the `kh.History` of the last `fit` or `partial_fit`, where training is paid
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    >>> import keyhole as kh
    >>> from keyhole.integrations.sklearn import BudgetedRegressor
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> model = BudgetedRegressor(k=4, random_state=0).fit(X, y)
    >>> sorted(model.support_) == sorted(w.nonzero()[0])
    True
    """

    def fit(self, X: Floats, y: Floats) -> "BudgetedRegressor":
        """Train a new learner on the rows, in their order."""
        self._fitted(*self._checked(X, y, reset=True), new=True)
        return self

    def partial_fit(self, X: Floats, y: Floats) -> "BudgetedRegressor":
        """Go on with further rows."""
        first = not hasattr(self, "learner_")
        self._fitted(*self._checked(X, y, reset=first), new=first)
        return self

    def predict(self, X: Floats) -> Floats:
        """What the learner says now; only the columns of the support are read."""
        return self._frozen_scores(X)

    def _checked(self, X: Floats, y: Floats, reset: bool) -> tuple[Floats, Floats]:
        options = {"dtype": np.float64, "y_numeric": True, "ensure_all_finite": "allow-nan", "reset": reset}
        X, y = validate_data(self, X, y, **options)
        return X, np.asarray(y, dtype=np.float64)


class BudgetedClassifier(ClassifierMixin, _Budgeted):  # type: ignore[misc]
    """Two classes from at most k attributes a row: `predict_proba` gives calibrated probabilities.

    The learner minimises the squared error of the probability (the Brier score). Everything else, the parameters too,
    is as for `BudgetedRegressor`; `algorithm` must be one that takes yes/no labels.

    Attributes
    ----------
    classes_ : the two classes, sorted; probabilities are of both, in this order
    learner_, coef_, intercept_, support_, ledger_, history_, n_features_in_, feature_names_in_
        As for `BudgetedRegressor`.

    >>> import keyhole as kh
    >>> from keyhole.integrations.sklearn import BudgetedClassifier
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> model = BudgetedClassifier(k=4, random_state=0).fit(X, y > 0)
    >>> bool(model.score(X, y > 0) > 0.8), model.predict_proba(X[:3]).shape
    (True, (3, 2))
    """

    _label = "binary"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Floats, y: Floats) -> "BudgetedClassifier":
        """Train a new learner on the rows, in their order."""
        X, y = self._checked(X, y, reset=True)
        self.classes_ = self._two_classes(y)
        self._fitted(X, self._as_numbers(y), new=True)
        return self

    def partial_fit(self, X: Floats, y: Floats, classes: "Sequence[object] | None" = None) -> "BudgetedClassifier":
        """Go on with further rows; the first call needs `classes` unless its rows have both."""
        first = not hasattr(self, "learner_")
        X, y = self._checked(X, y, reset=first)
        if first:
            self.classes_ = self._two_classes(y if classes is None else np.asarray(classes))
        self._fitted(X, self._as_numbers(y), new=first)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """(n, 2) the probabilities of `classes_`; only the columns of the support are read."""
        p = self._frozen_scores(X)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Floats) -> Floats:
        """The likelier class of each row."""
        likely = self._frozen_scores(X) > 0.5
        found: Floats = self.classes_[likely.astype(np.int64)]
        return found

    def _checked(self, X: Floats, y: Floats, reset: bool) -> tuple[Floats, Floats]:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        check_classification_targets(y)
        return X, y

    def _two_classes(self, y: Floats) -> Floats:
        kind, classes = type_of_target(y, input_name="y", raise_unknown=True), np.unique(y)
        if classes.size > 2:
            raise ConfigError(f"Only binary classification is supported. The type of the target is {kind}.")
        if classes.size < 2:
            raise ConfigError(f"y has only one class, {classes[0]!r}; a classifier needs two")
        return classes

    def _as_numbers(self, y: Floats) -> Floats:
        other = np.setdiff1d(y, self.classes_)
        if other.size:
            raise ConfigError(f"y has the class {other[0]!r}, which is none of {self.classes_.tolist()}")
        return np.asarray(y == self.classes_[1], dtype=np.float64)
