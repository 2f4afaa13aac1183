"""Rivals that pool the moments of whatever was seen: racing, and the lasso on corrected moments.

    racing   buys the least seen of those still in the race; each time all of them have been seen twice as often, the
             half that adds least beside the best k leaves it, until k are left
    lasso    w = argmin w'Rw/2 - c'w + lambda |w|_1 on the pooled correlations R and covariances c; explores a row with
             probability (d/k)^(1/3) t^(-1/3) / 2, else buys the best k of those with a weight

Both predict by least squares on the rows that saw all of their support, drawn to the pooled solution by five rows. No
value is read that was not bought.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from _basket import affordable
from keyhole._internal.numba._jit import inner, jit
from keyhole.algorithms._pairwise_moments import Pooled, Records, _add, _fit, solve_spd
from keyhole.algorithms.baselines.explore_then_commit import _pursue

Floats, Ints, Bools = npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.bool_]

__all__ = ["lasso", "racing"]

_RACING, _LASSO = 0, 1
# How often everybody is seen before the race's first heat: so many times ln d.
_LOOKS = 4.0


class Seen(NamedTuple):
    """Moments (see `_pairwise_moments.Pooled`), and the rows: who was seen, with which value, how many."""

    attr: Records
    ref: Floats
    pairs: Records
    labels: Records
    mu: Floats
    sd: Floats
    R: Floats
    c: Floats
    who: Ints
    x: Floats
    size: Ints


class Support(NamedTuple):
    """S, the first m[0] of it; sums of (x_S, 1, y) over the rows that saw all of it; the slopes."""

    S: Ints
    m: Ints
    sums: Floats
    w: Floats


@inner
def _values(seen: Seen, mine: Support, t: int, v: Floats) -> int:
    """The deviations of S's values in row t from their first ones, NaN where not seen; how many are seen."""
    m, hit = mine.m[0], 0
    for a in range(m):
        v[a] = np.nan
        for i in range(seen.size[t]):
            if seen.who[t, i] == mine.S[a]:
                v[a] = seen.x[t, i] - seen.ref[mine.S[a]]
                hit += 1
    return hit


@inner
def _part(seen: Seen, mine: Support, v: Floats) -> float:
    """What the seen part of S says beyond the mean, by the pooled moments."""
    m, n = mine.m[0], 0
    at = np.empty(m, np.int64)
    for a in range(m):
        if not np.isnan(v[a]):
            at[n] = a
            n += 1
    A, c, f = np.empty((n, n)), np.empty(n), 0.0
    for i in range(n):
        c[i] = seen.c[mine.S[at[i]]]
        for e in range(n):
            A[i, e] = seen.R[mine.S[at[i]], mine.S[at[e]]] + (0.02 if i == e else 0.0)
    u = solve_spd(A, c)
    for i in range(n):
        j = mine.S[at[i]]
        f += u[i] * (v[at[i]] - seen.mu[j]) / seen.sd[j] if seen.sd[j] > 0.0 else 0.0
    return f


@inner
def _predict(seen: Seen, mine: Support, t: int, v: Floats) -> float:
    """y_hat, within 5 % of the labels so far."""
    label, m = seen.labels[0], mine.m[0]
    if label.n == 0.0:
        return 0.0
    mean, hit = label.y / label.n, _values(seen, mine, t, v)
    f = 0.0
    if m > 0 and hit == m:
        rows = mine.sums[m, m] + 5.0
        f = (mine.sums[m, m + 1] + 5.0 * (mean - label.first)) / rows + label.first - mean
        for a in range(m):
            f += mine.w[a] * (v[a] - (mine.sums[a, m] + 5.0 * seen.mu[mine.S[a]]) / rows)
    elif hit > 0:
        f = _part(seen, mine, v)
    slack = 0.05 * (label.high - label.low)
    return min(label.high + slack, max(label.low - slack, mean + f))


@inner
def _count(seen: Seen, mine: Support, t: int, y: float, v: Floats) -> None:
    """Row t into the sums of the support, if it saw all of it."""
    m = mine.m[0]
    if m == 0 or _values(seen, mine, t, v) < m:
        return
    v[m], v[m + 1] = 1.0, y - seen.labels[0].first
    for i in range(m + 2):
        for e in range(m + 2):
            mine.sums[i, e] += v[i] * v[e]


@inner
def _solve(seen: Seen, mine: Support) -> None:
    """The slopes: least squares on the sums and five rows of the pooled moments with the pooled solution."""
    m, S, five = mine.m[0], mine.S, 5.0
    A, c, near, target = np.empty((m, m)), np.empty(m), np.empty((m, m)), np.empty(m)
    rows, y = mine.sums[m, m] + five, seen.labels[0].y / seen.labels[0].n - seen.labels[0].first
    for a in range(m):
        target[a] = seen.c[S[a]]
        for e in range(m):
            near[a, e] = seen.R[S[a], S[e]] + (0.05 if a == e else 0.0)
    u = solve_spd(near, target)
    top = mine.sums[m, m + 1] + five * y
    for a in range(m):
        x = mine.sums[a, m] + five * seen.mu[S[a]]
        for e in range(m):
            other = mine.sums[e, m] + five * seen.mu[S[e]]
            A[a, e] = mine.sums[a, e] + five * seen.mu[S[a]] * seen.mu[S[e]] - x * other / rows
        A[a, a] += five * seen.sd[S[a]] ** 2 + 1e-12
        c[a] = mine.sums[a, m + 1] + five * seen.mu[S[a]] * y - x * top / rows + five * seen.sd[S[a]] * u[a]
    w = solve_spd(A, c)
    for a in range(m):
        mine.w[a] = w[a]


@inner
def _adopt(seen: Seen, mine: Support, S: Ints, t: int, y: Floats, v: Floats) -> None:
    """S becomes the support; its sums are gathered from the rows so far."""
    same = S.size == mine.m[0]
    for a in range(S.size):
        same = same and S[a] == mine.S[a]
    if same:
        return
    mine.m[0] = S.size
    mine.S[: S.size] = S
    mine.sums[:] = 0.0
    for s in range(t + 1):
        _count(seen, mine, s, y[s], v)


@inner
def _halve(seen: Seen, alive: Bools, best: Ints, k: int) -> None:
    """Those who add least beside the best leave the race: half of it, but k stay."""
    d, m = alive.size, best.size
    inside, gain = np.empty((m, m)), np.empty(d)
    for i in range(m):
        for e in range(m):
            inside[i, e] = seen.R[best[i], best[e]] + (1e-3 if i == e else 0.0)
    for j in range(d):
        near = np.empty(m)
        for i in range(m):
            near[i] = seen.R[j, best[i]]
        u = solve_spd(inside, near)
        r, c = seen.c[j], 1.0
        for i in range(m):
            r -= u[i] * seen.c[best[i]]
            c -= u[i] * near[i]
        gain[j] = r * r / max(c, 0.05) if alive[j] else -1.0
    for i in range(m):
        gain[best[i]] = 1e300 if alive[best[i]] else -1.0
    stay = max(k, (alive.sum() + 1) // 2)
    order = np.argsort(-gain)
    for i in range(stay, d):
        alive[order[i]] = False


@inner
def _shrunk(R: Floats, c: Floats, penalty: float, w: Floats) -> None:
    """The lasso by coordinate descent from w."""
    for _ in range(200):
        change = 0.0
        for j in range(w.size):
            r = c[j]
            for h in range(w.size):
                if h != j:
                    r -= R[j, h] * w[h]
            new = np.sign(r) * max(abs(r) - penalty, 0.0)
            change, w[j] = max(change, abs(new - w[j])), new
        if change < 1e-6:
            return


@inner
def _lasso_support(seen: Seen, w: Floats, k: int, vary: float) -> Ints:
    """The attributes with a weight; the best k of all where there are more. The penalty follows the residual."""
    d, rows = w.size, np.mean(seen.attr["n"]) + 1.0
    left = vary
    for j in range(d):
        left -= w[j] * seen.c[j]
    left = max(left, 0.02 * vary)
    _shrunk(seen.R, seen.c, 0.7 * np.sqrt(2.0 * np.log(d) * left / rows), w)
    chosen = np.flatnonzero(w)
    return chosen if chosen.size <= k else _pursue(seen.R, seen.c, k, 2.0 * np.log(d) * left / rows)


@jit
def _play(
    X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, rng: np.random.Generator, how: int, seen: Seen
) -> Floats:
    """Predictions, row by row."""
    T, d = X.shape
    mine = Support(np.zeros(k, np.int64), np.zeros(1, np.int64), np.zeros((k + 2, k + 2)), np.zeros(k))
    alive, score, B, v, w = np.ones(d, np.bool_), np.empty(d), np.empty(k, np.int64), np.empty(k + 2), np.zeros(d)
    out, refit, heat = np.zeros(T), 2.0, _LOOKS * np.log(max(d, 2))
    for t in range(T):
        explores = alive.sum() > k if how == _RACING else rng.random() < 0.5 * (d / k / (t + 1.0)) ** (1 / 3)
        for j in range(d):
            score[j] = 1.0 + rng.random()
            if how == _RACING and explores:
                score[j] = 1.0 + rng.random() / 2.0 + (1e9 - seen.attr[j].n if alive[j] else 0.0)
        if not explores:
            score[mine.S[: mine.m[0]]] = 1e9
        for i in range(affordable(score, k, price, budget_per_row, B)):
            if not np.isnan(X[t, B[i]]):
                seen.who[t, seen.size[t]], seen.x[t, seen.size[t]] = B[i], X[t, B[i]]
                seen.size[t] += 1
        n = seen.size[t]
        out[t] = _predict(seen, mine, t, v)
        _add(seen.attr, seen.ref, seen.pairs, seen.labels, seen.who[t, :n], seen.x[t, :n], y[t])
        _count(seen, mine, t, y[t], v)
        ended = how == _RACING and alive.sum() > k and seen.attr["n"][alive].min() >= heat
        if ended or t + 1 >= refit:
            refit = max(t + 2.0, (t + 1.0) * 1.1)
            _fit(seen.attr, seen.pairs, seen.mu, seen.sd, seen.R, seen.c)
            label = seen.labels[0]
            vary = max(label.yy / (t + 1) - (label.y / (t + 1) - label.first) ** 2, 1e-300)
            if how == _RACING:
                best = _pursue(seen.R, seen.c, k, 2.0 * np.log(d) * vary / (np.median(seen.attr["n"]) + 1.0))
                if ended:
                    _halve(seen, alive, best, k)
                    heat *= 2.0
                best = best if alive.sum() > k else np.flatnonzero(alive)
            else:
                best = _lasso_support(seen, w, k, vary)
            _adopt(seen, mine, best, t, y, v)
            _solve(seen, mine)
        elif mine.m[0] > 0 and t % max(1, t // 2000) == 0:
            _solve(seen, mine)
    return out


def _predictions(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int, how: int) -> Floats:
    T, d = X.shape
    p = Pooled(d)
    rows = np.zeros((T, k), np.int64), np.zeros((T, k)), np.zeros(T, np.int64)
    seen = Seen(p.attr, p.ref, p.pairs, p.labels, p.mu, p.sd, p.R, p.c, *rows)
    return _play(np.ascontiguousarray(X), y, k, price, budget_per_row, np.random.default_rng([seed, 12]), how, seen)


def racing(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int) -> Floats:
    """The predictions of the race."""
    return _predictions(X, y, k, price, budget_per_row, seed, _RACING)


def lasso(X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int) -> Floats:
    """The predictions of the lasso."""
    return _predictions(X, y, k, price, budget_per_row, seed, _LASSO)
