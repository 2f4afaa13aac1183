"""Keyhole learners as scikit-learn estimators: trained on bought values or on a free table, frozen in prediction."""

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .._internal.dataframes import to_frame
from .._internal.formatting import join_names
from .._internal.typing import Bools, Floats, Ints
from ..core.learner import FrozenLearner, Learner
from ..errors import ConfigError, KeyholeWarning
from ..simulation import play
from ._estimator import learner_of

__all__ = ["BudgetedClassifier", "BudgetedRegressor"]

# Separates the draw of rows by their weights from the learner's own draws, which start from the same seed.
_ROW_DRAWS = 0x726F77


class _Budgeted(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Shared by both estimators: the parameters, one learner, and prediction from its support alone."""

    _label = "number"

    # scikit-learn reads its parameters from this signature and expects attributes of the same names, like River.
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
        """Return the mask behind `get_support`, `transform` and `get_feature_names_out`."""
        check_is_fitted(self)
        mask: Bools = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.support_] = True
        return mask

    def _fitted(self, X: Floats, y: Floats, sample_weight: "Floats | None", new: bool) -> None:
        """Train on validated rows: buy in simulation, or learn from a free table."""
        if self.training not in ("paid", "free"):
            raise ConfigError(f"training must be 'paid' or 'free', not {self.training!r}")
        weights = _checked_weights(sample_weight, y.size)
        self._warn_of_readers()
        if new:
            self.learner_ = self._made()
            self.bought_: Ints = np.zeros(self.n_features_in_, dtype=np.int64)
            self._row_draws = np.random.default_rng([_ROW_DRAWS, self.learner_.seed])
            self._largest_weight = 0.0
        # Rejection sampling: the rows kept are distributed as the weights say, so any algorithm can learn from them,
        # and a row that is not kept is not bought.
        self._largest_weight = max(self._largest_weight, float(weights.max()))
        kept = self._row_draws.random(y.size) * self._largest_weight < weights
        X, y = X[kept], y[kept]
        if self.training == "free":
            self.learner_.learn(X, y)
        else:
            self.history_ = play(self.learner_, X, y, keep=False)
            self.bought_ = self.bought_ + self.history_.bought
        self._freeze()

    def _frozen_scores(self, X: Floats) -> Floats:
        """Return the learner's current predictions; only the columns of the support are read."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return self._frozen.predict(X[:, self._frozen.attributes])

    def _made(self) -> Learner:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            raise ConfigError(f"random_state must be a whole number or None, not {seed!r}")
        given = self.get_params() | {"label": self._label}
        if not hasattr(self, "feature_names_in_"):
            self._refuse_lost_names(set(names))
        return learner_of(self.algorithm, list(names), self.k, self.k0, seed, given, self.options)

    def _refuse_lost_names(self, columns: set[str]) -> None:
        """Refuse parameters that name columns if X is an array, whose columns are x0, x1, ..."""
        sources = self.sources if isinstance(self.sources, Mapping) else {}
        priced = set(self.prices) - set(sources) - {"*"} if isinstance(self.prices, Mapping) else set()
        named = {"prices": priced, "free": set(self.free or ()), "sources": {c for s in sources.values() for c in s}}
        for parameter, wanted in named.items():
            if wanted - columns:
                raise ConfigError(
                    f"{parameter}: X has no column {min(wanted - columns)!r}, because it has no column names; pass a "
                    "data frame, and call set_output(transform='pandas') on the steps before this one in a pipeline"
                )

    def _warn_of_readers(self) -> None:
        """Warn if steps before this one in a pipeline may read columns that are not bought."""
        steps = [step for step in _steps_before(self) if step is not None and step != "passthrough"]
        if self.training == "free":
            # Training costs nothing; a step that treats every column apart needs only the support in prediction.
            steps = [step for step in steps if not isinstance(step, OneToOneFeatureMixin | SelectorMixin)]
            harm = "a prediction then needs more columns than the support"
        else:
            harm = "it then reads values that ledger_ does not count"
        if steps:
            names, estimator = join_names([type(step).__name__ for step in steps]), type(self).__name__
            text = f"{names} before {estimator} in the pipeline may read every column: {harm}"
            scaling = self.algorithm == "thrifty" and all(isinstance(step, OneToOneFeatureMixin) for step in steps)
            advice = "; thrifty needs no scaling" if scaling else ""
            warnings.warn(text + advice, KeyholeWarning, stacklevel=4)

    def _freeze(self) -> None:
        learner = self.learner_
        self.coef_ = learner.weights
        self.intercept_ = float(getattr(learner, "intercept", 0.0))
        self._frozen = FrozenLearner(learner)
        self.support_: Ints = np.sort(self._frozen.attributes)

    @property
    def ledger_(self) -> object:
        """How often each attribute was bought in training, its price, and the total spent, as a data frame.

        The price of a panel is charged once, at the first of its attributes.
        """
        check_is_fitted(self)
        names, price = self.learner_.names, self.learner_.catalog.charge
        return to_frame({"attribute": names, "bought": self.bought_, "price": price, "spent": self.bought_ * price})


class BudgetedRegressor(RegressorMixin, _Budgeted):  # type: ignore[misc]
    """Linear regression that buys at most k attributes per row, in training and in prediction.

    `fit` plays the rows once, in order, through `keyhole.play`: the learner receives the attributes it requests; NaN
    among them means bought but unobserved. `predict` is frozen: it reads only the support, so the other columns may be
    NaN, and the prediction of a row does not depend on other rows. As a selector, `transform` keeps the columns of the
    support.

    `sample_weight` says how much a row counts. A row is kept with probability weight / largest weight so far, drawn
    with `random_state` (cost-proportionate rejection sampling: Zadrozny, Langford and Abe 2003), and only the rows kept
    are bought and learnt. Equal weights keep every row, a weight of 0 removes its row, and weights have no unit. An
    integer weight is not the same as repeating a row, which would be paid for again.

    Parameters
    ----------
    algorithm : str
        A name of `kh.list_algorithms()`.
    k : int or None
        Attributes (or sources, if given) bought per row; None if money is the limit.
    k0 : int
        Attributes bought per row after the label.
    prices, sources, free, budget_per_row, error_cost, total_budget, expected_rows, half_life
        As `kh.make` takes them.
    training : "paid" or "free"
        "paid": rows are bought through `keyhole.play`. "free": the training table is available at no cost, so `fit` is
        `learner.learn` and only prediction is paid: a cost-aware sparse regression. Cells may be NaN.
    options : dict or None
        Further options of the algorithm.
    random_state : int or None
        The random seed.

    Attributes
    ----------
    learner_ : the trained learner
    coef_, intercept_ : its weights, and its prediction if every attribute is 0
    support_ : the indices of the attributes it buys
    ledger_ : one record per attribute: how often it was bought in training, and the money spent
    history_ : the `kh.History` of the last `fit` or `partial_fit`, if training is paid
    n_features_in_, feature_names_in_ : as in scikit-learn

    >>> import keyhole as kh
    >>> from keyhole.integrations.sklearn import BudgetedRegressor
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> model = BudgetedRegressor(k=4, random_state=0).fit(X, y)
    >>> sorted(model.support_) == sorted(w.nonzero()[0])
    True
    """

    def fit(self, X: Floats, y: Floats, sample_weight: "Floats | None" = None) -> "BudgetedRegressor":
        """Train a new learner on the rows, in order."""
        self._fitted(*self._checked(X, y, reset=True), sample_weight, new=True)
        return self

    def partial_fit(self, X: Floats, y: Floats, sample_weight: "Floats | None" = None) -> "BudgetedRegressor":
        """Continue training with further rows."""
        first = not hasattr(self, "learner_")
        self._fitted(*self._checked(X, y, reset=first), sample_weight, new=first)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the learner's current predictions; only the columns of the support are read."""
        return self._frozen_scores(X)

    def _checked(self, X: Floats, y: Floats, reset: bool) -> tuple[Floats, Floats]:
        options = {"dtype": np.float64, "y_numeric": True, "ensure_all_finite": "allow-nan", "reset": reset}
        X, y = validate_data(self, X, y, **options)
        return X, np.asarray(y, dtype=np.float64)


class BudgetedClassifier(ClassifierMixin, _Budgeted):  # type: ignore[misc]
    """Binary classification from at most k attributes per row, with calibrated probabilities in `predict_proba`.

    The learner minimises the squared error of the probability (the Brier score). Everything else, including the
    parameters, is as for `BudgetedRegressor`; `algorithm` must support yes/no labels.

    Attributes
    ----------
    classes_ : the two classes, sorted; probabilities are in this order
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

    def fit(self, X: Floats, y: Floats, sample_weight: "Floats | None" = None) -> "BudgetedClassifier":
        """Train a new learner on the rows, in order."""
        X, y = self._checked(X, y, reset=True)
        self.classes_ = self._two_classes(y)
        self._fitted(X, self._as_numbers(y), sample_weight, new=True)
        return self

    def partial_fit(
        self,
        X: Floats,
        y: Floats,
        classes: "Sequence[object] | None" = None,
        sample_weight: "Floats | None" = None,
    ) -> "BudgetedClassifier":
        """Continue training with further rows; the first call needs `classes` unless its rows contain both."""
        first = not hasattr(self, "learner_")
        X, y = self._checked(X, y, reset=first)
        if first:
            self.classes_ = self._two_classes(y if classes is None else np.asarray(classes))
        self._fitted(X, self._as_numbers(y), sample_weight, new=first)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probabilities (n, 2) of `classes_`; only the columns of the support are read."""
        p = self._frozen_scores(X)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Floats) -> Floats:
        """Return the more probable class of each row."""
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
            raise ConfigError(f"y has the class {other.tolist()[0]!r}, which is not one of {self.classes_.tolist()}")
        return np.asarray(y == self.classes_[1], dtype=np.float64)


def _checked_weights(sample_weight: "Floats | None", n: int) -> Floats:
    """Return (n,) weights: finite, not negative, and at least one above 0; ones if none are given."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"sample_weight must be numbers: {fault}") from None
    if weights.shape != (n,):
        raise ConfigError(f"sample_weight must have one weight per row: {n} rows, weights of shape {weights.shape}")
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ConfigError("sample_weight must be finite numbers >= 0")
    if not weights.any():
        raise ConfigError("every sample_weight is zero; no row is left to learn from")
    return weights


def _steps_before(estimator: BaseEstimator) -> Iterator[object]:
    """Yield the steps that come before an estimator in the pipeline that is fitting it.

    An estimator is given no reference to its pipeline, so it is looked for among the callers.
    """
    frame = inspect.currentframe()
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and any(step is estimator for _, step in caller.steps):
            for _, step in caller.steps:
                if step is estimator:
                    break
                yield step
            return
        frame = frame.f_back
