"""Pairwise moments of partially observed rows: each pair from the rows that observed both, with shrinkage."""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .._core import add_pairwise, fit_pairwise
from .._internal.typing import Floats, Ints
from ..core.state import NumberCheck, RecordCheck, Stateful, StateSchema

__all__ = ["Pooled"]

Records: TypeAlias = npt.NDArray[np.record]

# Sums per attribute over the rows that observed it, of 1, x, x^2, y and x y; per pair over the rows that observed both,
# of 1, the first x and the product; and over all labels, of 1, y and y^2, with the first, smallest and largest label.
# In all sums except those of the labels alone, x and y are relative to their first values.
ATTRIBUTE = np.dtype([(name, "f8") for name in ("n", "x", "xx", "y", "xy")])
PAIR = np.dtype([(name, "f8") for name in ("n", "x", "xx")])
LABELS = np.dtype([(name, "f8") for name in ("n", "y", "yy", "first", "low", "high")])


class Pooled(Stateful):
    """Sums over rows, at positions 0 .. d-1: records `attr` (d,), `pairs` (d, d) and `labels` (1,).

    `ref` has the first value of each attribute. `fit` computes the mean `mu` and standard deviation `sd` (0 for
    constants), the correlations `R`, and the covariances `c` of each standardized attribute with the label.
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
        """Return the records as plain arrays for the core."""
        d, float64 = self.d, np.float64
        attributes, pairs = self.attr.view(float64).reshape(d, 5), self.pairs.view(float64).reshape(d, d, 3)
        return attributes, self.ref, pairs, self.labels.view(float64).reshape(1, 6)

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """Add a row that observed x on B."""
        add_pairwise(*self._sums(), B, x, y)

    def add_rows(self, X: Floats, y: Floats) -> None:
        """Add many rows at once, in positions; NaN marks unobserved values. Equals `add` row by row up to rounding."""
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
        """Compute the current moments; with `psd`, R is made positive definite if pairs contradict each other."""
        fit_pairwise(*self._sums(), self.mu, self.sd, self.R, self.c)
        if psd:
            _mend(self.R)

    def standard(self, B: Ints, x: Floats) -> Floats:
        """Return x standardized and clipped to [-8, 8]."""
        z = np.zeros(B.size)
        sure = self.sd[B] > 0
        z[sure] = (x[sure] - self.ref[B[sure]] - self.mu[B[sure]]) / self.sd[B[sure]]
        return np.clip(z, -8.0, 8.0)

    @property
    def mean_label(self) -> float:
        """The mean of the labels; 0 before the first."""
        return float(self.labels["y"][0] / max(self.labels["n"][0], 1.0))

    @property
    def first_label(self) -> float:
        """The first label; 0 before it."""
        return float(self.labels["first"][0])

    @property
    def variance(self) -> float:
        """The variance of the labels."""
        rows = max(self.labels["n"][0], 1.0)
        first = self.mean_label - self.first_label
        return max(float(self.labels["yy"][0] / rows - first**2), 1e-60)  # the square of the smallest magnitude

    def within(self, y_hat: float) -> float:
        """Return a prediction clipped to 5 % beyond the range of the labels; unchanged before there are two labels."""
        low, high = float(self.labels["low"][0]), float(self.labels["high"][0])
        if self.labels["n"][0] < 2:
            return y_hat
        return min(max(y_hat, low - 0.05 * (high - low)), high + 0.05 * (high - low))


def _mend(R: Floats) -> None:
    """Modify R in place to have unit diagonal and no eigenvalue below 0.02 (approximately the nearest such matrix)."""
    values, U = np.linalg.eigh(R)
    if values[0] > 0.02:
        return
    mended = (U * np.maximum(values, 0.02)) @ U.T
    size = np.sqrt(np.diag(mended))
    R[:] = mended / np.outer(size, size)
