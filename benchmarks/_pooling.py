"""Rivals that pool the moments of all that was seen: racing, and the lasso on corrected moments.

    racing   buys the least seen of those still in the race; each time all of them have been seen twice as often, the
             half that adds least beside the best k leaves it, until k are left
    lasso    w = argmin w'Rw/2 - c'w + lambda |w|_1 on the pooled correlations R and covariances c; explores a row with
             probability (d/k)^(1/3) t^(-1/3) / 2, else buys the best k of those with a weight

Both predict by least squares on the rows that saw all of their support, drawn to the pooled solution by five rows. No
value is read that was not bought.
"""

import numpy as np
import numpy.typing as npt

from _basket import affordable, ridged_solve
from keyhole import _core
from keyhole.algorithms._pairwise_moments import Pooled

Floats, Ints, Bools = npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.bool_]

__all__ = ["lasso", "racing"]

# How often each attribute is seen before the race's first heat: so many times ln d.
_LOOKS = 4.0
# How many rows the pooled solution counts as.
_PRIOR = 5.0


class Support:
    """S, sums of (x_S, 1, y) over the rows that saw all of it, and the slopes; `seen` are the rows so far."""

    def __init__(self, pooled: Pooled) -> None:
        self.pooled, self.S = pooled, np.empty(0, np.int64)
        self.sums, self.w = np.zeros((2, 2)), np.zeros(0)
        self.seen: list[tuple[Ints, Floats]] = []
        self.labels: list[float] = []

    def values(self, B: Ints, x: Floats) -> Floats:
        """The deviations of S's values from their first ones, NaN where not seen."""
        v = np.full(self.S.size, np.nan)
        at = {j: a for a, j in enumerate(self.S.tolist())}
        for j, value in zip(B.tolist(), x.tolist(), strict=True):
            if j in at:
                v[at[j]] = value - self.pooled.ref[j]
        return v

    def predict(self, B: Ints, x: Floats) -> float:
        """y_hat, within 5 % of the labels so far."""
        label, p, S, m = self.pooled.labels[0], self.pooled, self.S, self.S.size
        if label["n"] == 0.0:
            return 0.0
        mean, v, f = label["y"] / label["n"], self.values(B, x), 0.0
        there = ~np.isnan(v)
        if m and there.all():
            rows = self.sums[m, m] + _PRIOR
            f = (self.sums[m, m + 1] + _PRIOR * (mean - label["first"])) / rows + label["first"] - mean
            f += float(self.w @ (v - (self.sums[:m, m] + _PRIOR * p.mu[S]) / rows))
        elif there.any():
            J = S[there]
            u = ridged_solve(p.R[np.ix_(J, J)] + 0.02 * np.eye(J.size), p.c[J])
            sure = p.sd[J] > 0.0
            f = float(u[sure] @ ((v[there] - p.mu[J])[sure] / p.sd[J][sure]))
        slack = 0.05 * (label["high"] - label["low"])
        return float(min(label["high"] + slack, max(label["low"] - slack, mean + f)))

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """A row into the moments and, if it saw all of the support, into its sums."""
        self.pooled.add(B, x, y)
        self.seen.append((B, x))
        self.labels.append(y)
        self._count(B, x, y)

    def _count(self, B: Ints, x: Floats, y: float) -> None:
        v = self.values(B, x)
        if v.size and not np.isnan(v).any():
            row = np.concatenate([v, [1.0, y - self.pooled.first_label]])
            self.sums += np.outer(row, row)

    def adopt(self, S: Ints) -> None:
        """S becomes the support; its sums are gathered from the rows so far."""
        if np.array_equal(S, self.S):
            return
        self.S, self.sums = S, np.zeros((S.size + 2, S.size + 2))
        for (B, x), y in zip(self.seen, self.labels, strict=True):
            self._count(B, x, y)

    def solve(self) -> None:
        """The slopes: least squares on the sums and five rows of the pooled moments with the pooled solution."""
        p, S, m = self.pooled, self.S, self.S.size
        rows, y = self.sums[m, m] + _PRIOR, p.mean_label - p.first_label
        u = ridged_solve(p.R[np.ix_(S, S)] + 0.05 * np.eye(m), p.c[S])
        x, top = self.sums[:m, m] + _PRIOR * p.mu[S], self.sums[m, m + 1] + _PRIOR * y
        A = self.sums[:m, :m] + _PRIOR * np.outer(p.mu[S], p.mu[S]) - np.outer(x, x) / rows
        A += np.diag(_PRIOR * p.sd[S] ** 2 + 1e-12)
        c = self.sums[:m, m + 1] + _PRIOR * p.mu[S] * y - x * top / rows + _PRIOR * p.sd[S] * u
        self.w = ridged_solve(A, c)


def _halve(p: Pooled, alive: Bools, best: Ints, k: int) -> None:
    """Those who add least beside the best leave the race: half of it, but k stay."""
    inside, near = p.R[np.ix_(best, best)] + 1e-3 * np.eye(best.size), p.R[:, best]
    U = np.linalg.solve(inside, near.T) if best.size else np.zeros((0, alive.size))
    r, spread = p.c - p.c[best] @ U, 1.0 - (near.T * U).sum(axis=0)
    gain = np.where(alive, r * r / np.maximum(spread, 0.05), -1.0)
    gain[best] = np.where(alive[best], 1e300, -1.0)
    alive[np.argsort(-gain, kind="stable")[max(k, (int(alive.sum()) + 1) // 2) :]] = False


def _lasso_support(p: Pooled, w: Floats, k: int, variance: float) -> Ints:
    """The attributes with a weight; the best k of all where there are more. The penalty follows the residual."""
    d, rows = w.size, float(np.mean(p.attr["n"])) + 1.0
    left = max(variance - float(w @ p.c), 0.02 * variance)
    _core.lasso(p.R, p.c, 0.7 * np.sqrt(2.0 * np.log(d) * left / rows), w, 1e-6, 200)
    chosen = np.flatnonzero(w)
    return chosen if chosen.size <= k else _core.matching_pursuit(p.R, p.c, k, 2.0 * np.log(d) * left / rows)


def _predictions(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int, race: bool) -> Floats:
    (T, d), rng, pooled = X.shape, np.random.default_rng([seed, 12]), Pooled(X.shape[1])
    mine, alive, w, out = Support(pooled), np.ones(d, np.bool_), np.zeros(d), np.zeros(T)
    refit, heat = 2.0, _LOOKS * np.log(max(d, 2))
    for t, label in enumerate(y.tolist()):
        explores = alive.sum() > k if race else rng.random() < 0.5 * (d / k / (t + 1.0)) ** (1 / 3)
        if race and explores:
            score = 1.0 + rng.random((d, 2))[:, 1] / 2.0 + np.where(alive, 1e9 - pooled.attr["n"], 0.0)
        else:
            score = 1.0 + rng.random(d)
        if not explores:
            score[mine.S] = 1e9
        B = affordable(score, k, price, budget_per_row)
        B = B[~np.isnan(X[t, B])]
        x = np.ascontiguousarray(X[t, B])
        out[t] = mine.predict(B, x)
        mine.add(B, x, label)
        ended = race and alive.sum() > k and pooled.attr["n"][alive].min() >= heat
        if ended or t + 1 >= refit:
            refit = max(t + 2.0, (t + 1.0) * 1.1)
            pooled.fit(psd=False)
            variance = max(pooled.variance, 1e-300)
            if race:
                stop = 2.0 * np.log(d) * variance / (float(np.median(pooled.attr["n"])) + 1.0)
                best = _core.matching_pursuit(pooled.R, pooled.c, k, stop)
                if ended:
                    _halve(pooled, alive, best, k)
                    heat *= 2.0
                best = best if alive.sum() > k else np.flatnonzero(alive)
            else:
                best = _lasso_support(pooled, w, k, variance)
            mine.adopt(best)
            mine.solve()
        elif mine.S.size and t % max(1, t // 2000) == 0:
            mine.solve()
    return out


def racing(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int) -> Floats:
    """The predictions of the race."""
    return _predictions(X, y, k, price, budget_per_row, seed, race=True)


def lasso(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int) -> Floats:
    """The predictions of the lasso."""
    return _predictions(X, y, k, price, budget_per_row, seed, race=False)
