"""Means, covariances from pooled pairs, and least squares on the support.

cov(i, j) = sum (x_i - mean_i)(x_j - mean_j) / (n_ij + 4)     over the rows that show both, drawn towards 0

C = (Gram + 5 rows of what was believed before) / rows - x_bar x_bar' + ridge,     w = C^-1 c,     explained = w' c

Within a panel, and among what is known, the ridge of an attribute is that of a normal prior on its weight, whose
variance is what is believed of its square (automatic relevance): ridge = s2 / (n (w^2 + s2 V_aa / n)), in units of the
attribute's variance. Useless attributes, which are free beside the useful ones, are so shrunk away.
"""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats
from ..state import Records
from .linear import possible, precision
from .state import Fit, Now, State

__all__ = ["DOUBT", "FAITH", "add", "covariance", "fit_weights", "pooled", "refresh", "relevance"]

# Rows that what was believed before counts for, in the fit and in a covariance.
FAITH, DOUBT = 5.0, 4.0
# No pooled correlation is believed to be larger.
_CLOSEST = 0.995
# No weight is shrunk more than by 1 / (1 + this): so that it can come back.
_HEAVIEST = 20.0


@inner
def covariance(attr: Records, pair: Records, g: float, i: int, j: int, doubt: float) -> float:
    """cov(x_i, x_j) as of the last refit; for `doubt` rows counts that it is 0."""
    one, two = attr[i], attr[j]
    if i == j:
        return float(one.sd * one.sd)
    ij, limit = pair[i, j], _CLOSEST * one.sd * two.sd
    if ij.n <= 0.0:
        return 0.0
    centred = ij.xx - one.mean * pair[j, i].x - two.mean * ij.x + ij.n * one.mean * two.mean
    return float(min(limit, max(-limit, centred / (ij.n + doubt * g))))


@inner
def pooled(state: State) -> Floats:
    """The covariance of the attributes of the fit, drawn in until it is one."""
    A, m = state.fit.A, state.fit.A.size
    C = np.empty((m, m))
    for a in range(m):
        for e in range(m):
            C[a, e] = covariance(state.attr, state.pair, state.now.g, A[a], A[e], DOUBT)
    possible(C)
    return C


@inner
def refresh(attr: Records, pair: Records, g: float) -> None:
    """Mean and deviation of every attribute from its own rows."""
    for j in range(attr.size):
        me, own = attr[j], pair[j, j]
        if own.n > 0.0:
            me.mean = own.x / own.n
            rows = max(own.n / g, 1.0)
            me.sd = math.sqrt(max(own.xx / own.n - me.mean**2, 0.0) * rows / max(rows - 1.0, 1.0))


@inner
def add(gram: Floats, v: Floats, weight: float) -> None:
    """Add weight v v'."""
    for a in range(v.size):
        for e in range(v.size):
            gram[a, e] += weight * v[a] * v[e]


@inner
def relevance(state: State) -> None:
    """The ridges anew, from the weights as they are."""
    fit, now, m = state.fit, state.now, state.fit.A.size
    rows = (fit.gram[m, m] + FAITH * now.g) / now.g
    for a in range(m):
        me = state.attr[fit.A[a]]
        fit.ridge[a] = 0.0
        if me.of < 0 or state.source[me.of].size > 1:
            square = (fit.w[a] ** 2 + now.s2 * fit.V[a, a] / rows) * me.sd**2
            fit.ridge[a] = min(now.s2 / rows / square, _HEAVIEST) if square > 0.0 else 0.0


@inner
def fit_weights(attr: Records, fit: Fit, now: Now) -> None:
    """w, x_bar, y_bar and V from the Gram."""
    A, gram, m = fit.A, fit.gram, fit.A.size
    if m == 0:
        now.y_bar, now.explained = now.y_mean, 0.0
        return
    faith = FAITH * now.g
    rows = gram[m, m] + faith
    now.y_bar = (gram[m, m + 1] + faith * now.y_mean) / rows
    C, c = np.empty((m, m)), np.empty(m)
    for a in range(m):
        fit.x_bar[a] = (gram[m, a] + faith * attr[A[a]].mean) / rows
    for a in range(m):
        mean = attr[A[a]].mean
        for e in range(m):
            C[a, e] = (gram[a, e] + faith * mean * attr[A[e]].mean) / rows - fit.x_bar[a] * fit.x_bar[e]
        C[a, a] += (faith / rows + fit.ridge[a]) * attr[A[a]].sd ** 2
        c[a] = (gram[a, m + 1] + faith * mean * now.y_mean) / rows - fit.x_bar[a] * now.y_bar
    fit.V[:, :] = precision(C)
    now.explained = 0.0
    for a in range(m):
        fit.w[a] = 0.0
        for e in range(m):
            fit.w[a] += fit.V[a, e] * c[e]
        now.explained += fit.w[a] * c[a]
