"""Money: what the support may cost now, and what a unit of squared error is worth where nobody says so.

With `worth`, that. Else the rate is the one that the support itself shows: what its dearest explanation costs,

    rate = max over members of price / adds

Limits alone (k, spend) decide who is a member, and the rate only what a look may cost. With a `total` money is short in
the mean: members are those with the best adds / price until the mean price is reached, the last of them bought in part
of the rows; its rate is the exchange rate for all.
"""

import numpy as np

from .memory import Memory

__all__ = ["ceiling", "exchange", "horizon"]

# Where nothing limits but k, the spend or the total, a member may cost this much more than usual.
_GENEROUS = 1e4
_LARGEST = 1e100
# Before there is a support: what may be spent is thought to explain a third of the label's variance.
_HOPED = 3.0


def ceiling(memory: Memory) -> float:
    """What the support may cost a row, in the mean."""
    now, given = memory.now[0], memory.given[0]
    left = max(float(given["total"] - now["spent"]), 0.0) / max(float(given["rows"] - now["asked"]), 1.0)
    return min(float(given["spend"]), left, _LARGEST)


def exchange(memory: Memory) -> None:
    """Set the ceiling and both rates."""
    now, given, source = memory.now[0], memory.given[0], memory.source
    now["ceiling"] = ceiling(memory)
    worth = float(given["worth"])
    if np.isfinite(worth):  # the labels' unit is 0 while they are all alike
        worth *= float(now["y_unit"]) ** 2
    shown = _shown(memory)
    rate = (
        _GENEROUS * float(source["price"].mean()) / float(now["y_var"]) if source["price"].any() else 1.0 / now["y_var"]
    )
    if np.isfinite(given["total"]):
        short = source["price"][memory.support].sum() > now["ceiling"]
        rate = shown * 1.0001 if short else rate
    now["rate"] = min(worth, rate, _LARGEST)
    now["look_rate"] = min(worth, _LARGEST if np.isfinite(worth) and np.isinf(given["total"]) else shown)


def _shown(memory: Memory) -> float:
    """The rate that the support shows, or the expected one before there is one."""
    now, given, source = memory.now[0], memory.given[0], memory.source
    members = source[memory.support]
    paid = members[members["price"] > 0.0]
    if paid.size and (paid["adds"] > 0.0).all():
        return min(float((paid["price"] / paid["adds"]).max()), _LARGEST)
    allowed = min(float(now["ceiling"]), int(given["k"]) * float(source["price"].mean()))
    return min((_HOPED * allowed if allowed > 0.0 else 1.0) / float(now["y_var"]), _LARGEST)


def horizon(memory: Memory) -> float:
    """How many rows will profit from what is learnt now: twice those so far, or those that are left."""
    now, given = memory.now[0], memory.given[0]
    if np.isfinite(given["rows"]):
        return max(float(given["rows"] - now["asked"]), 0.0)
    return 2.0 * float(now["n"] / now["g"])
