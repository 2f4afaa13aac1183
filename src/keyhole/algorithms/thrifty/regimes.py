"""A regime that comes back is known: its rows count again, instead of being gathered anew.

Every stored row belongs to a regime, which begins and ends with an alarm. At an alarm the rows so far weigh a
thousandth, and the support that ends is kept beside the last few before it. These are tried one after the other, the
last that ended first: the rows of a regime get their weight back, its members are bought, and its fit stands beside the
labels. It predicts nothing until the slope alpha, which starts at 0, says so, so that trying costs little.

    proof <- proof + log t(y - fit; s2) - max(log t(y - fit; 4 s2), log t(y - mean; var y))

Above 3 it holds again, rows and all, and that is in the alarms. Below -3, or undecided after 40 rows, its rows weigh a
thousandth of the present again, and the next one is tried; after the last, the members at the alarm go on from the rows
since then.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..._internal.typing import Bools, Ints
from .change import GONE, LONGEST, PROVEN

if TYPE_CHECKING:
    from .memory import Memory

__all__ = ["KEPT", "Kept", "turn"]

# How many are kept; with fewer stored rows there is nothing to come back to; rows by which an alarm may be late.
KEPT, _FEWEST, _LATE, _NOBODY = 4, 100, 200, -1
# A weight of the present, then, that is still a number: rows so light are lost.
_LIGHTEST = 1e-200


class Kept:
    """`kept[i]`: a regime that ended. The label at which it did; weight of the present of its rows, residual variance;
    members; whether it was tried since the last alarm. m = 0: none."""

    regime: int
    ended: int
    g: float
    s2: float
    m: int
    tried: int


def turn(memory: "Memory") -> None:
    """After an alarm keep what ended and try what is kept; where a trial is decided, take it back or try the next."""
    now = memory.now[0]
    if now["ended"] > 0.0:
        if now["tried"] > 0:  # neither held
            _lower(memory, int(now["tried"]) - 1)
        _keep(memory)
        now["ended"] = 0.0
        _next(memory, False)
    elif now["tried"] > 0 and now["proof"] > PROVEN:
        _accept(memory, int(now["tried"]) - 1)
    elif now["tried"] > 0 and (now["proof"] < -PROVEN or now["told"] - now["tried_at"] >= LONGEST):
        _lower(memory, int(now["tried"]) - 1)
        _next(memory, True)


def _rows(memory: "Memory", regime: int) -> Bools:
    """Which of the stored rows belong to a regime."""
    mine: Bools = memory.row["regime"] == regime
    mine[min(int(memory.now["told"][0]), mine.size) :] = False
    return mine


def _keep(memory: "Memory") -> None:
    """What ended, in the place of the one that ended first; a support of none is not worth it."""
    now, kept = memory.now[0], memory.kept
    kept["tried"] = 0
    m = int(now["m"])
    if m == 0:
        return
    _disown(memory)
    i = int(np.where(kept["m"] == 0, -1, kept["ended"]).argmin())
    kept[i] = (now["left"], now["told"], now["ended"], now["s2"], m, 1)
    memory.kept_members[i, :m] = memory.members


def _disown(memory: "Memory") -> None:
    """The last rows of what ended, a tenth of them and 200 at least, but half at most: an alarm comes late, and they
    may be of another regime."""
    now, size = memory.now[0], memory.row.size
    mine = _rows(memory, int(now["left"]))
    n = int(mine.sum())
    newest = np.arange(int(now["told"]) - 1, max(int(now["told"]) - size, 0) - 1, -1) % size
    last = newest[mine[newest]][: min(n // 2, max(n // 10, _LATE))]
    memory.row["regime"][last] = _NOBODY


def _next(memory: "Memory", failed: bool) -> None:
    """Try the one that ended last of those not tried yet; if there is none, and one has failed, go on with the members
    at the alarm."""
    now, kept = memory.now[0], memory.kept
    for i in np.argsort(-kept["ended"], kind="stable"):
        if kept["m"][i] == 0 or kept["tried"][i]:
            continue
        kept["tried"][i] = 1
        mine = _rows(memory, int(kept["regime"][i]))
        if kept["g"][i] < _LIGHTEST or mine.sum() < _FEWEST:
            kept["m"][i] = 0
            continue
        weight, g = memory.row["weight"], float(now["g"])
        weight[mine] = np.minimum(weight[mine] * (g / kept["g"][i]), g)
        kept["g"][i] = g
        now["tried"], now["tried_at"], now["proof"] = i + 1, now["told"], 0.0
        _start(memory, memory.kept_members[i, : kept["m"][i]], float(kept["s2"][i]))
        return
    last = int(np.where(kept["m"] == 0, -1, kept["ended"]).argmax())
    if failed and kept["m"][last] > 0:
        _start(memory, memory.kept_members[last, : kept["m"][last]], None)


def _lower(memory: "Memory", i: int) -> None:
    """The rows of what was tried weigh a thousandth again."""
    mine = _rows(memory, int(memory.kept["regime"][i]))
    memory.row["weight"][mine] /= GONE
    memory.kept["g"][i] /= GONE
    memory.now["tried"][0] = 0


def _accept(memory: "Memory", i: int) -> None:
    """It holds again: the rows since the alarm are its own, and there is an alarm that says so."""
    now, kept, bell = memory.now[0], memory.kept[i], memory.bell
    memory.row["regime"][_rows(memory, int(now["regime"]))] = kept["regime"]
    bell[int(now["rang"]) % bell.size] = (now["told"], 0.0, 0.0, 0.0, kept["ended"])
    now["rang"] += 1
    now["regime"], now["tried"] = kept["regime"], 0
    kept["m"] = 0


def _start(memory: "Memory", members: Ints, s2: float | None) -> None:
    """Sums, slope and errors from the stored rows as they weigh now, and these members fitted anew at the next refit.

    `s2`: what the errors are expected to be; None: as large as the label's own.
    """
    now, n = memory.now[0], min(int(memory.now["told"][0]), memory.row.size)
    weight, y, shown = memory.row["weight"][:n], memory.row["y"][:n], memory.shown[:n]
    now["n"], now["y"], now["yy"] = weight.sum(), weight @ y, weight @ (y * y)
    now["y_mean"] = now["y"] / now["n"]
    now["y_var"] = max(now["yy"] / now["n"] - now["y_mean"] ** 2, 1e-300)
    seen = shown["j"] >= 0
    j, x, w = shown["j"][seen], shown["x"][seen], np.broadcast_to(weight[:, None], seen.shape)[seen]
    there = np.bincount(j, w, memory.attr.size) > 0.0
    for name, power in (("raw_n", 0), ("raw_x", 1), ("raw_xx", 2)):
        memory.attr[name][there] = np.bincount(j, w * x**power, memory.attr.size)[there]
    now["error2"], now["fy"], now["ff"], now["epoch"] = now["y_var"] if s2 is None else s2, 0.0, 0.0, now["told"]
    now["alpha"], now["anew"], now["score_at"] = 0.0, members.size, 0
    memory.member["j"][1, : members.size] = members
