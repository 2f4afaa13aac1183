"""The best k-sparse vector in hindsight."""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

from .._types import Bools, Floats, Ints
from ..errors import ConfigError

__all__ = ["BestSparse", "best_sparse"]

# A ridge on columns of unit length, so that collinear ones can be handled like others; and what rounding may cost.
_RIDGE, _ROUNDING = 1e-14, 1e-9


class BestSparse(NamedTuple):
    """The comparator and how sure it is."""

    weights: Floats
    """(d,), at most k of them not 0."""
    optimal: bool
    """True where it is proved that no other support does better (up to rounding, 1e-9 |y|^2)."""
    gap: float
    """An upper bound on (loss - smallest possible loss) / |y|^2; 0 where optimal."""


def best_sparse(X: Floats, y: Floats, k: int, *, nodes: int = 5000) -> BestSparse:
    """min_w |y - X w|^2 subject to |w|_0 <= k, without intercept.

    Greedy selection and swaps give a first support. Branch and bound then proves it or finds a better one: among the
    supports within a set A that contain F, none has a smaller loss than least squares on A. With c_1, c_2, ... the free
    members of A by what leaving each out alone would cost, a support within A either lacks c_1, or has c_1 and lacks
    c_2, and so on, or is F and the first k - |F| of them. The most promising part is divided first; after `nodes`
    divisions the bound of the parts left is the gap.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=3, T=500, seed=0)
    >>> r = best_sparse(X, y, k=3)
    >>> bool(((r.weights != 0) == (w != 0)).all()), r.optimal
    (True, True)
    """
    X, y = _checked(X, y, k)
    size = np.linalg.norm(X, axis=0)
    used = np.flatnonzero(size > 0)
    weights, length = np.zeros(X.shape[1]), np.linalg.norm(y)
    if used.size == 0 or length == 0:
        return BestSparse(weights, True, 0.0)
    S, gap = _Search(_Squares(X[:, used] / size[used], y / length), min(k, used.size)).run(nodes)
    weights[used[S]] = np.linalg.lstsq(X[:, used[S]], y, rcond=None)[0]
    return BestSparse(weights, gap == 0.0, gap)


class _Squares:
    """Least squares of y, |y| = 1, on columns of unit length, seen through Z = Q R: the loss of S is |y - Z_S w|^2."""

    def __init__(self, Z: Floats, y: Floats) -> None:
        d = Z.shape[1]
        Q, self.R = np.linalg.qr(np.vstack([Z, np.sqrt(_RIDGE) * np.eye(d)]))
        self.y = Q.T @ np.append(y, np.zeros(d))
        self.rest = 1.0 - float(self.y @ self.y)
        self.d = d

    def loss(self, S: Ints) -> float:
        """The loss of S."""
        return self.rest + float(self._residual(S, self.y[:, None])[1].sum())

    def gains(self, S: Ints) -> Floats:
        """(d,): by how much each attribute alone would reduce the loss of S; -inf for those in S."""
        left, spread = self._residual(S, self.R)
        gains: Floats = (left.T @ self.y) ** 2 / np.maximum(spread, _RIDGE)
        gains[S] = -np.inf
        return gains

    def prices(self, A: Ints) -> tuple[float, Floats]:
        """The loss of A, and (|A|,) what leaving each member out alone would add to it: w_i^2 / ((R_A'R_A)^-1)_ii."""
        Q, T = np.linalg.qr(self.R[:, A])
        inverse = np.linalg.inv(T)
        part = Q.T @ self.y
        w = inverse @ part
        return self.rest + float(self.y @ self.y - part @ part), w**2 / (inverse**2).sum(axis=1)

    def _residual(self, S: Ints, B: Floats) -> tuple[Floats, Floats]:
        """What the columns S leave of the columns of B, and its squared lengths."""
        Q = np.linalg.qr(self.R[:, S])[0]
        left = B - Q @ (Q.T @ B)
        return left, (left**2).sum(axis=0)


def _greedy(problem: _Squares, k: int) -> Ints:
    """k attributes, each the one that reduces the loss most; then any swap of one that reduces it further."""
    S = np.empty(0, dtype=np.int64)
    for _ in range(k):
        S = np.append(S, np.argmax(problem.gains(S)))
    best, improved = problem.loss(S), True
    while improved:
        improved = False
        for i in range(k):
            other = S.copy()
            other[i] = np.argmax(problem.gains(np.delete(S, i)))
            if problem.loss(other) < best - _ROUNDING:
                S, best, improved = other, problem.loss(other), True
    return S


class _Search:
    """Branch and bound over parts (forced, allowed): the supports of size k between the two."""

    def __init__(self, problem: _Squares, k: int) -> None:
        self.problem, self.k = problem, k
        self.S = _greedy(problem, k)
        self.loss = problem.loss(self.S)
        self.heap: list[tuple[float, int, Ints, Bools]] = []
        self.ticket = count()  # breaks ties in the heap: arrays cannot be compared

    def run(self, nodes: int) -> tuple[Ints, float]:
        """The best support found and the gap that is left."""
        everything = np.ones(self.problem.d, dtype=np.bool_)
        self._push(self.problem.loss(np.flatnonzero(everything)), np.empty(0, dtype=np.int64), everything)
        for _ in range(nodes):
            if self._proved():
                break
            _, _, forced, allowed = heapq.heappop(self.heap)
            self._divide(forced, allowed)
        return np.sort(self.S), 0.0 if self._proved() else self.loss - max(0.0, self.heap[0][0])

    def _proved(self) -> bool:
        return not self.heap or self.heap[0][0] >= self.loss - _ROUNDING

    def _divide(self, forced: Ints, allowed: Bools) -> None:
        """Split a part as the docstring of `best_sparse` says."""
        missing = self.k - forced.size
        if missing == 1:
            gains = np.where(allowed, self.problem.gains(forced), -np.inf)
            self._offer(np.append(forced, np.argmax(gains)))
            return
        A = np.flatnonzero(allowed)
        loss, prices = self.problem.prices(A)
        prices[np.isin(A, forced)] = -np.inf
        order = np.argsort(-prices)[:missing]
        if A.size > self.k:
            for i, c in enumerate(order):
                without = allowed.copy()
                without[A[c]] = False
                self._push(loss + float(prices[c]), np.append(forced, A[order[:i]]), without)
        self._offer(np.append(forced, A[order]))

    def _push(self, bound: float, forced: Ints, allowed: Bools) -> None:
        if bound < self.loss - _ROUNDING:
            heapq.heappush(self.heap, (bound, next(self.ticket), forced, allowed))

    def _offer(self, S: Ints) -> None:
        loss = self.problem.loss(S)
        if loss < self.loss:
            self.S, self.loss = S, loss


def _checked(X: Floats, y: Floats, k: int) -> tuple[Floats, Floats]:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ConfigError(f"X must be (T, d) and y (T,), not {X.shape} and {y.shape}")
    if not 1 <= k <= X.shape[1]:
        raise ConfigError(f"k must be between 1 and d = {X.shape[1]}; it is {k}")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ConfigError("X and y must be finite; fill missing values first (with the column's mean, say)")
    return X, y
