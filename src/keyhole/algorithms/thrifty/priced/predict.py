"""What is predicted from the bought values: least squares on the support, held back by its leverage (VAW)."""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Bools, Floats, Ints
from ..units import scaled
from .estimate import FAITH
from .linear import precision
from .state import Attribute, Now, Pair, State

__all__ = ["deviations", "drawn_in", "predict"]

# Values beyond this many deviations are drawn in, once ten were seen; labels beyond this many.
_WINSOR, LABEL_WINSOR = 6.0, 8.0


@inner
def drawn_in(x: float, n: float, mean: float, square: float, reach: float) -> float:
    """x within mean +- reach deviations, where n >= 10 rows have shown any."""
    if n < 10.0:
        return x
    sd = math.sqrt(max(square - mean * mean, 0.0) * n / (n - 1.0))
    return min(mean + reach * sd, max(mean - reach * sd, x)) if sd > 0.0 else x


@inner
def value(me: Attribute, own: Pair, g: float, x: float) -> float:
    """x in the attribute's own units, drawn in."""
    x = scaled(x, me.ref, me.unit)
    return drawn_in(x, own.n / g, own.x / own.n, own.xx / own.n, _WINSOR) if own.n > 0.0 else x


@inner
def deviations(state: State, attributes: Ints, x: Floats, n: int, v: Floats) -> int:
    """Deviations of the fit's attributes from their means, what is missing by regression; how many are there."""
    there = 0
    has = np.zeros(v.size, np.bool_)
    for a in range(v.size):
        v[a] = 0.0
    for i in range(n):
        j = attributes[i]
        me = state.attr[j]
        if me.place >= 0 and not math.isnan(x[i]):
            v[me.place] = value(me, state.pair[j, j], state.now.g, x[i]) - state.fit.x_bar[me.place]
            has[me.place] = True
            there += 1
    if 0 < there < v.size:
        _fill(state, v, has, v.size - there)
    return there


@inner
def _fill(state: State, v: Floats, has: Bools, lacking: int) -> None:
    """E[v_M | v_O] = -V_MM^-1 V_MO v_O, within four deviations."""
    fit, at, i = state.fit, np.empty(lacking, np.int64), 0
    for a in range(v.size):
        if not has[a]:
            at[i] = a
            i += 1
    block, right = np.empty((lacking, lacking)), np.zeros(lacking)
    for i in range(lacking):
        for k in range(lacking):
            block[i, k] = fit.V[at[i], at[k]]
        for e in range(v.size):
            if has[e]:
                right[i] -= fit.V[at[i], e] * v[e]
    block = precision(block)
    for i in range(lacking):
        x, reach = 0.0, 4.0 * state.attr[fit.A[at[i]]].sd
        for k in range(lacking):
            x += block[i, k] * right[k]
        v[at[i]] = min(reach, max(-reach, x))


@inner
def _answer(fit: Floats, now: Now, f: float, h: float, rows: float) -> float:
    """The label, within 5 % of what labels were."""
    f = now.y_bar + f / (1.0 + h / (rows + FAITH * now.g) * now.g)
    reach = 0.05 * (now.y_high - now.y_low)
    return min(now.y_high + reach, max(now.y_low - reach, f))


@inner
def signal(state: State, v: Floats) -> float:
    """The prediction in the label's units from the deviations v."""
    fit, now, f, h, rows = state.fit, state.now, 0.0, 0.0, 0.0
    m = v.size
    for a in range(m):
        f += fit.w[a] * v[a]
        for e in range(m):
            h += v[a] * fit.V[a, e] * v[e]
    if m > 0:
        rows = fit.gram[m, m]
    return _answer(fit.w, now, f, h, rows)


@inner
def predict(state: State, attributes: Ints, x: Floats, n: int) -> float:
    """y_hat from the first n values."""
    now = state.now
    if now.told == 0:
        return 0.0
    v = np.empty(state.fit.A.size)
    deviations(state, attributes, x, n, v)
    return now.y_ref + now.y_unit * signal(state, v)
