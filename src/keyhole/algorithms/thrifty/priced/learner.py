"""`thrifty` where sources, known attributes, worth or a total are given: it buys what is worth its price."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from ...._internal.dataframes import Records
from ...._internal.typing import Bools, Floats, Ints
from ....core.learner import Acquisition, Block, Learner
from ....core.round import Alarm, Round
from ....core.sources import Prices, SourceCatalog, Sources
from ....errors import ConfigError
from ..._options import positive
from ..alarms import alarms
from .explain import SourceExplanation, explain
from .memory import Memory
from .select import refit
from .steps import answer, ask, expect, learn, play

__all__ = ["Priced"]

# Rows per compiled call, and numbers of what they bought; pairs of more attributes than this are not kept.
_BLOCK, _NUMBERS, _WIDEST = 4096, 1 << 22, 3000


class Priced(Learner):
    """The learner that `Thrifty` is with `error_cost` or `total_budget`; see there for its parameters.

        cost of a row = worth (y_hat - y)^2 + price of what was ordered

    Cost: O(m^2) a round with m attributes in the support, O(d (m^2 + m q)) every 2 % more rows; memory O(d^2).
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
        # The same arguments as `Thrifty`, one by one: what a constructor takes is read off it.
        catalog = SourceCatalog.build(names, sources, free, prices)
        super().__init__(names, k, min(k0, max(len(catalog.sources) - 1, 0)), seed, catalog)
        if self.d > _WIDEST:
            raise ConfigError(
                f"worth, total, sources and known keep all pairs of attributes: at most {_WIDEST}, not {self.d}"
            )
        for option, given in (
            ("budget_per_row", budget_per_row),
            ("error_cost", error_cost),
            ("total_budget", total_budget),
        ):
            if given is not None and not catalog.priced:
                raise ConfigError(f"{option} needs prices: what does each source cost?")
        if (total_budget is None) != (expected_rows is None):
            raise ConfigError("total_budget and expected_rows come together: so much money for so many rows")
        limits = (
            _limit("budget_per_row", budget_per_row),
            _limit("error_cost", error_cost),
            _limit("total_budget", total_budget),
        )
        decay = 1.0 if half_life is None else 0.5 ** (1.0 / positive("half_life", half_life))
        last = _limit("expected_rows", expected_rows)
        self.budget_per_row, self.error_cost, self.total_budget = limits
        self.memory = Memory(catalog, self.order, (k, self.k0, *limits, last, decay))

    @property
    def weights(self) -> Floats:
        """Per unit of the raw attribute; zero outside the support and what is known."""
        w: Floats = np.zeros(self.d)
        A, now = self.memory.A, self.memory.now[0]
        unit = self.memory.attr["unit"][A]
        w[A] = np.divide(now["y_unit"] * self.memory.w, unit, out=np.zeros(A.size), where=unit > 0.0)
        return w

    @property
    def intercept(self) -> float:
        """What is predicted at x = 0, where nothing is clipped."""
        A, now = self.memory.A, self.memory.now[0]
        attr = self.memory.attr[A]
        centre = attr["ref"] + attr["unit"] * self.memory.x_bar
        return float(now["y_ref"] + now["y_unit"] * now["y_bar"] - self.weights[A] @ centre)

    @property
    def support(self) -> Ints:
        """The attributes of the sources that are bought, without those that are known."""
        return np.sort(self.memory.A[self.catalog.of[self.memory.A] >= 0])

    @property
    def spent(self) -> float:
        """The money that was asked for so far, open and abandoned rounds included."""
        return float(self.memory.now["spent"][0])

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The changes of the world that were noticed, oldest first: the last 32."""
        return alarms(self.memory.bell, self.memory.state.now)

    def explain(self) -> Records[SourceExplanation]:
        """One record per source, in the order of the columns."""
        w = self.weights
        return Records(
            explain(self.memory, s, name, tuple(self.names[j] for j in brings), tuple(w[brings].tolist()))
            for s, (name, brings) in enumerate(zip(self.catalog.sources, self.catalog.members, strict=True))
        )

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        return d * d

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        out = np.empty(self.d, dtype=np.int64)
        n, extras, looked = ask(self.memory.state, self.memory.everything if pool is None else pool, out)
        return Acquisition("explore" if looked else "exploit", out[:n].copy(), out[n : n + extras].copy())

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
        if learn(self.memory.state, attributes, values, y, x.size):
            refit(self.memory)

    def _lift_total(self) -> None:
        self.memory.given["total"] = np.inf

    def _block(self) -> Block:
        return partial(_play_block, self)


def _limit(option: str, given: float | None) -> float:
    """A number above zero; infinite where none is given."""
    return np.inf if given is None else positive(option, given)


def _play_block(
    learner: Priced, X: Floats, y: Floats, out: Floats, explored: Bools, levels: Floats
) -> tuple[Ints, Ints]:
    """Play some of the rows: what each bought, and how many before and after the label."""
    memory, n, t = learner.memory, min(y.size, _BLOCK, max(1, _NUMBERS // learner.d), learner.memory.free()), 0
    bought, sizes = np.zeros((n, learner.d), np.int64), np.zeros((n, 2), np.int64)
    while t < n:
        t = play(memory.state, memory.everything, X[:n], y[:n], out[:n], explored[:n], levels[:n], bought, sizes, t)
        if memory.now["told"][0] >= memory.now["refit_at"][0]:
            refit(memory)
    learner.t += n
    return bought, sizes
