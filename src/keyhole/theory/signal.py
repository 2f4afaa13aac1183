"""How much of a label a few attributes explain, and how much it matters which."""

from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..errors import ConfigError
from .comparators import best_sparse
from .compatibility import compatibility

__all__ = ["DRAWS", "Signal", "signal"]

DRAWS = 300
"""How many random choices `Signal.random` is the median of."""
# Attributes are called interchangeable from this correlation on.
_ALIKE = 0.95
# Beyond this size of a support its compatibility constant would take minutes.
_LARGEST = 10


class Signal(NamedTuple):
    """What least squares can do with all attributes, the best k, and k at random."""

    all: float
    """R2 with all attributes."""
    best: float
    """R2 with the best k found."""
    best_bound: float
    """No k attributes have a larger R2 than this; equal to `best` where that is proved best."""
    random: float
    """The median R2 of k attributes drawn at random."""
    support: Ints
    """The best k found."""
    delta_s: float
    """The compatibility constant of that support; NaN where it has more than 10 members."""
    smallest_eigenvalue: float
    """Of the attributes' second moments."""
    groups: tuple[tuple[int, ...], ...]
    """Groups of attributes with pairwise correlations of at least 0.95 in size."""

    @property
    def verdict(self) -> str:
        """In words, whether choosing attributes can win much."""
        if self.best < 0.02:
            return "hardly any linear signal"
        ratio = self.random / self.best
        if ratio > 0.85:
            return "columns are interchangeable: choosing can win little"
        return "choosing matters" if ratio < 0.5 else "choosing matters somewhat"


def signal(C: Floats, k: int, *, seed: int = 0) -> Signal:
    """The signal in second moments C (d+1, d+1) of rows with the label last, all centred.

    C = A'A stands for the rows: least squares, and so the best k, the compatibility constant and the eigenvalues, are
    the same for the d + 1 rows of A as for the rows C was made of.
    """
    d = len(C) - 1
    if not 1 <= k <= d:
        raise ConfigError(f"k must be between 1 and d = {d}; it is {k}")
    if C[-1, -1] <= 0:
        raise ConfigError("the label is constant; there is nothing to predict")
    values, vectors = np.linalg.eigh(C)
    A = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    X, y = A[:, :d], A[:, d]
    best = best_sparse(X, y, k, nodes=_nodes(d))
    S = np.flatnonzero(best.weights)
    r2 = _r2(C, S)
    return Signal(
        all=_r2(C, np.arange(d)),
        best=r2,
        best_bound=r2 + best.gap,
        random=_random(C, k, np.random.default_rng(seed)),
        support=S,
        delta_s=compatibility(X * np.sqrt(len(X)), S).delta_s if 1 <= S.size <= _LARGEST else np.nan,
        smallest_eigenvalue=float(np.linalg.eigvalsh(C[:d, :d])[0]),
        groups=_groups(C[:d, :d]),
    )


def _r2(C: Floats, S: Ints) -> float:
    """b_S' G_SS^+ b_S / y'y."""
    w = np.linalg.lstsq(C[np.ix_(S, S)], C[S, -1], rcond=1e-12)[0]
    return float(C[S, -1] @ w / C[-1, -1])


def _random(C: Floats, k: int, rng: np.random.Generator) -> float:
    return float(np.median([_r2(C, rng.choice(len(C) - 1, k, replace=False)) for _ in range(DRAWS)]))


def _groups(G: Floats) -> tuple[tuple[int, ...], ...]:
    """Each attribute joins the first group it is like every member of."""
    size = np.sqrt(np.maximum(np.diag(G), np.finfo(float).tiny))
    alike = np.abs(G) >= _ALIKE * np.outer(size, size)
    groups: list[list[int]] = []
    for i in range(len(G)):
        home = next((group for group in groups if alike[i, group].all()), None)
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _nodes(d: int) -> int:
    """How many parts the search for the best k may divide: each takes about d^3 steps, and all a second or two."""
    return int(max(10, min(5000, 2e9 / d**3)))
