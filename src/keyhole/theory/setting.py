"""What a bound may depend on, and a bound as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .constants import Constants

__all__ = ["Evaluation", "Setting", "Statement"]


@dataclass(frozen=True)
class Setting:
    """The letters a bound may depend on; None where they were not given."""

    d: int
    k: int
    T: float
    delta: float
    k0: int | None = None
    sigma: float | None = None
    delta_s: float | None = None
    sigma_d: float | None = None
    w_min: float | None = None
    corrected: bool = False

    @cached_property
    def oslr(self) -> Constants:
        """The constants of DS-OSLRC."""
        return Constants(self.d, self.k, self.sigma, self.delta_s, self.delta, None, self.corrected)  # type: ignore[arg-type]

    @cached_property
    def poslr(self) -> Constants:
        """The constants of DS-POSLRC."""
        return Constants(self.d, self.k, self.sigma, self.delta_s, self.delta, self.k0, self.corrected)  # type: ignore[arg-type]

    def of(self, letter: str) -> float:
        """A letter that is there."""
        value: float = getattr(self, letter)
        return value


@dataclass(frozen=True)
class Evaluation:
    """A statement at one setting."""

    parts: Mapping[str, float]
    hidden: Mapping[str, float]
    T_needed: float
    """The T it must exceed; infinite where none will do."""
    why: str


@dataclass(frozen=True)
class Statement:
    """A bound as data: `evaluate` gives its terms, `spends` how many times delta it may fail with (0: in mean)."""

    name: str
    kind: str
    """"regret", "error" (of the estimate, l1 on the support), "rival" or "lower"."""
    source: str
    assumptions: str
    """The paper's letters, (a) to (i)."""
    needs: tuple[str, ...]
    evaluate: Callable[[Setting], Evaluation]
    spends: Callable[[Setting], float]
    exact: bool = True
