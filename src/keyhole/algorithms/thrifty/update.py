"""What is learnt when the label is told: the row is kept, and enters every sum it belongs to.

alpha = sum f (y - mean) / (sum f^2 + 2 s2)   over past predictions f, remembered over half the rows
error2 = running mean of (y_hat - y)^2        over a quarter of them
"""

import math

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats, Ints
from .change import notice
from .counts import count
from .extremes import farthest, judge_extremes, sized, winsorised
from .fit import add
from .fresh import refresh
from .interval import calibrate
from .level import follow, level
from .predict import Signal, answer
from .spread import spread
from .state import Now, Records, State
from .sums import accumulate
from .units import power, scaled

__all__ = ["HEAVY", "renew", "tell"]

# A label further off than this many deviations is drawn in; what a tolerance for more is multiplied by in each row.
_DEVIATIONS, _HALVES, _LARGEST = 6.0, 0.5 ** (1.0 / 200.0), 1e300
# From so many labels on; before, from a few on, so many times their range.
_MANY, _SOME, _RANGES = 30, 8, 3.0
# What holds the slope on our own predictions back, in s2: where nothing can be predicted some are right by chance.
_TIMID = 2.0
# The weight of the present beyond which all sums are divided by it, before it overflows.
HEAVY = 1e30


@inner
def _reach(now: Now) -> float:
    """How far off a label may be: six deviations, or as far as one in two hundred was; before there are labels to judge
    by, three times their range, and at first without end."""
    if now.told >= _MANY and now.y_var > 1e-300:
        return max(_DEVIATIONS * math.sqrt(now.y_var), now.far)
    return (
        max(_RANGES * (now.y_high - now.y_low), now.far) if now.told >= _SOME and now.y_high > now.y_low else _LARGEST
    )


@inner
def _drawn_in(now: Now, off: float, reach: float) -> float:
    """How far the label is taken to be off. The tolerance for more than six deviations doubles where it is exceeded and
    halves in two hundred rows: what is rare but comes again is believed. Half of that, in logarithms, is learnt: a
    level that moved is followed (`level`), and what else is as far off as this says little of the weights."""
    now.far = 2.0 * reach if abs(off) > reach else now.far * _HALVES
    most = math.sqrt(reach * min(reach, _DEVIATIONS * math.sqrt(now.y_var))) if now.told >= _MANY else reach
    return min(most, max(-most, off))


@inner
def _compare(state: State, said: Signal, y: float, whole: bool) -> float:
    """Compare with what we would have said: level, change, running squared error, alpha's sums.

    The label is returned as it is learnt: without the level, and drawn in.
    """
    now, f, y_hat = state.now, said.f, answer(state.now, said)
    off, c, reach = y - y_hat, level(state.accounts), _reach(now)
    y = y_hat + _drawn_in(now, off - c, reach)
    if whole:
        follow(state, off, reach)
    rows = now.n / now.g
    rate = 1.0 / min(now.told - now.epoch + 1.0, max(30.0, rows / 4.0))
    now.error2 += rate * ((y_hat - y) ** 2 - now.error2)
    inside = min(now.y_high, max(now.y_low, now.y_mean + f)) - now.y_mean
    keep = 1.0 - 1.0 / max(50.0, rows / 2.0)
    now.fy = keep * now.fy + inside * (y - now.y_mean)
    now.ff = keep * now.ff + inside * inside
    now.g /= state.given.decay
    if whole:
        notice(state, inside, y, y_hat)
    return y


@inner
def _keep(attr: Records, shown: Records, t: int, now: Now, attributes: Ints, x: Floats, total: int) -> None:
    """Scale the observed values and keep them as what row t shows."""
    n, g = 0, now.g
    for i in range(total):
        if math.isnan(x[i]):
            continue
        j = attributes[i]
        me = attr[j]
        if me.observed == 0:
            me.ref = x[i]
        if me.unit == 0.0 and x[i] != me.ref:
            me.unit, me.varied = power(x[i] - me.ref), me.observed + 1
        came = scaled(x[i], me.ref, me.unit)
        shown[t, n].j, shown[t, n].x = j, winsorised(me, came)
        z = sized(me, came)
        me.far = farthest(me, came)
        me.observed += 1
        if me.unit == 0.0 and 0 < now.same <= me.observed:
            me.idle = 1
        me.raw_n += g
        me.raw_x += g * z
        me.raw_xx += g * z * z
        n += 1
    for i in range(n, shown.shape[1]):
        shown[t, i].j = -1


@inner
def _extend(state: State, t: int) -> None:
    """Row t into the Gram of the support, if it lacks one member at most; what it lacks is imputed."""
    now, member, v, seen, row = state.now, state.fit.member, state.work.v, state.work.seen, state.work.row
    m, lost, last, weight = now.m, 0, 0, now.g
    for i in range(state.shown.shape[1]):
        value = state.shown[t, i]
        if value.j < 0:
            break
        a = state.attr[value.j].place
        if a >= 0 and not seen[a]:  # bought after the label
            v[a], seen[a] = value.x - member[a].x_bar, 1
    for a in range(m):
        if not seen[a]:
            lost, last = lost + 1, a
    if lost > 1 or (lost == 1 and m == 1):
        return
    for a in range(m):
        row[a] = v[a] + member[a].x_bar
    row[m], row[m + 1] = 1.0, state.row[t].y
    if lost == 1:
        weight *= now.s2 / (now.s2 + member[last].w ** 2 * member[last].cond)
        member[last].imputed += weight
    add(state.fit.gram, row, m, weight)


@inner
def _count(now: Now, y: float) -> None:
    """The label into its sums."""
    now.n += now.g
    now.y += now.g * y
    now.yy += now.g * y * y
    now.y_low, now.y_high = min(now.y_low, y), max(now.y_high, y)


@inner
def tell(state: State, said: Signal, attributes: Ints, x: Floats, y: float, before: int, total: int) -> bool:
    """Learn from a row: values x of `total` attributes, of which the first `before` were bought before the label y;
    `said` is their signal, made just now.

    Whether it is time to call `refit`.
    """
    now = state.now
    if now.told == 0:
        now.y_ref = y
    if now.y_unit == 0.0 and y != now.y_ref:
        now.y_unit = power(y - now.y_ref)
    y, whole = scaled(y, now.y_ref, now.y_unit), said.shown == now.m
    if now.told > 0:
        y_hat, c = answer(now, said), level(state.accounts)
        calibrate(state.quantiles, abs(y_hat + c - y), spread(state, said), now.told)
        if whole:
            judge_extremes(state, attributes, x, before, y - y_hat - c)
        y = _compare(state, said, y, whole)
    t = now.told % state.row.size
    state.row[t].y, state.row[t].weight, state.row[t].regime = y, now.g, now.regime
    _keep(state.attr, state.shown, t, now, attributes, x, total)
    _count(now, y)
    if now.m > 0:
        _extend(state, t)
    now.y_mean = now.y / now.n
    now.y_var = max(now.yy / now.n - now.y_mean**2, 1e-300)
    count(state, t)
    accumulate(state, t)
    now.alpha = min(1.0, now.fy / (now.ff + _TIMID * now.s2)) if now.fy > 0.0 else 0.0
    now.told += 1
    if refresh(state, attributes, total):
        now.refit_at = now.score_at = now.told
    return now.told >= now.refit_at


def renew(state: State) -> float:
    """Divide all sums by the weight of the present, which is heavy; what they were divided by."""
    now, g = state.now, state.now.g
    for name in ("raw_n", "raw_x", "raw_xx", "n", "x", "xx", "h", "e", "xe", "own_xx"):
        state.attr[name] /= g
    for name in ("n", "x_j", "x_a", "x_jj", "x_aa", "x_ja", "x_ae", "pull", "own_n", "own_xa"):
        state.pair[name] /= g
    state.row["weight"] /= g
    state.fit.member["imputed"] /= g
    state.fit.gram[:] /= g
    now.n, now.y, now.yy, now.g = now.n / g, now.y / g, now.yy / g, 1.0
    return float(g)
