"""`thrifty` on the compiled engine: sources of one or more attributes, free attributes, a budget per row."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..._internal.dataframes import Records
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Block, Learner
from ...core.round import Alarm, Round
from ...core.sources import Prices, SourceCatalog, Sources
from ...errors import ConfigError
from .engine_state import EngineState
from .priced.explain import SourceExplanation

__all__ = ["CompiledThrifty"]

# Rows per compiled call: a user who waits sees progress, and an interrupt is heard.
_BLOCK = 4096


class CompiledThrifty(Learner):
    """The learner that `Thrifty` is with `sources` or `free`; its parameters are explained there.

    A source joins, leaves and is explored as a whole: what counts is what its q attributes add together beside the
    support, r' V^-1 r with q degrees of freedom. Free attributes are always in the fit and take no place.
    """

    name = "thrifty"
    gives_intervals = True
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "memory")

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
        total: float | None = None,
        rows: float | None = None,
    ) -> None:
        if error_cost is not None or total is not None or rows is not None:
            raise ConfigError("worth, total and rows are played by another engine")
        catalog = SourceCatalog.build(names, sources, free, prices)
        super().__init__(names, k, min(k0, max(len(catalog.sources) - 1, 0)), seed, catalog)
        if half_life is not None and not half_life > 0.0:
            raise ConfigError(f"half_life must be > 0 rows; it is {half_life}")
        if budget_per_row is not None and not catalog.priced:
            raise ConfigError("spend needs prices: what does each source cost?")
        if budget_per_row is not None and not budget_per_row >= catalog.prices.min(initial=np.inf):
            raise ConfigError(
                f"spend = {budget_per_row} buys nothing: the cheapest source costs {catalog.prices.min():g}"
            )
        self.budget_per_row = np.inf if budget_per_row is None else float(budget_per_row)
        self.memory = EngineState(catalog, self.order, k, self.k0, self.budget_per_row, half_life)

    @property
    def weights(self) -> Floats:
        """Per unit of the raw attribute; zero outside the support and what is free."""
        w: Floats = np.zeros(self.d)
        A, now = self.memory.columns, self.memory.now[0]
        unit = self.memory.attr["unit"][A]
        scaled = now["y_unit"] * self.memory.column["w"][0, : A.size]
        w[A] = np.divide(scaled, unit, out=np.zeros(A.size), where=unit > 0.0)
        return w

    @property
    def intercept(self) -> float:
        """What is predicted at x = 0, where nothing is clipped."""
        A, now, memory = self.memory.columns, self.memory.now[0], self.memory
        attr = memory.attr[A]
        centre = attr["ref"] + attr["unit"] * memory.column["x_bar"][0, : A.size]
        mean = memory.fit_label["y_bar"][0] if A.size else now["y_mean"]
        level = memory.account["belief"] @ memory.account["c"]
        return float(now["y_ref"] + now["y_unit"] * (mean + level) - self.weights[A] @ centre)

    @property
    def support(self) -> Ints:
        """The attributes of the sources that are bought, without those that are free."""
        A = self.memory.columns
        return np.sort(A[self.catalog.of[A] >= 0])

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes of the world that were noticed, oldest first, with what was forgotten: the last 32."""
        alarm, n = self.memory.alarm, int(self.memory.now["n_alarms"][0])
        return tuple(_worded(alarm[i % alarm.size]) for i in range(max(0, n - alarm.size), n))

    def explain(self) -> Records[SourceExplanation]:
        """One record per source, in the order of the columns."""
        w, sources = self.weights, range(len(self.catalog.sources))
        adds = [self._adds(s) for s in sources]
        paid = [me["price"] / a for me, a in zip(self.memory.source, adds, strict=False) if me["member"] and a > 0.0]
        rate = max(paid, default=np.nan) if self.catalog.priced else np.nan
        return Records(self._explain(s, w, adds[s], float(rate)) for s in sources)

    def _adds(self, s: int) -> float:
        """By how much source s lowers the squared error of a row."""
        memory, me, unit2 = self.memory, self.memory.source[s], float(self.memory.now["y_unit"][0]) ** 2
        if not me["member"]:
            return float(me["adds"]) * unit2
        at = memory.attr["place"][self.catalog.members[s]]
        w = memory.column["w"][0, at]
        return float(w @ np.linalg.lstsq(memory.P[0][np.ix_(at, at)], w, rcond=None)[0]) * unit2

    def _explain(self, s: int, w: Floats, adds: float, rate: float) -> SourceExplanation:
        me, brings = self.memory.source[s], self.catalog.members[s]
        odds = float(me["ratio"] or 1.0) * float(self.memory.given["k_prior"][0]) / len(self.catalog.sources)
        if me["member"]:
            reason = f"in the support: it leaves below an evidence of {me['leave_at']:.1f}"
        elif me["asked"] == 0:
            reason = "never bought"
        elif me["z2"] > me["join_at"]:
            reason = f"evidence {me['z2']:.1f} is significant, but the members in its place explain more"
        else:
            reason = f"evidence {me['z2']:.1f} beside the support, it joins above {me['join_at']:.1f}"
        weights = tuple(w[brings].tolist())
        return SourceExplanation(
            name=self.catalog.sources[s],
            attributes=tuple(self.names[j] for j in brings),
            weights=weights,
            weight=max(weights, key=abs),
            bought=int(me["asked"]),
            price=float(me["price"]),
            adds=adds,
            adds_money=rate * adds,
            fair_price=rate * adds,
            probability=1.0 if me["member"] else odds / (1.0 + odds),
            in_support=bool(me["member"]),
            reason=reason,
        )

    def _pool(self, pool: Bools | None) -> npt.NDArray[np.uint8]:
        if pool is None:
            return self.memory.everything
        there = self.memory.everything.copy()
        there[: len(self.catalog.sources)] = self.catalog.pool(pool)
        return there

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        out, n, _, _, explores = self.memory.engine.ask(self._pool(pool))
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

    def _block(self) -> Block:
        return partial(_play_block, self)


def _play_block(
    learner: CompiledThrifty, X: Floats, y: Floats, out: Floats, explored: Bools, levels: Floats
) -> tuple[Ints, Ints]:
    """Play some of the rows: what each bought, and how many before and after the label."""
    memory, n, t = learner.memory, min(y.size, _BLOCK), 0
    bought, sizes = np.zeros((n, memory.most_values), np.int64), np.zeros((n, 3), np.int64)
    X, y = np.ascontiguousarray(X[:n]), np.ascontiguousarray(y[:n])
    said, held, price, looked = np.zeros(n), np.full(n, np.nan), np.zeros(n), np.zeros(n, np.uint8)
    while t < n:
        memory.reserve()
        t = memory.engine.play(memory.everything, X, y, said, held, price, looked, bought, sizes, t)
    out[:n], explored[:n], levels[:n] = said, looked.astype(np.bool_), held
    learner.t += n
    return bought, np.ascontiguousarray(sizes[:, :2])


def _worded(entry: np.void) -> Alarm:
    if entry["returned"] > 0:
        what = f"what held until row {entry['returned']} holds again"
    elif entry["level"] != 0.0:
        what = f"the label's level moved by {entry['level']:+.3g}"
    else:
        before, after, by = entry["slope_before"], entry["slope_after"], entry["forgotten"]
        what = "the weights of single attributes changed"
        if before != after:
            what = f"labels follow the predictions {after:.2g} times, where they did {before:.2g} times"
        what += f"; rows before count 1/{by:g}"
    return Alarm(int(entry["row"]), what)
