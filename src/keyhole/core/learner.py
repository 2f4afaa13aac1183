"""The learner protocol: ask for attributes, receive exactly their values, predict, and learn from the label."""

import copy
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from inspect import signature
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from .._internal.dataframes import is_frame, matrix_of
from .._internal.formatting import Facts, ReprMixin, join_names
from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError, ProtocolError, StateError
from . import validation
from .probability_calibration import ProbabilityCalibrator, Uncalibrated
from .registry.algorithm import AlgorithmInfo
from .round import Acquisition, Alarm, Round
from .sources import SourceCatalog
from .state import CountCheck, IndexCheck, Part, Stateful, StateSchema
from .validation import Values

__all__ = ["Acquisition", "FrozenLearner", "Learner", "PlayedRows", "Round", "Values", "ask_to_exploit"]

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"

# Calibration on past rows needs at least this many rows per weight, and uses at most the last rows of a long table.
_ROWS_PER_WEIGHT, _CALIBRATION_ROWS = 10, 5_000
# Separates the learners' random streams from other generators that a user seeds with the same number.
_DRAWS = 0x6B6579
# Rows per call of the plain loop: small enough to show progress and to react to an interrupt.
_PLAIN_ROWS = 16
# Attempts to obtain an exploiting round from a copy of the learner, because explorations may come first.
_MOST_ASKS = 100


class PlayedRows(NamedTuple):
    """The outcome of consecutive rows that a learner played, with one entry per row."""

    predictions: Floats
    explored: Bools
    levels: Floats
    """The lowest level whose interval contained the label when it was issued; NaN without an interval or a label."""
    attributes: Ints
    """(n, m) the attributes bought in each row, those before the label first, then padding; (1, m) if all are equal."""
    sizes: Ints
    """(n, 2) or (1, 2) the numbers of attributes bought before and after the label."""
    price: Floats | None = None
    """The cost of each row; None if every source had its usual price."""

    @classmethod
    def alike(cls, predictions: Floats, S: Ints) -> Self:
        """Return rows that all exploited the attributes S and have no prediction intervals."""
        n = predictions.size
        return cls(predictions, np.zeros(n, dtype=np.bool_), np.full(n, np.nan), S[None], np.array([[S.size, 0]]))


class Learner(ReprMixin, Stateful, ABC):
    """The base class of all learners: a state machine over rounds (`ask`, `predict`, `ask_more`, `tell`, `abandon`).

    A subclass defines what to buy (`_ask`), how to predict from the bought values (`_predict`), how to learn from them
    (`_tell`), and what it has learnt (`_weights`, `_support`); it never receives any other values. This class validates
    every input before it changes the state, so an error leaves the learner unchanged, and it stores the open rounds.
    The other underscore methods are optional.

    All random draws happen in `ask`, in positions of `order`, a permutation of the attributes drawn once from the seed.
    The learner is therefore equivariant: permuting the columns together with `order` permutes everything it does.

    A learner is thread-safe: every public method holds the learner's lock, because compiled code runs without Python's
    own lock. `with learner.locked(): ...` makes several calls atomic. Copying and pickling go through the serialized
    model.
    """

    name: ClassVar[str]
    info: ClassVar[AlgorithmInfo]
    """The facts of the algorithm shown by `kh.list_algorithms()`."""
    _state: ClassVar[StateSchema] = {
        "t": CountCheck(),
        "order": IndexCheck("d"),
        "n_past_rows": CountCheck(),
        "n_unlabelled_past_rows": CountCheck(),
        "calibrator": Part(),
    }

    gives_intervals: bool = False
    """Whether the learner provides prediction intervals."""

    _lock: AbstractContextManager[object]
    _arguments: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Create the lock and record the arguments before the constructor runs."""
        self = super().__new__(cls)
        self._lock = RLock()
        self._arguments = args, kwargs
        return self

    def __init__(self, names: Sequence[str], k: int, k0: int, seed: int, catalog: SourceCatalog | None = None) -> None:
        self.names = tuple(names)
        self.catalog = SourceCatalog.build(self.names) if catalog is None else catalog
        self.d, self.k, self.k0, self.seed = len(self.names), k, k0, seed
        self.t = 0
        # Not default_rng(seed): a stream generated with the same seed must be independent of the learner's draws.
        self.rng = np.random.default_rng([_DRAWS, seed])
        self.order = self._draw_order()
        self.n_past_rows = self.n_unlabelled_past_rows = 0
        self.calibrator: ProbabilityCalibrator | Uncalibrated = Uncalibrated()
        self._open: dict[int, Round] = {}
        # Path and digest of the file it was loaded from; not state, so that equal states serialize to equal bytes.
        self.origin: tuple[Path, bytes] | None = None

    @cached_property
    def config(self) -> dict[str, Plain]:
        """The arguments that recreate this learner; they are saved with it. `kh.make` sets its own."""
        cls, (args, kwargs) = type(self), self._arguments
        given = signature(cls.__init__).bind(self, *args, **kwargs).arguments
        common: dict[str, Plain] = {key: given.get(key, 0) for key in ("k", "k0", "seed")}
        options = {key: value for key, value in given.items() if key not in ("self", "names", "catalog", *common)}
        name = cls.name if cls.__module__.startswith("keyhole.") else f"{cls.__module__}:{cls.__qualname__}"
        return {"name": name, **common, "options": options, "names": list(self.names)}

    # -- public interface

    def locked(self) -> AbstractContextManager[object]:
        """Return a context manager that excludes calls from other threads."""
        return self._lock

    def ask(
        self,
        available: "Bools | Sequence[bool] | Sequence[str] | None" = None,
        prices: "Mapping[str, float] | None" = None,
    ) -> Round:
        """Open a round and return the attributes to buy.

        Parameters
        ----------
        available
            What can be bought in this round: a mask, or names of attributes or sources. None means everything.
        prices
            Prices of this row by source name; other sources have their usual price. `thrifty` takes them into account
            when the budget is in money; every learner records them.

        >>> import keyhole as kh
        >>> learner = kh.make("fixed-random", names=["a", "b"], k=2, prices=[1.0, 2.0], seed=0)
        >>> learner.ask(prices={"b": 9.5}).price
        10.5
        """
        with self._lock:
            pool = validation.available(available, self.catalog.places, self.d)
            paid = validation.row_prices(prices, self.catalog)
            r = self._next_round(None if pool is None else self.catalog.whole_of(pool), paid)
            self._open[r.index] = r
            return r

    def predict(self, r: Round, values: Values) -> float:
        """Return the prediction from the bought values, in the order of `r.attributes` or by name; no side effects."""
        with self._lock:
            self._check_open(r)
            score = float(self._predict(r, validation.values(values, r.names)))
            return self.calibrator.probability(score) if isinstance(self.calibrator, ProbabilityCalibrator) else score

    def interval(self, r: Round, values: Values, level: float = 0.9) -> tuple[float, float]:
        """Return (low, high), which contains the label with long-run frequency `level`; no side effects.

        The interval is infinite until there are enough labels for that level. A learner without intervals raises
        `ProtocolError`.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=2000, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0)
        >>> round(kh.play(learner, X, y).coverage(0.9), 2)
        0.9
        >>> r = learner.ask()
        >>> low, high = learner.interval(r, X[0][r.attributes], level=0.9)
        >>> bool(low < learner.predict(r, X[0][r.attributes]) < high)
        True
        """
        with self._lock:
            self._check_open(r)
            if self.binary:
                raise ProtocolError("there are no intervals for yes/no labels: predict returns the probability itself")
            return self._interval(r, validation.values(values, r.names), validation.level(level))

    def predict_rows(self, X: "Floats | Iterable[Sequence[float]]") -> Floats:
        """Return the (n,) predictions of exploiting rounds on these rows with the current weights; no side effects.

        X is a pandas, polars or pyarrow frame whose columns are matched by name and that needs only the support and the
        free attributes, or an (n, d) array whose other columns may be NaN. A NaN in the support is ignored in its row.
        Each prediction depends on its own row only.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=500, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0)
        >>> _ = kh.play(learner, X, y)
        >>> bool(abs(learner.predict_rows(X) - X @ w).max() < 0.1)
        True
        """
        frozen = FrozenLearner(self)
        if is_frame(X):
            return frozen.predict(matrix_of(X, frozen.names, only=False))
        return frozen.predict(_columns(X, frozen.attributes.tolist(), self.d))

    def ask_more(self, r: Round) -> Ints:
        """Return the attributes to buy after the label: at most k0, drawn when the round was opened."""
        with self._lock:
            self._check_open(r)
            return r.extra.copy()

    def tell(
        self,
        r: Round,
        values: Values,
        y: float,
        extra_attributes: "Sequence[int] | Ints | None" = None,
        extra_values: "Values | None" = None,
    ) -> None:
        """Close a round with its label, and with the extra values if `ask_more(r)` is not empty."""
        with self._lock:
            self._check_open(r)
            x = validation.values(values, r.names)
            validation.extras(extra_attributes, r.extra)
            more = validation.values([] if extra_values is None else extra_values, r.extra_names)
            label = validation.binary_label(y) if self.binary else validation.label(y)
            del self._open[r.index]
            if isinstance(self.calibrator, ProbabilityCalibrator):
                self.calibrator.update(float(self._predict(r, x)), label)
            self._tell(r, x, label, more)

    def abandon(self, r: Round) -> None:
        """Close a round whose label will never arrive, without learning from it."""
        with self._lock:
            self._check_open(r)
            del self._open[r.index]

    def learn(self, X: object, y: object) -> None:
        """Learn from past rows; this asks and pays for nothing and does not advance the round counter.

        It may be called at any time and repeatedly. `n_past_rows` counts the rows learnt from, and
        `n_unlabelled_past_rows` the rows skipped because their label is missing.

        Parameters
        ----------
        X
            (n, d) numbers: an array, or a pandas, polars or pyarrow frame whose columns are matched by name. NaN marks
            an attribute that was not observed.
        y
            (n,) labels; rows with a NaN label are skipped.

        Raises
        ------
        ProtocolError
            If a shape is wrong, or a cell or label is infinite; the message gives its position and the learner does
            not change.
        ConfigError
            If this algorithm cannot learn from past rows, or not from these columns; the message lists those that can.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=600, seed=0)
        >>> learner = kh.make("explore-then-commit", d=10, k=3, seed=0)
        >>> learner.learn(X[:500], y[:500])
        >>> learner.n_past_rows, learner.t, learner.support.tolist() == w.nonzero()[0].tolist()
        (500, 0, True)
        """
        takes = self._past_rows_taken()
        if not takes:
            raise ConfigError(f"'{self.name}' cannot learn from past rows; {_past_row_learners()} can")
        table, labels, n_unlabelled = validation.past_rows(X, y, self.names)
        if takes == "complete":
            validation.complete(table, self.names, self.name)
        with self._lock:
            if self.binary:
                validation.binary_labels(labels)
            if labels.size:
                self._learn(table, labels)
            if isinstance(self.calibrator, ProbabilityCalibrator):
                self._calibrate(self.calibrator, table, labels)
            self.n_past_rows += labels.size
            self.n_unlabelled_past_rows += n_unlabelled

    def _calibrate(self, calibrator: ProbabilityCalibrator, X: Floats, y: Floats) -> None:
        """Calibrate on past rows if there are many per weight, because the weights were fitted to the same rows."""
        first = max(0, y.size - _CALIBRATION_ROWS) if y.size >= _ROWS_PER_WEIGHT * (self.support.size + 1) else y.size
        calibrator.count(y[:first])
        if first < y.size:
            frozen = FrozenLearner(self)
            calibrator.fit(frozen.scores(X[first:, frozen.attributes]), y[first:])

    @classmethod
    def _past_rows_taken(cls) -> str:
        """Return which rows `learn` accepts, as in `info.past_rows`; without `info`, any if `_learn` exists."""
        if cls._learn is Learner._learn:
            return ""
        return cls.info.past_rows if hasattr(cls, "info") else "any"

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the learner to one file, from which `kh.load(path)` continues bit for bit."""
        from .serialization import save

        with self._lock:
            save(self, path)

    def _facts(self) -> Facts:
        with self._lock:
            support = [self.names[i] for i in self.support]
            known = [self.names[i] for i in self.catalog.free]
            budget = f"{self.k} of {len(self.catalog.sources)}"
            facts = [("learner", self.name), ("buys", budget + (f", then {self.k0}" if self.k0 else ""))]
            facts += [("knows", join_names(known))] if known else []
            facts += [("past rows", f"{self.n_past_rows}, free")] if self.n_past_rows else []
            return [*facts, ("rounds", f"{self.t}, {len(self._open)} open"), ("support", join_names(support) or "-")]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the learner as its serialized model, so that unpickling makes the same checks as loading a file."""
        from .serialization import to_bytes

        loading = import_module(f"{__package__}.serialization")  # imported by name because it imports this module
        return loading.from_bytes, (to_bytes(self),)

    @property
    def binary(self) -> bool:
        """Whether labels are 0 or 1 and predictions are probabilities."""
        return isinstance(self.calibrator, ProbabilityCalibrator)

    @property
    def takes_past_rows(self) -> bool:
        """Whether `learn` is supported."""
        return bool(self._past_rows_taken())

    @property
    def open_rounds(self) -> tuple[Round, ...]:
        """The rounds that are neither closed by `tell` nor abandoned, oldest first."""
        with self._lock:
            return tuple(self._open.values())

    @cached_property
    def identity(self) -> str:
        """The identifier stored in this learner's rounds; equal for learners with the same arguments and seed."""
        text = json.dumps(self.config, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def weights(self) -> Floats:
        """The current coefficients, shape (d,)."""
        with self._lock:
            return self._weights()

    @property
    def support(self) -> Ints:
        """The attributes currently used to exploit: at most k, ascending."""
        with self._lock:
            return self._support()

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The detected changes in the data, oldest first; empty for a learner without drift detection."""
        with self._lock:
            return self._alarms()

    # -- abstract methods

    @abstractmethod
    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Return what to buy in round t; `pool` is the mask of available attributes, or None for all."""

    @abstractmethod
    def _predict(self, r: Round, x: Floats) -> float:
        """Return the prediction with the current weights; NaN entries of x are ignored."""

    @abstractmethod
    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        """Learn from a round; `more` holds the values of `r.extra`."""

    @abstractmethod
    def _weights(self) -> Floats:
        """Return the current coefficients, shape (d,)."""

    @abstractmethod
    def _support(self) -> Ints:
        """Return the attributes currently used to exploit: at most k, ascending."""

    # -- optional methods

    def _learn(self, X: Floats, y: Floats) -> None:
        """Learn from labelled past rows; NaN in X marks an unobserved value."""
        raise NotImplementedError

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        """Play one or more of the first rows with the same result as the protocol; skip the update if the label is NaN.

        The caller has validated rows and labels. `prices` holds the price of each source in each row; None means the
        usual prices. An implementation must not read values that it did not buy.
        """
        return self._play_rows(X[:_PLAIN_ROWS], y[:_PLAIN_ROWS], prices)

    def _ask_at(self, t: int, pool: Bools | None, prices: Floats) -> Acquisition:
        """Return what to buy in round t at these prices, one per source; the default ignores the prices."""
        return self._ask(t, pool)

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        """Return the interval (low, high) around the current prediction."""
        raise ProtocolError(f"{self.name} gives no intervals, only predictions; thrifty gives both")

    def _level(self) -> float:
        """Return the smallest confidence level whose prediction interval contained the last label; NaN if the learner
        gives no intervals.
        """
        return math.nan

    def _alarms(self) -> tuple[Alarm, ...]:
        """Return the detected changes in the data, oldest first."""
        return ()

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        """Return a lower bound on the size of a saved state; smaller files are rejected before a learner is built."""
        return d

    def _validate_memo(self, r: Round) -> bool:
        """Return whether `_predict` and `_tell` accept the memo of an open round that was read from a file."""
        return True

    def _lift_total_budget(self) -> None:
        """Remove the total budget, because the predictions of a frozen learner are paid for separately."""

    def _on_stream_end(self) -> None:
        """Warn once, at the end of a stream, about anything that affects how its history should be read."""

    # -- helpers for subclasses

    def _available_in_draw_order(self, pool: Bools | None) -> Ints:
        """Return the available attributes in the seeded draw order."""
        return self.order if pool is None else self.order[pool[self.order]]

    def _split(self, S: Ints, pool: Bools | None) -> tuple[Ints, Ints]:
        """Return the available attributes inside S and those outside S."""
        outside = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        available = S[outside[S]]
        outside[S] = False
        return available, self._available_in_draw_order(outside)

    def _play_rows(self, X: Floats, y: Floats, prices: Floats | None = None) -> PlayedRows:
        """Play all of these rows one round at a time; the reference implementation for `_play_block`."""
        n, rounds = y.size, []
        predictions, levels = np.empty(n), np.full(n, np.nan)
        for t, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
            r = self._next_round(None, None if prices is None else prices[t])
            x = row[r.attributes]
            predictions[t] = self._predict(r, x)
            if label == label:  # not NaN
                self._tell(r, x, label, row[r.extra])
                levels[t] = self._level()
            rounds.append(r)
        sizes = np.array([(r.attributes.size, r.extra.size) for r in rounds], dtype=np.int64).reshape(n, 2)
        attributes = np.zeros((n, int(sizes.sum(axis=1).max(initial=0))), dtype=np.int64)
        for line, r in zip(attributes, rounds, strict=True):
            line[: r.attributes.size] = r.attributes
            line[r.attributes.size : r.attributes.size + r.extra.size] = r.extra
        explored = np.array([r.kind == "explore" for r in rounds], dtype=np.bool_)
        price = None if prices is None else np.array([r.price for r in rounds], dtype=np.float64)
        return PlayedRows(predictions, explored, levels, attributes, sizes, price)

    # -- package-internal methods

    def _draw_order(self) -> Ints:
        """Return the seeded permutation of the attributes."""
        return self.rng.permutation(self.d)

    def _expect_binary_labels(self) -> None:
        """Switch to 0/1 labels; `make` calls this before the first round."""
        self.calibrator, self.gives_intervals = ProbabilityCalibrator(), False

    def _next_round(self, pool: Bools | None, prices: Floats | None) -> Round:
        """Return the next round without adding it to the open rounds."""
        bought = self._ask(self.t + 1, pool) if prices is None else self._ask_at(self.t + 1, pool, prices)
        self.t += 1
        names, catalog = tuple([self.names[i] for i in bought.attributes.tolist()]), self.catalog
        sources = names if catalog.plain else catalog.ordered(bought.attributes)
        price, each = 0.0, tuple[float, ...]()
        if prices is not None:
            each = tuple(prices[catalog.basket(np.concatenate([bought.attributes, bought.extra]))].tolist())
            price = math.fsum(each)
        elif catalog.priced:
            price = catalog.price(np.concatenate([bought.attributes, bought.extra]))
        return Round(
            index=self.t,
            kind=bought.kind,
            attributes=bought.attributes,
            names=names,
            learner=self.identity,
            extra=bought.extra,
            extra_names=tuple([self.names[i] for i in bought.extra.tolist()]),
            sources=sources,
            price=price,
            prices=each,
            memo=bought.memo,
        )

    def _reopen(self, rounds: Sequence[Round]) -> None:
        """Restore the open rounds of a file after checking that this learner could have asked for them."""
        for r in rounds:
            if not self._may_own(r):
                raise StateError(f"round {r.index} in the state is not of this learner; the file is damaged or forged")
        self._open = {r.index: r for r in rounds}
        if len(self._open) < len(rounds):
            raise StateError("the state contains an open round twice; the file is damaged or forged")

    def _may_own(self, r: Round) -> bool:
        """Whether this learner could have asked for a round."""
        numbered = r.learner == self.identity and 1 <= r.index <= self.t
        return numbered and validation.may_be_asked(r, self.names) and self._validate_memo(r)

    def _check_open(self, r: Round) -> None:
        validation.is_open(r, self.identity, self._open, self.t)


def _past_row_learners() -> str:
    """Return the names of the algorithms that support `learn`, as text."""
    from .registry.catalogue import list_algorithms

    return ", ".join(a.name for a in list_algorithms() if a.past_rows)


class FrozenLearner:
    """A copy of a learner that buys its support and predicts, but does not learn.

        y_hat(x) = the learner's own prediction in an exploiting round, with its current weights

    The round is opened on the copy and never closed, so the learner does not change and rows are independent.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = copy.deepcopy(learner)
        self._round = ask_to_exploit(self._learner)
        self.names = self._round.names
        """The attributes that must be bought for a prediction."""
        self.attributes = self._round.attributes

    def predict(self, values: Floats) -> Floats:
        """Return (n,) predictions from (n, |names|) values in the order of `names`; NaN marks a missing value."""
        return np.array([self._learner.predict(self._round, row) for row in values], dtype=np.float64)

    def scores(self, values: Floats) -> Floats:
        """Return the (n,) uncalibrated scores for 0/1 labels."""
        rows = np.ascontiguousarray(values)
        return np.array([self._learner._predict(self._round, row) for row in rows], dtype=np.float64)


def ask_to_exploit(learner: Learner) -> Round:
    """Return an exploiting round of a learner that is used only for prediction, without a total budget."""
    learner._lift_total_budget()
    support = [learner.names[i] for i in learner.support]
    r = learner.ask(available=support)
    for _ in range(_MOST_ASKS):
        if r.kind == "exploit":
            break
        r = learner.ask(available=support)
    return r


def _columns(X: "Floats | Iterable[Sequence[float]]", wanted: list[int], d: int) -> Floats:
    """Return the wanted columns of an array or of rows; other columns are not read and may hold anything."""
    try:
        rows = X if isinstance(X, np.ndarray) else [list(row) for row in X]
        width = rows.shape[1:] if isinstance(rows, np.ndarray) else {(len(row),) for row in rows} or {(d,)}
        if width not in ((d,), {(d,)}):
            raise ConfigError(f"X must have {d} columns, one per attribute of the learner")
        picked = rows[:, wanted] if isinstance(rows, np.ndarray) else [[row[i] for i in wanted] for row in rows]
        return np.asarray(picked, dtype=np.float64).reshape(len(rows), len(wanted))
    except (TypeError, ValueError) as fault:
        if isinstance(fault, ConfigError):
            raise
        raise ConfigError(f"X must be numbers: {fault}") from None
