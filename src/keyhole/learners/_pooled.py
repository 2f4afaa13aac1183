"""Moments of whatever was seen: each pair of attributes from the rows that saw both, shrunk by how much pairs vary."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .._jit import inner, jit
from .._types import Floats, Ints
from ..rules import Numbers, Rule
from ..state import Stateful

__all__ = ["Pooled", "solve_spd"]

# Of the tally.
ROWS, SUM, SQUARES, FIRST, LOW, HIGH = range(6)


class Pooled(Stateful):
    """Sums over rows, in places 0 .. d-1: `attr` has n, sum x, sum x^2, sum y, sum xy per attribute, x less its first
    value `ref` and y less its first; `pairs` has N, sum x_i, sum x_i x_j per pair that was seen together; `tally` rows,
    sum y, sum y^2, the first, the least and the largest label.

    After `fit`: mean `mu` and standard deviation `sd` (0 for one that does not vary), correlations `R`, covariances `c`
    of each attribute in units of its sd with the label.
    """

    _fields: ClassVar[tuple[str, ...]] = ("attr", "ref", "pairs", "tally", "mu", "sd", "R", "c")
    _rules: ClassVar[Mapping[str, Rule]] = {"sd": Numbers(least=0.0), "R": Numbers(most=1.0 + 1e-6)}

    def __init__(self, d: int) -> None:
        self.d = d
        self.attr: Floats = np.zeros((5, d))
        self.ref: Floats = np.zeros(d)
        self.pairs: Floats = np.zeros((3, d, d))
        self.tally: Floats = np.zeros(6)
        self.mu: Floats = np.zeros(d)
        self.sd: Floats = np.zeros(d)
        self.R: Floats = np.eye(d)
        self.c: Floats = np.zeros(d)

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """A row that saw x on B."""
        _add(self.attr, self.ref, self.pairs, self.tally, B, x, y)

    def fit(self, psd: bool) -> None:
        """The moments of now; with `psd` R is made positive definite where pairs contradict each other."""
        _fit(self.attr, self.pairs, self.tally, self.mu, self.sd, self.R, self.c)
        if psd:
            _mend(self.R)

    def standard(self, B: Ints, x: Floats) -> Floats:
        """x in units of sd about its mean, no further out than 8."""
        z = np.zeros(B.size)
        sure = self.sd[B] > 0
        z[sure] = (x[sure] - self.ref[B[sure]] - self.mu[B[sure]]) / self.sd[B[sure]]
        return np.clip(z, -8.0, 8.0)

    @property
    def mean_label(self) -> float:
        """The labels' mean; 0 before the first."""
        return float(self.tally[SUM] / max(self.tally[ROWS], 1.0))

    @property
    def variance(self) -> float:
        """The labels' variance."""
        rows = max(self.tally[ROWS], 1.0)
        first = self.mean_label - self.tally[FIRST]
        return max(float(self.tally[SQUARES] / rows - first**2), 1e-60)  # the square of the smallest label there is

    def within(self, y_hat: float) -> float:
        """A prediction no further than 5 % beyond the labels seen; that itself before there are two."""
        low, high = float(self.tally[LOW]), float(self.tally[HIGH])
        if self.tally[ROWS] < 2:
            return y_hat
        return min(max(y_hat, low - 0.05 * (high - low)), high + 0.05 * (high - low))


@jit
def _add(attr: Floats, ref: Floats, pairs: Floats, tally: Floats, B: Ints, x: Floats, y: float) -> None:
    if tally[0] == 0.0:
        tally[3], tally[4], tally[5] = y, y, y
    v = y - tally[3]
    tally[0] += 1.0
    tally[1] += y
    tally[2] += v * v
    tally[4], tally[5] = min(tally[4], y), max(tally[5], y)
    for i in range(B.size):
        j = B[i]
        if attr[0, j] == 0.0:
            ref[j] = x[i]
        u = x[i] - ref[j]
        attr[0, j] += 1.0
        attr[1, j] += u
        attr[2, j] += u * u
        attr[3, j] += v
        attr[4, j] += u * v
    for i in range(B.size):
        for e in range(B.size):
            if e != i:
                j, h = B[i], B[e]
                u = x[i] - ref[j]
                pairs[0, j, h] += 1.0
                pairs[1, j, h] += u
                pairs[2, j, h] += u * (x[e] - ref[h])


@jit
def _fit(attr: Floats, pairs: Floats, tally: Floats, mu: Floats, sd: Floats, R: Floats, c: Floats) -> None:
    """R_ij shrunk by N/(N + 1/tau^2), tau^2 the spread of the true correlations by empirical Bayes."""
    d = mu.size
    for j in range(d):
        n = attr[0, j]
        c[j] = 0.0
        if n > 1:
            mu[j] = attr[1, j] / n
            square = attr[2, j] / n
            sd[j] = np.sqrt(max(square - mu[j] ** 2, 0.0))
            if sd[j] < 1e-7 * np.sqrt(max(square, 1e-300)):
                sd[j] = 0.0
        if n > 2 and sd[j] > 0.0:
            c[j] = (attr[4, j] - mu[j] * attr[3, j]) / n / sd[j] * n / (n + 1.0)
    top, bottom = 50.0 / 8.0, 50.0
    for i in range(d):
        R[i, i] = 1.0
        for j in range(i):
            N, r = pairs[0, i, j], 0.0
            if N > 2 and sd[i] > 0.0 and sd[j] > 0.0:
                cross = pairs[2, i, j] - mu[i] * pairs[1, j, i] - mu[j] * pairs[1, i, j] + N * mu[i] * mu[j]
                r = min(0.98, max(-0.98, cross / N / (sd[i] * sd[j])))
                if N >= 4:
                    weight = min(N, 200.0)
                    top += weight * (r * r - 1.0 / N)
                    bottom += weight
            R[i, j] = r
    tau2 = min(1.0, max(top / bottom, 1e-3))
    for i in range(d):
        for j in range(i):
            R[i, j] *= pairs[0, i, j] / (pairs[0, i, j] + 1.0 / tau2)
            R[j, i] = R[i, j]


def _mend(R: Floats) -> None:
    """The nearest thing to R with no eigenvalue below 0.02 and a diagonal of ones."""
    values, U = np.linalg.eigh(R)
    if values[0] > 0.02:
        return
    mended = (U * np.maximum(values, 0.02)) @ U.T
    size = np.sqrt(np.diag(mended))
    R[:] = mended / np.outer(size, size)


@inner
def solve_spd(A: Floats, c: Floats) -> Floats:
    """A^-1 c by Cholesky, for small A; a pivot is at least 1e-12 of its diagonal."""
    m = c.size
    L, x = np.zeros((m, m)), c.copy()
    for i in range(m):
        for j in range(i + 1):
            s = A[i, j]
            for e in range(j):
                s -= L[i, e] * L[j, e]
            L[i, j] = s / L[j, j] if i > j else np.sqrt(max(s, 1e-12 * max(A[i, i], 1e-300)))
    for i in range(m):
        for e in range(i):
            x[i] -= L[i, e] * x[e]
        x[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for e in range(i + 1, m):
            x[i] -= L[e, i] * x[e]
        x[i] /= L[i, i]
    return x
