"""Least squares from moments alone: G = sum of v v' over rows v = (1, x, y)."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ._types import Floats, Ints

__all__ = ["Moments", "Subset", "best_subset"]

# Exchanges are tried while a pass over them costs at most about this many small systems.
_PATIENCE = 100_000


class Subset(NamedTuple):
    """Some attributes and the mean squared error of least squares with an intercept on them."""

    attributes: Ints
    mse: float


class Moments(NamedTuple):
    """Means and covariances of (x, y) over n rows."""

    n: float
    mean: Floats
    """(d + 1,), the label's last."""
    C: Floats
    """(d, d)"""
    c: Floats
    """(d,), with the label."""
    variance: float
    """The label's."""

    @classmethod
    def of(cls, G: Floats) -> "Moments":
        """From the sums G."""
        n, mean = float(G[0, 0]), G[0, 1:] / G[0, 0]
        V = G[1:, 1:] / n - np.outer(mean, mean)
        # A column whose variance is rounding is constant: it has no part in anything.
        constant = np.diag(V) <= 1e-12 * np.diag(G)[1:] / n
        V[constant, :] = V[:, constant] = 0.0
        return cls(n, mean, V[:-1, :-1], V[:-1, -1], float(V[-1, -1]))

    def ridge(self, S: Ints) -> tuple[Floats, Floats]:
        """(intercepts, beta) on supports S (m, k): least squares with k pseudo-rows of the columns' variances at 0."""
        own, k = self.C.diagonal()[S], S.shape[1]
        H = self.C[S[:, :, None], S[:, None, :]]
        H[:, range(k), range(k)] += np.where(own > 0, own * (k / self.n), 1.0)
        beta: Floats = np.linalg.solve(H, self.c[S][..., None])[..., 0].astype(np.float64)
        return self.mean[-1] - (self.mean[S] * beta).sum(axis=1), beta


def best_subset(G: Floats, k: int, prices: Floats, spend: float) -> Subset:
    """The best attributes within both budgets, as far as forward selection and exchanges find them."""
    _, _, C, c, variance = Moments.of(G)
    scale = np.sqrt(np.maximum(np.diag(C), 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    search = _Search(C / np.outer(safe, safe), np.where(scale > 0, c / safe, 0.0), prices, spend, k)
    found = [search.from_nothing(power) for power in ((0.0,) if np.isinf(spend) else (0.0, 0.5, 1.0))]
    S = max(found, key=lambda S: float(search.gains([S])[0]))
    return Subset(np.sort(np.array(S, dtype=np.int64)), variance - search.gains([S])[0])


class _Search(NamedTuple):
    """Correlations among the attributes, covariances of them with the label, and what may be spent."""

    R: Floats
    r: Floats
    prices: Floats
    spend: float
    k: int

    def from_nothing(self, power: float) -> list[int]:
        """Add what gains most per price^power, then exchange one for another (with money: or for two) and add on."""
        S: list[int] = []
        while self.move(S, self._larger(S), power):
            pass
        while self.move(S, self._larger(S) + self._exchanged(S)):
            pass
        return S

    def _larger(self, S: list[int]) -> list[list[int]]:
        return [[*S, j] for j in self.others(S)] if len(S) < self.k else []

    def _exchanged(self, S: list[int]) -> list[list[int]]:
        """One for another, and one for two where the sum of money binds; none where that would take too long."""
        others, d = self.others(S), self.r.size
        if self.k * self.k * d > _PATIENCE:
            return []
        single = [[*S[:i], j, *S[i + 1 :]] for i in range(len(S)) for j in others]
        if np.isinf(self.spend) or len(S) >= self.k or len(S) * d * d > _PATIENCE:
            return single
        return single + [[*S[:i], *pair, *S[i + 1 :]] for i in range(len(S)) for pair in combinations(others, 2)]

    def others(self, S: list[int]) -> list[int]:
        """What is not in S."""
        return [j for j in range(self.r.size) if j not in S]

    def gains(self, supports: list[list[int]]) -> Floats:
        """r_S' R_SS^-1 r_S for each support: the variance that least squares on it explains."""
        sizes = np.array([len(support) for support in supports])
        if (sizes != sizes[0]).any():
            gains = np.empty(sizes.size)
            for size in np.unique(sizes):
                gains[sizes == size] = self.gains([support for support in supports if len(support) == size])
            return gains
        S = np.array(supports, dtype=np.int64)
        H = self.R[S[:, :, None], S[:, None, :]] + 1e-9 * np.eye(S.shape[1])  # a copy of a column explains nothing more
        explained: Floats = (np.linalg.solve(H, self.r[S][..., None])[..., 0] * self.r[S]).sum(axis=1)
        return explained

    def move(self, S: list[int], supports: list[list[int]], power: float = 0.0) -> bool:
        """Turn S into the best of these supports that can be paid, if it explains more; False where none does."""
        payable = [other for other in supports if self.prices[other].sum() <= self.spend]
        if not payable:
            return False
        now, gains = self.gains([S])[0], self.gains(payable)
        worth = (gains - now) / np.maximum([self.prices[other].sum() for other in payable], 1e-12) ** power
        best = int(np.argmax(worth))
        if gains[best] <= now * (1 + 1e-9):
            return False
        S[:] = payable[best]
        return True
