"""The state as something that can be saved: every array of records a field, the stored rows growing as rows come."""

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar, cast

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.state import Anything, GramCheck, NumberCheck, ProbabilityCheck, Rule, Stateful, Value
from ...errors import StateError
from .interval import Calibration
from .level import GAINS
from .regimes import KEPT, Kept
from .state import Attribute, Fit, Given, Label, Member, Now, Pair, Records, Row, Shown, State, Work, record
from .watch import ALARMS, Account, Bell

__all__ = ["Memory"]

# At most this many rows and values are stored, older ones are overwritten; it starts small.
_MOST_ROWS, _MOST_VALUES, _FIRST_ROWS = 1 << 15, 1 << 22, 256
# Scaled values end at 1e60 (`units`), and so, nearly, do their sums; the fourth power of one is still a number.
_SUMS, _SQUARES = NumberCheck(most=1e70), NumberCheck(most=1e130)


class Memory(Stateful):
    """Holds the arrays of a `State` for d attributes, k bought before the label and k0 after it."""

    _fields: ClassVar[tuple[str, ...]] = (
        *("attr", "order", "queue", "pair", "row", "shown", "now"),
        *("member", "gram", "V", "P", "C", "label", "calibration", "accounts", "bell"),
        *("kept", "kept_members"),
    )
    _grows: ClassVar[tuple[str, ...]] = ("row", "shown")
    # What is worked out anew at the next refit may be of any size; indices are checked below.
    _rules: ClassVar[Mapping[str, Rule]] = {
        "attr": Anything(),
        "V": _SQUARES,
        "C": _SQUARES,
        "P": NumberCheck(most=1e300),
    }

    def __init__(self, order: Ints, k: int, k0: int, price: Floats, spend: float, half_life: float | None) -> None:
        d, width = order.size, k + k0
        self.attr: Records = np.zeros(d, record(Attribute))
        self.attr["price"], self.attr["place"], self.attr["mark"] = price, -1, -1
        self.order: Ints = order[np.argsort(price[order], kind="stable")]
        self.queue: Ints = np.zeros(d, np.int64)
        self.pair: Records = np.zeros((d, k), record(Pair))
        self.row: Records = np.zeros(_FIRST_ROWS, record(Row))
        self.shown: Records = _blank(_FIRST_ROWS, width)
        self.now: Records = np.zeros(1, record(Now))
        self.now["g"], self.now["alpha"], self.now["refit_at"] = 1.0, 1.0, 1
        # Two of each: the fit of the support and that of a trial.
        self.member: Records = np.zeros((2, k), record(Member))
        self.gram: Floats = np.zeros((2, k + 2, k + 2))
        self.V: Floats = np.zeros((2, k, k))
        self.P: Floats = np.zeros((2, k, k))
        self.C: Floats = np.zeros((2, k, k))
        self.label: Records = np.zeros(2, record(Label))
        self.work = _work(d, k)
        self.calibration = Calibration()
        self.accounts: Records = np.zeros(len(GAINS), record(Account))
        self.accounts["gain"], self.accounts["belief"][0] = GAINS, 1.0
        self.bell: Records = np.zeros(ALARMS, record(Bell))
        self.kept: Records = np.zeros(KEPT, record(Kept))
        self.kept_members: Ints = np.zeros((KEPT, k), np.int64)
        self.given: Records = np.zeros(1, record(Given))
        self.given[0] = (k, k0, spend, 1.0 if half_life is None else 0.5 ** (1.0 / half_life), _threshold(d, k))
        self.everything: Bools = np.ones(d, dtype=np.bool_)
        self.most_rows = max(_FIRST_ROWS, min(_MOST_ROWS, _MOST_VALUES // width))
        self.state = self._state()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a state whose indices fit: compiled functions do not check them.

        A field of a record that the file does not know, because it is older, keeps the value it starts with.
        """
        known = dict(flat)
        for name in self._fields:
            new, present = flat.get(name), getattr(self, name)
            if isinstance(new, np.ndarray) and new.dtype.names and present.dtype.names:
                known[name] = _completed(name, cast(Records, new), present)
        super().set_state(known)
        self.state = self._state()

    def _check_state(self) -> None:
        """Whether every index points into what it is an index of, and nothing contradicts the configuration."""
        d, k = self.pair.shape
        now, rows = self.now[0], self.row.size
        m, queued = int(now["m"]), int(now["queued"])
        if not (0 <= m <= k and 0 <= queued <= d and 0 <= now["turn"] < max(queued, 1)):
            raise StateError("a count in the state is out of its range")
        if now["told"] < 0 or now["rang"] < 0 or (now["told"] > rows and rows < self.most_rows):
            raise StateError("a count in the state is out of its range")
        if not 0.0 < now["g"] < 1e60:
            raise StateError("the weight of a new row in the state is none")
        for field, names in (("pair", ("x_j", "x_a")), ("member", ("x_bar", "sd", "imputed", "bend"))):
            for name in names:
                _SUMS.check(f"{field}.{name}", getattr(self, field)[name], self)
        self._check_sums(m)
        self._check_kept()
        ProbabilityCheck().check("accounts.belief", self.accounts["belief"], self)
        if not np.array_equal(self.accounts["gain"], GAINS):
            raise StateError("an account of the label's level in the state follows it otherwise than in this version")
        indices = (
            (self.shown["j"], -1, d),
            (self.queue, 0, d),
            (self.order, 0, d),
            (self.member["j"], 0, d),
            (self.attr["displaced"], 0, k),
            (self.attr["claims"], 0, k + 1),
        )
        inside = all(low <= a.min(initial=low) and a.max(initial=low) < high for a, low, high in indices)
        if not (inside and len(self.shown) == rows <= self.most_rows and self._consistent(m)):
            raise StateError("the stored rows or the indices in the state do not fit together")

    def _check_sums(self, m: int) -> None:
        """Whether the weights and sums of the fit are some that rows can leave; from others comes no number."""
        now, told = self.now[0], self.now["told"][0] > 0
        g, n, decay = float(now["g"]), float(now["n"]), float(self.given["decay"][0])
        NumberCheck(0.0, g * (1.0 + 1e-6)).check("row.weight", self.row["weight"], self)
        # The newest row weighs what it did when it came; since then one fading and one alarm at most.
        NumberCheck(1e-6 * g * decay if told else 0.0).check("now.n", n, self)
        NumberCheck(0.0, n * (1.0 + 1e-6)).check("member.imputed", self.member["imputed"][0, :m], self)
        GramCheck().check("gram", self.gram[0, : m + 2, : m + 2], self)
        P = self.P[0, :m, :m]
        size = np.sqrt(np.maximum(np.diag(P), 0.0))
        NumberCheck(0.0, 2.0).check("P", np.abs(P) / np.maximum(np.outer(size, size), 1e-300), self)  # 1 up to rounding

    def _check_kept(self) -> None:
        """Whether what is kept of earlier regimes could come back."""
        now, kept, (d, k) = self.now[0], self.kept, self.pair.shape
        NumberCheck(0.0, 1e60).check("kept.g", kept["g"], self)
        NumberCheck(0.0, 1e130).check("kept.s2", kept["s2"], self)
        counts = ((now["tried"], KEPT), (now["anew"], 0), (kept["m"].max(), k), (self.kept_members.max(), d - 1))
        if any(n > most for n, most in counts) or min(now["tried"], now["anew"], kept["m"].min()) < 0:
            raise StateError("what is kept of earlier regimes in the state is out of its range")
        if self.kept_members.min() < 0 or now["ended"] != 0.0 or any(len(set(r[:m])) < m for r, m in self._regimes()):
            raise StateError("what is kept of earlier regimes in the state does not fit together")

    def _regimes(self) -> Iterator[tuple[list[int], int]]:
        return zip(self.kept_members.tolist(), self.kept["m"].tolist(), strict=True)

    def _consistent(self, m: int) -> bool:
        """Whether the attributes say the same of the support as the fit does, and none is marked."""
        place = np.full(self.attr.size, -1)
        place[self.member["j"][0, :m]] = np.arange(m)
        order = np.array_equal(np.sort(self.order), np.arange(self.attr.size))
        same = np.array_equal(self.attr["place"], place) and int((place >= 0).sum()) == m
        return order and same and bool((self.attr["mark"] == -1).all())

    @property
    def members(self) -> Ints:
        """The support, in the order in which it was joined."""
        members: Ints = self.member["j"][0, : self.now["m"][0]].copy()
        return members

    @property
    def level(self) -> float:
        """Where the label's level is beside where it was at first, in the units the label is kept in."""
        return float(self.accounts["belief"] @ self.accounts["c"])

    def free(self) -> int:
        """How many rows can be told before the store must grow again; without end once it is a ring."""
        size, told = self.row.size, int(self.now["told"][0])
        if told >= size and size < self.most_rows:
            more = min(size, self.most_rows - size)
            self.row = _grown(self.row, np.zeros(size + more, record(Row)))
            self.shown = _grown(self.shown, _blank(size + more, self.shown.shape[1]))
            self.state = self._state()
        return self.row.size - told if self.row.size < self.most_rows else 1 << 40

    def _state(self) -> State:
        """The arrays as compiled functions take them."""
        q = np.zeros((4, self.pair.shape[1]))
        fit, trial = (
            Fit(self.member[f], self.gram[f], self.V[f], self.P[f], self.C[f], self.label[f], q) for f in range(2)
        )
        d, rows = (self.attr, self.order, self.queue, self.pair), (self.row, self.shown)
        quantiles, now, given = self.calibration.quantiles, self.now[0], self.given[0]
        return State(*d, *rows, fit, trial, quantiles, self.accounts, self.bell, self.work, now, given)


def _work(d: int, k: int) -> Work:
    v, seen, row, keep, taken = np.zeros(k), _none(k), np.zeros(k + 2), _none(k), _none(d)
    block, inverse, joined = np.zeros((k, k)), np.zeros((k, k)), np.zeros((k + 1, 2 * k))
    return Work(v, seen, row, keep, taken, _none(k), np.zeros(k), block, inverse, joined, np.zeros(len(GAINS)))


def _none(n: int) -> Ints:
    return np.zeros(n, np.int64)


def _threshold(d: int, k: int) -> float:
    """L = 2 ln(e d / k), about 2 / k times the logarithm of the number of ways to choose k of d."""
    return 2.0 * (1.0 + math.log(d / k))


def _grown(old: Records, larger: Records) -> Records:
    larger[: len(old)] = old
    return larger


def _blank(rows: int, width: int) -> Records:
    shown: Records = np.zeros((rows, width), record(Shown))
    shown["j"] = -1
    return shown


def _completed(name: str, new: Records, present: Records) -> Records:
    """The records of a file as those of this version: what is missing as in a fresh state."""
    whole: Records = np.full(new.shape, present.ravel()[0]) if new.shape != present.shape else present.copy()
    for field in new.dtype.names or ():
        if field not in (present.dtype.names or ()) or new.dtype[field] != present.dtype[field]:
            raise StateError(f"'{name}' in the state has a field '{field}' that this version of keyhole does not know")
        whole[field] = new[field]
    return whole
