"""What more looks at a source are worth, before they are made.

    value(m) = H (E[(rate adds' - price)_+ after m more looks] - (rate adds - price)_+) - fee m price

adds' is what will be believed after m looks, H how many rows will profit. Looks are worth it when some m has a value
above 0: from half to eight times those so far (a few at first), and as many as would decide. value(m) is that of m
looks decided at once; in truth one may stop or go on after each, so a look is charged a part of its price, and of what
a member brings that makes way for it. Looks to come are made beside the members of today, and less noisy for that.
"""

import math

import numpy as np

from ...._internal.numba._jit import inner, short
from ...._internal.typing import Floats
from .belief import SLABS, posterior
from .state import Now, Source, State

__all__ = ["look_values"]

# The least that a look for an exchange is charged: of many alike one is as good as another.
_SWAP_FEE = 0.5
_Z = np.linspace(-2.75, 2.75, 11)
_W = np.exp(-0.5 * _Z**2) / np.exp(-0.5 * _Z**2).sum()
# Of every other attribute of a source, in another order than the first.
_OTHER = _Z[(np.arange(11) * 7 + 3) % 11]


@inner
def _perfect(
    me: Source, theta: float, n: float, s2: float, y_var: float, rate: float, w: Floats, kappa: Floats
) -> float:
    """E[(rate |theta|^2 - price)_+]: what knowing all would bring a row."""
    q, total = me.size, 0.0
    for i in range(1, w.size):
        sd = math.sqrt(SLABS[i - 1] * y_var / (q + 2) if n == 0.0 else kappa[i] * s2 / n)
        for z in range(_Z.size):
            adds = (kappa[i] * theta + sd * _Z[z]) ** 2 + (q - 1) * sd * sd
            likely = adds / ((kappa[i] * theta) ** 2 + q * sd * sd)
            total += w[i] * _W[z] * likely * max(rate * adds - me.price, 0.0)
    return total


@inner
def _after(
    me: Source, m: float, theta: float, n: float, rows: float, s2: float, late: float, y_var: float, rate: float,
    prior: Floats, w: Floats, kappa: Floats, w_m: Floats, kappa_m: Floats,
) -> float:  # fmt: skip
    """E[(rate adds' - price)_+] after m more looks, where `rows` say as much as n; w_m and kappa_m are scratch.

    s2 is the noise of the looks so far, `late` that of those to come: more is explained beside them.
    """
    q, total = me.size, 0.0
    left = (n * me.left + m * (late + me.left - s2)) / (n + m)
    for i in range(w.size):
        if w[i] < 1e-3:
            continue
        spread = 0.0
        if i > 0:
            spread = SLABS[i - 1] * y_var / (q + 2) if n == 0.0 else kappa[i] * s2 / n
        mean, sd = (n * theta + m * kappa[i] * theta) / (n + m), m / (n + m) * math.sqrt(spread + late / m)
        lean, apart = spread / math.sqrt(spread + late / m), spread * late / (m * spread + late) + (q - 1) * spread
        for z in range(_Z.size):
            others = max(1.0 + math.sqrt(2.0 / max(q - 1, 1)) * _OTHER[z], 0.1)
            gain = (mean + sd * _Z[z]) ** 2 + (q - 1) * sd * sd * others
            v = max(left, gain + (n * s2 + m * late) / (n + m))
            adds = posterior(gain, n + m, rows + m, q, v, y_var, prior, w_m, kappa_m)
            likely = 1.0
            if i > 0:  # E |theta|^2 given what the looks say, over what it is without them
                likely = ((kappa[i] * theta + lean * _Z[z]) ** 2 + apart) / ((kappa[i] * theta) ** 2 + q * spread)
            total += w[i] * _W[z] * likely * max(rate * adds - me.price, 0.0)
    return total


@inner
def _worth_joining(me: Source, H: float, fee: float, now: Now, weighed: bool, prior: Floats) -> tuple[float, float]:
    """The best value(m) over m, and that m; a value <= 0 where none is.

    Where no worth is weighed, one that more likely than not explains nothing may not join, and brings nothing now.
    """
    w, kappa, w_m, kappa_m = np.empty(5), np.empty(5), np.empty(5), np.empty(5)
    y_var, rate = now.y_var, now.look_rate
    n, rows, gain = (me.says, me.n, me.gain) if me.n > me.size + 3.0 else (0.0, 0.0, 0.0)
    adds = posterior(gain, n, rows, me.size, me.left, y_var, prior, w, kappa)
    brings = max(rate * adds - me.price, 0.0) if n > 0.0 and (weighed or me.real > 0.5) else 0.0
    theta, s2 = math.sqrt(max(gain, 0.0)), max(me.left - adds, 0.1 * me.left)
    late = min(s2, max(now.s2 - adds, 0.1 * now.s2))
    best, at = -me.price, 0.0
    most = H * (_perfect(me, theta, n, s2, y_var, rate, w, kappa) - brings)
    if most < 4.0 * fee:
        return best, at
    few = max(n, 4.0 + me.size)
    decides = min(8.0 * me.left * rate / me.price, 1e6) if me.price > 0.0 else few
    for i in range(7):
        m = math.ceil(few * 0.5 * 2.0**i) if i < 5 else math.ceil(max(decides * 3.0 ** (i - 6), 1.0))
        if most - m * fee <= max(best, 0.0):  # knowing all would not be worth so many looks
            continue
        after = _after(me, m, theta, n, rows, s2, late, y_var, rate, prior, w, kappa, w_m, kappa_m)
        value = H * (after - brings) - m * fee
        if value > best:
            best, at = value, m
    return best, at


@inner
def _worth_comparing(me: Source, ahead: float, apart: float, H: float, fee: float) -> tuple[float, float]:
    """The same where the advantage is normal with mean `ahead` and deviation `apart`."""
    best, at = -me.price, 0.0
    for i in range(4):
        m = math.ceil(max(me.says, 4.0) * 0.25 * 2.0**i)
        sd = apart * math.sqrt(m / (me.says + m))
        z = -abs(ahead) / sd
        gained = sd * (math.exp(-0.5 * z * z) / 2.5066282746310002 + z * 0.5 * math.erfc(-z * 0.7071067811865476))
        value = H * gained * me.real - m * fee
        if value > best:
            best, at = value, m
    return best, at


@inner
def _displaced(state: State, me: Source) -> float:
    """What is lost in a row in which a member makes way for a look at `me`: nothing where there is room for both."""
    now, given, cost, least = state.now, state.given, me.price, np.inf
    for i in range(now.m):
        other = state.source[state.members[i]]
        cost += other.price
        least = min(least, max(now.look_rate * other.adds - other.price, 0.0))
    crowded = now.m > 0 and given.k0 == 0 and (now.m >= given.k or cost > given.spend)
    return least if crowded else 0.0


@short
def look_values(state: State, H: float, least: float, share: float) -> None:
    """`value` and `wanted` of every source beside the support.

    None is looked at that costs more than the rate times `least`, a low estimate of the variance that is left. Of what
    a look costs a `share` is charged.
    """
    now, weighed = state.now, state.given.worth < np.inf
    for s in range(state.source.size):
        me = state.source[s]
        me.value, me.wanted = 0.0, 0
        if me.place >= 0 or me.idle or me.price > now.look_rate * least:
            continue
        cost = me.price + _displaced(state, me)
        value, m = _worth_joining(me, H, share * cost, now, weighed, state.prior)
        if me.instead >= 0 and me.n >= 10.0 and me.swap_sd > 0.0:
            other, more = _worth_comparing(me, me.swap, me.swap_sd, H, max(share, _SWAP_FEE) * cost)
            if other > value:
                value, m = other, more
        if me.barred and me.net > 0.0 and value <= 0.0:  # pooled and exact sums disagree: who is right?
            apart = now.look_rate * math.sqrt(4.0 * me.left * me.gain / me.says)
            value, m = _worth_comparing(me, 0.0, apart, H, max(share, _SWAP_FEE) * cost)
        me.value, me.wanted = max(value, 0.0), int(m)
