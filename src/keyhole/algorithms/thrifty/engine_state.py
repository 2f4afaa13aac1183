"""The state of the compiled engine: numpy arrays of the records that cpp/thrifty/records.hpp describes."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._core import thrifty as core
from ..._internal.typing import Floats, Ints
from ...core.sources import SourceCatalog
from ...core.state import Growing, NoCheck, NumberCheck, ProbabilityCheck, Stateful, StateSchema, Value
from ...errors import ConfigError, StateError

__all__ = ["EngineState", "Limits"]

Records: TypeAlias = npt.NDArray[np.void]

# Maximum numbers of stored rows and values, and the initial number of rows; the store grows on demand.
_MOST_ROWS, _MOST_VALUES, _FIRST_ROWS = 1 << 15, 1 << 22, 256
# Past rows: the maximum number of values and the minimum number of rows that are kept.
_MOST_PAST_VALUES, _LEAST_PAST = 1 << 20, 64
# Maximum number of (attribute, column) pairs: about 2 GB.
_MOST_PAIRS = 25_000_000
_ALARMS = 32
# A scaled value or label is at most 1e60 (a label 1e66 with its slack), and a row weighs at most 1e53: 1e30, and then
# 1e20 by the half-life and 1e3 by an alarm in one row. So values and labels are never as large as the third of these,
# sums of values as the second, nor any other number of a state as the first: a price that nothing is worth is 1e200
# units of squared error.
_LARGEST, _LARGEST_SUM, _LARGEST_VALUE = 1e201, 1e125, 1e102
_LABELS = ("y_low", "y_high", "y_mean", "y_ref", "y_unit", "level_reported")
# Columns of the fit there is room for at first (pairs of all attributes with them take d times as much memory), and
# sources expected to matter where money alone limits what is bought.
_FIRST_COLUMNS, _EXPECTED = 24, 10


@dataclass(frozen=True)
class Limits:
    """The limits on purchases: numbers of sources, and money; infinite if not limited."""

    k: int
    k0: int
    budget_per_row: float
    error_cost: float
    total_budget: float
    expected_rows: float


def _dtypes() -> dict[str, np.dtype[np.void]]:
    return {
        name: np.dtype(
            {
                "names": [field for field, _, _ in fields],
                "formats": [kind for _, _, kind in fields],
                "offsets": [offset for _, offset, _ in fields],
                "itemsize": size,
            }
        )
        for name, (size, fields) in core.layouts().items()
    }


DTYPES = _dtypes()


class EngineState(Stateful):
    """The arrays of the engine; `engine` is the compiled view of them.

    Sources are numbered as in the catalog, followed by the free attributes, each a source of its own that is always in
    the basket.
    """

    # Fields without a check of their own are checked together in `_check_state`.
    _state: ClassVar[StateSchema] = {
        "attr": NoCheck(),
        "source": NoCheck(),
        "queue": NoCheck(),
        "partial_products": NoCheck(),
        "pair": Growing(NoCheck()),
        "row": Growing(NoCheck()),
        "value": Growing(NoCheck()),
        "scalars": NoCheck(),
        "column": Growing(NoCheck()),
        "fit_label": NoCheck(),
        "gram": Growing(NoCheck()),
        "hidden": Growing(NoCheck()),
        "V": Growing(NoCheck()),
        "P": Growing(NoCheck()),
        "C": Growing(NoCheck()),
        "log_q": NumberCheck(most=20.0),
        "centre": NumberCheck(most=20.0),
        "level": NumberCheck(0.0, 1.0),
        "level_expert": NoCheck(),
        "alarm": NoCheck(),
        "stored_regime": NoCheck(),
        "stored_regime_members": NoCheck(),
        "prior": ProbabilityCheck(),
    }

    def __init__(self, catalog: SourceCatalog, order: Ints, limits: Limits, decay: float) -> None:
        d, offered, budget, k, k0 = len(catalog.names), len(catalog.sources), limits.budget_per_row, limits.k, limits.k0
        groups: list[Ints] = [*catalog.members, *(np.array([j]) for j in catalog.free)]
        sizes, n = np.array([len(group) for group in groups], np.int64), len(groups)
        affordable = int(np.searchsorted(np.cumsum(np.sort(catalog.prices)), budget, side="right"))
        places = max(1, min(k, affordable))
        if np.sort(catalog.prices)[::-1][: places + k0].sum() <= budget:  # then only the number of sources is binding
            budget = np.inf
        # If a source must earn its price, far fewer sources are expected to matter than there are places.
        earned = np.isfinite(limits.error_cost) or np.isfinite(limits.total_budget)
        expected = max(1, min(places, _EXPECTED, offered // 2)) if earned else places
        free = catalog.free.size
        largest = np.sort(sizes[:offered])[::-1]
        self.most_columns = int(min(d, free + largest[:places].sum()))
        width = min(self.most_columns, free + _FIRST_COLUMNS)
        self.most_values = int(min(d, free + largest[: places + k0].sum()))

        self.attr: Records = np.zeros(d, DTYPES["Attribute"])
        self.attr["column"] = self.attr["scratch_index"] = -1
        self.source_attributes: Ints = np.concatenate(groups).astype(np.int64)
        self.attr["source"][self.source_attributes] = np.repeat(np.arange(n), sizes)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.attr["slot"][self.source_attributes] = np.arange(d) - np.repeat(first, sizes)
        source = self.source = np.zeros(n, DTYPES["Source"])
        source["first"], source["size"] = first, sizes
        source["price"][:offered] = catalog.prices
        source["first_product"] = np.concatenate([[0], np.cumsum(sizes**2)[:-1]])
        source["free"][offered:] = source["member"][offered:] = 1
        source["displaced_member"] = source["proxied_member"] = source["left_at"] = -1
        source["exploration_value"] = -1.0
        source["join_threshold"], source["leave_threshold"] = _thresholds(sizes, offered, expected)
        ranked = np.array([s for s in dict.fromkeys(catalog.of[order].tolist()) if s >= 0], np.int64)
        self.order: Ints = ranked[np.argsort(catalog.prices[ranked], kind="stable")]
        self.queue: Ints = np.zeros(max(offered, 1), np.int64)
        self.partial_products: Floats = np.zeros(int((sizes**2).sum()))
        self.row: Records = np.zeros(_FIRST_ROWS, DTYPES["Row"])
        self.value: Records = np.zeros(_FIRST_ROWS * self.most_values, DTYPES["Value"])
        self.most_rows = max(_FIRST_ROWS, min(_MOST_ROWS, _MOST_VALUES // max(self.most_values, 1)))
        self.scalars: Records = np.zeros(1, DTYPES["Scalars"])
        self.scalars["row_weight"] = self.scalars["alpha"] = 1.0
        self.scalars["refit_at"], self.scalars["m"], self.scalars["reweighted_support"] = 1, free, -1
        self.scalars["rate"] = 0.0 if earned else np.inf  # nothing is bought before the labels show a variance
        self._make_room(width)
        self.column["j"][0, :free] = catalog.free
        self.attr["column"][catalog.free] = np.arange(free)
        self.fit_label: Records = np.zeros(2, DTYPES["FitLabel"])
        log_q = np.log([NormalDist().inv_cdf(0.5 + p / 2.0) for p in core.INTERVAL_LEVELS])
        self.centre: Floats = np.interp([0.5], core.INTERVAL_LEVELS, log_q)
        self.log_q: Floats = log_q - self.centre
        self.level: Floats = np.zeros(1)
        self.prior: Floats = np.array(core.initial_prior(float(expected), float(offered)))
        self.level_expert: Records = np.zeros(len(core.LEVEL_GAINS), DTYPES["LevelExpert"])
        self.level_expert["gain"], self.level_expert["weight"][0] = core.LEVEL_GAINS, 1.0
        self.alarm: Records = np.zeros(_ALARMS, DTYPES["Alarm"])
        self.stored_regime: Records = np.zeros(core.STORED_REGIMES, DTYPES["StoredRegime"])
        self.stored_regime_members: Ints = np.zeros((core.STORED_REGIMES, n), np.int64)
        self.settings: Records = np.zeros(1, DTYPES["Settings"])
        self.settings[0] = (
            places,
            k0,
            expected,
            budget,
            limits.error_cost,
            limits.total_budget,
            limits.expected_rows,
            decay,
            limits.budget_per_row,
        )
        self.constants: Records = np.zeros(1, DTYPES["Constants"])
        self.constants[:] = np.frombuffer(core.constants(), DTYPES["Constants"])
        self.no_prices: Floats = np.zeros(0)
        self.everything: npt.NDArray[np.uint8] = np.ones(n, np.uint8)
        self._fixed = {
            name: source[name].copy()
            for name in ("price", "first", "size", "first_product", "free", "join_threshold", "leave_threshold")
        }
        self._fixed_attr = self.attr[["source", "slot"]].copy()
        self.bind()

    def _make_room(self, width: int) -> None:
        """Allocate arrays for `width` columns of the fit and copy the old contents."""
        d, old = len(self.attr), self.__dict__.copy()
        if d * width > _MOST_PAIRS:
            raise ConfigError(
                f"{d} attributes and {width} columns in a basket need more memory than there is: buy fewer"
            )
        self.pair: Records = np.zeros((d, width), DTYPES["Pair"])
        self.column: Records = np.zeros((2, width), DTYPES["Column"])
        self.gram: Floats = np.zeros((2, width + 2, width + 2))
        self.hidden, self.V, self.P, self.C = (np.zeros((2, width, width)) for _ in range(4))
        for name in ("pair", "column", "gram", "hidden", "V", "P", "C"):
            if name in old:
                getattr(self, name)[tuple(map(slice, old[name].shape))] = old[name]

    def bind(self) -> None:
        """Rebuild the compiled view after an array was replaced."""
        arrays = {
            name: getattr(self, name) for name in (*self._state, "source_attributes", "order", "settings", "constants")
        }
        full = int(len(self.row) >= self.most_rows) + 2 * int(len(self.value) >= self._room_for_values)
        self.engine = core.Engine(arrays, full)

    def _widen(self) -> bool:
        """Give the fit the columns that it needs; return whether it needed any."""
        wanted = int(self.scalars["columns_needed"][0])
        if wanted <= self.column.shape[1]:
            return False
        self._make_room(min(self.most_columns, max(wanted, 2 * self.column.shape[1])))
        self.scalars["columns_needed"] = 0
        self.bind()
        return True

    def reserve(self) -> None:
        """Grow the store for the next row, and the fit for the columns it needs."""
        self._widen()
        while self.engine.must_grow(self.most_values):
            if self.scalars["n_rows"][0] == len(self.row) < self.most_rows:
                self._lengthen_rows(min(2 * len(self.row), self.most_rows))
            if self.scalars["head"][0] + self.most_values > len(self.value) < self._room_for_values:
                self.value = _longer(self.value, min(2 * len(self.value), self._room_for_values))
            self.bind()

    @property
    def _room_for_values(self) -> int:
        """The maximum number of stored values: rounds alone never need as many, past rows may."""
        return max(_MOST_VALUES, self.most_rows * self.most_values)

    def _lengthen_rows(self, size: int) -> None:
        """Make the ring of rows longer; its oldest row becomes the first."""
        self.row = _longer(np.roll(self.row, -int(self.scalars["oldest"][0])), size)
        self.scalars["oldest"] = 0

    def learn(self, X: Floats, y: Floats) -> None:
        """Learn from past rows; if they are more than can be stored, from the last ones."""
        d, kept = len(self.attr), min(y.size, max(_LEAST_PAST, min(_MOST_ROWS, _MOST_PAST_VALUES // len(self.attr))))
        X, y, t = np.ascontiguousarray(X[-kept:]), np.ascontiguousarray(y[-kept:]), 0
        rows, values = int(self.scalars["n_rows"][0]) + kept, int(self.scalars["head"][0]) + kept * d
        # Capacity is at least doubled, so that adding rows one at a time does not copy all of them each time.
        n_rows = min(self.most_rows, max(rows, 2 * len(self.row))) if rows > len(self.row) else 0
        n_values = max(d, min(_MOST_VALUES, max(values, 2 * len(self.value)))) if values > len(self.value) else 0
        if n_rows > len(self.row):
            self._lengthen_rows(n_rows)
        if n_values > len(self.value):
            self.value = _longer(self.value, n_values)
        if n_rows or n_values:
            self.bind()
        while t < kept or self._widen():
            t = self.engine.learn(X, y, t)
            if t < kept:
                self._widen()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a state after checking its indices, because the engine does not check them."""
        super().set_state(flat)
        self.bind()

    @property
    def columns(self) -> Ints:
        """The attributes of the fit, free ones first."""
        columns: Ints = self.column["j"][0, : self.scalars["m"][0]].copy()
        return columns

    def _check_state(self) -> None:
        scalars, d, n, width = self.scalars[0], len(self.attr), len(self.source), self.column.shape[1]
        shapes = {
            **dict.fromkeys(("hidden", "V", "P", "C"), (2, width, width)),
            "gram": (2, width + 2, width + 2),
            "pair": (d, width),
            "column": (2, width),
        }
        if width > self.most_columns or any(getattr(self, name).shape != shape for name, shape in shapes.items()):
            raise StateError("the saved state is damaged: the arrays of its fit do not match")
        floats = [
            self.gram,
            self.hidden,
            self.V,
            self.P,
            self.C,
            self.partial_products,
            self.log_q,
            self.centre,
            self.level,
        ]
        for records in (
            self.attr,
            self.source,
            self.pair,
            self.row,
            self.value,
            self.column,
            self.level_expert,
            self.stored_regime,
        ):
            floats += [records[name] for name in records.dtype.names or () if records.dtype[name].kind == "f"]
        floats += [scalars[name] for name in scalars.dtype.names if scalars.dtype[name].kind == "f" and name != "rate"]
        sums = [self.attr["raw_x"], self.attr["sum_x"]]
        values = [self.row["y"], self.value["x"], self.level_expert["level"], *(scalars[name] for name in _LABELS)]
        for most, numbers in ((_LARGEST, floats), (_LARGEST_SUM, sums), (_LARGEST_VALUE, values)):
            if not all((np.abs(x) < most).all() for x in numbers):
                raise StateError("a number in the state is not finite or too large; the file is damaged or forged")
        rows, room = len(self.row), len(self.value)
        used = (int(scalars["oldest"]) + np.arange(max(0, min(int(scalars["n_rows"]), rows)))) % rows
        ends = self.row["begin"][used] + self.row["size"][used]
        m = int(scalars["m"])
        bounds = (
            (self.attr["column"], -1, width),
            (self.attr["scratch_index"], -1, 0),
            (self.source["displaced_member"], -1, n),
            (self.source["proxied_member"], -1, n),
            (self.source["member"], 0, 2),
            (self.queue, 0, n),
            (self.value["j"], 0, d),
            (self.row["begin"][used], 0, room + 1),
            (self.row["size"][used], 0, d + 1),
            (ends, 0, room + 1),
            (self.column["j"], 0, d),
            (self.stored_regime["n_members"], 0, n + 1),
            (self.stored_regime_members, 0, n),
            (scalars["m"], 0, width + 1),
            (scalars["n_members"], 0, n + 1),
            (scalars["oldest"], 0, rows),
            (scalars["n_rows"], 0, rows + 1),
            (scalars["head"], 0, room + 1),
            (scalars["queue_size"], 0, self.queue.size + 1),
            (scalars["queue_next"], 0, max(int(scalars["queue_size"]), 1)),
            (scalars["regime_on_trial"], 0, core.STORED_REGIMES + 1),
            (scalars["refit_regime"], 0, core.STORED_REGIMES + 1),
            (scalars["n_alarms"], 0, 1 << 53),
            (scalars["n_labels"], 0, 1 << 53),
            (scalars["n_past_rows"], 0, int(scalars["n_labels"]) + 1),
        )
        inside = all(low <= np.min(a, initial=low) and np.max(a, initial=low) < high for a, low, high in bounds)
        same = all(np.array_equal(self.source[name], old) for name, old in self._fixed.items())
        same = same and np.array_equal(self.attr[["source", "slot"]], self._fixed_attr)
        if not (inside and same and rows <= self.most_rows and self._consistent(m)):
            raise StateError("the saved state is damaged: its stored rows do not match its indices")
        ProbabilityCheck().check("level_expert.weight", self.level_expert["weight"], self)
        if not np.array_equal(self.level_expert["gain"], core.LEVEL_GAINS):
            raise StateError("the saved state is damaged: the gains of its level tracker do not match")
        if abs(scalars["lagged_xz"]) > scalars["lagged_xx"] * (1.0 + 1e-9):
            raise StateError("the state has a correlation of attributes from row to row beyond 1")
        if not (scalars["spent"] >= 0.0 and scalars["rate"] >= 0.0):
            raise StateError("the state has spent less than nothing, or values money at less than nothing")
        if not 0.0 < scalars["row_weight"] < 1e60:
            raise StateError("the weight of a new row in the state is not positive")

    def _consistent(self, m: int) -> bool:
        """Return whether attributes, sources and the fit agree on the support, source by source.

        No source may be there twice, also in a stored regime: a basket has no room for that.
        """
        place = np.full(len(self.attr), -1)
        place[self.column["j"][0, :m]] = np.arange(m)
        member, a = np.zeros(len(self.source), np.int64), 0
        while a < m:
            of = self.source[self.attr["source"][self.column["j"][0, a]]]
            brings = self.source_attributes[of["first"] : of["first"] + of["size"]]
            if not np.array_equal(self.column["j"][0, a : a + of["size"]], brings):
                return False
            member[self.attr["source"][brings[0]]] += 1
            a += int(of["size"])
        for stored, n in zip(self.stored_regime_members, self.stored_regime["n_members"].tolist(), strict=True):
            if np.unique(stored[:n]).size < n or self.source["free"][stored[:n]].any():
                return False
        free = bool((self.source["member"] >= self.source["free"]).all())
        return free and np.array_equal(self.attr["column"], place) and np.array_equal(self.source["member"], member)


def _thresholds(sizes: Ints, offered: int, places: int) -> tuple[Floats, Floats]:
    """Return L = 2 ln(e N / K) and its half; for q attributes, the chi-square quantiles of equal tail probability."""
    L = 2.0 * (1.0 + math.log(max(offered, 1) / places))
    join, leave = np.full(sizes.size, L), np.full(sizes.size, L / 2.0)
    for q in np.unique(sizes[sizes > 1]):
        from scipy.special import chdtrc, chdtri  # chi-square: importing scipy.stats takes four times as long

        join[sizes == q] = chdtri(q, chdtrc(1, L))
        leave[sizes == q] = chdtri(q, chdtrc(1, L / 2.0))
    return join, leave


def _longer(old: Records, size: int) -> Records:
    longer = np.zeros(size, old.dtype)
    longer[: len(old)] = old
    return longer
