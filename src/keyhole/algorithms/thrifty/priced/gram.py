"""The Gram of a new support, from the stored rows: what a row lacks is imputed by regression on what it shows."""

import math

import numpy as np

from ...._internal.numba._jit import inner, short
from ...._internal.typing import Bools, Floats
from .estimate import add, pooled
from .linear import precision
from .state import State

__all__ = ["rebuild"]


@inner
def _regression(C: Floats, has: Bools, B: Floats, w: Floats) -> float:
    """B gets the regression of what is missing on what is there; how much of the label it leaves in the dark."""
    m, there = has.size, 0
    for a in range(m):
        there += has[a]
    R, at = np.empty((there, there)), np.empty(there, np.int64)
    i = 0
    for a in range(m):
        if has[a]:
            at[i] = a
            i += 1
    for i in range(there):
        for j in range(there):
            R[i, j] = C[at[i], at[j]]
        R[i, i] *= 1.01
    R = precision(R)
    dark = 0.0
    for a in range(m):
        if has[a]:
            continue
        left = C[a, a]
        for e in range(m):
            B[a, e] = 0.0
        for i in range(there):
            b = 0.0
            for j in range(there):
                b += R[i, j] * C[at[j], a]
            B[a, at[i]] = b
            left -= b * C[at[i], a]
        dark += w[a] ** 2 * max(left, 0.02 * C[a, a])
    return dark


@inner
def _impute(B: Floats, has: Bools, v: Floats, mean: Floats, C: Floats) -> None:
    """Fill the missing entries of v, within four deviations."""
    for a in range(has.size):
        if has[a]:
            continue
        x = mean[a]
        for e in range(has.size):
            if has[e]:
                x += B[a, e] * (v[e] - mean[e])
        reach = 4.0 * math.sqrt(C[a, a])
        v[a] = min(mean[a] + reach, max(mean[a] - reach, x))


@inner
def _read(state: State, t: int, first: int, v: Floats, has: Bools) -> int:
    """Row t's values of the fit's attributes into v; how many there are of sources, not known."""
    bought = 0
    for a in range(has.size):
        has[a] = False
    for i in range(first, state.row[t].end):
        me = state.attr[state.shown[i]]
        if me.place >= 0:
            v[me.place], has[me.place] = state.x[i], True
            bought += me.of >= 0
    return bought


@inner
def _changed(has: Bools, last: Bools) -> bool:
    """Whether the pattern is another than last time, which it becomes."""
    changed = False
    for a in range(has.size):
        if has[a] != last[a]:
            last[a], changed = has[a], True
    return changed


@short
def rebuild(state: State, w: Floats) -> None:
    """The Gram over the rows that show some member (or anything known, where there is none); w: weights to expect.

    An imputed row counts s2 / (s2 + what it leaves in the dark).
    """
    fit, now = state.fit, state.now
    m, C = fit.A.size, pooled(state)
    v, mean, B = np.empty(m + 2), np.empty(m), np.empty((m, m))
    has, last, first, share = np.zeros(m, np.bool_), np.zeros(m, np.bool_), 0, 1.0
    fresh = True
    fit.gram[:, :] = 0.0
    for a in range(m):
        mean[a] = state.attr[fit.A[a]].mean
    for t in range(now.rows):
        row = state.row[t]
        bought, there = _read(state, t, first, v, has), 0
        first = row.end
        for a in range(m):
            there += has[a]
        if there == 0 or (bought == 0 and now.m > 0):
            continue
        weight = row.weight
        if there < m:
            if _changed(has, last) or fresh:
                share = now.s2 / (now.s2 + _regression(C, has, B, w))
                fresh = False
            _impute(B, has, v, mean, C)
            weight *= share
        v[m], v[m + 1] = 1.0, row.y
        add(fit.gram, v, weight)
    now.lacking = 0.0
