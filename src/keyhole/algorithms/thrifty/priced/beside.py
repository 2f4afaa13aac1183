"""A source beside the fit: the rows that show it, its covariance with what is left of the label, its own variance.

    r = cov(x_s, y) - Q w,   V = cov(x_s) - Q' P Q,   Q = cov(x_fit, x_s)         P: pooled precision of the fit

In the rows that show both, Q is what these rows show, chance included: that much of the label is explained there. In
the other rows it is what is believed of the pair: as measured elsewhere, drawn to 0 by how alike columns are at all.
"""

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats
from .estimate import DOUBT, covariance
from .linear import possible
from .state import Source, State

__all__ = ["beside", "doubt_of", "rows_of", "unseen"]

# An attribute of a panel that is shown less often than this, beside the others, takes no part in the judgement.
_SELDOM = 0.2


@inner
def _most(state: State, me: Source) -> float:
    """In how many rows the attribute of a source that is shown most often is shown."""
    n = 0.0
    for i in range(me.first, me.first + me.size):
        j = state.listed[i]
        n = max(n, state.pair[j, j].n / state.now.g)
    return n


@inner
def rows_of(state: State, me: Source) -> float:
    """How many rows show a source: all of it but what is hardly ever there."""
    n = most = _most(state, me)
    for i in range(me.first, me.first + me.size):
        j = state.listed[i]
        shown = state.pair[j, j].n / state.now.g
        if shown >= _SELDOM * most:
            n = min(n, shown)
    return n


@inner
def doubt_of(state: State) -> float:
    """1 / the mean squared correlation of candidates with the fit, beyond chance: so many rows say that one is 0."""
    fit, attr, g, top, bottom = state.fit, state.attr, state.now.g, 50.0 / 8.0, 50.0
    for j in range(attr.size):
        for a in range(fit.A.size):
            n, size = state.pair[j, fit.A[a]].n / g, attr[j].sd * attr[fit.A[a]].sd
            if attr[j].place < 0 and n >= 4.0 and size > 0.0:
                weight = min(n, 200.0)
                close = covariance(attr, state.pair, g, j, fit.A[a], 0.0) / size
                top += weight * (close * close - 1.0 / n)
                bottom += weight
    return 1.0 / min(1.0, max(top / bottom, 1e-3))


@inner
def _joint(state: State, a: int, j: int, doubt: float) -> float:
    """cov(x_a, x_j) in the rows of j: as measured in those that show both, drawn to 0 in the others."""
    g = state.now.g
    n, rows = state.pair[a, j].n / g, state.pair[j, j].n / g
    if n <= 0.0:
        return 0.0
    share = min(1.0, n / rows)
    believed: float = share + (1.0 - share) * n / (n + doubt)
    return covariance(state.attr, state.pair, g, a, j, 0.0) * believed


@inner
def beside(state: State, me: Source, doubt: float, U: Floats, r: Floats, V: Floats) -> float:
    """U = P Q, r and V of a candidate; the share of its variance that is its own.

    Q is measured in n rows, so that Q' P Q explains m / n of anything by chance: that much is taken back.
    """
    fit, attr, pair, g = state.fit, state.attr, state.pair, state.now.g
    m, q, own, most = fit.A.size, me.size, 0.0, _most(state, me)
    Q, whole, explained = np.zeros((m, q)), 0.0, 0.0
    for i in range(q):
        j = state.listed[me.first + i]
        it, r[i] = attr[j], 0.0
        if pair[j, j].n / g < _SELDOM * most or it.sd == 0.0:
            continue
        r[i] = (it.xy - it.mean * it.y) / pair[j, j].n
        for a in range(m):
            Q[a, i] = _joint(state, fit.A[a], j, doubt)
            r[i] -= fit.w[a] * Q[a, i]
    for a in range(m):
        for i in range(q):
            U[a, i] = 0.0
            for e in range(m):
                U[a, i] += fit.P[a, e] * Q[e, i]
    for i in range(q):
        j = state.listed[me.first + i]
        size = attr[j].sd ** 2
        taken = 0.0
        for a in range(m):
            taken += Q[a, i] * U[a, i]
        if size > 0.0:
            own = max(own, 1.0 - taken / size)
            whole += 1.0
            explained += min(taken / size, 1.0)
    chance, share = m / me.n, 0.0
    if explained > 0.0 and chance < 1.0:
        share = max(0.0, explained / whole - chance) / ((1.0 - chance) * explained / whole)
    for i in range(q):
        j = state.listed[me.first + i]
        for k in range(q):
            V[i, k] = covariance(attr, pair, g, j, state.listed[me.first + k], DOUBT)
            for a in range(m):
                V[i, k] -= share * Q[a, i] * U[a, k]
        V[i, i] = max(V[i, i], 0.02 * attr[j].sd ** 2)
    possible(V)
    return own


@inner
def unseen(state: State, me: Source, C: Floats) -> float:
    """Variance that members explain, in the rows that show the source and not them."""
    fit, dark, j = state.fit, 0.0, state.listed[me.first]
    for a in range(fit.A.size):
        together = state.pair[fit.A[a], j].n / state.now.g
        dark += fit.w[a] ** 2 * C[a, a] * (1.0 - min(1.0, together / me.n))
    return dark
