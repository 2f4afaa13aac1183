"""Money: what the support may cost now, and what a unit of squared error is worth where nobody says so.

With `worth`, that. Else the rate is the one that the support itself shows: what its dearest explanation costs,

    rate = max over members of price / adds

but no less than where all that may be spent explains a third of the label's variance, nor more than ten times that.
Limits alone (k, spend) decide who is a member, and the rate only what a look may cost. With a `total` money is short in
the mean: members are those with the best adds / price until the mean price is reached, the last of them bought in part
of the rows; its rate is the exchange rate for all, looks included, which are charged in full.
"""

import numpy as np

from .memory import Memory

__all__ = ["ceiling", "exchange", "fee", "horizon"]

# Where nothing limits but k, the spend or the total, a member may cost this much more than usual.
_GENEROUS = 1e4
_LARGEST = 1e100
# Before there is a support: what may be spent is thought to explain a third of the label's variance.
_HOPED = 3.0
# No member makes the rate that the support shows larger than this many times that hope.
_MOST = 10.0
# The rate is a little above that of the last member, so that it does not come and go.
_SLACK = 1.1
# The part of its price that a look is charged; so many rows are always thought to come.
_FEE, _COMING = 0.1, 150.0


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
    rate = (
        _GENEROUS * float(source["price"].mean()) / float(now["y_var"]) if source["price"].any() else 1.0 / now["y_var"]
    )
    look_rate = _LARGEST if np.isfinite(worth) else _shown(memory)
    if np.isfinite(given["total"]):
        rate = look_rate = min(rate, _marginal(memory))
    now["rate"], now["look_rate"] = min(worth, rate, _LARGEST), min(worth, look_rate, _LARGEST)


def _marginal(memory: Memory) -> float:
    """The rate at which what is worth its price just uses up the pace: that of the source which crosses it, with no
    limit while none does. Money that nothing useful asks for has no other use than to be looked with."""
    now, source = memory.now[0], memory.source
    useful = source[(source["price"] > 0.0) & (source["adds"] > 0.0) & (source["real"] > 0.5)]
    useful = useful[(useful["place"] >= 0) | (useful["n"] > useful["size"] + 3.0)]
    rates = useful["price"] / useful["adds"]
    order = np.argsort(rates, kind="stable")
    over = np.flatnonzero(np.cumsum(useful["price"][order]) > now["ceiling"])
    if over.size:
        return float(rates[order[over[0]]]) * _SLACK
    return _LARGEST


def _shown(memory: Memory) -> float:
    """The rate that the support shows, or the hope before there is one: a lucky find does not end the search for what
    the limits allow, nor does a member that hardly helps make every look worth its price."""
    members, hoped = memory.source[memory.support], _hoped(memory)
    paid = members[(members["price"] > 0.0) & (members["adds"] > 0.0)]
    shown = float((paid["price"] / paid["adds"]).max(initial=0.0))
    return min(max(hoped, shown), _MOST * hoped, _LARGEST)


def _hoped(memory: Memory) -> float:
    """The rate at which what may be spent explains a third of the label's variance."""
    now, given, source = memory.now[0], memory.given[0], memory.source
    allowed = min(float(now["ceiling"]), int(given["k"]) * float(source["price"].mean()))
    return min((_HOPED * allowed if allowed > 0.0 else 1.0) / float(now["y_var"]), _LARGEST)


def horizon(memory: Memory) -> float:
    """How many rows will profit from what is learnt now: as many again as there were, a few at least, or those left."""
    now, given = memory.now[0], memory.given[0]
    if np.isfinite(given["rows"]):
        return max(float(given["rows"] - now["asked"]), 0.0)
    return max(float(now["n"] / now["g"]), _COMING)


def fee(memory: Memory) -> float:
    """The part of its price that a look is charged, since looks end as soon as they speak against a source; all of it
    where money is short."""
    return 1.0 if np.isfinite(memory.given["total"][0]) else _FEE
