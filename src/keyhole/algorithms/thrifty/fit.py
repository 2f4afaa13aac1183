"""Least squares on a set of attributes, from rows of which some lack one of them.

    w = argmin sum_t weight_t (y - y_bar - w'(x - x_bar))^2  +  5 pseudo-rows of each member's own mean and variance

A row that shows all of M enters as it is; one that lacks a single member a enters with x_a replaced by its regression
on the others, and with weight s2 / (s2 + w_a^2 var(x_a | rest)): the noise that the missing part adds. Such rows say
nothing about w_a, but they keep what was known about the others when a joined. All sums are positive definite.
"""

import math

import numpy as np

from ..._internal.numba._bare import inner as bare
from ..._internal.numba._jit import inner
from ..._internal.typing import Floats, Ints
from .arrays import flags, zeros
from .state import Attribute, Fit, Now, Records, State, Work

__all__ = ["add", "build", "condition", "expect", "mean_and_variance", "solve"]

# How many pseudo-rows: enough that a newcomer known from a handful of rows does not explode.
_PRIOR = 5.0
# How often the missing values are filled in anew: twice more than once is enough for where it matters, a newcomer
# whose first rows all lack someone.
_STEPS = 3


@bare
def _invert(A: Floats, m: int, out: Floats, joined: Floats) -> None:
    """out = A^-1 for a positive definite m x m matrix: Gauss-Jordan on A scaled to a unit diagonal."""
    s, T = joined[m], joined
    for i in range(m):
        s[i] = 1.0 / math.sqrt(max(A[i, i], 1e-300))
    for i in range(m):
        for j in range(m):
            T[i, j], T[i, m + j] = A[i, j] * s[i] * s[j], 0.0
        T[i, i] += 1e-9  # keeps exact duplicates apart
        T[i, m + i] = 1.0
    for i in range(m):
        pivot = max(T[i, i], 1e-9)
        for e in range(2 * m):
            T[i, e] /= pivot
        for j in range(m):
            f = T[j, i] if j != i else 0.0
            if f != 0.0:
                for e in range(2 * m):
                    T[j, e] -= f * T[i, e]
    for i in range(m):
        for j in range(m):
            out[i, j] = T[i, m + j] * s[i] * s[j]


@bare
def mean_and_variance(me: Attribute) -> tuple[float, float]:
    """Of an attribute, over all its values, before winsorising."""
    if me.raw_n <= 0.0:
        return 0.0, 0.0
    mean = me.raw_x / me.raw_n
    return mean, max(me.raw_xx / me.raw_n - mean * mean, 0.0)


@bare
def add(gram: Floats, v: Floats, m: int, weight: float) -> None:
    """gram += weight v v'."""
    for i in range(m + 2):
        f = weight * v[i]
        for j in range(m + 2):
            gram[i, j] += f * v[j]


@bare
def condition(P: Floats, work: Work, m: int) -> int:
    """Who is not seen, into `work.lost`, and their covariance given those seen, into `work.inverse`: how many."""
    seen, lost, A, u = work.seen, work.lost, work.block, 0
    for a in range(m):
        if not seen[a]:
            lost[u] = a
            u += 1
    for i in range(u):
        for j in range(u):
            A[i, j] = P[lost[i], lost[j]]
    _invert(A, u, work.inverse, work.joined)
    return u


@bare
def expect(P: Floats, work: Work, m: int, u: int) -> None:
    """Replace the deviations v[a] of the u members not seen by their expectation given those seen, once they are
    conditioned on: P_uu v_u = -P_us v_s."""
    v, seen, lost, pull, A_inv = work.v, work.seen, work.lost, work.pull, work.inverse
    for i in range(u):
        pull[i] = 0.0
        for a in range(m):
            if seen[a]:
                pull[i] -= P[lost[i], a] * v[a]
    for i in range(u):
        v[lost[i]] = 0.0
        for j in range(u):
            v[lost[i]] += A_inv[i, j] * pull[j]


@inner
def solve(fit: Fit, m: int, attr: Records, now: Now) -> None:
    """Weights, V, P and what is explained, from the fit's Gram and the pseudo-rows.

    With x_bar, y_bar and A = sum weight (x - x_bar)(x - x_bar)' over rows and pseudo-rows:
    V = g A^-1,  w = A^-1 sum weight (x - x_bar)(y - y_bar),  C = A / sum weight,  P = C^-1,  explained = w' C w.
    """
    g, member, gram, V, P = _PRIOR * now.g, fit.member, fit.gram, fit.V, fit.P
    total = gram[m, m] + g
    y_bar = (gram[m, m + 1] + g * now.y_mean) / total
    A, c, prior, joined = np.empty((m, m)), np.empty(m), np.empty(m), np.empty((m + 1, 2 * m))
    for a in range(m):
        prior[a], variance = mean_and_variance(attr[member[a].j])
        member[a].sd = math.sqrt(variance)
        member[a].x_bar = (gram[m, a] + g * prior[a]) / total
    for a in range(m):
        for e in range(m):
            A[a, e] = gram[a, e] + g * prior[a] * prior[e] - total * member[a].x_bar * member[e].x_bar
        A[a, a] += g * member[a].sd ** 2
        c[a] = gram[a, m + 1] + g * prior[a] * now.y_mean - total * member[a].x_bar * y_bar
    _invert(A, m, V, joined)
    for a in range(m):
        w = 0.0
        for e in range(m):
            w += V[a, e] * c[e]
            V[a, e] *= now.g
        member[a].w = w
        A[a, a] += member[a].imputed * member[a].cond  # an imputed value lacks its own conditional variance
    explained = 0.0
    for a in range(m):
        for e in range(m):
            fit.C[a, e] = A[a, e] / total
            explained += member[a].w * member[e].w * fit.C[a, e]
    _invert(fit.C, m, P, joined)
    fit.label.y_bar, fit.label.explained = y_bar, explained


@inner
def _show(attr: Records, shown: Records, t: int, v: Floats, seen: Ints, m: int) -> int:
    """The marked attributes that stored row t shows, into v; how many they are."""
    n = 0
    for a in range(m):
        seen[a] = 0
    for i in range(shown.shape[1]):
        value = shown[t, i]
        if value.j < 0:
            break
        a = attr[value.j].mark
        if a >= 0:
            v[a], seen[a] = value.x, 1
            n += 1
    return n


@inner
def _gather(attr: Records, row: Records, shown: Records, told: int, member: Records, m: int) -> Floats:
    """Sums of products of (x_M, 1, y): sums[m] over the stored rows that show all members, sums[a] over those that lack
    a alone, with 0 in its place."""
    sums, v, seen = np.empty((m + 1, m + 2, m + 2)), zeros(m + 2), flags(m + 1, 0)
    for a in range(m + 1):
        for i in range(m + 2):
            for e in range(m + 2):
                sums[a, i, e] = 0.0
    for a in range(m):
        attr[member[a].j].mark = a
    for t in range(min(told, row.size)):
        n, a = _show(attr, shown, t, v, seen, m), 0
        if n < m - 1:
            continue
        v[m], v[m + 1] = 1.0, row[t].y
        while seen[a]:
            a += 1
        v[a] = v[a] if n == m else 0.0  # then a = m, the place of the 1
        add(sums[a], v, m, row[t].weight)
    for a in range(m):
        attr[member[a].j].mark = -1
    return sums


@inner
def _fill_in(fit: Fit, m: int, w_guess: Floats, sums: Floats, s2: float) -> None:
    """The Gram of all rows, a missing x_a replaced by its regression on the others according to the fit so far.

    It is linear, x_a = beta'(x, 1, y), so that the sums of these rows are all that is needed of them.
    """
    member, gram, P = fit.member, fit.gram, fit.P
    beta, cross = zeros(m + 2), zeros(m + 2)
    for a in range(m):
        cond = 1.0 / P[a, a]
        keep = s2 / (s2 + w_guess[a] ** 2 * cond)
        member[a].cond, member[a].imputed = cond, keep * sums[a, m, m]
        beta[m] = member[a].x_bar
        for e in range(m):
            beta[e] = -P[a, e] * cond if e != a else 0.0
            beta[m] -= beta[e] * member[e].x_bar
        square = 0.0
        for i in range(m + 2):
            cross[i] = 0.0
            for e in range(m + 2):
                cross[i] += sums[a, i, e] * beta[e]
            square += beta[i] * cross[i]
        cross[a] = square
        for i in range(m + 2):
            for e in range(m + 2):
                gram[i, e] += keep * (cross[e] if i == a else cross[i] if e == a else sums[a, i, e])


@inner
def build(state: State, m: int, w_guess: Floats) -> None:
    """Fit the first m members of the trial on the stored rows: first those that show all of it, then with them those
    that lack one.

    The regressions that fill these in are those of the fit before: a few steps of expectation and maximisation.
    """
    fit, now = state.trial, state.now
    sums = _gather(state.attr, state.row, state.shown, now.told, fit.member, m)
    for a in range(fit.member.size):
        fit.member[a].imputed, fit.member[a].cond = 0.0, 0.0
    for step in range(1 + _STEPS if m > 1 else 1):
        for i in range(m + 2):
            for e in range(m + 2):
                fit.gram[i, e] = sums[m, i, e]
        if step > 0:
            _fill_in(fit, m, w_guess, sums, now.s2)
        solve(fit, m, state.attr, now)
