"""One round: what is predicted from the bought values, and what is learnt when the label is told.

y_hat = mean + alpha f / (1 + h)       f: the fit's deviation from the mean, h = x' V x its leverage (VAW)
alpha = slope of the label on our own past f, within [0, 1]: the mean is left only as fast as the evidence allows
"""

import math

import numpy as np

from .._jit import inner, jit
from .._types import Floats, Ints
from .book import (
    ALL,
    ALPHA,
    CENTRE,
    COND,
    COUNT,
    DECAY,
    DRIFT,
    ERR,
    FF,
    FY,
    HEFT,
    HIGH,
    IMPUTED,
    LABEL,
    LOW,
    MEAN,
    MEANS,
    N_,
    NEXT,
    NOW,
    PLACE,
    RAW,
    REF,
    RESETS,
    ROW_,
    ROWS,
    S2,
    SINCE,
    SIZE,
    TOLD,
    UNIT,
    VAR,
    Y1,
    Y2,
    YREF,
    YUNIT,
    Book,
    G,
    V,
    W,
)
from .fitting import add, impute, moments
from .scoring import enter

__all__ = ["predict", "renew", "tell"]

# Values beyond this many deviations are drawn in, once ten were seen.
_WINSOR = 6.0
# Whatever is larger after scaling is no measurement; its square must stay finite.
_LARGEST = 1e60


@inner
def _power(x: float) -> float:
    """The power of two next to |x|: dividing by it loses no digit. A difference below 1e-90 is not resolved."""
    return math.ldexp(1.0, math.frexp(max(abs(x), 1e-90))[1])


@inner
def _scaled(x: float, ref: float, unit: float) -> float:
    """(x - ref) / unit; 0 while the attribute has shown one value only."""
    return min(max((x - ref) / unit, -_LARGEST), _LARGEST) if unit > 0.0 else 0.0


@inner
def _drawn_in(b: Book, j: int, x: float) -> float:
    """x_j in its own units, winsorised."""
    z = _scaled(x, b.at[j, REF], b.at[j, UNIT])
    if b.at[j, COUNT] < 10.0:
        return z
    mean, variance = moments(b, j)
    reach = _WINSOR * math.sqrt(variance)
    return min(mean + reach, max(mean - reach, z)) if reach > 0.0 else z


@inner
def _signal(b: Book, who: Ints, x: Floats, v: Floats, seen: Ints) -> float:
    """f / (1 + h): what the members bought say about the label beyond its mean; v gets their deviations."""
    m, shown = b.cnt[SIZE], 0
    for i in range(who.size):
        a = b.idx[PLACE, who[i]]
        if a >= 0 and not np.isnan(x[i]):
            v[a], seen[a] = _drawn_in(b, who[i], x[i]) - b.vec[NOW, MEANS, a], 1
            shown += 1
    if shown == 0:
        return 0.0
    if shown < m:
        impute(b, v, seen, m)
    f, h = b.top[NOW, CENTRE] - b.num[MEAN], 0.0
    for a in range(m):
        f += b.vec[NOW, W, a] * v[a]
        for e in range(m):
            h += v[a] * b.inv[NOW, V, a, e] * v[e]
    return float(f / (1.0 + h))


@inner
def _answer(b: Book, f: float) -> float:
    """mean + alpha f, within the range of the labels so far and 5 % more, in the label's units."""
    slack = 0.05 * (b.num[HIGH] - b.num[LOW])
    return float(min(b.num[HIGH] + slack, max(b.num[LOW] - slack, b.num[MEAN] + b.num[ALPHA] * f)))


@jit
def predict(b: Book, who: Ints, x: Floats) -> float:
    """The prediction from values x of the attributes `who`; 0 before the first label."""
    if b.cnt[TOLD] == 0:
        return 0.0
    m = b.cnt[SIZE]
    f = _signal(b, who, x, np.zeros(m), np.zeros(m, dtype=np.int64)) if m else 0.0
    return float(b.num[YREF] + b.num[YUNIT] * _answer(b, f))


@inner
def _watch(b: Book, error2: float, whole: bool) -> None:
    """With forgetting: weigh the present more, and when errors grow (CUSUM), the past a thousand times less."""
    num = b.num
    num[G] /= num[DECAY]
    if not whole or num[ROWS] / num[G] <= 200.0:
        return
    num[DRIFT] = max(0.0, num[DRIFT] + min(error2 / num[S2], 20.0) - 1.5)
    if num[DRIFT] > 40.0:
        num[G] *= 1e3
        num[DRIFT], num[ERR], num[FY], num[FF] = 0.0, num[VAR], 0.0, 0.0
        num[RESETS] += 1.0
        b.cnt[SINCE], b.cnt[NEXT], b.cnt[ALL] = b.cnt[TOLD], b.cnt[TOLD] + 1, 0


@inner
def _judge(b: Book, f: float, y: float, whole: bool) -> None:
    """Compare with what we would have said: running squared error, alpha's sums, change."""
    num = b.num
    rows = num[ROWS] / num[G]
    error2 = (_answer(b, f) - y) ** 2
    rate = 1.0 / min(b.cnt[TOLD] - b.cnt[SINCE] + 1.0, max(30.0, rows / 4.0))
    num[ERR] += rate * (error2 - num[ERR])
    f = min(num[HIGH], max(num[LOW], num[MEAN] + f)) - num[MEAN]
    keep = 1.0 - 1.0 / max(50.0, rows / 2.0)
    num[FY] = keep * num[FY] + f * (y - num[MEAN])
    num[FF] = keep * num[FF] + f * f
    if num[DECAY] < 1.0:
        _watch(b, error2, whole)


@inner
def _store(b: Book, who: Ints, x: Floats, y: float) -> int:
    """Scale the observed values and keep the row; its place in the ring."""
    t, n = b.cnt[TOLD] % b.mass.shape[0], 0
    b.who[t] = -1
    for i in range(who.size):
        if np.isnan(x[i]):
            continue
        j = who[i]
        if b.at[j, COUNT] == 0.0:
            b.at[j, REF] = x[i]
        if b.at[j, UNIT] == 0.0 and x[i] != b.at[j, REF]:
            b.at[j, UNIT] = _power(x[i] - b.at[j, REF])
        z = _scaled(x[i], b.at[j, REF], b.at[j, UNIT])
        b.who[t, n], b.what[t, n] = j, _drawn_in(b, j, x[i])
        b.at[j, COUNT] += 1.0
        b.at[j, RAW] += b.num[G]
        b.at[j, RAW + 1] += b.num[G] * z
        b.at[j, RAW + 2] += b.num[G] * z * z
        n += 1
    b.mass[t, LABEL], b.mass[t, HEFT] = y, b.num[G]
    return int(t)


@inner
def _extend(b: Book, t: int, v: Floats, seen: Ints) -> None:
    """Row t into the Gram of the support, if it lacks one member at most; v: deviations, the lacking one imputed."""
    m, lost, last = b.cnt[SIZE], 0, 0
    for i in range(b.who.shape[1]):
        if b.who[t, i] < 0:
            break
        a = b.idx[PLACE, b.who[t, i]]
        if a >= 0 and not seen[a]:  # bought after the label
            v[a], seen[a] = b.what[t, i] - b.vec[NOW, MEANS, a], 1
    for a in range(m):
        if not seen[a]:
            lost, last = lost + 1, a
    if lost > 1 or (lost == 1 and m == 1):
        return
    row, weight = np.empty(m + 2), b.num[G]
    for a in range(m):
        row[a] = v[a] + b.vec[NOW, MEANS, a]
    row[m], row[m + 1] = 1.0, b.mass[t, LABEL]
    if lost == 1:
        weight *= b.num[S2] / (b.num[S2] + b.vec[NOW, W, last] ** 2 * b.vec[NOW, COND, last])
        b.vec[NOW, IMPUTED, last] += weight
    add(b.gram[NOW], row, m, weight)


@inner
def _labelled(b: Book, y: float) -> float:
    """The label in its own units, the first one being 0."""
    num = b.num
    if b.cnt[TOLD] == 0:
        num[YREF] = y
    if num[YUNIT] == 0.0 and y != num[YREF]:
        num[YUNIT] = _power(y - num[YREF])
    return _scaled(y, num[YREF], num[YUNIT])


def renew(b: Book) -> None:
    """Divide all sums by the weight of the present before it overflows."""
    g = b.num[G]
    b.at[:, RAW : RAW + 3] /= g
    b.at[:, N_:ROW_] /= g
    b.pair[:] /= g
    b.mass[:, HEFT] /= g
    b.gram[NOW] /= g
    b.vec[NOW, IMPUTED] /= g
    b.num[ROWS] /= g
    b.num[Y1] /= g
    b.num[Y2] /= g
    b.num[G] = 1.0


@jit
def tell(b: Book, who: Ints, x: Floats, y: float, before: int) -> bool:
    """Learn from a row: the attributes `who`, of which the first `before` were bought before the label, values x, y.

    Whether it is time to call `refit`, which is not part of it: the compiler would optimise it again in every caller.
    """
    num, m = b.num, b.cnt[SIZE]
    y = _labelled(b, y)
    v, seen = np.zeros(m), np.zeros(m, dtype=np.int64)
    f = _signal(b, who[:before], x[:before], v, seen) if m else 0.0
    if b.cnt[TOLD] > 0:
        _judge(b, f, y, seen.sum() == m)
    t = _store(b, who, x, y)
    num[ROWS] += num[G]
    num[Y1] += num[G] * y
    num[Y2] += num[G] * y * y
    num[LOW], num[HIGH] = min(num[LOW], y), max(num[HIGH], y)
    if m > 0:
        _extend(b, t, v, seen)
    num[MEAN] = num[Y1] / num[ROWS]
    num[VAR] = max(num[Y2] / num[ROWS] - num[MEAN] ** 2, 1e-300)
    enter(b, b.who[t], b.what[t], y, num[G])
    slope = num[FY] / (num[FF] + num[S2]) if num[FY] > 0.0 else 0.0
    num[ALPHA] = min(1.0, slope)
    b.cnt[TOLD] += 1
    return bool(b.cnt[TOLD] >= b.cnt[NEXT])
