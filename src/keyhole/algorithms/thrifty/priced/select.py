"""Who is in the support: members leave that are not worth their price, and the best move is made until none is left."""

import math

import numpy as np

from ...._internal.typing import Bools, Ints
from .belief import FAITH
from .determined import mark_determined
from .judge import judge
from .memory import Memory
from .pace import exchange, fee, horizon
from .value import look_values

__all__ = ["refit"]

# A member gives way for an expected advantage of this many standard deviations.
_SURE = 2.0
# Few rows show a newcomer beside the others, and it is believed less for that: so much of what is lost must be seen.
_CONFIRMED = 0.5


def refit(memory: Memory) -> None:
    """Weights, support and queue anew; next time after 2 % more rows, sooner while somebody is looked at."""
    memory.renew()
    memory.source["barred"] = memory.source["until"] > memory.source["asked"]
    if memory.now["lacking"][0] > 0.1 * (memory.gram[-2, -2] + 1.0):
        judge(memory.state, FAITH)
        memory.rebuild()
    tries, before = 2 * memory.source.size + 4, set(memory.support)
    for _ in range(tries):
        exchange(memory)
        judge(memory.state, FAITH)
        if not _move(memory, before):
            break
    if set(memory.support) != before:
        memory.forget_recent()
    now = memory.now[0]
    rows = float(now["n"] / now["g"])
    # What few labels show of their variance is believed to the low side: money is spent on it.
    least = float(now["s2"]) * (1.0 - math.sqrt(2.0 / rows)) if now["y_var"] > 1e-200 else -1.0
    look_values(memory.state, horizon(memory), least, fee(memory))
    _line_up(memory)
    _schedule(memory, rows)


def _move(memory: Memory, before: set[int]) -> bool:
    """Let one leave, join, or take another's place; False: nothing moves. `before`: the support before this refit."""
    source, support, now = memory.source, memory.support, memory.now[0]
    leaving, instead = mark_determined(memory)
    if leaving < 0:
        leaving = _leaver(memory)
        if leaving >= 0 and leaving not in before:
            memory.refute(leaving)
    if leaving >= 0:
        memory.leave(leaving)
        if instead >= 0:
            memory.join(instead)
        memory.rebuild()
        return True
    free = (source["place"] < 0) & (source["barred"] == 0) & (source["idle"] == 0)
    cost, k = float(source["price"][support].sum()), int(memory.given["k"][0])
    fits = np.full(source.size, support.size < k)
    if np.isinf(memory.given["total"][0]):  # with a total a basket may cost more than the mean: it is not always bought
        fits &= cost + source["price"] <= now["ceiling"]
    sure = _sure(memory)
    joins = np.where(free & fits & sure, source["net"], 0.0)
    swaps = np.zeros(source.size)
    for s in np.flatnonzero(free & (source["instead"] >= 0) & (source["n"] >= 10.0)):
        gone = support[source["instead"][s]]
        if cost - source["price"][gone] + source["price"][s] <= max(float(now["ceiling"]), cost):
            swaps[s] = source["swap"][s] - _SURE * source["swap_sd"][s]
    best = int(np.argmax(np.maximum(joins, swaps)))
    if max(joins[best], swaps[best]) <= 0.0:
        return _make_way(memory, free & ~fits & sure)
    _replace(memory, support[[source["instead"][best]]] if swaps[best] > joins[best] else support[:0], best)
    return True


def _replace(memory: Memory, gone: Ints, best: int) -> None:
    """Source `best` into the support for those gone; back again if the rows do not confirm what pooled sums said."""
    source, lost = memory.source, float(memory.source["net"][gone].sum())
    for s in gone:
        memory.leave(int(s))
    memory.join(best)
    memory.rebuild()
    if not gone.size:
        return
    judge(memory.state, FAITH)
    if source["net"][best] < _CONFIRMED * lost:
        memory.leave(best)
        memory.refute(best)
        source["barred"][gone] = 0
        for s in gone:
            memory.join(int(s))
        memory.rebuild()


def _leaver(memory: Memory) -> int:
    """The member that is least worth its price, or must go because money is short; -1: none."""
    source, support, now = memory.source, memory.support, memory.now[0]
    if not support.size:
        return -1
    members = source[support]
    if members["net"].min() < 0.0:
        return int(support[members["net"].argmin()])
    density = np.divide(
        members["adds"], members["price"], out=np.full(support.size, np.inf), where=members["price"] > 0
    )
    last = int(density.argmin())
    cost = float(members["price"].sum())
    if np.isfinite(memory.given["total"][0]):
        cost -= float(members["price"][last])
    return int(support[last]) if cost > now["ceiling"] * (1.0 + 1e-9) else -1


def _sure(memory: Memory) -> Bools:
    """Who may join: where a price is weighed against a worth, everybody; else who more likely than not explains
    something."""
    weighed = np.isfinite(memory.given["worth"][0]) & (memory.source["price"] > 0.0)
    sure: Bools = weighed | (memory.source["real"] > 0.5)
    return sure


def _make_way(memory: Memory, waiting: Bools) -> bool:
    """For the best source that does not fit, let the worst members for their price go, if it brings more than they."""
    source, support, now = memory.source, memory.support, memory.now[0]
    if not support.size or not waiting.any() or np.isfinite(memory.given["total"][0]):
        return False
    best = int(np.argmax(np.where(waiting, source["net"], -np.inf)))
    members = source[support]
    order = np.argsort(members["adds"] / np.maximum(members["price"], 1e-300), kind="stable")
    room = float(now["ceiling"]) - float(source["price"][best])
    gone = 0
    while gone < support.size and (
        support.size - gone >= memory.given["k"][0] or members["price"][order[gone:]].sum() > room
    ):
        gone += 1
    lost = members["net"][order[:gone]].sum() + _SURE * float(source["swap_sd"][best])
    if members["price"][order[gone:]].sum() > room or source["net"][best] <= lost:
        return False
    _replace(memory, support[order[:gone]], best)
    return True


def _line_up(memory: Memory) -> None:
    """Those worth looking at, the best value for its price first."""
    source = memory.source
    waiting = np.flatnonzero(source["value"] > 0.0)
    price = source["price"][waiting]
    per_price = np.divide(source["value"][waiting], price, out=source["value"][waiting].copy(), where=price > 0.0)
    memory.queue[: waiting.size] = waiting[np.lexsort((memory.rank[waiting], -per_price))]
    memory.now["queued"], memory.now["turn"] = waiting.size, 0


def _schedule(memory: Memory, rows: float) -> None:
    """When to refit: after 2 % more rows, or 15 % more looks at somebody."""
    now, source = memory.now[0], memory.source
    looked = source["n"][memory.queue[: now["queued"]]]
    step = rows / 50.0
    if looked.size:
        step = min(step, max(3.0, 0.15 * float(looked.min())))
    now["refit_at"] = int(now["told"]) + max(1, int(step))
