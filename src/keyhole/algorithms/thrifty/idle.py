"""Who is not bought again: what never varied, was never observed, or says nothing that the support does not.

A column is determined where least squares on the members leaves nothing of it, in the last rows that show all of them:

    |x_j - x_bar - u'(x_M - x_bar_M)|^2 <= 1e-6 |x_j - x_bar|^2         over at least m + 20 rows

That is exact: an attribute with anything of its own is never taken for one. With a `half_life` the idle get a look once
in about 1.4 of them, because things change.
"""

import math

import numpy as np

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats
from .state import State

__all__ = ["mark_constant", "mark_determined"]

# So often, and as often as so many roots of the rows, it was the same or not there: another value comes in less than
# one of 30 rows. What is rarer gets its chance as rows go by, in an ever smaller part of them.
_SURE, _ROOTS = 100, 2.0
# A constant is given up sooner where no column that varies took more than `_ONCE` values to show it: rare ones seem to
# be rare there.
_SOON, _FEWER, _ONCE = 20, 0.3, 5
# Beyond a row for each weight, as many must agree; the newest ones are read, in stretches of so many rows.
_AGREE, _STRETCH = 20, 1024
# Least squares leaves no more of it, in squares; a candidate this collinear (see `score`) is looked at closely.
_NOTHING, _CLOSE = 1e-6, 0.0501


@inner
def mark_constant(state: State) -> bool:
    """Set `idle` of what never varied and of what was never observed, once everybody was scored; whether it is time to
    ask what the support determines: at every eighth more rows, and when a support that determines some has changed."""
    attr, now, slow, determined = state.attr, state.now, False, False
    for j in range(attr.size):
        slow = slow or attr[j].varied > _ONCE
    root = math.sqrt(now.told)
    late, soon = max(_SURE, _ROOTS * root), max(_SOON, _FEWER * root)
    now.same = int(late if slow else soon)
    for j in range(attr.size):
        me = attr[j]
        if me.place < 0 and ((me.unit == 0.0 and me.observed >= now.same) or (me.observed == 0 and me.asked >= late)):
            me.idle = 1
        elif me.idle == 1:
            me.idle = 0
        determined = determined or me.idle == 2
    return now.told >= now.idle_at or (determined and now.moves != now.idle_moves)


def mark_determined(state: State) -> None:
    """Set `idle` of those that say nothing beside the support. A member that is idle leaves next time."""
    attr, now, idle = state.attr, state.now, state.attr["idle"]
    now.idle_at = now.told + now.told // 8 + 1
    if now.moves != now.idle_moves:
        now.idle_moves, attr["judged"] = now.moves, 0
        idle[idle == 2] = 0
    for j in _close(state):
        attr["judged"][j], idle[j] = attr["asked"][j], 2 * _determined(_rows_of(state, j))
        if idle[j] and attr["place"][j] >= 0:
            break  # of two that say the same one is enough


def _close(state: State) -> list[int]:
    """Whom the support may determine, the members first, the last of them first; each again at twice as many looks."""
    attr, m = state.attr, int(state.now.m)
    member = state.fit.member[:m]
    inside = member["j"][(member["cond"] <= _CLOSE * member["sd"] ** 2) & (m > 1)]
    n = np.maximum(attr["n"], 1e-300)
    near = (attr["c"] > 0.0) & (attr["c"] <= _CLOSE * (attr["xx"] / n - (attr["x"] / n) ** 2))
    outside = np.flatnonzero((attr["place"] < 0) & near & (attr["rows"] >= m + _AGREE)) if m else ()
    return [int(j) for j in (*inside[::-1], *outside) if attr["asked"][j] >= max(2 * attr["judged"][j], 1)]


def _rows_of(state: State, j: int) -> Floats:
    """(rows, n): the other members and, last, j in the newest rows that show them all, about as many as it takes."""
    members = state.fit.member["j"][: state.now.m]
    wanted = np.append(members[members != j], j)
    found: list[Floats] = []
    told, size = int(state.now.told), state.row.size
    have = 0
    for end in range(told, max(told - size, 0), -_STRETCH):
        at = np.arange(max(end - _STRETCH, told - size, 0), end) % size
        shown = state.shown[at]
        match = shown["j"][:, :, None] == wanted
        full = match.any(axis=1).all(axis=1)
        places = match[full].argmax(axis=1)
        found.append(np.take_along_axis(shown["x"][full], places, axis=1)[::-1])
        have += found[-1].shape[0]
        if have >= wanted.size + _AGREE:
            break
    return np.concatenate(found)


def _determined(rows: Floats) -> bool:
    """Whether the last column is a linear function of the others."""
    if rows.shape[0] < rows.shape[1] + _AGREE - 1:
        return False
    Z = rows - rows.mean(axis=0)
    left = Z[:, -1] - Z[:, :-1] @ np.linalg.lstsq(Z[:, :-1], Z[:, -1], rcond=None)[0]
    return bool(left @ left <= _NOTHING * (Z[:, -1] @ Z[:, -1]))
