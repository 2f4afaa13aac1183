"""`thrifty`: our own learner, with nothing to set but the budget."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from ..._internal.dataframes import Records
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Block, Learner
from ...core.round import Alarm, Round
from ...core.sources import Prices, SourceCatalog, Sources
from ...errors import ConfigError
from .alarms import alarms
from .block import play_block
from .explain import Explanation, explain, rate
from .memory import Memory
from .regimes import turn
from .select import refit
from .steps import answer, ask, expect, learn
from .update import HEAVY, renew

__all__ = ["Thrifty"]


class Thrifty(Learner):
    """Least squares on the few attributes that earned their place; free places go to those that could help most.

        y_hat = mean + alpha f(x_M),    M joined by j when z_j^2 > L = 2 ln(e d / k),  left when z^2 < L / 2

    Every row that shows an attribute counts for it, bought to explore or to exploit. Raw columns: shift, scale and
    intercept are learnt from bought values. Consistent when rows are exchangeable; see docs/thrifty.md.

    Cost: O(k^2) a round, O(d k^2) to score every 3 % more rows, O(d) to fill free places; memory O(d k).

    Parameters
    ----------
    prices, budget_per_row
        A price per attribute (a list, or names to prices) and the money a row may cost at most. Without
        `budget_per_row` prices only decide between equals.
    half_life
        Rows after which a row counts half; None: never. A change that comes at once is noticed without it.
    sources, known
        What can be ordered together, by name, and what is there for free: see `keyhole.core.sources`.
    worth
        What a unit of squared error in one row is worth in money: only what earns its price is bought. docs/money.md.
    total, rows
        All rows together never cost more than `total_budget`, spent at a pace that lasts for `rows` rows.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> learner = kh.make("thrifty", d=20, k=4, seed=0)
    >>> history = kh.play(learner, 100 * X + 7, 50 * y - 3)
    >>> set(learner.support.tolist()) == set(w.nonzero()[0].tolist())
    True
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
        total_budget: float | None = None,
        expected_rows: float | None = None,
    ) -> None:
        if expected_rows is not None:
            raise ConfigError("total_budget and expected_rows come together: so much money for so many rows")
        super().__init__(names, k, min(k0, len(names) - 1), seed, SourceCatalog.build(names, prices=prices))
        if half_life is not None and not half_life > 0.0:
            raise ConfigError(f"half_life must be > 0 rows; it is {half_life}")
        self.prices = self.catalog.prices
        self.budget_per_row = _spend(budget_per_row, self.prices, self.catalog.priced)
        affordable = int(np.searchsorted(np.cumsum(np.sort(self.prices)), self.budget_per_row, side="right"))
        self.width = max(1, min(k, affordable))
        self.memory = Memory(self.order, self.width, self.k0, self.prices, self.budget_per_row, half_life)

    @classmethod
    def _made_as(cls, options: Mapping[str, object]) -> type[Learner]:
        """With worth or a total the priced engine plays; with sources or known attributes the compiled one."""
        if options.get("error_cost") is not None or options.get("total_budget") is not None:
            from .priced import Priced  # not needed without them, and compiled apart

            return Priced
        if options.get("sources") or options.get("free"):
            from .compiled import CompiledThrifty

            return CompiledThrifty
        return cls

    @property
    def weights(self) -> Floats:
        """Per unit of the raw attribute; zero outside the support."""
        w: Floats = np.zeros(self.d)
        M, fit, now = self.memory.members, self.memory.state.fit, self.memory.state.now
        unit, scaled = self.memory.attr["unit"][M], now.y_unit * fit.member["w"][: M.size]
        w[M] = np.divide(scaled, unit, out=np.zeros(M.size), where=unit > 0.0)
        return w

    @property
    def intercept(self) -> float:
        """What is predicted at x = 0, where nothing is clipped."""
        M, fit, now = self.memory.members, self.memory.state.fit, self.memory.state.now
        attr = self.memory.attr[M]
        centre = attr["ref"] + attr["unit"] * fit.member["x_bar"][: M.size]
        mean = (fit.label.y_bar if M.size else now.y_mean) + self.memory.level
        return float(now.y_ref + now.y_unit * mean - self.weights[M] @ centre)

    @property
    def support(self) -> Ints:
        """The attributes that earned their place, at most k; fewer while fewer did."""
        return np.sort(self.memory.members)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes of the world that were noticed, oldest first: the last 32."""
        return alarms(self.memory.bell, self.memory.state.now)

    def explain(self) -> Records[Explanation]:
        """One record per attribute, in the order of the columns."""
        paid = rate(self.memory.state) if self.catalog.priced else np.nan
        return Records(explain(self.memory.state, j, name, paid) for j, name in enumerate(self.names))

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        out = np.empty(self.width + self.k0, dtype=np.int64)
        state = self.memory.state
        n, extras, lent = ask(state, self.memory.everything if pool is None else pool, out)
        kind = "explore" if lent or state.now.m == 0 else "exploit"
        return Acquisition(kind, out[:n].copy(), out[n : n + extras].copy())

    def _predict(self, r: Round, x: Floats) -> float:
        return answer(self.memory.state, r.attributes, x)

    def _interval(self, r: Round, x: Floats, level: float) -> tuple[float, float]:
        memory = self.memory
        expected = partial(expect, memory.state, r.attributes, x)
        return memory.calibration.interval(level, int(memory.now["told"][0]), expected)

    def _level(self) -> float:
        return float(self.memory.calibration.level[0])

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        self.memory.free()
        attributes, values = np.concatenate([r.attributes, r.extra]), np.concatenate([x, more])
        learn(self.memory.state, attributes, values, y, x.size)
        self._refit()

    def _refit(self) -> None:
        """Weights and support anew, when it is time."""
        now = self.memory.now
        if now["told"][0] >= now["refit_at"][0]:
            if now["g"][0] > HEAVY:
                self.memory.kept["g"] /= renew(self.memory.state)
            turn(self.memory)
            refit(self.memory)

    def _block(self) -> Block:
        return partial(play_block, self)


def _spend(budget_per_row: float | None, prices: Floats, priced: bool) -> float:
    """The money a row may cost; infinite without a limit."""
    if budget_per_row is None:
        return np.inf
    if not priced:
        raise ConfigError("spend needs prices: what does each attribute cost?")
    if not budget_per_row >= prices.min():
        raise ConfigError(f"spend = {budget_per_row} buys nothing: the cheapest attribute costs {prices.min():g}")
    return float(budget_per_row)
