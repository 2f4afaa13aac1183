"""How much a source's rows can say: as much as what is left of the label varied in them.

    e_t = y_t - fit(row t),   s = var(e in the rows that show the source) / var(e in all)

Looks are few, and often made in the same rows. Where e hardly varied in them by chance, no covariance with it can be
seen, however strong the source. What is known of e from all rows mends that: with e as what is given and x as what is
observed, x = b e + noise, the n rows say as much of b as n s ordinary ones, and cov(x, e) = b var(e) is 1 / s times
what they show (a ratio estimate).
"""

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats
from .state import State

__all__ = ["calmness", "varied"]


@inner
def varied(state: State) -> Floats:
    """(n + 1, 3): for each source beside the fit the sums of 1, e and e^2 over the rows that show it; last, over all
    rows that show all of the fit."""
    fit, now, first, n = state.fit, state.now, 0, state.source.size
    sums = np.zeros((n + 1, 3))
    for t in range(now.rows):
        row = state.row[t]
        e, there, beside = row.y - now.y_bar, 0, False
        for i in range(first, row.end):
            me = state.attr[state.shown[i]]
            if me.place >= 0:
                e -= fit.w[me.place] * (state.x[i] - fit.x_bar[me.place])
                there += 1
            else:
                beside = True
        if beside:
            for i in range(first, row.end):
                j = state.shown[i]
                s = state.attr[j].of
                if s >= 0 and state.attr[j].place < 0 and state.listed[state.source[s].first] == j:
                    _count(sums[s], row.weight, e)
        if there == fit.A.size:
            _count(sums[n], row.weight, e)
        first = row.end
    return sums


@inner
def _count(sums: Floats, weight: float, e: float) -> None:
    """A row into the sums of 1, e and e^2."""
    sums[0] += weight
    sums[1] += weight * e
    sums[2] += weight * e * e


@inner
def _variance(sums: Floats, g: float, default: float) -> float:
    """That of e by its sums; the default where fewer than two rows tell."""
    rows = sums[0] / g
    if rows < 2.0:
        return default
    var: float = (sums[2] / sums[0] - (sums[1] / sums[0]) ** 2) * rows / (rows - 1.0)
    return max(var, 1e-3 * default)


@inner
def calmness(state: State, sums: Floats, s: int, dark: float) -> float:
    """s of a source; in its rows members that they do not show explain `dark`."""
    usual = _variance(sums[state.source.size], state.now.g, state.now.s2) + dark
    return _variance(sums[s], state.now.g, usual) / usual
