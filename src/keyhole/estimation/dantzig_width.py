"""gamma_s, the width of the Dantzig constraint: the paper's, the paper's scaled, or estimated from the data.

| `tuning=`     | gamma at exploration s                                  | requires                 |
|---------------|---------------------------------------------------------|--------------------------|
| `"theory"`    | the paper's gamma_hat(s)                                | sigma, delta_s, delta    |
| `Scaled(c)`   | c gamma_hat(s)                                          | sigma, delta_s, delta    |
| `"empirical"` | gamma_i = kappa sqrt(2 ln(20 d) V_i) / s, per attribute | nothing                  |

V_i is the running sum of squares of x_hat_i y - [h w]_i, where w is the estimate at that time: the variance of the
quantity that the constraint bounds. The empirical rule is ours, not the paper's.
"""

import re
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Protocol

import numpy as np

from .._core import set_widths
from .._internal.typing import Floats, Ints
from ..core.registry.algorithm import OptionValue
from ..core.state import NumberCheck, Stateful, StateSchema
from ..errors import ConfigError
from ..theory import Constants

__all__ = ["KAPPA", "Empirical", "Scaled", "Theory", "Width", "parse"]

KAPPA = 0.5
"""The factor for both learners, chosen by `benchmarks/kappa.py` on separate seeds."""


@dataclass(frozen=True)
class Scaled(OptionValue):
    """The paper's gamma_hat(s) multiplied by c; c = 1 is the theory."""

    c: float

    def __post_init__(self) -> None:
        if not (self.c > 0 and np.isfinite(self.c)):
            raise ConfigError(f"Scaled(c) needs a finite c > 0, not {self.c}")

    def __str__(self) -> str:
        return f"scaled({self.c!r})"


def parse(tuning: str | Scaled) -> str | Scaled:
    """Parse `tuning=` given by a user or a file: "theory", "empirical", "scaled(0.1)" or a `Scaled`.

    >>> parse("scaled(0.1)")
    Scaled(c=0.1)
    """
    if isinstance(tuning, Scaled) or tuning in ("theory", "empirical"):
        return tuning
    match = re.fullmatch(r"scaled\(([0-9.eE+-]+)\)", str(tuning).replace(" ", "").lower())
    if not match:
        raise ConfigError(f"tuning must be 'theory', 'empirical' or Scaled(c), not {tuning!r}")
    return Scaled(float(match[1]))


def empirical_widths(V: Floats, scale: float) -> Floats:
    """Return gamma_i = scale sqrt(V_i), with V_i at least a tenth of their mean; `Empirical` does this in the core.

    >>> empirical_widths(np.array([4.0, 0.0]), 0.5).round(3).tolist()
    [1.0, 0.224]
    """
    return np.asarray(scale * np.sqrt(np.maximum(V, 0.1 * V.mean())))


class Width(Protocol):
    """The rule for the width of the constraint, which may learn from each round."""

    def observe(self, B: Ints, deviation: Floats) -> None:
        """Update the rule with the deviation x_hat y - h w of one exploration, on the observed attributes B."""

    def gamma(self, s: int) -> float | Floats:
        """Return the width at the s-th exploration."""


class Theory(Stateful):
    """The paper's gamma_hat(s) multiplied by c; it does not learn."""

    def __init__(self, constants: Constants, c: float = 1.0) -> None:
        self.constants, self.c = constants, c

    def observe(self, B: Ints, deviation: Floats) -> None:
        """Do nothing: the paper's width is fixed in advance."""

    def gamma(self, s: int) -> float:
        """Return c gamma_hat(s)."""
        return self.c * self.constants.gamma(s)


class Empirical(Stateful):
    """The empirical width gamma_i = kappa sqrt(2 ln(20 d) V_i) / s, with V_i at least a tenth of their mean."""

    _state: ClassVar[StateSchema] = {
        "V": NumberCheck(least=0.0, most=1e280),  # sums of fourth powers
    }

    def __init__(self, d: int, kappa: float = KAPPA) -> None:
        self.scale = kappa * sqrt(2.0 * log(20.0 * d))
        self.V: Floats = np.zeros(d)

    def observe(self, B: Ints, deviation: Floats) -> None:
        """Update the running sums of squares: `V[B] += deviation**2`."""
        self.V[B] += deviation**2

    def gamma(self, s: int) -> Floats:
        """Return one width per attribute; the floor on V prevents rarely observed attributes from appearing certain."""
        gamma = np.empty(self.V.size)
        set_widths(self.V, self.scale / s, gamma)
        return gamma
