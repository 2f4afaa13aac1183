"""Exploration schedules: the paper's squares, or a rate c t^p; deterministic, in integer arithmetic where possible."""

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt, log, pow
from typing import Protocol

from ..core.registry.algorithm import OptionValue
from ..errors import ConfigError

__all__ = ["Rate", "Schedule", "Squares", "parse"]


# Stands for "never": beyond this, doubles no longer distinguish rounds.
_NEVER, _NEVER_LOG = 1 << 52, log(1 << 52)


class Schedule(Protocol):
    """A fixed set of exploration rounds, which always contains round 1."""

    def next(self, t: int) -> int:
        """Return the first exploration after round t >= 0."""


@dataclass(frozen=True)
class Squares(OptionValue):
    """The paper's schedule t = 1, 4, 9, ...: about sqrt(T) explorations.

    >>> Squares().next(4)
    9
    """

    def __str__(self) -> str:
        return "squares"

    def next(self, t: int) -> int:
        # Deviation: isqrt, because sqrt(t) in floating point is wrong for large t (E16).
        return (isqrt(t) + 1) ** 2


@dataclass(frozen=True)
class Rate(OptionValue):
    """A share c t^p of the rounds around t: explore where floor(F(t)) increases, F(t) = c t^(1+p) / (1+p).

    >>> r = Rate(2.0, -1 / 3)
    >>> [r.next(0), r.next(1), r.next(1000), r.next(1006)]
    [1, 2, 1006, 1011]
    """

    c: float
    p: float

    def __post_init__(self) -> None:
        if not (0 < self.c < float("inf") and -1 < self.p <= 0):
            raise ConfigError(f"an exploration rate c t^p needs c > 0 and -1 < p <= 0; it is {self.c} t^{self.p}")

    def __str__(self) -> str:
        return f"{self.c!r} t^({self.p!r})" if self.p else repr(self.c)

    def _count(self, t: int) -> int:
        """Return floor(F(t)), at most t."""
        return min(t, floor(self.c * pow(t, 1 + self.p) / (1 + self.p)))

    def next(self, t: int) -> int:
        if t == 0:
            return 1
        n = self._count(t)
        if log((n + 1) * (1 + self.p) / self.c) > _NEVER_LOG * (1 + self.p):
            return _NEVER
        inverse = pow((n + 1) * (1 + self.p) / self.c, 1 / (1 + self.p))
        after = max(t + 1, ceil(inverse) - 1)
        while self._count(after) <= n:  # rounding may leave the closed form one too small
            after += 1
        return after


def parse(explore: str | float | Schedule) -> Schedule:
    """Parse `explore=`: "squares", a rate such as "2 t^(-1/3)", or a number (a constant share of the rounds).

    >>> parse("2 t^(-1/2)")
    Rate(c=2.0, p=-0.5)
    """
    if isinstance(explore, Squares | Rate):
        return explore
    text = str(explore).replace(" ", "").replace("**", "^").lower()
    if text == "squares":
        return Squares()
    number = r"[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?"
    if re.fullmatch(number, text):
        return Rate(float(text), 0.0)
    match = re.fullmatch(rf"({number})?\*?t\^\(?-({number}(?:/[0-9]+)?)\)?", text)
    if not match:
        raise ConfigError(f"explore must be 'squares', a rate such as '2 t^(-1/3)' or a share, not {explore!r}")
    return Rate(float(match[1] or 1.0), -float(Fraction(match[2])))
