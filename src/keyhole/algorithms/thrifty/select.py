"""How the support changes: who leaves, who joins, who is swapped.

With L = 2 ln(e d / k), the price of choosing k of d: a member stays while z^2 >= L/2; a candidate joins when its
evidence (a likelihood ratio) > L, and z^2 > L/2 in the fit of the new support; without room, if it explains more than
who must go. Who had to leave does not come back at the same refit: two that drive each other out would else take all
its moves, again and again, and whoever is right would wait behind them for ever.
"""

import math

from ..._internal.numba._jit import inner, short
from ..._internal.typing import Floats, Ints
from .adopt import adopt, residual
from .arrays import flags, zeros
from .basket import rearrange
from .change import forget_recent
from .explore import line_up
from .fit import build, solve
from .idle import mark_constant, mark_determined
from .judging import score_all, stay_with
from .memory import Memory
from .score import regress, shrinkage, swap
from .state import FEW, Attribute, Now, Records, State

__all__ = ["refit"]

# How many of those that should join are tried at a refit.
_TRIES = 6


@inner
def _evict(state: State, L: float) -> bool:
    """Let the least significant member go, if z^2 = w^2 / (s2 V_aa) < L/2; one that the others determine has none."""
    fit, trial, now = state.fit, state.trial, state.now
    m, worst, least = now.m, -1, 0.5 * L
    for a in range(m):
        z2 = fit.member[a].w ** 2 / (now.s2 * fit.V[a, a]) if state.attr[fit.member[a].j].idle == 0 else 0.0
        if z2 < least:
            worst, least = a, z2
    if worst < 0 or fit.gram[m, m] / now.g <= FEW:
        return False
    guess, n = zeros(m), 0
    for a in range(m):
        if a != worst:
            trial.member[n].j, guess[n] = fit.member[a].j, fit.member[a].w
            n += 1
    state.attr[fit.member[worst].j].left = now.told
    build(state, m - 1, guess)
    adopt(state, m - 1)
    return True


@inner
def _surely(state: State, me: Attribute, u: Floats, losses: Floats) -> bool:
    """Whether j explains more than who goes for it even if r is a standard error less than it seems.

    Rows that show both say so, where fits of the one without the other cannot tell. With a limit in money several may
    have to go, and with one place no row shows both.
    """
    if not math.isinf(state.given.spend) or state.given.k == 1:
        return False
    r = math.copysign(max(0.0, abs(me.r) - me.se), me.r)
    least = swap(state.fit, state.now.m, r, me.c, u, losses)
    return bool(r * r / me.c > losses[least])


@inner
def _more(state: State, m: int, surely: bool) -> bool:
    """Whether the trial, of m members, explains more than the support, or surely will.

    Of a few rows, or of some in which the label varies more than in all, neither is known.
    """
    trial, now = state.trial, state.now
    if trial.gram[m, m] / now.g < FEW * m or trial.label.explained > now.y_var:
        return False
    return surely or bool(trial.label.explained > state.fit.label.explained)


@inner
def _attempt(state: State, j: int, L: float) -> bool:
    """Fit the support with j in it; keep it if j holds its own there, z^2 > L/2, and where somebody goes for it only if
    more is explained than before."""
    attr, fit, trial, now = state.attr, state.fit, state.trial, state.now
    me, m = attr[j], now.m
    u, losses, guess = zeros(m + 1), zeros(m + 1), zeros(m + 1)
    regress(me, state.pair[j], fit, now, shrinkage(attr, state.pair, fit.member, now), u)
    r, c, surely = me.r, me.c, _surely(state, me, u, losses)
    swap(fit, m, r, c, u, losses)
    stay, n = stay_with(attr, fit.member, now, state.given, me.price, losses), 0
    for a in range(m):
        member = fit.member[a]
        if stay[a]:
            trial.member[n].j, guess[n] = member.j, member.w - u[a] * r / c
            n += 1
    trial.member[n].j, guess[n] = j, r / c
    build(state, n + 1, guess)
    w = trial.member[n].w
    if w * w <= 0.5 * L * now.s2 * trial.V[n, n] or (n < m and not _more(state, n + 1, surely)):
        return False
    for a in range(m):
        if not stay[a]:
            attr[fit.member[a].j].left = now.told
    adopt(state, n + 1)
    return True


@inner
def _foremost(attr: Records, order: Ints) -> int:
    """The candidate that gains most, the first of equals in the seeded order."""
    best: int = order[0]
    for p in range(order.size):
        j = order[p]
        if attr[j].gain > attr[best].gain:
            best = j
    return best


@inner
def _join(state: State, L: float) -> bool:
    """Try the candidates that should join, best first; True when one did."""
    for _ in range(_TRIES):
        j = _foremost(state.attr, state.order)
        me = state.attr[j]
        if me.gain <= 0.0:
            return False
        if _attempt(state, j, L):
            return True
        me.gain, me.failed = 0.0, me.asked
    return False


@inner
def _call_again(now: Now, fully: bool) -> None:
    """The next refit after 3 % more rows; `fully`: everybody is scored now, and then again."""
    if fully:
        now.score_at = now.told + max(1, int(0.03 * min(now.n / now.g, now.told)))
    now.refit_at = now.score_at


@inner
def _members(state: State) -> Ints:
    members = flags(state.now.m, 0)
    for a in range(state.now.m):
        members[a] = state.fit.member[a].j
    return members


@inner
def _same(state: State, members: Ints) -> bool:
    """Whether these are the support: then whatever was doubted since long before still is."""
    same: bool = state.now.m == members.size
    for a in range(members.size):
        same = same and state.attr[members[a]].place >= 0
    return same


@short
def _move(state: State, L: float, done: int) -> tuple[int, bool, bool]:
    """Weights anew, then let one leave or join at a time until nothing moves: how many moves that makes with those
    `done` before, whether another could be made, and whether it is time to ask what the support determines.

    The one entry of all this from Python: the compiler optimises everything again that is reached from another.
    """
    fit, now, most = state.fit, state.now, 2 * state.given.k + 4
    if now.anew > 0:  # on other rows, or other members: those of the trial
        build(state, now.anew, zeros(now.anew))
        adopt(state, now.anew)
        forget_recent(now)
        now.anew = 0
    before = _members(state)
    if done == 0:
        solve(fit, now.m, state.attr, now)
        residual(fit, now)
    fully = done > 0 or now.told >= now.score_at
    while done < most:
        if not _evict(state, L):
            score_all(state, L, fully)
            if not _join(state, L):
                break
        done, fully = done + 1, True
    if not _same(state, before):
        forget_recent(now)
    _call_again(now, fully)
    due = fully and mark_constant(state)
    line_up(state)
    return done, done < most, due


def refit(memory: Memory) -> None:
    """Weights anew, moves until nothing moves, who may borrow; next time after 3 % more rows."""
    state, limited, L = memory.state, memory.given["spend"][0] < math.inf, float(memory.given["L"][0])
    done, more, due = _move(state, L, 0)
    while more and limited and rearrange(state, L):
        done, more, due = _move(state, L, done + 1)
    if due:
        mark_determined(state)
