"""Keyhole learners as River models, which read only the keys they buy."""

import sys
import warnings
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from river import base, compose

from ..core.learner import Learner
from ..core.round import Round
from ..errors import KeyholeWarning, ProtocolError
from ._estimator import learner_of

__all__ = ["BudgetedClassifier", "BudgetedRegressor"]


class _Budgeted:
    """Shared by both models: one learner, rows waiting for their labels, and access to bought keys only."""

    _label = "number"

    # River reads its parameters from this signature and expects attributes of the same names, like scikit-learn.
    def __init__(
        self,
        algorithm: str = "thrifty",
        k: int | None = 5,
        k0: int = 0,
        prices: Mapping[str, float] | None = None,
        sources: Mapping[str, list[str]] | None = None,
        free: list[str] | None = None,
        budget_per_row: float | None = None,
        error_cost: float | None = None,
        total_budget: float | None = None,
        expected_rows: int | None = None,
        half_life: float | None = None,
        options: Mapping[str, object] | None = None,
        names: list[str] | None = None,
        max_open: int = 10_000,
        seed: int | None = None,
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
        self.names = names
        self.max_open = max_open
        self.seed = seed
        self.unknown_keys: dict[str, int] = {}
        self._learner: Learner | None = None
        self._waiting: deque[tuple[Round, tuple[float, ...]]] = deque()
        self._keys: dict[str, Hashable] = {}  # name of a feature -> its key in the rows, which need not be a string
        self._warned = False

    @property
    def learner(self) -> Learner | None:
        """The learner; None before the first row."""
        return self._learner

    @property
    def support(self) -> tuple[str, ...]:
        """The features bought in exploitation rounds, by name."""
        return () if self._learner is None else tuple(self._learner.names[i] for i in self._learner.support)

    def _predicted(self, x: dict[Hashable, Any]) -> float:
        """Buy features and predict from them."""
        self._warn_of_readers()
        learner = self._made(x)
        r = learner.ask(available=self._available(learner, x))
        values = self._read(x, r.names)
        prediction = learner.predict(r, values)
        self._waiting.append((r, values))
        while len(self._waiting) > self.max_open:
            learner.abandon(self._waiting.popleft()[0])
        return prediction

    def _learn_label(self, x: dict[Hashable, Any], y: float) -> None:
        """Learn the label of a row; the extra features (k0) are read now."""
        learner = self._made(x)
        r, values = self._recognised(x) or self._bought_now(learner, x)
        extra = learner.ask_more(r)
        more = self._read(x, r.extra_names)
        if np.isnan(y):
            learner.abandon(r)
        else:
            learner.tell(r, values, float(y), extra_attributes=extra, extra_values=more)

    def _made(self, x: Mapping[Hashable, Any]) -> Learner:
        """Return the learner; its attributes are sorted, so that the order of a row's keys does not matter."""
        if self._learner is None:
            names = self.names if self.names is not None else sorted(map(str, x))
            given = {key: getattr(self, key) for key in self._get_params()} | {"label": self._label}  # type: ignore[attr-defined]
            self._learner = learner_of(self.algorithm, names, self.k, self.k0, self.seed, given, self.options)
        return self._learner

    def _available(self, learner: Learner, x: Mapping[Hashable, Any]) -> "list[bool] | None":
        """Return which attributes this row has, and count its unknown keys. Only keys are examined, not values."""
        keys = {str(key): key for key in x}
        for name in keys.keys() - self._keys.keys() & set(learner.names):
            self._keys[name] = keys[name]
        for name in keys.keys() - set(learner.names):
            self.unknown_keys[name] = self.unknown_keys.get(name, 0) + 1
        there = [name in keys for name in learner.names]
        return None if all(there) else there

    def _recognised(self, x: Mapping[Hashable, Any]) -> tuple[Round, tuple[float, ...]] | None:
        """Return the oldest waiting round whose bought values match this row."""
        for i, (r, values) in enumerate(self._waiting):
            if all(_same(x.get(self._keys[n]), v) for n, v in zip(r.names, values, strict=True)):
                del self._waiting[i]
                return r, values
        return None

    def _bought_now(self, learner: Learner, x: Mapping[Hashable, Any]) -> tuple[Round, tuple[float, ...]]:
        r = learner.ask(available=self._available(learner, x))
        return r, self._read(x, r.names)

    def _read(self, x: Mapping[Hashable, Any], names: Sequence[str]) -> tuple[float, ...]:
        """Return the bought values; only these keys of x are read, and missing ones are NaN."""
        return tuple(_number(name, x.get(self._keys.get(name, name))) for name in names)

    def _warn_of_readers(self) -> None:
        """Warn, once, if a transformer in the pipeline reads all features, which defeats the purpose of buying."""
        if self._warned:
            return
        self._warned = True
        caller = sys._getframe(3).f_locals.get("self")
        lazy = (compose.Select, compose.Discard, compose.Prefixer, compose.Suffixer, compose.Renamer, type(self))
        if isinstance(caller, compose.Pipeline):
            readers = [step for step in caller.steps.values() if not isinstance(step, lazy)]
            if readers:
                text = (
                    f"{type(readers[0]).__name__} reads every feature before the regressor buys any: nothing is saved"
                )
                warnings.warn(f"{text}; thrifty needs no scaling", KeyholeWarning, stacklevel=5)

    @classmethod
    def _unit_test_params(cls) -> "Any":
        yield {"k": 3, "seed": 42}


class BudgetedRegressor(_Budgeted, base.Regressor):
    """Online regression that buys at most k of the features of each row.

    `predict_one(x)` asks the learner what to buy and reads only those keys of `x`; `learn_one(x, y)` passes the label
    of the same row, at once or later: waiting rows are recognised by their bought values. A row that was never
    predicted is bought when it is learnt.

    The attributes are the keys of the first row. A key that is missing later cannot be bought in that row; a new key is
    not read, but counted in `unknown_keys`.

    Parameters
    ----------
    algorithm
        A name of `kh.list_algorithms()`.
    k
        Features (or sources, if given) bought per row; None if money is the limit.
    k0
        Features bought per row after the label.
    prices, sources, free, budget_per_row, error_cost, total_budget, expected_rows, half_life
        As `kh.make` takes them.
    options
        Further options of the algorithm.
    names
        The features that can be bought, if not those of the first row.
    max_open
        The maximum number of rows that wait for their label; beyond it, the oldest are abandoned.
    seed
        The random seed.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from keyhole.integrations.river import BudgetedRegressor
    >>> model = BudgetedRegressor(k=3, seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    MAE: ...
    >>> len(model.support) <= 3
    True
    """

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """Buy features and predict from them."""
        return self._predicted(x)

    def learn_one(self, x: dict[Hashable, Any], y: float) -> None:
        """Learn the label of a row; the extra features (k0) are read now."""
        self._learn_label(x, y)


class BudgetedClassifier(_Budgeted, base.Classifier):
    """Online binary classification that buys at most k of the features of each row.

    `predict_proba_one(x)` buys features and returns calibrated probabilities; `learn_one(x, y)` passes the label.
    Labels are True and False, or two others, of which the first one seen is the first class. Parameters are as for
    `BudgetedRegressor`; `algorithm` must support yes/no labels.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from keyhole.integrations.river import BudgetedClassifier
    >>> model = BudgetedClassifier(k=3, seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.ROCAUC())
    ROCAUC: ...
    """

    _label = "binary"

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The labels seen so far, first the one with probability 1 - p; False and True are known beforehand."""
        seen: list[Hashable] = self.__dict__.setdefault("_classes", [])
        return (False, True) if not seen or isinstance(seen[0], bool | np.bool_) else tuple(seen)

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Buy features and return the probability of each class seen so far."""
        p = self._predicted(x)
        return dict(zip(self.classes, (1.0 - p, p), strict=False))

    def learn_one(self, x: dict[Hashable, Any], y: Hashable) -> None:
        """Learn the label of a row; the extra features (k0) are read now."""
        seen: list[Hashable] = self.__dict__.setdefault("_classes", [])
        if y not in seen:
            if len(seen) == 2:
                raise ProtocolError(f"{y!r} is a third label, besides {seen[0]!r} and {seen[1]!r}; there may be two")
            seen.append(y)
        self._learn_label(x, float(self.classes.index(y)))


def _number(name: str, value: object) -> float:
    if value is None:
        return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ProtocolError(f"feature '{name}' is {value!r}, not a number; encode it before it is bought") from None


def _same(value: object, bought: float) -> bool:
    now = _number("", value)
    return now == bought or (now != now and bought != bought)
