"""The label's level is followed where it moves, and let alone where it does not.

Four accounts of the level c run side by side: one keeps what it has, the others follow the labels with their own gain.

    off = y - y_hat                                                       y_hat: what the fit says, without the level
    belief_e ~ belief_e t(off - c_e)                                      Student's t: an absurd label decides little
    c_e <- c_e + gain_e (off - c_e)
    now and then another account is the right one from here on, and takes over where the others are

    c = sum_e belief_e c_e

c is added to the prediction and taken from the label that is learnt, so that weights are learnt as if the level had
never moved. While the first account is believed, which it is from the start, c stays 0.
"""

import math

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats
from .change import likelihood, noise, ring
from .state import Records, State

__all__ = ["GAINS", "follow", "level"]

GAINS = (0.0, 0.01, 0.08, 0.5)
# How often one that follows and, at most, the one that keeps are right no longer, and how often that is in all rows so
# far; rows before any is judged.
_SWITCH, _LEAVE, _CHANGES, _FEWEST = 1e-3, 2e-5, 0.2, 30
# How far off, in squares of what is usual, and for how many rows a level is reported; over how many usual is meant.
_FAR, _LASTING, _LONG = 9.0, 100, 4000.0


@inner
def level(accounts: Records) -> float:
    """The mean of the accounts."""
    c = 0.0
    for e in range(accounts.size):
        c += accounts[e].belief * accounts[e].c
    return c


@inner
def _judge(accounts: Records, likely: Floats, off: float, reach: float, s2: float) -> None:
    """Believe each account as far as the label bears it out, then let it follow the label, by `reach` at most."""
    best, total = -1e300, 0.0
    for e in range(accounts.size):
        likely[e] = likelihood(off - accounts[e].c, s2)
        best = max(best, likely[e])
    for e in range(accounts.size):
        one = accounts[e]
        one.belief *= math.exp(likely[e] - best)
        total += one.belief
        one.c += one.gain * min(reach, max(-reach, off - one.c))
    for e in range(accounts.size):
        accounts[e].belief /= total


@inner
def _mix(accounts: Records, rows: float) -> None:
    """Each account is what was believed of it, and a share of what was believed of the others.

    belief_e <- (1 - leave_e) belief_e + sum_i leave_i belief_i / 3 over the others; the one that keeps the level is
    left more seldom than once in all these rows.
    """
    leaving, moving, others = 0.0, 0.0, accounts.size - 1
    for e in range(accounts.size):
        goes = _leave(e, rows) * accounts[e].belief
        leaving, moving = leaving + goes, moving + goes * accounts[e].c
    for e in range(accounts.size):
        one, leave = accounts[e], _leave(e, rows)
        stays, goes = (1.0 - leave) * one.belief, leave * one.belief
        comes = (leaving - goes) / others
        one.c = (stays * one.c + (moving - goes * one.c) / others) / (stays + comes)
        one.belief = stays + comes


@inner
def _leave(e: int, rows: float) -> float:
    """How probable it is that account e is right no longer."""
    return _SWITCH if e > 0 else min(_LEAVE, _CHANGES / rows)


@inner
def _report(state: State) -> None:
    """An alarm when the level has been elsewhere for a hundred rows: off the one last reported by a deviation of the
    label, and by three of those it usually strays by. Where noise comes in waves it is followed, and is no change."""
    now, c = state.now, level(state.accounts)
    off = (c - now.level) ** 2
    now.aside = now.aside + 1 if off > max(now.y_var, _FAR * now.strayed) else 0
    now.strayed += (off - now.strayed) / _LONG
    if now.aside >= _LASTING:
        ring(state.bell, now, (c - now.level) * now.y_unit, now.alpha, now.alpha)
        now.level, now.aside = c, 0


@inner
def follow(state: State, off: float, reach: float) -> None:
    """Learn of the level from how far the label was off what the fit said."""
    now = state.now
    if now.told < _FEWEST or now.s2 <= 0.0:
        return
    _judge(state.accounts, state.work.likely, off, reach, noise(now))
    _mix(state.accounts, now.n / now.g)
    _report(state)
