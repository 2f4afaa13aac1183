"""Learners of keyhole as a scikit-learn regressor: trained on what it bought, and frozen afterwards."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._internal.dataframes import to_frame
from .._internal.typing import Bools, Floats, Ints
from ..core.frozen import Frozen
from ..core.learner import Learner
from ..errors import ConfigError
from ..simulation import play
from ._estimator import learner_of

__all__ = ["BudgetedRegressor"]


class BudgetedRegressor(SelectorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression that buys at most k attributes a row, to train and to predict.

    `fit` plays the rows once, in their order, through the budget keeper: the learner is handed the attributes it asks
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
    prices, sources, known, spend, worth, total, rows, half_life
        As `kh.make` takes them.
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
    history_ : the `kh.History` of the last `fit` or `partial_fit`
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    >>> import keyhole as kh
    >>> from keyhole.integrations.sklearn import BudgetedRegressor
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> model = BudgetedRegressor(k=4, random_state=0).fit(X, y)
    >>> sorted(model.support_) == sorted(w.nonzero()[0])
    True
    """

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
        self.options = options
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Floats, y: Floats) -> "BudgetedRegressor":
        """Train a new learner on the rows, in their order."""
        X, y = self._checked(X, y, reset=True)
        self.learner_ = self._made()
        return self._played(X, y)

    def partial_fit(self, X: Floats, y: Floats) -> "BudgetedRegressor":
        """Go on with further rows."""
        first = not hasattr(self, "learner_")
        X, y = self._checked(X, y, reset=first)
        if first:
            self.learner_ = self._made()
        return self._played(X, y)

    def predict(self, X: Floats) -> Floats:
        """What the learner says now; only the columns of the support are read."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return self._frozen.predict(X[:, self._frozen.attributes])

    def _get_support_mask(self) -> Bools:
        """What `get_support`, `transform` and `get_feature_names_out` of a selector are made of."""
        check_is_fitted(self)
        mask: Bools = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.support_] = True
        return mask

    def _checked(self, X: Floats, y: Floats, reset: bool) -> tuple[Floats, Floats]:
        options = {"dtype": np.float64, "y_numeric": True, "ensure_all_finite": "allow-nan", "reset": reset}
        X, y = validate_data(self, X, y, **options)
        return X, np.asarray(y, dtype=np.float64)

    def _made(self) -> Learner:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            raise ConfigError(f"random_state must be a whole number or None, not {seed!r}")
        return learner_of(self.algorithm, list(names), self.k, self.k0, seed, self.get_params(), self.options)

    def _played(self, X: Floats, y: Floats) -> "BudgetedRegressor":
        learner = self.learner_
        self.history_ = play(learner, X, y, keep=False)
        self.bought_ = getattr(self, "bought_", 0) * (learner.t > len(y)) + self.history_.bought
        self.coef_ = learner.weights
        self.intercept_ = float(getattr(learner, "intercept", 0.0))
        self._frozen = Frozen(learner)
        self.support_: Ints = np.sort(self._frozen.attributes)
        return self

    @property
    def ledger_(self) -> object:
        """How often each attribute was bought while training, its price, and what it cost, as a frame.

        The price of a panel is paid once: it stands at the first of its attributes.
        """
        check_is_fitted(self)
        names, price = self.learner_.names, self.learner_.catalog.charge
        return to_frame({"attribute": names, "bought": self.bought_, "price": price, "spent": self.bought_ * price})
