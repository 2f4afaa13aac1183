"""What least squares on a support leaves of a label, and what that says against the paper's assumptions."""

import math
from dataclasses import dataclass

import numpy as np

from .._internal.typing import Floats, Ints

__all__ = ["Residuals"]

# |z| above this is called evidence: about 1 in 16 000 where the assumption holds.
_LOUD = 4.0


@dataclass(frozen=True)
class Residuals:
    """Test statistics, each roughly standard normal where the assumption it is about holds."""

    rows: int
    sigma: float
    """The standard deviation of the residuals."""
    largest: float
    """The largest of them in size, in units of sigma."""
    fit: float
    """(a): do the other attributes explain more than chance? F of the rest, as a z."""
    skew: float
    tails: float
    """(f): third and fourth moment."""
    memory: float
    """(i): correlation of one row's residual with the next one's."""
    drift: float
    """(i): the largest shift of a column's mean from the first half to the second, corrected for their number."""

    @classmethod
    def of(cls, X: Floats, y: Floats, S: Ints) -> "Residuals":
        """The residuals of y on X_S."""
        T, d = X.shape
        r = y - X[:, S] @ np.linalg.lstsq(X[:, S], y, rcond=None)[0]
        e = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
        sigma = float(np.sqrt((r**2).mean()))
        z = r / sigma if sigma > 0 else r
        return cls(
            rows=T,
            sigma=sigma,
            largest=float(np.abs(z).max()),
            fit=_f_as_z(float(r @ r), float(e @ e), d - S.size, T - d),
            skew=float((z**3).mean()) * math.sqrt(T / 6),
            tails=(float((z**4).mean()) - 3) * math.sqrt(T / 24),
            memory=float(z[1:] @ z[:-1]) / math.sqrt(T),
            drift=_drift(X),
        )

    @property
    def linear(self) -> str:
        """In words, (a)."""
        if self.fit > _LOUD:
            return f"spoken against: the other attributes explain more than chance (z {self.fit:.1f})"
        return f"nothing against it: the other attributes explain what chance would (z {self.fit:.1f})"

    @property
    def gaussian(self) -> str:
        """In words, (f)."""
        loud = max(abs(self.skew), abs(self.tails)) > _LOUD
        return (
            f"{'spoken against' if loud else 'nothing against it'} (skew z {self.skew:.1f}, tails z {self.tails:.1f})"
        )

    @property
    def bounded(self) -> str:
        """In words, (g)."""
        return f"no bound can be read off rows; the largest residual seen is {self.largest:.1f} sigma"

    @property
    def alike(self) -> str:
        """In words, (i)."""
        loud = max(abs(self.memory), self.drift) > _LOUD
        said = "spoken against" if loud else "nothing against it"
        return f"{said} (a row's residual and the next one's: z {self.memory:.1f}; drift of a mean: z {self.drift:.1f})"


def _f_as_z(short: float, full: float, extra: int, rest: int) -> float:
    """F = ((short - full)/extra) / (full/rest), of mean one and variance about 2/extra + 2/rest, as a z; else 0."""
    if extra <= 0 or rest <= 2 or full <= 0:
        return 0.0
    return ((short - full) / extra / (full / rest) - 1) / math.sqrt(2 / extra + 2 / rest)


def _drift(X: Floats) -> float:
    half = len(X) // 2
    spread = np.sqrt(X[:half].var(axis=0) / max(half, 1) + X[half:].var(axis=0) / max(len(X) - half, 1))
    moved = np.abs(X[half:].mean(axis=0) - X[:half].mean(axis=0))
    z = float((moved[spread > 0] / spread[spread > 0]).max(initial=0.0)) if half else 0.0
    # The largest of d standard normal sizes is about sqrt(2 ln d): what exceeds it is news.
    return max(0.0, math.sqrt(max(0.0, z**2 - 2 * math.log(max(X.shape[1], 1)))))
