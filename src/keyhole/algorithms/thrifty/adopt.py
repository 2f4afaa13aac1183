"""The trial becomes the support: the one place where the support changes."""

from ..._internal.numba._bare import inner
from .counts import recount
from .state import Fit, Now, State

__all__ = ["adopt", "residual"]


@inner
def residual(fit: Fit, now: Now) -> None:
    """s2 = variance of the label not explained, but not far below what was seen in predictions; and the cond of M.

    s2 = max(var(y) - explained, 0.3 mean squared error, 1e-9 var(y)),   cond_a = 1 / P_aa
    """
    explained = fit.label.explained if now.m else 0.0
    now.s2 = max(max(now.y_var - explained, 0.3 * now.error2), 1e-9 * now.y_var)
    for a in range(now.m):
        fit.member[a].cond = 1.0 / fit.P[a, a]


@inner
def adopt(state: State, m: int) -> None:
    """The first m members of the trial become the support, and its fit the fit."""
    attr, fit, trial = state.attr, state.fit, state.trial
    for a in range(state.now.m):
        attr[fit.member[a].j].place = -1
    for a in range(m):
        fit.member[a] = trial.member[a]
        attr[fit.member[a].j].place = a
        for e in range(m):
            fit.V[a, e], fit.P[a, e], fit.C[a, e] = trial.V[a, e], trial.P[a, e], trial.C[a, e]
    for i in range(m + 2):
        for e in range(m + 2):
            fit.gram[i, e] = trial.gram[i, e]
    fit.label.y_bar, fit.label.explained = trial.label.y_bar, trial.label.explained
    state.now.m = m
    state.now.moves += 1
    residual(fit, state.now)
    recount(state)
