"""Who says nothing that the fit does not say, read off the stored rows; and who says the same for less.

A source is determined where least squares on the other attributes of the fit leaves nothing of it, in the newest rows
that show them all:

    |x_s - x_bar - U'(x_A - x_bar_A)|^2 <= 1e-6 |x_s - x_bar|^2         over at least m + 20 rows

That is exact, which pooled sums are not: each pair has rows of its own. A member that is determined leaves, the dearest
first. Another is not bought again, unless it costs less than a member that it can stand in for: then it replaces it.
"""

import numpy as np

from ...._internal.typing import Floats, Ints
from .memory import Memory

__all__ = ["mark_determined"]

# Below this share of its variance a source is looked at closely; beyond a row for each weight as many must agree, and
# no more are read than so many times that.
_CLOSE, _AGREE, _READ = 0.3, 20, 4
# Least squares leaves no more of it, in squares; a member it can stand in for makes up at least this much of it.
_NOTHING, _PART = 1e-6, 1e-3


def mark_determined(memory: Memory) -> tuple[int, int]:
    """Mark as idle who is determined. Who is to leave and who to take its place, -1: nobody."""
    source, support, moves = memory.source, memory.support, int(memory.now["moves"][0])
    again = memory.given["decay"][0] < 1.0  # what was so need not be so
    close = (source["own"] < _CLOSE) & (source["price"] > 0.0) & (source["idle"] == 0)
    close = np.flatnonzero(close & (source["n"] >= memory.A.size + _AGREE))
    members = [int(s) for s in close if source["place"][s] >= 0]
    for s in sorted(members, key=lambda s: -source["price"][s]):
        if (again or source["checked"][s] != moves) and _check(memory, s) is not None:
            return s, -1
    for s in close[source["place"][close] < 0]:
        U = None
        if again or source["checked"][s] != moves:
            U = _check(memory, int(s))
        if source["determined"][s]:
            source["idle"][s] = 1
        gone = _dearer(memory, int(s), U) if U is not None else -1
        if gone >= 0 and source["barred"][s]:
            source["checked"][s] = -1  # next time
        elif gone >= 0:
            return int(support[gone]), int(s)
    return -1, -1


def _check(memory: Memory, s: int) -> Floats | None:
    """How the fit makes up source s, where it does: the part of each attribute of the fit in its deviation."""
    me = memory.source[s]
    mine: Ints = memory.listed[me["first"] : me["first"] + me["size"]]
    others: Ints = np.setdiff1d(memory.A, mine)
    me["determined"] = 0
    rows = _rows(memory, mine, others)
    if rows.shape[0] < others.size + _AGREE:
        return None
    me["checked"] = memory.now["moves"][0]
    Z = rows - rows.mean(axis=0)
    X, Y = Z[:, : others.size], Z[:, others.size :]
    U = np.linalg.lstsq(X, Y, rcond=None)[0]
    size = (Y**2).sum(axis=0)
    if (((Y - X @ U) ** 2).sum(axis=0) > _NOTHING * size).any():
        return None
    me["determined"] = 1
    part = np.zeros(memory.attr.size)
    part[others] = (np.abs(U) * np.sqrt((X**2).sum(axis=0))[:, None] / np.sqrt(np.maximum(size, 1e-300))).max(axis=1)
    return part


def _rows(memory: Memory, mine: Ints, others: Ints) -> Floats:
    """(rows, n): the others and, last, those of a source in the newest rows that show them all."""
    wanted = np.concatenate([others, mine])
    column = np.full(memory.attr.size, -1)
    column[wanted] = np.arange(wanted.size)
    ends = memory.row["end"][: memory.now["rows"][0]]
    last = int(ends[-1]) if ends.size else 0
    at = np.searchsorted(ends, np.flatnonzero(memory.shown[:last] == mine[0]), side="right")
    enough, found = _READ * (wanted.size + _AGREE), []
    for t in at[::-1][: 4 * enough]:
        span = slice(int(ends[t - 1]) if t > 0 else 0, int(ends[t]))
        row = np.full(wanted.size, np.nan)
        here = column[memory.shown[span]]
        row[here[here >= 0]] = memory.x[span][here >= 0]
        if not np.isnan(row).any():
            found.append(row)
            if len(found) == enough:
                break
    return np.array(found).reshape(-1, wanted.size)


def _dearer(memory: Memory, s: int, part: Floats) -> int:
    """The place of the dearest member that costs more than s and is made up by s and the rest; -1: none."""
    source, best, dearest = memory.source, -1, float(memory.source["price"][s])
    for i, other in enumerate(memory.support):
        j = memory.listed[source["first"][other]]
        if source["size"][other] == 1 and source["price"][other] > dearest and part[j] > _PART:
            best, dearest = i, float(source["price"][other])
    return best
