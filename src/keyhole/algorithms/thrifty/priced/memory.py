"""The state as something that can be saved: every array a field, the stored rows growing as rows come."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ...._internal.typing import Bools, Floats, Ints
from ....core.sources import SourceCatalog
from ....core.state import NumberCheck, ProbabilityCheck, Rule, Stateful, Value
from ....errors import StateError
from ..interval import Calibration
from ..state import Records, record
from ..watch import ALARMS, RECALIBRATED, Bell
from .belief import prior_weights
from .gram import rebuild
from .state import Attribute, Fit, Given, Now, Pair, Row, Source, State

__all__ = ["Limits", "Memory"]

# At most this many rows and values are stored, the older half is forgotten then; it starts small.
_MOST_ROWS, _MOST_VALUES, _FIRST_ROWS = 1 << 18, 1 << 23, 256

Limits = tuple[int, int, float, float, float, float, float]
"""k, k0, spend, worth, total, rows, decay."""


class Memory(Stateful):
    """Holds the arrays of a `State` for the sources of a market."""

    _fields: ClassVar[tuple[str, ...]] = (
        *("attr", "source", "pair", "row", "shown", "x", "members", "queue", "now"),
        *("A", "gram", "w", "x_bar", "ridge", "V", "P", "prior", "calibration", "bell"),
    )
    _grows: ClassVar[tuple[str, ...]] = ("row", "shown", "x", "A", "gram", "w", "x_bar", "ridge", "V", "P")
    _rules: ClassVar[Mapping[str, Rule]] = {
        **dict.fromkeys(("V", "P"), NumberCheck(most=1e300)),
        "prior": NumberCheck(least=-700.0, most=0.0),
    }

    def __init__(self, catalog: SourceCatalog, order: Ints, limits: Limits) -> None:
        d, n = len(catalog.names), len(catalog.sources)
        # Between equals the seeded order decides: the place of a source's first attribute in it.
        self.rank: Ints = np.argsort(order)[np.unique(catalog.of, return_index=True)[1][catalog.free.size > 0 :]]
        self.listed: Ints = np.argsort(catalog.of, kind="stable")
        self.attr: Records = np.zeros(d, record(Attribute))
        self.attr["of"], self.attr["place"], self.attr["sd"] = catalog.of, -1, 1.0
        self.source: Records = np.zeros(n, record(Source))
        self.source["price"], self.source["place"], self.source["instead"] = catalog.prices, -1, -1
        self.source["size"] = np.bincount(catalog.of[catalog.of >= 0], minlength=n)
        self.source["first"] = catalog.free.size + np.cumsum(self.source["size"]) - self.source["size"]
        self.pair: Records = np.zeros((d, d), record(Pair))
        self.row: Records = np.zeros(_FIRST_ROWS, record(Row))
        self.shown: Ints = np.zeros(_FIRST_ROWS + 8 * d, np.int64)
        self.x: Floats = np.zeros(self.shown.size)
        self.members: Ints = np.zeros(n, np.int64)
        self.queue: Ints = np.zeros(n, np.int64)
        self.scratch: Ints = np.zeros(n, np.int64)
        self.hoped: Floats = prior_weights(n)
        self.prior: Floats = self.hoped.copy()
        self.tally: Floats = np.zeros(self.prior.size)
        self.now: Records = np.zeros(1, record(Now))
        self.now["g"], self.now["refit_at"] = 1.0, 10
        self.given: Records = np.zeros(1, record(Given))
        self.given[0] = limits
        self.calibration = Calibration()
        self.bell: Records = np.zeros(ALARMS, record(Bell))
        self.everything: Bools = np.ones(d, dtype=np.bool_)
        self._make_room()
        self.state = self._state()

    @property
    def support(self) -> Ints:
        """The sources of the support, in the order in which they joined."""
        support: Ints = self.members[: self.now["m"][0]].copy()
        return support

    def join(self, s: int) -> None:
        """Source s into the support; `rebuild` follows."""
        self.members[self.now["m"][0]] = s
        self.now["m"] += 1

    def leave(self, s: int) -> None:
        """Source s out of the support, barred until the next refit; `rebuild` follows."""
        rest = self.support[self.support != s]
        self.members[: rest.size] = rest
        self.now["m"] = rest.size
        self.source["barred"][s] = 1

    def refute(self, s: int) -> None:
        """Source s, that joined by what pooled sums say and fails by the rows, stays out until it was seen more."""
        me = self.source[s]
        me["until"] = me["asked"] + 3 + int(0.2 * me["n"])

    def rebuild(self) -> None:
        """Make the fit of the present support, from the stored rows."""
        expected: Floats = np.zeros((2, self.attr.size))
        expected[:, self.A] = self.w, self.ridge
        self._make_room()
        self.w[:], self.ridge[:] = expected[:, self.A]
        self.state = self._state()
        rebuild(self.state, self.w.copy())
        self.now["moves"] += 1

    def forget_recent(self) -> None:
        """`change.forget_recent`: f is another signal now."""
        for name in RECALIBRATED:
            self.now[name] = 0.0

    def _make_room(self) -> None:
        """Arrays for the fit of the present support, and everybody's place in it."""
        support, known = self.support, int((self.attr["of"] < 0).sum())
        self.source["place"] = -1
        self.source["place"][support] = np.arange(support.size)
        spans = [range(m["first"], m["first"] + m["size"]) for m in self.source[support]]
        self.A = self.listed[[*range(known), *(i for span in spans for i in span)]]
        self.attr["place"] = -1
        self.attr["place"][self.A] = np.arange(self.A.size)
        m = self.A.size
        self.gram, self.w, self.x_bar, self.ridge = np.zeros((m + 2, m + 2)), np.zeros(m), np.zeros(m), np.zeros(m)
        self.V, self.P = np.zeros((m, m)), np.zeros((m, m))

    def free(self) -> int:
        """How many rows can be told before the store must grow again, at least one."""
        d, rows = self.attr.size, int(self.now["rows"][0])
        end = int(self.row["end"][rows - 1]) if rows else 0
        if rows == self.row.size or end + d > self.x.size:
            if rows >= _MOST_ROWS or end + d > max(_MOST_VALUES, 8 * d):
                rows, end = self._forget(rows, end)
            self.row = _longer(self.row, max(2 * rows, _FIRST_ROWS))
            self.shown, self.x = _longer(self.shown, 2 * end + 8 * d), _longer(self.x, 2 * end + 8 * d)
            self.state = self._state()
        return min(self.row.size - rows, (self.x.size - end) // d)

    def _forget(self, rows: int, end: int) -> tuple[int, int]:
        """Drop the older half of the stored rows; what they taught stays in the sums."""
        half = rows // 2
        cut = int(self.row["end"][half - 1])
        self.row, self.shown, self.x = self.row[half:rows].copy(), self.shown[cut:end].copy(), self.x[cut:end].copy()
        self.row["end"] -= cut
        self.now["rows"] = rows - half
        return rows - half, end - cut

    def renew(self) -> None:
        """Divide all sums by the weight of the present before it overflows."""
        g = float(self.now["g"][0])
        if g <= 1e30:
            return
        parts = ((self.attr, ("xy", "y")), (self.source, ("tried",)), (self.pair, ("n", "x", "xx")))
        for records, names in (*parts, (self.row, ("weight",)), (self.now, ("n", "y", "yy", "lacking"))):
            for name in names:
                records[name] /= g
        self.gram /= g
        self.now["g"] = 1.0

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a state whose indices fit: compiled functions do not check them."""
        self.fixed = {name: self.source[name].copy() for name in ("price", "first", "size")} | {"of": self.attr["of"]}
        super().set_state({name: _as_here(new, getattr(self, name, None)) for name, new in flat.items()})
        self.state = self._state()

    def _check_state(self) -> None:
        """Whether every index points into what it is an index of, and nothing contradicts the configuration."""
        same = all(np.array_equal(self.fixed[f], self.source[f]) for f in ("price", "first", "size"))
        if not (same and np.array_equal(self.fixed["of"], self.attr["of"])):
            raise StateError("the sources in the state are others than those of the configuration")
        now, d, n = self.now[0], self.attr.size, self.source.size
        m, rows, queued = int(now["m"]), int(now["rows"]), int(now["queued"])
        counts = 0 <= m <= n and 0 <= rows <= self.row.size and 0 <= queued <= n and now["rang"] >= 0
        if not (counts and 0 <= now["turn"] < max(queued, 1) and now["lend"] in (0, 1)):
            raise StateError("a count in the state is out of its range")
        # The weight of a new row begins at 1 and only grows; no row weighs more.
        NumberCheck(0.5, 1e60).check("now.g", now["g"], self)
        NumberCheck(0.0, 10.0 * float(now["g"]) * (float(now["told"]) + 10.0)).check("now.n", now["n"], self)
        if max(self.members.max(initial=0), self.queue.max(initial=0)) >= max(n, 1) or self.shown.max(initial=0) >= d:
            raise StateError("an index in the state points to nothing")
        ends = self.row["end"][:rows]
        if (np.diff(ends, prepend=0) < 0).any() or ends.max(initial=0) > self.x.size or self.x.size != self.shown.size:
            raise StateError("the stored rows in the state do not fit together")
        ProbabilityCheck().check("prior", np.exp(self.prior), self)
        self._check_fit(m)

    def _check_fit(self, m: int) -> None:
        """Whether attributes, sources and the fit say the same of the support."""
        fresh, support = self.A.size, self.support
        kept = {name: getattr(self, name) for name in ("A", "gram", "w", "x_bar", "ridge", "V", "P")}
        places = self.source["place"].copy(), self.attr["place"].copy()
        if np.unique(support).size != m:
            raise StateError("a source is in the support twice")
        self._make_room()
        same = np.array_equal(places[0], self.source["place"]) and np.array_equal(places[1], self.attr["place"])
        if not same or fresh != self.A.size or any(kept[name].shape != getattr(self, name).shape for name in kept):
            raise StateError("the support and the fit in the state do not belong together")
        if not np.array_equal(kept["A"], self.A):
            raise StateError("the fit in the state is of other attributes than its support")
        for name, array in kept.items():
            setattr(self, name, array)

    def _state(self) -> State:
        """The arrays as compiled functions take them."""
        fit = Fit(self.A, self.gram, self.w, self.x_bar, self.ridge, self.V, self.P)
        named = ("attr", "source", "listed", "pair", "row", "shown", "x", "members", "queue", "scratch")
        arrays = {name: getattr(self, name) for name in (*named, "prior", "hoped", "tally", "bell")}
        return State(**arrays, fit=fit, quantiles=self.calibration.quantiles, now=self.now[0], given=self.given[0])


T = TypeVar("T", bound=np.generic)


def _longer(array: npt.NDArray[T], size: int) -> npt.NDArray[T]:
    """A copy with room for `size` entries."""
    longer = np.zeros(max(size, len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


def _as_here(new: Value, present: object) -> Value:
    """Records of a file as records of this process: compiled functions know them by their dtype, not by its looks."""
    if not (isinstance(new, np.ndarray) and isinstance(present, np.ndarray) and present.dtype.names):
        return new
    if new.dtype != present.dtype:
        raise StateError("the records in the state have other fields than those of this version of keyhole")
    whole = np.zeros(new.shape, present.dtype)
    whole[...] = new
    return whole
