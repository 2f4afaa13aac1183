"""Who gets a free place of a row: whoever is most likely worth one.

As far as columns are unlike each other, what an attribute shows is its own doing. Then the free places go to whoever
has the largest odds of being worth a place: the likelihood of its z where it explains as much as the members do, over
that where it explains nothing,

    odds_j = k / d  cosh(mu z) exp(-mu^2 / 2)           mu = sqrt(size c_j) / se_j: the |z| expected of it

A promising one is looked at until it joins or disappoints, before another is begun; what disappoints is given up after
few looks, for a size is expected, not just something. Where columns are alike, the first that looks good is too often
one that stands in for another, and a broader search pays:

    value_j = (|r_j| + b_t se_j)^2 / c_j                b_t^2 = ln((d / k) sqrt(1 + t)) / 2: optimism
"""

import math

from ..._internal.numba._bare import inner
from .state import Attribute, Now, State

__all__ = ["FIRST", "expected_size", "likelihood_ratio", "optimism", "rarely", "value"]

# Before everybody that was looked at.
FIRST = 1e100
# E |z| of what is worth nothing: what has shown one value only is taken to be as good as that, where columns are alike.
_BY_CHANCE = math.sqrt(2.0 / math.pi)
# Columns are unlike each other where 1 / (their mean squared correlation) is more: see `score.shrinkage`.
_UNLIKE = 900.0
# Who took more values than this to show two did not vary at once.
_AT_ONCE = 2
# An expected |z| beyond this tells no more.
_CERTAIN = 25.0


@inner
def optimism(rivals: float, rows: float) -> float:
    """b_t: more where a place has more rivals, and as time goes by."""
    return math.sqrt(0.5 * math.log(rivals * math.sqrt(1.0 + rows)))


@inner
def expected_size(state: State, s: float) -> float:
    """What an attribute worth a place explains: as much as the members do, or its share of the label's variance while
    there are none; 0 where columns are alike."""
    now, member, size = state.now, state.fit.member, 0.0
    if now.m == 0:
        return now.y_var / state.given.k
    if s <= _UNLIKE:
        return 0.0
    for a in range(now.m):
        size += (member[a].w * member[a].sd) ** 2 / now.m
    return size


@inner
def likelihood_ratio(r: float, se: float, c: float, size: float) -> float:
    """How much likelier r is of something that explains `size` than of nothing, whichever the sign."""
    mu, z = min(math.sqrt(size * c) / se, _CERTAIN), abs(r) / se
    return 0.5 * (math.exp(min(mu * z - 0.5 * mu * mu, 50.0)) + math.exp(-mu * z - 0.5 * mu * mu))


@inner
def rarely(state: State) -> float:
    """How likely what has shown one value only is to be worth a place, against what varies: as often as members took
    more than two values to vary, and half a member more that did. 1 while there are none."""
    slow = 0.5
    for a in range(state.now.m):
        slow += state.attr[state.fit.member[a].j].varied > _AT_ONCE
    return slow / (0.5 + state.now.m)


@inner
def _promise(me: Attribute, now: Now, rare: float) -> float:
    """The likelihood ratio of j as far as it was looked at.

    One that was begun is looked at until there is a z. What has shown one value twice says nothing for or against
    itself, but will take about as many looks again to show another; of one that varies s2 / size looks tell.
    """
    if me.asked == 0:
        return 1.0
    if me.unit == 0.0 and me.asked > 1:
        return rare / (1.0 + me.asked * now.expects / now.s2) if now.s2 > 0.0 else rare
    return me.ratio if me.rows >= 3 and me.c > 0.0 else 1.0 + 1.0 / (1.0 + me.asked)


@inner
def _upper_end(me: Attribute, s2: float, b: float, rare: float) -> float:
    """(|r_j| + b se_j)^2 / c_j, and those first that were never asked for; a tenth of an ask more keeps the first
    division finite.

    What has shown one value only may yet show another: that says nothing for or against it.
    """
    if me.asked == 0:
        return FIRST
    asked = me.asked + 0.1
    if me.unit == 0.0:
        return (rare if me.asked > 1 else 1.0) * (b + _BY_CHANCE) ** 2 * s2 / asked
    if me.rows < 3 or me.c <= 0.0:
        return b**2 * s2 / asked
    return (abs(me.r) + b * me.se * math.sqrt((me.fresh + 0.1) / asked)) ** 2 / me.c


@inner
def value(me: Attribute, now: Now, b: float, prior: float, rare: float) -> float:
    """What a free place is worth to j: the probability that it is worth one where a size is expected, else what it may
    explain; what is often unobserved is worth less."""
    if now.expects > 0.0:
        odds = prior * _promise(me, now, rare)
        worth = odds / (1.0 + odds)
    else:
        worth = _upper_end(me, now.s2, b, rare)
    return worth if me.observed == me.asked else worth * (me.observed + 1.0) / (me.asked + 1.0)
