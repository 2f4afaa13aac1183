"""The protocol: a learner asks, receives exactly the values it asked for, predicts, and learns from the label."""

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

# Past rows that probabilities are calibrated with: so many for each weight at least, and of a long table the last ones.
_ROWS_PER_WEIGHT, _CALIBRATION_ROWS = 10, 5_000
# Sets the generators of learners apart from all others that somebody seeds with the same number.
_DRAWS = 0x6B6579
# Rows that the plain loop plays in one call: a user who waits sees progress, and an interrupt is heard.
_PLAIN_ROWS = 16
# How often a copy is asked until it exploits: an exploration may come first.
_MOST_ASKS = 100


class PlayedRows(NamedTuple):
    """The rounds of consecutive rows that a learner played; one entry per row."""

    predictions: Floats
    explored: Bools
    levels: Floats
    """The lowest level whose interval, as it was given at the time, held the label; NaN without either."""
    attributes: Ints
    """(n, m): what each row bought, before the label first; the rest of a line has no meaning. (1, m): all the same."""
    sizes: Ints
    """(n, 2) or (1, 2): how many attributes each row bought before and after the label."""
    price: Floats | None = None
    """What each row cost; None: the usual prices of what it bought."""

    @classmethod
    def alike(cls, predictions: Floats, S: Ints) -> Self:
        """Rows that all exploited the same attributes S and gave no intervals."""
        n = predictions.size
        return cls(predictions, np.zeros(n, dtype=np.bool_), np.full(n, np.nan), S[None], np.array([[S.size, 0]]))


class Learner(ReprMixin, Stateful, ABC):
    """A state machine over rounds: `ask`, `predict`, (`ask_more`,) `tell`, or `abandon`.

    A subclass says what to buy (`_ask`), what it predicts from the bought values (`_predict`), how it learns from them
    (`_tell`), and what it has learnt (`_weights`, `_support`); it is never handed anything else. This class checks
    every input before anything changes, so that an error leaves the state as it was, and keeps the open rounds. The
    other methods with an underscore are optional.

    Everything random is drawn in `ask`, in positions of `order`, a permutation of the attributes drawn once with the
    seed: renaming the columns together with `order` renames everything the learner does.

    A learner may be used from many threads: every public method holds its lock, because compiled code runs without
    Python's own. `with learner.locked(): ...` keeps other threads out of several calls in a row. Copies, and those sent
    to other processes, are made of its model bytes.
    """

    name: ClassVar[str]
    info: ClassVar[AlgorithmInfo]
    """Facts of the algorithm, for `kh.list_algorithms()`."""
    _state: ClassVar[StateSchema] = {
        "t": CountCheck(),
        "order": IndexCheck("d"),
        "n_past_rows": CountCheck(),
        "n_unlabelled_past_rows": CountCheck(),
        "calibrator": Part(),
    }

    gives_intervals: bool = False
    """Whether `interval` has an answer."""

    _lock: AbstractContextManager[object]
    _arguments: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """The lock and the arguments exist before a constructor runs."""
        self = super().__new__(cls)
        self._lock = RLock()
        self._arguments = args, kwargs
        return self

    def __init__(self, names: Sequence[str], k: int, k0: int, seed: int, catalog: SourceCatalog | None = None) -> None:
        self.names = tuple(names)
        self.catalog = SourceCatalog.build(self.names) if catalog is None else catalog
        self.d, self.k, self.k0, self.seed = len(self.names), k, k0, seed
        self.t = 0
        # Not default_rng(seed) itself: a stream made with the same seed must stay independent of the learner's draws.
        self.rng = np.random.default_rng([_DRAWS, seed])
        self.order = self._draw_order()
        self.n_past_rows = self.n_unlabelled_past_rows = 0
        self.calibrator: ProbabilityCalibrator | Uncalibrated = Uncalibrated()
        self._open: dict[int, Round] = {}
        # The file it was loaded from and that file's digest: no part of the state, so equal states stay equal bytes.
        self.origin: tuple[Path, bytes] | None = None

    @cached_property
    def config(self) -> dict[str, Plain]:
        """The arguments that make this learner anew; they are saved with it. `kh.make` sets its own."""
        cls, (args, kwargs) = type(self), self._arguments
        given = signature(cls.__init__).bind(self, *args, **kwargs).arguments
        common: dict[str, Plain] = {key: given.get(key, 0) for key in ("k", "k0", "seed")}
        options = {key: value for key, value in given.items() if key not in ("self", "names", "catalog", *common)}
        name = cls.name if cls.__module__.startswith("keyhole.") else f"{cls.__module__}:{cls.__qualname__}"
        return {"name": name, **common, "options": options, "names": list(self.names)}

    # -- what a user calls

    def locked(self) -> AbstractContextManager[object]:
        """A context in which no other thread's call gets in."""
        return self._lock

    def ask(
        self,
        available: "Bools | Sequence[bool] | Sequence[str] | None" = None,
        prices: "Mapping[str, float] | None" = None,
    ) -> Round:
        """Open a round: what to buy.

        Parameters
        ----------
        available
            What can be bought in this round: a mask, or names of attributes or sources; None: everything.
        prices
            What sources cost in this row, by name; the others cost what they usually do. `thrifty` decides by them
            where money limits; every learner counts them.

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
        """The prediction from the bought values, in the order of `r.attributes` (or by name); changes nothing."""
        with self._lock:
            self._check_open(r)
            score = float(self._predict(r, validation.values(values, r.names)))
            return self.calibrator.probability(score) if isinstance(self.calibrator, ProbabilityCalibrator) else score

    def interval(self, r: Round, values: Values, level: float = 0.9) -> tuple[float, float]:
        """(low, high): the label lies between them with probability `level`, in the long run; changes nothing.

        Infinite before there are enough labels for that level. A learner without intervals: `ProtocolError`.

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
                raise ProtocolError("labels are 0 or 1: predict gives the probability itself, and there is no interval")
            return self._interval(r, validation.values(values, r.names), validation.level(level))

    def predict_rows(self, X: "Floats | Iterable[Sequence[float]]") -> Floats:
        """(n,) the predictions for these rows with what is known now, as in a round that exploits; changes nothing.

        X is a pandas, polars or pyarrow frame, matched by name, which needs only the columns of the support (and those
        that are free), or an (n, d) array, whose other columns may be NaN. NaN in the support takes no part in its row.
        A row's prediction does not depend on the rows beside it.

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
        """The attributes to buy after the label: at most k0, drawn when the round was asked."""
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
        """Close a round with its label; where `ask_more(r)` is not empty, with the extra values too."""
        with self._lock:
            self._check_open(r)
            x = validation.values(values, r.names)
            validation.extras(extra_attributes, r.extra)
            extra_names = [self.names[i] for i in r.extra]
            more = validation.values([] if extra_values is None else extra_values, extra_names)
            label = validation.binary_label(y) if self.binary else validation.label(y)
            del self._open[r.index]
            if isinstance(self.calibrator, ProbabilityCalibrator):
                self.calibrator.update(float(self._predict(r, x)), label)
            self._tell(r, x, label, more)

    def abandon(self, r: Round) -> None:
        """Close a round whose label will never come; nothing is learnt from it."""
        with self._lock:
            self._check_open(r)
            del self._open[r.index]

    def learn(self, X: object, y: object) -> None:
        """Learn from rows that are known already; nothing is asked or paid, and the round counter stands still.

        It may be called at any time and any number of times. `n_past_rows` counts the rows learnt from, and
        `n_unlabelled_past_rows` those that were skipped because they have no label.

        Parameters
        ----------
        X
            (n, d) numbers: an array, or a pandas, polars or pyarrow frame whose columns are matched by name. NaN where
            an attribute was not observed.
        y
            (n,) labels; a row whose label is NaN is skipped.

        Raises
        ------
        ProtocolError
            For a wrong shape or an infinite cell or label, with its place; the learner is exactly as before.
        ConfigError
            If this algorithm cannot learn from past rows, or not from these columns; it names those that can.

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
        """Calibrate on past rows. Their scores are of weights fitted to them, so there must be many for each weight."""
        first = max(0, y.size - _CALIBRATION_ROWS) if y.size >= _ROWS_PER_WEIGHT * (self.support.size + 1) else y.size
        calibrator.count(y[:first])
        if first < y.size:
            frozen = FrozenLearner(self)
            calibrator.fit(frozen.scores(X[first:, frozen.attributes]), y[first:])

    @classmethod
    def _past_rows_taken(cls) -> str:
        """Which rows `learn` takes, as in `info.past_rows`; a class without `info` takes any if it has `_learn`."""
        if cls._learn is Learner._learn:
            return ""
        return cls.info.past_rows if hasattr(cls, "info") else "any"

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the learner to one file; `kh.load(path)` continues bit for bit."""
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
        """Copied and sent to other processes as its model bytes, and read back with all the checks of a file."""
        from .serialization import to_bytes

        loading = import_module(f"{__package__}.serialization")  # by name: it imports this module
        return loading.from_bytes, (to_bytes(self),)

    @property
    def binary(self) -> bool:
        """Whether labels are 0 or 1 and predictions are probabilities."""
        return isinstance(self.calibrator, ProbabilityCalibrator)

    @property
    def takes_past_rows(self) -> bool:
        """Whether `learn` works."""
        return bool(self._past_rows_taken())

    @property
    def open_rounds(self) -> tuple[Round, ...]:
        """The rounds that were asked and neither told nor abandoned, oldest first."""
        with self._lock:
            return tuple(self._open.values())

    @cached_property
    def identity(self) -> str:
        """Equal for learners made with the same arguments and seed: it marks their rounds."""
        text = json.dumps(self.config, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def weights(self) -> Floats:
        """The current coefficients, full length (d,)."""
        with self._lock:
            return self._weights()

    @property
    def support(self) -> Ints:
        """The attributes now used to exploit, at most k, ascending."""
        with self._lock:
            return self._support()

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes in the data that it noticed, oldest first; empty for a learner that does not look for any."""
        with self._lock:
            return self._alarms()

    # -- what a learner must define

    @abstractmethod
    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """What to buy in round t; `pool` is the mask of what can be bought, None for everything."""

    @abstractmethod
    def _predict(self, r: Round, x: Floats) -> float:
        """The prediction with the weights of this moment; NaN in x takes no part."""

    @abstractmethod
    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        """Learn from a round; `more` are the values of `r.extra`."""

    @abstractmethod
    def _weights(self) -> Floats:
        """The current coefficients, full length (d,)."""

    @abstractmethod
    def _support(self) -> Ints:
        """The attributes now used to exploit, at most k, ascending."""

    # -- what a learner may define

    def _learn(self, X: Floats, y: Floats) -> None:
        """Learn from labelled rows that are known already; NaN in X was not observed."""
        raise NotImplementedError

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        """Play the first of these rows, one or more, as the protocol would; a NaN label is not learnt from.

        Rows and labels are what the protocol would hand on, so there is nothing to check. `prices` has what each source
        costs in each row; None: the usual prices. A learner that defines this reads no value that it did not buy.
        """
        return self._play_rows(X[:_PLAIN_ROWS], y[:_PLAIN_ROWS], prices)

    def _ask_at(self, t: int, pool: Bools | None, prices: Floats) -> Acquisition:
        """What to buy in round t at these prices, one per source; by default they change nothing."""
        return self._ask(t, pool)

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        """(low, high) around the prediction of this moment."""
        raise ProtocolError(f"{self.name} gives no intervals, only predictions; thrifty gives both")

    def _level(self) -> float:
        """The lowest level whose interval held the last label; NaN: there are no intervals."""
        return math.nan

    def _alarms(self) -> tuple[Alarm, ...]:
        """The changes in the data that it noticed, oldest first."""
        return ()

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        """How many numbers a saved state of this size has at least: a file with fewer is refused unbuilt."""
        return d

    def _validate_memo(self, r: Round) -> bool:
        """Whether `_predict` and `_tell` can work with the memo of an open round that comes from a file."""
        return True

    def _lift_total_budget(self) -> None:
        """Predictions of a frozen learner are paid for apart from its rounds: forget the limit on all of them."""

    def _on_stream_end(self) -> None:
        """A stream has ended: warn, once, of what a reader of its history should know."""

    # -- what a learner may use

    def _available_in_draw_order(self, pool: Bools | None) -> Ints:
        """The attributes that can be bought, in the seeded order in which everything is drawn."""
        return self.order if pool is None else self.order[pool[self.order]]

    def _split(self, S: Ints, pool: Bools | None) -> tuple[Ints, Ints]:
        """What can be bought of S, and what outside it."""
        outside = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        available = S[outside[S]]
        outside[S] = False
        return available, self._available_in_draw_order(outside)

    def _play_rows(self, X: Floats, y: Floats, prices: Floats | None = None) -> PlayedRows:
        """Play all of these rows, round after round; the plain loop behind `_play_block`."""
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

    # -- inside the package

    def _draw_order(self) -> Ints:
        """The seeded permutation of the attributes."""
        return self.rng.permutation(self.d)

    def _expect_binary_labels(self) -> None:
        """From now on labels are 0 or 1; for `make`, before the first round."""
        self.calibrator, self.gives_intervals = ProbabilityCalibrator(), False

    def _next_round(self, pool: Bools | None, prices: Floats | None) -> Round:
        """The next round, which is not yet among the open ones."""
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
            sources=sources,
            price=price,
            prices=each,
            memo=bought.memo,
        )

    def _reopen(self, rounds: Sequence[Round]) -> None:
        """Take over the open rounds of a file, if they are rounds that this learner can have asked."""
        for r in rounds:
            sound = r.learner == self.identity and 1 <= r.index <= self.t
            if not (sound and validation.may_be_asked(r, self.names) and self._validate_memo(r)):
                raise StateError(f"round {r.index} in the state is not one that this learner can have asked")
        self._open = {r.index: r for r in rounds}
        if len(self._open) < len(rounds):
            raise StateError("the state has an open round twice")

    def _check_open(self, r: Round) -> None:
        validation.is_open(r, self.identity, self._open, self.t)


def _past_row_learners() -> str:
    """The algorithms whose `learn` works, in words."""
    from .registry.catalogue import list_algorithms

    return ", ".join(a.name for a in list_algorithms() if a.past_rows)


class FrozenLearner:
    """A copy of a learner that buys its support, predicts, and learns nothing.

        y_hat(x) = the learner's own prediction in a round that exploits, with the weights it has now

    The round is asked of the copy and never told, so the learner does not change, and rows do not depend on each other.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = copy.deepcopy(learner)
        self._round = ask_to_exploit(self._learner)
        self.names = self._round.names
        """What has to be bought for a prediction."""
        self.attributes = self._round.attributes

    def predict(self, values: Floats) -> Floats:
        """(n,) predictions from (n, |names|) values in the order of `names`; NaN is a missing value."""
        return np.array([self._learner.predict(self._round, row) for row in values], dtype=np.float64)

    def scores(self, values: Floats) -> Floats:
        """(n,) the same before calibration, where labels are 0 or 1."""
        rows = np.ascontiguousarray(values)
        return np.array([self._learner._predict(self._round, row) for row in rows], dtype=np.float64)


def ask_to_exploit(learner: Learner) -> Round:
    """A round that buys the support of a learner which is used for predictions only; no total budget limits it."""
    learner._lift_total_budget()
    support = [learner.names[i] for i in learner.support]
    r = learner.ask(available=support)
    for _ in range(_MOST_ASKS):
        if r.kind == "exploit":
            break
        r = learner.ask(available=support)
    return r


def _columns(X: "Floats | Iterable[Sequence[float]]", wanted: list[int], d: int) -> Floats:
    """The wanted columns of an array, or of rows; the others are not read and may hold anything."""
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
