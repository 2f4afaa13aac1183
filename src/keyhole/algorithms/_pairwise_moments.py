"""Moments of whatever was seen: each pair of attributes from the rows that saw both, shrunk by how much pairs vary."""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .._internal.numba._jit import inner, jit
from .._internal.typing import Floats, Ints
from ..core.state import Numbers, Rule, Stateful

__all__ = ["Pooled", "solve_spd"]

Records: TypeAlias = npt.NDArray[np.record]

# Sums per attribute over the rows that saw it, of 1, x, x^2, y and x y; per pair over the rows that saw both, of 1, the
# first's x and both x; and of all labels, of 1, y and y^2, with the first, the least and the largest of them. In all
# sums but that of the labels themselves x and y are less their first values.
ATTRIBUTE = np.dtype([(name, "f8") for name in ("n", "x", "xx", "y", "xy")])
PAIR = np.dtype([(name, "f8") for name in ("n", "x", "xx")])
LABELS = np.dtype([(name, "f8") for name in ("n", "y", "yy", "first", "low", "high")])


class Pooled(Stateful):
    """Sums over rows, in places 0 .. d-1: records of `attr` (d,), of `pairs` (d, d) and of the `labels` (1,); `ref` has
    the attributes' first values.

    After `fit`: mean `mu` and standard deviation `sd` (0 for one that does not vary), correlations `R`, covariances `c`
    of each attribute in units of its sd with the label.
    """

    _fields: ClassVar[tuple[str, ...]] = ("attr", "ref", "pairs", "labels", "mu", "sd", "R", "c")
    _rules: ClassVar[Mapping[str, Rule]] = {"sd": Numbers(least=0.0), "R": Numbers(most=1.0 + 1e-6)}

    def __init__(self, d: int) -> None:
        self.d = d
        self.attr: Records = np.zeros(d, ATTRIBUTE)
        self.ref: Floats = np.zeros(d)
        self.pairs: Records = np.zeros((d, d), PAIR)
        self.labels: Records = np.zeros(1, LABELS)
        self.mu: Floats = np.zeros(d)
        self.sd: Floats = np.zeros(d)
        self.R: Floats = np.eye(d)
        self.c: Floats = np.zeros(d)

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """A row that saw x on B."""
        _add(self.attr, self.ref, self.pairs, self.labels, B, x, y)

    def fit(self, psd: bool) -> None:
        """The moments of now; with `psd` R is made positive definite where pairs contradict each other."""
        _fit(self.attr, self.pairs, self.mu, self.sd, self.R, self.c)
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
        return float(self.labels["y"][0] / max(self.labels["n"][0], 1.0))

    @property
    def first_label(self) -> float:
        """The first label; 0 before it."""
        return float(self.labels["first"][0])

    @property
    def variance(self) -> float:
        """The labels' variance."""
        rows = max(self.labels["n"][0], 1.0)
        first = self.mean_label - self.first_label
        return max(float(self.labels["yy"][0] / rows - first**2), 1e-60)  # the square of the smallest label there is

    def within(self, y_hat: float) -> float:
        """A prediction no further than 5 % beyond the labels seen; that itself before there are two."""
        low, high = float(self.labels["low"][0]), float(self.labels["high"][0])
        if self.labels["n"][0] < 2:
            return y_hat
        return min(max(y_hat, low - 0.05 * (high - low)), high + 0.05 * (high - low))


@jit
def _add(attr: Records, ref: Floats, pairs: Records, labels: Records, B: Ints, x: Floats, y: float) -> None:
    label = labels[0]
    if label.n == 0.0:
        label.first, label.low, label.high = y, y, y
    v = y - label.first
    label.n += 1.0
    label.y += y
    label.yy += v * v
    label.low, label.high = min(label.low, y), max(label.high, y)
    for i in range(B.size):
        j = B[i]
        me = attr[j]
        if me.n == 0.0:
            ref[j] = x[i]
        u = x[i] - ref[j]
        me.n += 1.0
        me.x += u
        me.xx += u * u
        me.y += v
        me.xy += u * v
    for i in range(B.size):
        for e in range(B.size):
            if e != i:
                j, h = B[i], B[e]
                u = x[i] - ref[j]
                both = pairs[j, h]
                both.n += 1.0
                both.x += u
                both.xx += u * (x[e] - ref[h])


@jit
def _fit(attr: Records, pairs: Records, mu: Floats, sd: Floats, R: Floats, c: Floats) -> None:
    """R_ij shrunk by N/(N + 1/tau^2), tau^2 the spread of the true correlations by empirical Bayes."""
    d = mu.size
    for j in range(d):
        me = attr[j]
        n = me.n
        c[j] = 0.0
        if n > 1:
            mu[j] = me.x / n
            square = me.xx / n
            sd[j] = np.sqrt(max(square - mu[j] ** 2, 0.0))
            if sd[j] < 1e-7 * np.sqrt(max(square, 1e-300)):
                sd[j] = 0.0
        if n > 2 and sd[j] > 0.0:
            c[j] = (me.xy - mu[j] * me.y) / n / sd[j] * n / (n + 1.0)
    top, bottom = 50.0 / 8.0, 50.0
    for i in range(d):
        R[i, i] = 1.0
        for j in range(i):
            both = pairs[i, j]
            N, r = both.n, 0.0
            if N > 2 and sd[i] > 0.0 and sd[j] > 0.0:
                cross = both.xx - mu[i] * pairs[j, i].x - mu[j] * both.x + N * mu[i] * mu[j]
                r = min(0.98, max(-0.98, cross / N / (sd[i] * sd[j])))
                if N >= 4:
                    weight = min(N, 200.0)
                    top += weight * (r * r - 1.0 / N)
                    bottom += weight
            R[i, j] = r
    tau2 = min(1.0, max(top / bottom, 1e-3))
    for i in range(d):
        for j in range(i):
            R[i, j] *= pairs[i, j].n / (pairs[i, j].n + 1.0 / tau2)
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
