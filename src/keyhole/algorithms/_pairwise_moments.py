"""Moments of whatever was seen: each pair of attributes from the rows that saw both, shrunk by how much pairs vary."""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .._core import add_pairwise, fit_pairwise
from .._internal.typing import Floats, Ints
from ..core.state import NumberCheck, RecordCheck, Stateful, StateSchema

__all__ = ["Pooled"]

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

    _state: ClassVar[StateSchema] = {
        "attr": RecordCheck(),
        "ref": NumberCheck(),
        "pairs": RecordCheck(),
        "labels": RecordCheck(),
        "mu": NumberCheck(),
        "sd": NumberCheck(least=0.0),
        "R": NumberCheck(most=1.0 + 1e-6),
        "c": NumberCheck(),
    }

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

    def _sums(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The records as arrays of their numbers, for the core."""
        d, float64 = self.d, np.float64
        attributes, pairs = self.attr.view(float64).reshape(d, 5), self.pairs.view(float64).reshape(d, d, 3)
        return attributes, self.ref, pairs, self.labels.view(float64).reshape(1, 6)

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """A row that saw x on B."""
        add_pairwise(*self._sums(), B, x, y)

    def add_rows(self, X: Floats, y: Floats) -> None:
        """Many rows at once, in places; NaN was not observed. The sums of `add` for each row, in another order."""
        label, seen = self.labels, ~np.isnan(X)
        if label["n"][0] == 0.0:
            label["first"] = label["low"] = label["high"] = y[0]
        v = y - label["first"][0]
        for name, value in (("n", float(y.size)), ("y", y.sum()), ("yy", v @ v)):
            label[name] += value
        label["low"], label["high"] = min(label["low"][0], y.min()), max(label["high"][0], y.max())
        new = (self.attr["n"] == 0.0) & seen.any(axis=0)
        self.ref[new] = X[seen.argmax(axis=0)[new], new.nonzero()[0]]
        U, N = np.where(seen, X - self.ref, 0.0), seen.astype(np.float64)
        own = (N.sum(axis=0), U.sum(axis=0), (U * U).sum(axis=0), v @ N, v @ U)
        for name, total in zip(ATTRIBUTE.names or (), own, strict=True):
            self.attr[name] += total
        both = (N.T @ N, U.T @ N, U.T @ U)
        for name, product in zip(PAIR.names or (), both, strict=True):
            np.fill_diagonal(product, 0.0)
            self.pairs[name] += product

    def fit(self, psd: bool) -> None:
        """The moments of now; with `psd` R is made positive definite where pairs contradict each other."""
        fit_pairwise(*self._sums(), self.mu, self.sd, self.R, self.c)
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


def _mend(R: Floats) -> None:
    """The nearest thing to R with no eigenvalue below 0.02 and a diagonal of ones."""
    values, U = np.linalg.eigh(R)
    if values[0] > 0.02:
        return
    mended = (U * np.maximum(values, 0.02)) @ U.T
    size = np.sqrt(np.diag(mended))
    R[:] = mended / np.outer(size, size)
