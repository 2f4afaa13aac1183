"""The kernels of `gibbs-thompson`: rows filled in, their normal equations, and a sweep over a spike-and-slab posterior.

With z_B the bought values in units of their sd, the whole row is filled in by its conditional mean R_.B R_BB^-1 z_B.
Its noise is S2 plus what the unseen part of <w_bar, z> varies given z_B; rows count by the inverse of that.
"""

import numpy as np

from ..._internal.numba._jit import inner, jit
from ..._internal.typing import Floats, Ints
from .._pairwise_moments import solve_spd

__all__ = ["choose", "fill_in", "learn", "normal_equations", "sweep"]

# On the diagonal of R_BB, so that attributes that are nearly copies do not blow up.
_JITTER = 1e-3


@inner
def _block(R: Floats, B: Ints) -> Floats:
    A = np.empty((B.size, B.size))
    for i in range(B.size):
        for e in range(B.size):
            A[i, e] = R[B[i], B[e]] + (_JITTER if i == e else 0.0)
    return A


@jit
def fill_in(R: Floats, c: Floats, B: Ints, z: Floats) -> tuple[Floats, float, float]:
    """a = R_BB^-1 z_B, the fitted value f = c_B'a with c = R w_bar, and what B explains, c_B' R_BB^-1 c_B."""
    A = _block(R, B)
    cB = c[B]
    a, u = solve_spd(A, z), solve_spd(A, cB)
    f, explained = 0.0, 0.0
    for i in range(B.size):
        f += cB[i] * a[i]
        explained += cB[i] * u[i]
    return a, f, explained


@jit
def learn(R: Floats, G: Floats, b: Floats, g: Floats, w: Floats, B: Ints, a: Floats, r: float, weight: float) -> None:
    """One filled-in row: G += weight z z', b += weight r z, g = G w."""
    d = b.size
    z, zw = np.zeros(d), 0.0
    for j in range(d):
        for i in range(B.size):
            z[j] += R[j, B[i]] * a[i]
        zw += z[j] * w[j]
    for j in range(d):
        b[j] += weight * r * z[j]
        g[j] += weight * zw * z[j]
        for h in range(d):
            G[j, h] += weight * z[j] * z[h]


@jit
def normal_equations(
    R: Floats, bought: Ints, Z: Floats, r: Floats, w_bar: Floats, S2: float, G: Floats, b: Floats
) -> tuple[float, float]:
    """All rows anew; gives the weighted sum of (squared residual - what was unseen) and the sum of the weights.

    `bought` (T, k) are the places, -1 where none; Z their standard values; r the labels about their mean. Rows that
    follow each other and bought the same are filled in together.
    """
    d, k = b.size, bought.shape[1]
    c: Floats = R @ w_bar
    wRw = float(w_bar @ c)
    G[:] = 0.0
    b[:] = 0.0
    numerator, denominator = 0.0, 0.0
    t = 0
    while t < r.size:
        n = 0
        while n < k and bought[t, n] >= 0:
            n += 1
        B = bought[t, :n].copy()
        A = _block(R, B)
        fitted = solve_spd(A, c[B])
        explained = 0.0
        for i in range(n):
            explained += c[B[i]] * fitted[i]
        unseen: float = max(wRw - explained, 0.0)
        weight = 1.0 / (S2 + unseen)
        Szz, Szr = np.zeros((n, n)), np.zeros(n)
        while t < r.size and (bought[t, :n] == B).all() and (n == k or bought[t, n] < 0):
            f = 0.0
            for i in range(n):
                f += fitted[i] * Z[t, i]
                Szr[i] += Z[t, i] * r[t]
                for e in range(n):
                    Szz[i, e] += Z[t, i] * Z[t, e]
            share = (weight * S2) ** 2
            numerator += share * ((r[t] - f) ** 2 - unseen)
            denominator += share
            t += 1
        if n:
            M = np.empty((d, n))
            for j in range(d):
                M[j] = solve_spd(A, R[j][B])
            G += weight * (M @ Szz @ M.T)
            b += weight * (M @ Szr)
    return numerator, denominator


@jit
def choose(G: Floats, b: Floats, g: Floats, w: Floats, tau: float, normal: Floats) -> Floats:
    """(d,) how much each attribute is wanted: the effects of the sample first, then draws of those it left out."""
    score = np.empty(w.size)
    for j in range(w.size):
        v = 1.0 / (G[j, j] + 1.0 / tau)
        out = v * (b[j] - g[j]) + np.sqrt(v) * normal[j]
        score[j] = 1e6 * w[j] ** 2 if w[j] != 0.0 else out**2
    return score


@jit
def sweep(
    G: Floats, b: Floats, g: Floats, w: Floats, seen: Floats, tau: float, odds: float, uniform: Floats, normal: Floats
) -> Floats:
    """One Gibbs sweep of (which effects are not 0, their sizes), then moves of effects to other attributes.

    `seen` counts looks; `odds` are the prior log odds; `uniform` has 3 d draws, `normal` 2 d. Gives the mean of the
    effects given which are not 0.
    """
    d = w.size
    for j in range(d):
        if seen[j] == 0.0:
            continue
        v = 1.0 / (G[j, j] + 1.0 / tau)
        m = v * (b[j] - g[j] + G[j, j] * w[j])
        evidence = odds + 0.5 * np.log(v / tau) + 0.5 * m * m / v
        new = 0.0
        if uniform[j] < 1.0 / (1.0 + np.exp(-min(evidence, 50.0))):
            new = m + np.sqrt(v) * normal[j]
        if new != w[j]:
            _set(G, g, w, j, new)
    active = np.flatnonzero(w)
    for i in range(active.size):
        # An effect at random: going through them in order would not leave the posterior as it is.
        e = int(uniform[2 * d + i] * active.size)
        _set(G, g, w, active[e], 0.0)
        h = _where(G, b, g, w, seen, tau, uniform[d + i])
        v = 1.0 / (G[h, h] + 1.0 / tau)
        _set(G, g, w, h, v * (b[h] - g[h]) + np.sqrt(v) * normal[d + i])
        active[e] = h
    mean = np.zeros(d)
    active = np.flatnonzero(w)
    if active.size:
        A = np.empty((active.size, active.size))
        for i in range(active.size):
            for e in range(active.size):
                A[i, e] = G[active[i], active[e]] + (1.0 / tau if i == e else 0.0)
        mean[active] = solve_spd(A, b[active])
    return mean


@inner
def _set(G: Floats, g: Floats, w: Floats, j: int, value: float) -> None:
    """w_j = value, and g = G w with it."""
    step = value - w[j]
    w[j] = value
    for h in range(w.size):
        g[h] += G[h, j] * step


@inner
def _where(G: Floats, b: Floats, g: Floats, w: Floats, seen: Floats, tau: float, u: float) -> int:
    """One of the attributes without an effect, by how well an effect there would fit."""
    d = w.size
    fit, most = np.full(d, -np.inf), -np.inf
    for h in range(d):
        if w[h] == 0.0 and seen[h] > 0.0:
            v = 1.0 / (G[h, h] + 1.0 / tau)
            fit[h] = 0.5 * np.log(v / tau) + 0.5 * v * (b[h] - g[h]) ** 2
            most = max(most, fit[h])
    total = 0.0
    for h in range(d):
        fit[h] = np.exp(fit[h] - most)
        total += fit[h]
    left, last = u * total, 0
    for h in range(d):
        if fit[h] > 0.0:
            last = h
            left -= fit[h]
            if left <= 0.0:
                break
    return last
