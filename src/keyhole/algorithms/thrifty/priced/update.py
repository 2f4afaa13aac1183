"""What is learnt when the label is told: the row is kept, and enters every sum it belongs to."""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats, Ints
from ..change import GONE, weigh
from ..interval import calibrate
from ..units import power, scaled
from .estimate import add, fit_weights
from .predict import LABEL_WINSOR, deviations, drawn_in, signal, value
from .spread import spread
from .state import Now, State

__all__ = ["tell"]

# Until this many labels the weights are fitted after every row, then after every eighth.
_EVERY = 200


@inner
def _label(now: Now, y: float) -> float:
    """The label in its own units, drawn in."""
    if now.told == 0:
        now.y_ref = y
    if now.y_unit == 0.0 and y != now.y_ref:
        now.y_unit = power(y - now.y_ref)
    y = scaled(y, now.y_ref, now.y_unit)
    return drawn_in(y, now.n / now.g, now.y / now.n, now.yy / now.n, LABEL_WINSOR) if now.told > 0 else y


@inner
def _count(now: Now, y: float) -> None:
    """The label into its sums; the plain engine's are drawn in and corrected otherwise."""
    now.n += now.g
    now.y += now.g * y
    now.yy += now.g * y * y
    now.y_low, now.y_high = min(now.y_low, y), max(now.y_high, y)
    now.told += 1
    rows = now.n / now.g
    now.y_mean = now.y / now.n
    now.y_var = max(now.yy / now.n - now.y_mean**2, 1e-300) * rows / max(rows - 1.0, 1.0)


@inner
def _keep(state: State, attributes: Ints, x: Floats, total: int, y: float) -> int:
    """Store the observed values, scaled; where they begin."""
    now, t = state.now, state.now.rows
    first = state.row[t - 1].end if t > 0 else 0
    end = first
    for i in range(total):
        if math.isnan(x[i]):
            continue
        j = attributes[i]
        me = state.attr[j]
        if me.observed == 0:
            me.ref = x[i]
        if me.unit == 0.0 and x[i] != me.ref:
            me.unit = power(x[i] - me.ref)
        state.shown[end], state.x[end] = j, value(me, state.pair[j, j], now.g, x[i])
        me.observed += 1
        end += 1
    row = state.row[t]
    row.y, row.weight, row.end = y, now.g, end
    now.rows += 1
    return first


@inner
def _accumulate(state: State, first: int, end: int, g: float, y: float) -> None:
    """The row into the sums of its attributes and of their pairs."""
    for i in range(first, end):
        x, me = state.x[i], state.attr[state.shown[i]]
        me.xy += g * x * y
        me.y += g * y
        for e in range(first, end):
            both = state.pair[state.shown[i], state.shown[e]]
            both.n += g
            both.x += g * x
            both.xx += g * x * state.x[e]


@inner
def _try(state: State, attributes: Ints, total: int) -> None:
    """Count the row for every source that was ordered in it, observed or not."""
    for i in range(total):
        s = state.attr[attributes[i]].of
        if s >= 0 and state.listed[state.source[s].first] == attributes[i]:
            state.source[s].tried += state.now.g


@inner
def _extend(state: State, first: int, end: int, y: float, complete: bool) -> None:
    """The row into the Gram of the support; one that lacks something waits for the next time that is built."""
    m = state.fit.A.size
    if not complete:
        state.now.lacking += state.now.g
        return
    v = np.empty(m + 2)
    for i in range(first, end):
        a = state.attr[state.shown[i]].place
        if a >= 0:
            v[a] = state.x[i]
    v[m], v[m + 1] = 1.0, y
    add(state.fit.gram, v, state.now.g)


@inner
def _notice(state: State, said: float, y: float) -> None:
    """What label y, predicted as `said`, says of a change; where that is much, judge the support at once."""
    now = state.now
    explained = now.explained if state.fit.A.size > 0 else 0.0
    by = weigh(state.bell, now, explained, 1.0, said, y, said, said)
    if by > 1.0:
        now.g *= by
        now.refit_at = now.told + 1
    if by == GONE:
        now.error2 = now.y_var


@inner
def tell(state: State, attributes: Ints, x: Floats, y: float, before: int, total: int) -> bool:
    """Learn from a row: values x of `total` attributes, of which the first `before` were bought before the label y.

    Whether it is time to refit.
    """
    now, m = state.now, state.fit.A.size
    v = np.empty(m)
    told, y = y, _label(now, y)
    there = deviations(state, attributes, x, before, v)
    if now.told > 0:
        rate = 1.0 / min(float(now.told), max(30.0, now.n / now.g / 4.0))
        said = signal(state, v)
        now.error2 += rate * ((said - y) ** 2 - now.error2)
        far = abs(said - scaled(told, now.y_ref, now.y_unit))  # the label as it came, not drawn in
        calibrate(state.quantiles, far, spread(state, attributes, x, before, v), now.told)
        if there == m:
            _notice(state, said, y)
    now.g /= state.given.decay
    first = _keep(state, attributes, x, total, y)
    end = state.row[now.rows - 1].end
    _count(now, y)
    _try(state, attributes, total)
    _accumulate(state, first, end, now.g, y)
    if m > 0:
        _extend(state, first, end, y, there == m)
    else:
        now.y_bar = now.y_mean
    if m > 0 and (now.told < _EVERY or now.told % 8 == 0):
        fit_weights(state.attr, state.fit, now)
    return now.told >= now.refit_at
