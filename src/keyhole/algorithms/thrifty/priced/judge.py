"""What every source adds: a member, what would be lost without it; another, what it would bring, alone or instead.

    member a     lost = w_a' ((P^-1)_aa)^-1 w_a                                P: pooled precision of the fit
    candidate s  r = cov(x_s, y) - Q w,   V = cov(x_s) - Q' P Q,   gain = r' V^-1 r,    Q: see `beside`; r / s: `calm`
    s for a      gain - (what a explains beside s) + lost,  compared with lost

Each goes through the posterior of `belief`: what is measured by few rows is believed little.
"""

import math

import numpy as np

from ...._internal.numba._jit import inner, short
from ...._internal.typing import Floats
from .belief import learn_prior, posterior
from .beside import beside, doubt_of, rows_of, unseen
from .calm import calmness, varied
from .estimate import fit_weights, pooled, refresh, relevance
from .linear import inverse, precision
from .state import Source, State

__all__ = ["judge"]

# Rows that are enough to call a source dead, constant or determined.
_SURE = 20.0
# Less than this share of its variance is its own: determined by what is bought anyway.
_OWN = 1e-3


@inner
def _quadratic(A: Floats, b: Floats) -> float:
    """b' A b."""
    total = 0.0
    for a in range(b.size):
        for e in range(b.size):
            total += b[a] * A[a, e] * b[e]
    return total


@inner
def _member(state: State, me: Source, first: int, w: Floats, kappa: Floats) -> None:
    """What would be lost without a member whose attributes begin at column `first` of the fit."""
    fit, now = state.fit, state.now
    me.n = me.says = rows_of(state, me)
    me.gain = _quadratic(inverse(fit.P, first, me.size), fit.w[first : first + me.size])
    me.left = now.s2 + me.gain
    me.adds = posterior(me.gain, me.n, me.n, me.size, me.left, now.y_var, state.prior, w, kappa)
    state.tally[:] += w
    me.real, me.net, me.instead, me.idle, me.own = 1.0 - w[0], now.rate * me.adds - me.price, -1, 0, 0.0
    for a in range(first, first + me.size):
        size = state.attr[fit.A[a]].sd ** 2 * fit.P[a, a]
        me.own = max(me.own, 1.0 / size if size > 0.0 else 0.0)


@inner
def _exchange(
    state: State, me: Source, U: Floats, r: Floats, V_inv: Floats, w: Floats, kappa: Floats
) -> None:  # fmt: skip
    """The member whose place it would take best, what that brings and how sure that is."""
    fit, now, m, q = state.fit, state.now, state.fit.A.size, me.size
    # Precision and weights of the fit with the source.
    K, full = np.empty((m + q, m + q)), np.empty(m + q)
    for i in range(q):
        full[m + i] = 0.0
        for k in range(q):
            full[m + i] += V_inv[i, k] * r[k]
            K[m + i, m + k] = V_inv[i, k]
    for a in range(m):
        full[a] = fit.w[a]
        for i in range(q):
            full[a] -= U[a, i] * full[m + i]
            K[a, m + i] = 0.0
            for k in range(q):
                K[a, m + i] -= U[a, k] * V_inv[k, i]
            K[m + i, a] = K[a, m + i]
    for a in range(m):
        for e in range(m):
            K[a, e] = fit.P[a, e]
            for i in range(q):
                K[a, e] -= K[a, m + i] * U[e, i]
    first, best = m, -np.inf
    for i in range(now.m):
        first -= state.source[state.members[i]].size
    for i in range(now.m):
        other = state.source[state.members[i]]
        block = inverse(K, first, other.size)
        lost, cross = 0.0, 0.0
        for a in range(other.size):
            z = 0.0
            for e in range(other.size):
                z += block[a, e] * full[first + e]
            lost += z * full[first + a]
            for k in range(q):
                cross += K[m + k, first + a] * z * r[k]
        gain = max(me.gain - lost + other.gain, 0.0)
        adds = posterior(gain, me.says, me.n, q, me.left + other.gain, now.y_var, state.prior, w, kappa)
        ahead = now.rate * (adds - other.gain) - me.price + other.price
        apart = max(me.gain + lost - 2.0 * cross, 0.0)  # variance of the difference of the two fits
        sd = now.rate * math.sqrt(4.0 * me.left * apart / me.says) + 1e-12
        if ahead + 0.4 * sd > best:
            best, me.instead, me.swap, me.swap_sd = ahead + 0.4 * sd, i, ahead, sd
        first += other.size


@inner
def _candidate(state: State, s: int, sums: Floats, doubt: float, C: Floats, w: Floats, kappa: Floats) -> None:
    """What a source beside the support would bring."""
    me = state.source[s]
    now, m, q = state.now, state.fit.A.size, me.size
    me.n, me.instead, me.idle, me.own = rows_of(state, me), -1, 0, 1.0
    me.says = me.n
    me.gain, me.left, me.adds, me.real, me.net = 0.0, now.s2, 0.0, 1.0 - math.exp(state.prior[0]), 0.0
    if me.n <= q + 3.0:
        me.idle = me.n == 0.0 and me.tried / now.g >= _SURE
        return
    U, r, V = np.empty((m, q)), np.empty(q), np.empty((q, q))
    own = me.own = beside(state, me, doubt, U, r, V)
    me.idle = own < _OWN and me.n >= _SURE
    V_inv = precision(V)
    dark = unseen(state, me, C)
    share, me.left = calmness(state, sums, s, dark), now.s2 + dark
    me.says = me.n * share
    for i in range(q):
        r[i] /= share
    me.gain = 0.0 if own < _OWN else min(max(_quadratic(V_inv, r), 0.0), 0.98 * me.left)
    me.adds = posterior(me.gain, me.says, me.n, q, me.left, now.y_var, state.prior, w, kappa)
    state.tally[:] += w
    me.real = 1.0 - w[0]
    me.net = now.rate * me.adds - me.price
    if now.m > 0 and me.gain > 0.0 and me.n >= 10.0:
        _exchange(state, me, U, r, V_inv, w, kappa)


@short
def judge(state: State, faith: float) -> None:
    """Weights anew, then every source; then what is believed of sources in general."""
    fit, now, first = state.fit, state.now, 0
    refresh(state.attr, state.pair, now.g)
    fit_weights(state.attr, fit, now)
    now.s2 = max(now.y_var - now.explained, 0.3 * now.error2, 1e-12)
    relevance(state)
    C, doubt, w, kappa = pooled(state), doubt_of(state), np.empty(5), np.empty(5)
    state.tally[:] = 0.0
    fit.P[:, :] = precision(C)
    for s in range(state.source.size):
        if state.source[s].place >= 0:
            first -= state.source[s].size
    first += fit.A.size
    for i in range(now.m):
        me = state.source[state.members[i]]
        _member(state, me, first, w, kappa)
        first += me.size
    sums = varied(state)
    for s in range(state.source.size):
        if state.source[s].place < 0:
            _candidate(state, s, sums, doubt, C, w, kappa)
    learn_prior(state.prior, state.hoped, state.tally, faith)
