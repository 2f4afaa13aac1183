"""A rival that swaps: recursive least squares on its support, and a test of everybody else against its residuals.

    z_j^2 = (sum x_j e)^2 / (sum x_j^2 s2)        e: errors of the rows that bought j beside the support
    joins when z_j^2 > L = 2 ln(e d / k), instead of the weakest member where that explains less; leaves below L / 2

A place of the weakest member is lent now and then. With `decay` < 1 all sums forget. No value is read that was not
bought.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from _basket import affordable
from keyhole._internal.numba._jit import inner, jit
from keyhole.algorithms._pairwise_moments import solve_spd

Floats, Ints = npt.NDArray[np.float64], npt.NDArray[np.int64]

__all__ = ["swapping"]


class UnseenCategories(NamedTuple):
    """Per attribute: its first value, how often seen, sum of x and of x^2; beside the support: rows, sum x e, sum x^2,
    the row of the last."""

    ref: Floats
    n: Floats
    x: Floats
    xx: Floats
    rows: Floats
    xe: Floats
    square: Floats
    last: Ints


class Members(NamedTuple):
    """M, the first m[0] of it; everybody's place in it or -1; sums of x x' and x y; the weights; the weakest."""

    M: Ints
    m: Ints
    place: Ints
    G: Floats
    b: Floats
    w: Floats
    weak: Ints


@inner
def _leave(mine: Members, others: UnseenCategories, a: int) -> None:
    """Member a goes, and starts anew as somebody else."""
    j, m = mine.M[a], mine.m[0]
    mine.place[j] = -1
    others.rows[j], others.xe[j], others.square[j] = 0.0, 0.0, 0.0
    for i in range(a, m - 1):
        mine.M[i], mine.b[i], mine.w[i] = mine.M[i + 1], mine.b[i + 1], mine.w[i + 1]
        mine.place[mine.M[i]] = i
    for i in range(m):
        for e in range(a, m - 1):
            mine.G[i, e] = mine.G[i, e + 1]
    for e in range(m):
        for i in range(a, m - 1):
            mine.G[i, e] = mine.G[i + 1, e]
    mine.m[0] -= 1


@inner
def _join(mine: Members, others: UnseenCategories, j: int) -> None:
    """j becomes a member; since residuals change, everybody keeps a quarter of the evidence."""
    m = mine.m[0]
    mine.M[m], mine.place[j] = j, m
    mine.G[:m, m], mine.G[m, :m] = 0.0, 0.0
    mine.G[m, m], mine.b[m], mine.w[m] = others.square[j], others.xe[j], 0.8 * others.xe[j] / others.square[j]
    mine.m[0] += 1
    for i in range(mine.place.size):
        if mine.place[i] < 0:
            others.rows[i] *= 0.25
            others.xe[i] *= 0.25
            others.square[i] *= 0.25


@inner
def _candidate(mine: Members, others: UnseenCategories, s2: float, L: float) -> tuple[int, float]:
    """Who passes the test and explains most, -1 for nobody; what that is."""
    best, most = -1, 0.0
    for j in range(mine.place.size):
        if mine.place[j] >= 0 or others.rows[j] < 6.0 or others.square[j] <= 0.0:
            continue
        gain = others.xe[j] ** 2 / others.square[j]
        share = max(min(0.98, gain / others.rows[j] / s2), 1e-9)
        if gain / s2 * -np.log(1.0 - share) / share > L and gain / others.rows[j] > most:
            best, most = j, gain / others.rows[j]
    return best, most


@inner
def _reconsider(mine: Members, others: UnseenCategories, s2: float, L: float, k: int, rows: float) -> None:
    """Who joins, leaves, is swapped."""
    best, gain = _candidate(mine, others, s2, L)
    m = mine.m[0]
    if m > 0:
        A = mine.G[:m, :m].copy()
        for a in range(m):
            A[a, a] += 1e-6 * A[a, a] + 1e-12
        V, least = np.linalg.inv(A), np.inf
        for a in range(m):
            loss = mine.w[a] ** 2 / max(V[a, a], 1e-300)
            if loss < least:
                least, mine.weak[0] = loss, a
        weak = mine.weak[0]
        counted = max(1.0, min(rows, others.n[mine.M[weak]]))
        if (least < 0.5 * L * s2 and counted > 8.0) or (best >= 0 and m == k and gain > 1.2 * least / counted):
            _leave(mine, others, weak)
    if best >= 0 and mine.m[0] < k:
        _join(mine, others, best)


@inner
def _scores(
    mine: Members, others: UnseenCategories, s2: float, lent: bool, t: int, rng: np.random.Generator, score: Floats
) -> None:
    """Members first (but for the place that is lent), then whoever was never seen, then by an upper bound."""
    optimism = 0.5 * np.sqrt(np.log(t + 2.0))
    for j in range(score.size):
        if mine.place[j] >= 0:
            score[j] = -1.0 if lent and mine.place[j] == mine.weak[0] else 1e9
        elif others.n[j] == 0.0:
            score[j] = 1e6 + rng.random()
        else:
            score[j] = optimism * np.sqrt(max(s2, 1e-12) / (others.rows[j] + 0.5))
            if others.rows[j] > 0.0 and others.square[j] > 0.0:
                score[j] += abs(others.xe[j]) / np.sqrt(others.square[j] * others.rows[j])


@inner
def _note(mine: Members, others: UnseenCategories, j: int, x: float, e: float, t: int, decay: float) -> None:
    """A value of j in row t whose error was e."""
    if others.n[j] == 0.0:
        others.ref[j] = x
    others.n[j] += 1.0
    others.x[j] += x - others.ref[j]
    others.xx[j] += (x - others.ref[j]) ** 2
    if mine.place[j] < 0:
        u, keep = x - others.ref[j] - others.x[j] / others.n[j], decay ** (t - others.last[j])
        others.last[j] = t
        others.rows[j] = keep * others.rows[j] + 1.0
        others.xe[j] = keep * others.xe[j] + u * e
        others.square[j] = keep * others.square[j] + u * u


@inner
def _solve(mine: Members, others: UnseenCategories) -> None:
    """The weights, ridged by two rows."""
    m = mine.m[0]
    A = mine.G[:m, :m].copy()
    for a in range(m):
        j = mine.M[a]
        A[a, a] += 2.0 * (others.xx[j] / others.n[j] - (others.x[j] / others.n[j]) ** 2) + 1e-300
    mine.w[:m] = solve_spd(A, mine.b[:m].copy())


@jit
def _play(
    X: Floats,
    y: Floats,
    k: int,
    price: Floats,
    budget_per_row: float,
    rng: np.random.Generator,
    decay: float,
    mine: Members,
    others: UnseenCategories,
) -> Floats:
    (T, d), L, still = X.shape, 2.0 * np.log(np.e * X.shape[1] / k), decay == 1.0
    out, score, B, v = np.zeros(T), np.empty(d), np.empty(k, np.int64), np.zeros(k)
    rows = total = fy = ff = squares = counted = 0.0
    low, high, at = np.inf, -np.inf, 2.0
    for t in range(T):
        s2 = squares / max(counted, 1e-9)
        lent = mine.m[0] == k and rng.random() < min(0.3, 0.3 * np.sqrt(d / k / (t + 1.0)))
        _scores(mine, others, s2, lent, t, rng, score)
        n, m, hit = affordable(score, k, price, budget_per_row, B), mine.m[0], 0
        v[:] = 0.0
        for i in range(n):
            a, x = mine.place[B[i]], X[t, B[i]]
            if a >= 0 and not np.isnan(x):
                v[a], hit = x - others.ref[B[i]] - others.x[B[i]] / others.n[B[i]], hit + 1
        mean, f = total / rows if t > 0 else 0.0, 0.0
        for a in range(m):
            f += mine.w[a] * v[a]
        alpha = min(1.0, max(0.0, fy) / (ff + s2)) if t > 1 and ff + s2 > 0.0 else 0.0
        p = mean + alpha * f
        if t > 1:
            p = min(high + 0.05 * (high - low), max(low - 0.05 * (high - low), p))
        out[t] = p
        e = y[t] - p if t > 0 else 0.0
        if t > 0:
            inside = min(high - mean, max(low - mean, f))
            keep = 1.0 - 1.0 / max(50.0, t / 2.0) if still else max(decay, 0.98)
            fy, ff = keep * fy + inside * (y[t] - mean), keep * ff + inside * inside
            if hit == m:
                keep = 1.0 - 1.0 / max(30.0, t / 4.0) if still else 0.98
                squares, counted = keep * squares + e * e, keep * counted + 1.0
        rows, total, low, high = decay * rows + 1.0, decay * total + y[t], min(low, y[t]), max(high, y[t])
        for i in range(n):
            if not np.isnan(X[t, B[i]]):
                _note(mine, others, B[i], X[t, B[i]], e, t, decay)
        if hit == m and m > 0:
            for a in range(m):
                mine.b[a] = decay * mine.b[a] + v[a] * (y[t] - mean)
                for i in range(m):
                    mine.G[a, i] = decay * mine.G[a, i] + v[a] * v[i]
        if m > 0 and (t + 1 >= at or t % max(1, t // 200) == 0):
            _solve(mine, others)
        if t + 1 >= at:
            at = max(t + 2.0, (t + 1.0) * 1.03) if still else t + 50.0
            _reconsider(mine, others, max(squares / max(counted, 1e-9), 1e-300), L, k, rows)
    return out


def swapping(
    X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int, decay: float = 1.0
) -> Floats:
    """Its predictions."""
    d = X.shape[1]
    others = UnseenCategories(*(np.zeros(d) for _ in range(7)), np.zeros(d, np.int64))
    one = np.zeros(1, np.int64)
    mine = Members(
        np.zeros(k, np.int64), one, np.full(d, -1), np.zeros((k, k)), np.zeros(k), np.zeros(k), np.zeros(1, np.int64)
    )
    return _play(
        np.ascontiguousarray(X), y, k, price, budget_per_row, np.random.default_rng([seed, 13]), decay, mine, others
    )
