"""`bound`: evaluate a theorem at given numbers: its value, whether it applies, and whether it is vacuous.

The letters are those of the paper: d attributes, k bought before the prediction and k0 after the label, T rounds, S the
true support, delta_S its compatibility constant, delta the failure probability of one event of the proof.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ..errors import ConfigError
from .arithmetic import total
from .constants import check_T, check_w_min
from .published_bounds import STATEMENTS, Evaluation, Setting, Statement

__all__ = ["Bound", "bound", "bounds_beside"]

FAILURE = 0.05
"""The default failure probability, from which delta is chosen."""


@dataclass(frozen=True)
class Bound:
    """A bound evaluated at one setting, term by term."""

    statement: Statement
    setting: Setting
    failure_wanted: float | None
    """The failure probability for which delta was chosen; None if delta was given."""
    evaluation: Evaluation
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the bound."""
        return self.statement.name

    @property
    def parts(self) -> dict[str, float]:
        """The terms by name."""
        return dict(self.evaluation.parts)

    @property
    def hidden(self) -> dict[str, float]:
        """Terms of the proof that the printed statement hides in its O(1); they enter no sum."""
        return dict(self.evaluation.hidden)

    @property
    def total(self) -> float:
        """The sum of the terms; infinite if it overflows."""
        return total(list(self.evaluation.parts.values()))

    @property
    def failure(self) -> float:
        """The failure probability, at most 1; 0 for a bound in expectation."""
        return min(1.0, self.statement.spends(self.setting) * self.setting.delta)

    @property
    def in_mean(self) -> bool:
        """Whether the bound holds in expectation, rather than with high probability."""
        return self.statement.spends(self.setting) == 0

    @property
    def T_needed(self) -> float:
        """The number of rounds that T must exceed for the statement to apply; infinite if no T suffices."""
        return self.evaluation.T_needed

    @property
    def applies(self) -> bool:
        """Whether T is large enough for the statement."""
        return self.T_needed < self.setting.T

    @property
    def trivial(self) -> float:
        """The trivial bound, against which `vacuous` compares: predicting 0 has expected regret T |w*|_1^2 <= T, and
        the estimate w = 0 has an error of at most 1.
        """
        return {"regret": self.setting.T, "error": 1.0}.get(self.statement.kind, math.inf)

    @property
    def vacuous(self) -> bool:
        """Whether the bound is no better than the trivial bound; False for a lower bound."""
        return self.statement.kind != "lower" and (self.total >= self.trivial or self.failure >= 1)

    @property
    def verdict(self) -> str:
        """ "useful", or what speaks against the bound: "vacuous", "does not apply", or both."""
        if self.statement.kind in ("lower", "rival"):
            return "holds"
        words = ([] if self.applies else ["does not apply"]) + (["vacuous"] if self.vacuous else [])
        return ", ".join(words) or "useful"

    @cached_property
    def T_useful(self) -> float:
        """The smallest T of the last range of T, up to 1e300, in which the bound applies and is not vacuous.

        For each T, delta is chosen so that the total failure probability is `failure_wanted`. A `delta` that the caller
        gave is for one T only, so 0.05 is used instead. Infinite if there is no such range.
        """
        grid = [x / 2 for x in range(600, -1, -1)]
        high = next((x for x in grid if self._is_useful(x)), None)
        if high is None:
            return math.inf
        low = next((x for x in grid if x < high and not self._is_useful(x)), None)
        return 1.0 if low is None else 10.0 ** self._first(low, low + 0.5)

    @property
    def at_last(self) -> "Bound":
        """Return the same bound at T = 1e300."""
        return self._at(300.0)

    def _at(self, log_T: float) -> "Bound":
        wanted = FAILURE if self.failure_wanted is None else self.failure_wanted
        return _evaluate(self.statement, replace(self.setting, T=10.0**log_T), wanted)

    def _is_useful(self, log_T: float) -> bool:
        other = self._at(log_T)
        return other.applies and not other.vacuous

    def _first(self, low: float, high: float) -> float:
        """Return log10 of the smallest useful T, by bisection between `low`, where the bound is not useful, and `high`,
        where it is (both log10 T).
        """
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_useful(middle) else (middle, high)
        return high


def bound(
    name: str,
    *,
    d: int,
    k: int,
    T: float,
    k0: int | None = None,
    sigma: float | None = None,
    delta_s: float | None = None,
    sigma_d: float | None = None,
    kappa: float | None = None,
    w_min: float | None = None,
    delta: float | None = None,
    failure: float | None = None,
    corrected: bool = False,
) -> Bound:
    """Evaluate the named bound at these numbers; `corrected=True` corrects the paper's errors, as for `Constants`.

    Give either the paper's `delta`, or `failure`, the total failure probability (0.05 by default). `sigma_d^2` is the
    smallest eigenvalue of the rows' second moments; by default sigma_d is replaced by `delta_s`, an upper bound on it.
    `kappa` is the restricted eigenvalue constant of Bickel et al. 2009: |X w|^2/T >= kappa^2 |w_J|_2^2 for
    every w with |w_{S^c}|_1 <= |w_S|_1, where J is S and the k largest coordinates of w outside it.

    >>> b = bound("ds-oslrc", d=20, k=5, sigma=0.1, delta_s=0.5, w_min=0.1, delta=1e-6, T=1e6)
    >>> f"{b.total:.1e}", b.verdict, f"{b.T_needed:.1e}"
    ('2.0e+19', 'does not apply, vacuous', '8.8e+20')
    """
    statement = _named(name)
    setting = Setting(d, k, T, delta or 0.5, k0, sigma, delta_s, sigma_d, kappa, w_min, corrected)
    _check(setting, delta, failure)
    lacking = _lacking(statement, setting)
    if lacking:
        raise ConfigError(f"the bound '{name}' also needs values for: {', '.join(lacking)}")
    return _evaluate(statement, setting, None if delta is not None else failure or FAILURE)


def bounds_beside(**arguments: float | bool | None) -> Iterator[tuple[str, "Bound | str"]]:
    """Yield every bound by name: the result of `bound`, or the reason why it cannot be evaluated at these numbers."""
    for statement in STATEMENTS:
        try:
            yield statement.name, bound(statement.name, **arguments)  # type: ignore[arg-type]
        except ConfigError as fault:
            yield statement.name, str(fault)


def _evaluate(statement: Statement, setting: Setting, wanted: float | None) -> Bound:
    notes: tuple[str, ...] = ()
    if "sigma_d" in statement.needs and setting.sigma_d is None:
        setting = replace(setting, sigma_d=setting.delta_s)
        notes = ("delta_s is used for sigma_d, which is no larger: the bound is at least this",)
    if not statement.exact:
        notes = (*notes, "an order, its constant taken as 1")
    if wanted is not None:
        spends = statement.spends(setting)
        setting = replace(setting, delta=wanted / max(spends, 1.0))
    return Bound(statement, setting, wanted, statement.evaluate(setting), notes)


def _named(name: str) -> Statement:
    for statement in STATEMENTS:
        if statement.name == name:
            return statement
    raise ConfigError(f"there is no bound '{name}'; there are: {', '.join(s.name for s in STATEMENTS)}")


def _lacking(statement: Statement, setting: Setting) -> list[str]:
    given = {letter for letter in statement.needs if getattr(setting, letter) is not None}
    if setting.delta_s is not None:
        given.add("sigma_d")
    return [letter for letter in statement.needs if letter not in given]


def _check(p: Setting, delta: float | None, failure: float | None) -> None:
    """Check the requirements common to all statements; each statement checks its own in addition."""
    check_T(p.T)
    if p.T < 1:
        raise ConfigError(f"T, the number of rounds, must be at least 1, not {p.T}")
    if p.d < 2:
        raise ConfigError(f"d, the number of attributes, must be at least 2, not {p.d}")
    if not 1 <= p.k < p.d:
        raise ConfigError(f"k must be between 1 and d - 1 = {p.d - 1}, not {p.k}")
    if p.k0 is not None and p.k0 < 1:
        raise ConfigError(f"k0, the attributes bought after the label, must be at least 1, not {p.k0}")
    if delta is not None and failure is not None:
        raise ConfigError("give delta or failure, not both: either says how often the bound may fail")
    for what, value in (("delta", delta), ("failure", failure)):
        if value is not None and not 0 < value < 1:
            raise ConfigError(f"{what} must lie strictly between 0 and 1, not {value}")
    for what, size in (("sigma_d", p.sigma_d), ("delta_s", p.delta_s), ("kappa", p.kappa)):
        if size is not None and not 0 < size < math.inf:
            raise ConfigError(f"{what} must be a finite number > 0, not {size}")
    if p.sigma is not None and not 0 <= p.sigma < math.inf:
        raise ConfigError(f"sigma, the standard deviation of the noise, must be a finite number >= 0, not {p.sigma}")
    if p.w_min is not None:
        check_w_min(p.w_min)
