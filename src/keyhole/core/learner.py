"""The protocol: a learner asks, is handed exactly what it asked for, predicts, and is told the label."""

import functools
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from inspect import isfunction, signature
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from .._internal.dataframes import is_frame, matrix_of
from .._internal.formatting import Facts, Shown, a_few
from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError, ProtocolError, StateError
from . import validation
from .probability_calibration import ProbabilityCalibrator, Uncalibrated
from .registry.algorithm import AlgorithmInfo
from .round import Acquisition, Alarm, Round
from .sources import SourceCatalog
from .state import IndexCheck, Rule, Stateful
from .validation import Values

__all__ = ["Acquisition", "Batches", "Block", "Doubts", "Learner", "Locked", "Round", "Values"]


P = ParamSpec("P")
T = TypeVar("T")


class Locked:
    """Every public method and property of a subclass, and of its subclasses, runs under one reentrant lock.

    Compiled kernels run without Python's own lock: two threads inside one object would write over each other. Whoever
    needs several calls in a row, none between them, takes the lock itself: `with learner.locked(): ...`.
    """

    def __new__(cls, *args: object, **kwargs: object) -> "Locked":
        """The lock is there before anything of the object is."""
        self = super().__new__(cls)
        self._lock = RLock()  # type: ignore[attr-defined]
        return self

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if isinstance(member, property) and not name.startswith("_") and member.fget:
                setattr(cls, name, property(_holding(member.fget)))
            elif isfunction(member) and not name.startswith("_") and name != "locked":
                setattr(cls, name, _holding(member))

    def locked(self) -> AbstractContextManager[object]:
        """A context in which no other thread's call gets in."""
        lock: AbstractContextManager[object] = self._lock  # type: ignore[attr-defined]
        return lock


def _holding(method: "Callable[P, T]") -> "Callable[P, T]":
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> T:
        with args[0]._lock:
            return method(*args, **kwargs)

    return call


class Batches:
    """`predict_rows`, for every learner."""

    names: tuple[str, ...]

    def predict_rows(self, X: "Floats | Iterable[Sequence[float]]") -> Floats:
        """(n,) what the learner says now of each row, as in a round that exploits; reads its support and nothing else.

        X is a pandas, polars or pyarrow frame, matched by name, which needs only the columns of the support (and those
        that are known), or an (n, d) array, whose other columns may be NaN. NaN in the support takes no part in its
        row. A row's prediction does not depend on the rows beside it, and the learner does not change.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=500, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0)
        >>> _ = kh.play(learner, X, y)
        >>> bool(abs(learner.predict_rows(X) - X @ w).max() < 0.1)
        True
        """
        from .frozen import Frozen

        frozen = Frozen(self)  # type: ignore[arg-type]  # a learner: it alone is made of this
        if is_frame(X):
            return frozen.predict(matrix_of(X, frozen.names, only=False))
        return frozen.predict(_columns(X, frozen.attributes.tolist(), len(self.names)))


def _columns(X: "Floats | Iterable[Sequence[float]]", wanted: list[int], d: int) -> Floats:
    """The wanted columns of an array, or of rows; the others are not looked at, be they numbers or not."""
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


class Doubts(Locked):
    """`interval` and `alarms`, for every learner."""

    name: ClassVar[str]
    gives_intervals: bool = False
    """Whether `interval` has an answer."""

    def interval(self, r: Round, values: Values, level: float = 0.9) -> tuple[float, float]:
        """(low, high): where the label lies with probability `level`, in the long run; changes nothing.

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
        self._check_open(r)
        self._refuse_interval()
        return self._interval(r, validation.values(values, r.names), validation.level(level))

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes of the world that it noticed, oldest first; none, where it looks for none."""
        return ()

    @abstractmethod
    def _check_open(self, r: Round) -> None:
        """A `ProtocolError` unless the round is open."""

    @abstractmethod
    def _refuse_interval(self) -> None:
        """A `ProtocolError` where an interval has no meaning."""

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        """(low, high) around the prediction of this moment."""
        raise ProtocolError(f"{self.name} gives no intervals, only predictions; thrifty gives both")

    def _level(self) -> float:
        """The lowest level whose interval held the label told last; NaN: no intervals are given."""
        return math.nan


Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
# block(rows, labels, predictions, explored, levels): plays some of the rows, writes into the last three; see
# `Learner._block` and `Learner._level`.
Block: TypeAlias = Callable[[Floats, Floats, Floats, Bools, Floats], tuple[Ints, Ints]]

# Past rows that probabilities are calibrated with: so many for each weight at least, and of a long table the last ones.
_ROWS_PER_WEIGHT, _CALIBRATION_ROWS = 10, 5_000
# Sets the generators of learners apart from all others that somebody seeds with the same number.
_DRAWS = 0x6B6579


class Learner(Doubts, Shown, Batches, Stateful, ABC):
    """A state machine over rounds: `ask`, `predict`, (`ask_more`,) `tell`, or `abandon`.

    A subclass says what to buy (`_ask`), what it predicts from the bought values (`_predict`) and how it learns from
    them (`_tell`); it is never handed anything else. This class checks every input before anything changes, so that an
    error leaves the state as it was, and keeps the open rounds.

    Everything random is drawn in `ask`, in places of `order`, a permutation of the attributes drawn once with the seed:
    renaming the columns together with `order` renames everything the learner does.

    A learner may be used from many threads: every public call holds its lock, so that what happens is what would have
    happened in some order of the calls. Copies, and those sent to other processes, are made of its model bytes.
    """

    info: ClassVar[AlgorithmInfo]
    """Facts of the algorithm, for `kh.list_algorithms()`."""
    _fields: ClassVar[tuple[str, ...]] = ("t", "order", "n_past_rows", "n_unlabelled_past_rows", "calibrator")
    _rules: ClassVar[Mapping[str, Rule]] = {"order": IndexCheck("d")}

    config: dict[str, Plain]
    """The arguments that make this learner anew; they are saved with it."""

    def __new__(cls, *args: object, **kwargs: object) -> "Learner":
        """Keep the arguments, so that a learner made by its class can be saved like one made by `kh.make`."""
        self = cast(Learner, super().__new__(cls))
        try:
            given = signature(cls.__init__).bind(self, *args, **kwargs).arguments
        except TypeError:
            return self  # the constructor says what is wrong
        name = cls.name if cls.__module__.startswith("keyhole.") else f"{cls.__module__}:{cls.__qualname__}"
        names = list(cast("Sequence[str]", given.get("names", ())))
        common = {key: given.get(key, 0) for key in ("k", "k0", "seed")}
        options = {key: value for key, value in given.items() if key not in ("self", "names", "catalog", *common)}
        self.config = cast("dict[str, Plain]", {"name": name, **common, "options": options, "names": names})
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

    # -- what a user calls

    def ask(
        self,
        available: "Bools | Sequence[bool] | Sequence[str] | None" = None,
        prices: "Mapping[str, float] | None" = None,
    ) -> Round:
        """Open a round: what to buy.

        Parameters
        ----------
        available
            What can be had this time: a mask, or names of attributes or sources; None: everything.
        prices
            What sources cost in this row, by name; the others cost what they usually do. `thrifty` decides by them
            where money limits; every learner counts them.

        >>> import keyhole as kh
        >>> learner = kh.make("fixed-random", names=["a", "b"], k=2, prices=[1.0, 2.0], seed=0)
        >>> learner.ask(prices={"b": 9.5}).price
        10.5
        """
        pool = validation.available(available, self.catalog.places, self.d)
        paid = validation.row_prices(prices, self.catalog)
        r = self._next(None if pool is None else self.catalog.whole_of(pool), paid)
        self._open[r.index] = r
        return r

    def predict(self, r: Round, values: Values) -> float:
        """The prediction from the bought values, in the order of `r.attributes` (or by name); changes nothing."""
        self._check_open(r)
        score = float(self._predict(r, validation.values(values, r.names)))
        return self.calibrator.probability(score) if isinstance(self.calibrator, ProbabilityCalibrator) else score

    def ask_more(self, r: Round) -> Ints:
        """The attributes to buy after the label: at most k0, drawn when the round was asked."""
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
            from .frozen import Frozen

            frozen = Frozen(self)
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

        save(self, path)

    def _facts(self) -> Facts:
        with self.locked():
            support = [self.names[i] for i in self.support]
            known = [self.names[i] for i in self.catalog.free]
            budget = f"{self.k} of {len(self.catalog.sources)}"
            facts = [("learner", self.name), ("buys", budget + (f", then {self.k0}" if self.k0 else ""))]
            facts += [("knows", a_few(known))] if known else []
            facts += [("past rows", f"{self.n_past_rows}, free")] if self.n_past_rows else []
            return [*facts, ("rounds", f"{self.t}, {len(self._open)} open"), ("support", a_few(support))]

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
        return tuple(self._open.values())

    @property
    def identity(self) -> str:
        """Equal for learners made with the same arguments and seed: it marks their rounds."""
        if not hasattr(self, "_identity"):
            text = json.dumps(self.config, sort_keys=True)
            self._identity = f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        return self._identity

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """The current coefficients, full length (d,)."""

    @property
    @abstractmethod
    def support(self) -> Ints:
        """The attributes now used to exploit, at most k, ascending."""

    # -- what a learner says

    @abstractmethod
    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """What to buy in round t; `pool` is the mask of what can be bought, None for everything."""

    @abstractmethod
    def _predict(self, r: Round, x: Floats) -> float:
        """The prediction with the weights of this moment; NaN in x takes no part."""

    @abstractmethod
    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        """Learn from a round; `more` are the values of `r.extra`."""

    def _learn(self, X: Floats, y: Floats) -> None:
        """Learn from labelled rows that are known already; NaN in X was not observed. Optional."""
        raise NotImplementedError

    def _draw_order(self) -> Ints:
        """The seeded permutation of the attributes."""
        return self.rng.permutation(self.d)

    def _steady(self) -> tuple[Ints, int]:
        """(attributes, n): the next n rounds buy exactly these, whatever happens in them. n = 0: no such promise."""
        return np.empty(0, dtype=np.int64), 0

    def _run(self, X: Floats, y: Floats) -> Floats:
        """Play rounds that `_steady` promised in one call, on their bought values; a NaN label is not learnt from."""
        raise NotImplementedError

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        """How many numbers a saved state of this size has at least: a file with fewer is refused unbuilt."""
        return d

    def _memo_fits(self, r: Round) -> bool:
        """Whether `_predict` and `_tell` can work with the note of an open round that comes from a file."""
        return True

    def _block(self) -> Block | None:
        """A compiled call that plays some of the rows it is given just as the protocol would, reading no value that was
        not bought: what each row bought, and how many of that before and after the label. None: there is none."""
        return None

    def _lift_total(self) -> None:
        """Frozen use is paid for apart from the rounds that were played: forget a limit on all of them together."""

    def _finish(self) -> None:
        """A stream has ended: say, once, what a reader of its history should know."""

    def _expect_binary_labels(self) -> None:
        """From now on labels are 0 or 1; for `make`, before the first round."""
        self.calibrator, self.gives_intervals = ProbabilityCalibrator(), False

    def _refuse_interval(self) -> None:
        if self.binary:
            raise ProtocolError("labels are 0 or 1: predict gives the probability itself, and there is no interval")

    def _places(self, pool: Bools | None) -> Ints:
        """The attributes that can be bought, in the seeded order in which everything is drawn."""
        return self.order if pool is None else self.order[pool[self.order]]

    def _split(self, S: Ints, pool: Bools | None) -> tuple[Ints, Ints]:
        """What can be bought of S, and what outside it."""
        outside = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        available = S[outside[S]]
        outside[S] = False
        return available, self._places(outside)

    def _ask_at(self, t: int, pool: Bools | None, prices: Floats) -> Acquisition:
        """What to buy in round t at these prices, one per source; what they do not change."""
        return self._ask(t, pool)

    def _next(self, pool: Bools | None = None, prices: Floats | None = None) -> Round:
        """The next round, not yet among the open ones: for the keeper, who closes it at once."""
        draft = self._ask(self.t + 1, pool) if prices is None else self._ask_at(self.t + 1, pool, prices)
        self.t += 1
        names, catalog = tuple([self.names[i] for i in draft.attributes.tolist()]), self.catalog
        sources = names if catalog.plain else catalog.ordered(draft.attributes)
        price, each = 0.0, tuple[float, ...]()
        if prices is not None:
            each = tuple(prices[catalog.basket(np.concatenate([draft.attributes, draft.extra]))].tolist())
            price = math.fsum(each)
        elif catalog.priced:
            price = catalog.price(np.concatenate([draft.attributes, draft.extra]))
        return Round(
            self.t, draft.kind, draft.attributes, names, self.identity, draft.extra, sources, price, each, draft.memo
        )

    def _reopen(self, rounds: Sequence[Round]) -> None:
        """Take over the open rounds of a file, if they are rounds that this learner can have asked."""
        for r in rounds:
            sound = r.learner == self.identity and 1 <= r.index <= self.t
            if not (sound and validation.may_be_asked(r, self.names) and self._memo_fits(r)):
                raise StateError(f"round {r.index} in the state is none that this learner can have asked")
        self._open = {r.index: r for r in rounds}
        if len(self._open) < len(rounds):
            raise StateError("the state has an open round twice")

    def _check_open(self, r: Round) -> None:
        validation.is_open(r, self.identity, self._open, self.t)


def _past_row_learners() -> str:
    """The algorithms whose `learn` works, in words."""
    from .registry.catalogue import list_algorithms

    return ", ".join(a.name for a in list_algorithms() if a.past_rows)
