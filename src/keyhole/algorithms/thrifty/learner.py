"""`thrifty`: our own learner, whose only required setting is the budget."""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..._internal.dataframes import Records
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner, PlayedRows
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Alarm, Round
from ...core.sources import Prices, SourceCatalog, Sources
from ...core.state import Part, StateSchema
from ...errors import ConfigError
from .._options import positive
from .engine_state import EngineState, Limits
from .explain import Explanation, explain

__all__ = ["Thrifty"]

_USUAL: Floats = np.zeros((0, 0))  # stands for the usual prices of a block of rows


class Thrifty(Learner):
    """Least squares on the few sources with significant evidence; unused places explore the most promising others.

        y_hat = mean + alpha f(x_M),    source s joins M if its evidence > L = 2 ln(e n / k), and leaves it below L / 2

    Every row that observes an attribute is used for it, whether bought to explore or to exploit. Raw columns are
    accepted: shift, scale and intercept are estimated from bought values. A source joins, leaves and is explored as a
    whole. Consistent if rows are exchangeable; see docs/thrifty.md.

    Cost: O(m^2) per round with m columns in the support, O(d m^2) for scoring after every 3 % more rows; memory O(d m).

    Parameters
    ----------
    prices, budget_per_row
        A price per source (names to prices, or a list if every attribute is a source), and the maximum cost of a row.
        Without `budget_per_row`, `error_cost` or `total_budget`, prices only break ties.
    half_life
        The number of rows after which a row counts half; None: never. Abrupt changes are detected without it.
    sources, free
        What is ordered together, by name, and what is free: see `keyhole.core.sources`.
    error_cost
        The cost in money of one unit of squared error in one row: a source is bought only if it earns its price.
    total_budget, expected_rows
        All rows together never cost more than `total_budget`, paced to last for `expected_rows` rows.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> learner = kh.make("thrifty", d=20, k=4, seed=0)
    >>> history = kh.play(learner, 100 * X + 7, 50 * y - 3)
    >>> set(learner.support.tolist()) == set(w.nonzero()[0].tolist())
    True
    """

    name = "thrifty"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, optional k0, optional costs",
        bound="none proven",
        cost="O(k^2), and O(d k^2) at each 3 % more rows",
        reference="keyhole's own, docs/thrifty.md",
        status="verified",
        past_rows="any",
        binary_labels=True,
        takes_k0=True,
        raw_columns=True,
        further="exchangeable rows",
    )
    gives_intervals = True
    _state: ClassVar[StateSchema] = {
        "memory": Part(),
    }

    def __init__(
        self,
        names: Sequence[str],
        k: int,
        k0: int,
        seed: int,
        prices: Prices | None = None,
        budget_per_row: float | None = None,
        half_life: float | None = None,
        sources: Sources | None = None,
        free: Sequence[str] | None = None,
        error_cost: float | None = None,
        total_budget: float | None = None,
        expected_rows: int | None = None,
    ) -> None:
        catalog = SourceCatalog.build(names, sources, free, prices)
        super().__init__(names, k, min(k0, max(len(catalog.sources) - 1, 0)), seed, catalog)
        for option, given in (
            ("budget_per_row", budget_per_row),
            ("error_cost", error_cost),
            ("total_budget", total_budget),
        ):
            if given is not None and not catalog.priced:
                raise ConfigError(f"{option} needs prices: give prices=, the price of each source")
        if (total_budget is None) != (expected_rows is None):
            raise ConfigError("give total_budget and expected_rows together: the money, and the rows it must last for")
        self.budget_per_row = _positive("budget_per_row", budget_per_row)
        if not self.budget_per_row >= catalog.prices.min(initial=np.inf):
            raise ConfigError(
                f"budget_per_row = {budget_per_row:g} buys nothing: the cheapest source costs {catalog.prices.min():g}"
            )
        # A row counts at most 1e20 times the row before: beyond that sums of weights would overflow.
        decay = max(0.5 ** (1.0 / _positive("half_life", half_life)), 1e-20)
        limits = Limits(
            k=k,
            k0=self.k0,
            budget_per_row=self.budget_per_row,
            error_cost=_positive("error_cost", error_cost),
            total_budget=_positive("total_budget", total_budget),
            expected_rows=_positive("expected_rows", expected_rows),
        )
        self.memory = EngineState(catalog, self.order, limits, decay)

    def _weights(self) -> Floats:
        """Return the weights per unit of the raw attribute; zero outside the support and the free attributes."""
        w: Floats = np.zeros(self.d)
        A, scalars = self.memory.columns, self.memory.scalars[0]
        unit = self.memory.attr["unit"][A]
        scaled = scalars["y_unit"] * self.memory.column["w"][0, : A.size]
        w[A] = np.divide(scaled, unit, out=np.zeros(A.size), where=unit > 0.0)
        return w

    @property
    def intercept(self) -> float:
        """The prediction at x = 0 where nothing is clipped."""
        with self._lock:
            A, scalars, memory = self.memory.columns, self.memory.scalars[0], self.memory
            attr = memory.attr[A]
            centre = attr["ref"] + attr["unit"] * memory.column["x_bar"][0, : A.size]
            mean = memory.fit_label["y_bar"][0] if A.size else scalars["y_mean"]
            level = memory.level_expert["weight"] @ memory.level_expert["level"]
            return float(scalars["y_ref"] + scalars["y_unit"] * (mean + level) - self.weights[A] @ centre)

    def _support(self) -> Ints:
        """Return the attributes of the sources in the support, without the free ones."""
        A = self.memory.columns
        return np.sort(A[self.catalog.of[A] >= 0])

    @property
    def spent(self) -> float:
        """The money spent so far, including open and abandoned rounds."""
        with self._lock:
            scalars = self.memory.scalars[0]
            return float(scalars["spent"] + scalars["spent_remainder"])

    @property
    def n_labels(self) -> int:
        """The number of labels told so far, without past rows; alarms are numbered by it."""
        with self._lock:
            scalars = self.memory.scalars[0]
            return int(scalars["n_labels"] - scalars["n_past_rows"])

    def _alarms(self) -> tuple[Alarm, ...]:
        """Return the last 32 detected changes, oldest first, with what was forgotten."""
        alarm, n = self.memory.alarm, int(self.memory.scalars["n_alarms"][0])
        return tuple(_worded(alarm[i % alarm.size]) for i in range(max(0, n - alarm.size), n))

    def explain(self) -> Records[Explanation]:
        """Return one record per source, in column order."""
        with self._lock:
            return Records(explain(self.memory, self.catalog, self.weights))

    def _pool(self, pool: Bools | None) -> npt.NDArray[np.uint8]:
        if pool is None:
            return self.memory.everything
        there = self.memory.everything.copy()
        there[: len(self.catalog.sources)] = self.catalog.pool(pool)
        return there

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        return self._acquire(pool, self.memory.no_prices)

    def _ask_at(self, t: int, pool: Bools | None, prices: Floats) -> Acquisition:
        free: Floats = np.zeros(len(self.memory.source) - prices.size)
        return self._acquire(pool, np.concatenate([prices, free]))

    def _acquire(self, pool: Bools | None, prices: Floats) -> Acquisition:
        out, n, _, _, explores = self.memory.engine.ask(self._pool(pool), prices)
        bought = np.array(out, np.int64)
        return Acquisition("explore" if explores else "exploit", bought[:n].copy(), bought[n:].copy())

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self.memory.engine.predict(r.attributes, x)[0])

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        reach = self.memory.engine.reach(level)
        if np.isinf(reach):
            return -np.inf, np.inf
        y_hat, spread = self.memory.engine.predict(r.attributes, x)
        return y_hat - reach * spread, y_hat + reach * spread

    def _level(self) -> float:
        return float(self.memory.level[0])

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        self.memory.reserve()
        self.memory.engine.tell(np.concatenate([r.attributes, r.extra]), np.concatenate([x, more]), x.size, y)

    def _learn(self, X: Floats, y: Floats) -> None:
        """Learn from past rows with finite labels; NaN marks unobserved values."""
        self.memory.learn(self._affordable(X), y)

    def _affordable(self, X: Floats) -> Floats:
        """Return the rows without the sources that no round can afford, which only past rows contain."""
        dear = self.catalog.prices > self.budget_per_row
        if not (self.catalog.priced and dear.any()):
            return X
        return np.where(np.append(dear, False)[self.catalog.of], np.nan, X)  # index -1 (free) reads the last entry

    def _lift_total_budget(self) -> None:
        self.memory.settings["total_budget"] = np.inf

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        memory, n, t = self.memory, y.size, 0
        paid = _USUAL
        if prices is not None:  # the free attributes are the last source
            paid = np.pad(prices, ((0, 0), (0, len(memory.source) - prices.shape[1])))
        bought, sizes = np.zeros((n, memory.most_values), np.int64), np.zeros((n, 3), np.int64)
        X, y = np.ascontiguousarray(X), np.ascontiguousarray(y)
        predictions, levels, price, explored = np.zeros(n), np.full(n, np.nan), np.zeros(n), np.zeros(n, np.uint8)
        while t < n:
            memory.reserve()
            t = memory.engine.play(
                memory.everything, X, y, predictions, levels, price, explored, bought, sizes, paid, t
            )
        self.t += n
        return PlayedRows(
            predictions,
            explored.astype(np.bool_),
            levels,
            bought,
            sizes[:, :2],
            None if prices is None else self._paid(prices, bought, sizes[:, :2].sum(axis=1)),
        )

    def _paid(self, prices: Floats, bought: Ints, sizes: Ints) -> Floats:
        """Return the (n,) prices of rows that bought the first sizes[t] of bought[t], each the sum that a round has."""
        row, place = np.nonzero(np.arange(bought.shape[1]) < sizes[:, None])
        ordered = np.zeros((len(prices), prices.shape[1] + 1), dtype=np.bool_)
        ordered[row, self.catalog.of[bought[row, place]]] = True  # index -1 (free) is the last entry
        return np.array([math.fsum(p[o]) for p, o in zip(prices, ordered[:, :-1], strict=True)])


def _positive(option: str, given: float | None) -> float:
    """Return a number > 0; infinite if none is given."""
    return np.inf if given is None else positive(option, given)


def _worded(entry: np.void) -> Alarm:
    if entry["returned"] != 0:
        kind = "past row" if entry["returned"] < 0 else "row"
        what = f"what held until {kind} {abs(entry['returned'])} holds again"
    elif entry["level"] != 0.0:
        what = f"the label's level moved by {entry['level']:+.3g}"
    else:
        before, after, by = entry["slope_before"], entry["slope_after"], entry["forgotten"]
        what = "the weights of single attributes changed"
        if before != after:
            what = f"labels follow the predictions {after:.2g} times, where they did {before:.2g} times"
        what += f"; rows before count 1/{by:g}"
    if entry["past"]:
        return Alarm(0, f"past row {entry['row']}: {what}")
    return Alarm(int(entry["row"]), what)
