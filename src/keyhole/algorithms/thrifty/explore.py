"""Who may borrow a place of the support: those about whom more knowledge is worth more than it costs.

    loan_value_j = 2 t (what knowing j is worth) / (n_j cost of a round without a) - 1

With a the member whose place j takes, the cheapest to lose: knowing j twice as well takes n_j = h_j (s2 + g_a) / s2
such rounds, which have the noise s2 + g_a, and helps in 2 t more.
"""

import math

import numpy as np

from ..._internal.numba._bare import inner
from ..._internal.numba._jit import inner as counted
from ..._internal.typing import Floats
from .arrays import zeros
from .ranking import insert
from .score import enough
from .state import FEW, Attribute, Now, Records, State

__all__ = ["appraise", "lender", "line_up"]

# For how many rows a loan is expected to help, for each so far: one that was judged wrongly by bad luck is lost for
# ever, and that costs more than the looks that would have saved it.
_AHEAD = 2.0
# How many looks tell two stories apart for good, for one whose own part is as large as the noise: r then differs by
# more than five standard errors, for after a wrong swap all who claim a place are compared anew.
_LOOKS = 32.0


@inner
def _psi(z: float) -> float:
    """E (Z - z)_+ of a standard normal Z; beyond 8 it is below 1e-16."""
    if z > 8.0:
        return 0.0
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - 0.5 * z * math.erfc(z / math.sqrt(2.0))


@inner
def _improvement(w: float, prec: float, r: float, sd: float, c: float, u: float) -> float:
    """What knowing the gain of j in place of a is worth; its covariance with the residual is N(r, sd^2), prec = P_aa.

    The gain is positive beyond two thresholds, up and down, and nearly linear there: knowing on which side of one it
    lies is worth sd slope E(Z - |z|)_+, whichever side looks more likely now.
    """
    if w < 0.0:
        w, r, u = -w, -r, -u
    J = prec + u * u / c
    root = math.sqrt(J * c)
    up, down = w * c / (root + u), w * c / (root - u)
    slope_up = 2.0 * (up + (w - u * up / c) * u / J) / c
    slope_down = 2.0 * (down - (w + u * down / c) * u / J) / c
    return sd * (slope_up * _psi(abs(up - r) / sd) + slope_down * _psi(abs(down + r) / sd))


@inner
def _entry(need: float, r: float, sd: float, c: float) -> float:
    """The same where money is short, and j is bought once it explains r^2 / c > need."""
    edge = math.sqrt(need * c)
    return sd * 2.0 * edge / c * (_psi(abs(edge - r) / sd) + _psi(abs(edge + r) / sd))


@inner
def _stand_in(
    w: float, v_a: float, r: float, se: float, c: float, u: float, v: float, slab: float
) -> tuple[float, float]:
    """What j explains if a is only its stand-in, and the odds of that: then w_a = u w_j, and r_j should be c_j w_j.

    Both stories are weighed by the likelihood of r_j and by weights drawn from N(0, slab / variance).
    """
    w_j = w / u
    against = ((r - c * w_j) ** 2 - r * r) / (se * se) + (w_j * w_j * v - w * w * v_a) / slab
    return c * w_j * w_j, math.exp(-0.5 * min(100.0, max(-100.0, against)))


@inner
def lender(
    me: Attribute, pair: Records, member: Records, now: Now, u: Floats, s: float, known: bool
) -> tuple[float, int]:
    """What a look at j costs, and whose place it borrows: a cheap member's that j is not like, and was seen with.

    The rows of j then show those members together with it whose part in what it explains is uncertain; a row without a
    costs g_a = w_a^2 var(x_a | rest), and has the noise s2 + g_a.
    """
    g, s2 = now.g, now.s2
    best, least, n = 0, np.inf, me.n / g
    for a in range(now.m):
        w2, cond = member[a].w ** 2, member[a].cond
        cost = w2 * cond * (s2 + w2 * cond)
        if known:
            apart = max(0.0, n - pair[a].n / g) / (pair[a].n / g + s)
            cost *= (1.0 + u[a] ** 2 * cond / me.c) * (1.0 + apart * w2 * cond / s2)
        if cost < least:
            best, least = a, cost
    return member[best].w ** 2 * member[best].cond, best


@inner
def _odds(now: Now, d: int, k: int) -> float:
    """The prior odds that a candidate is worth a place: k to d - k, as long as nothing is forgotten.

    What fades was known, though: that no change was noticed all the while. In what is remembered, a part of the rows
    since the last one, there was a change with about that probability, of one attribute and not of k; one that does
    not show in the predictions is rarer still, by experience by that part again.
    """
    part = min(1.0, now.n / now.g / max(1.0, now.told - now.epoch)) ** 2
    return k / max(d - k, 1) * part / (part + k * (1.0 - part))


@inner
def appraise(state: State, j: int, v: float, u: Floats, slab: float, need: float, cost: float) -> None:
    """loan_value_j > 0: knowing j twice as well is worth more, over twice as many rounds as there were, than it costs.

    Either j adds something (prior k/d, a weight of the size of the members') in place of the member that is cheapest to
    lose beside it, or, where money is short (need >= 0), of whatever its price buys; or it is what a member stands in
    for; the odds are among all who claim that member, and `line_up` divides by their sum. v = var(x_j), u = P q_j,
    slab = mean of w_a^2 var(x_a); a look costs as much as is not explained in it.
    """
    attr, member, P, now, given = state.attr, state.fit.member, state.fit.P, state.now, state.given
    me = attr[j]
    known = enough(me) and v > 0.0
    r, se, c = (me.r, me.se, me.c) if known else (0.0, 1e9, 1.0)
    v = v if known else 1.0
    ease = slab / v / (slab / v + (se / c) ** 2)
    odds = _odds(now, attr.size, given.k)
    odds *= math.sqrt(1.0 - ease) * math.exp(min(0.5 * ease * (r / se) ** 2, 50.0)) if known else 1.0
    worth, least, weakest, explained = 0.0, np.inf, 0, 0.0
    for a in range(now.m):
        w, u_a = member[a].w, u[a] if known else 0.0
        loss = w * w / (P[a, a] + u_a * u_a / c)
        if loss < least and w != 0.0:
            least, weakest = loss, a
        if abs(u_a) > 1e-3:
            own, likely = _stand_in(w, member[a].sd ** 2, r, se, c, u_a, v, slab)
            if own * likely / (1.0 + likely) > worth and own < now.s2:  # it cannot explain more than is unexplained
                worth, explained, me.claims, me.odds = own * likely / (1.0 + likely), own, a + 1, likely
    if not math.isinf(least):
        w, prec, u_a = member[weakest].w, P[weakest, weakest], u[weakest] if known else 0.0
        sd = se * math.sqrt(ease)
        adds = _improvement(w, prec, ease * r, sd, c, u_a) if need < 0.0 else _entry(need, ease * r, sd, c)
        if odds / (1.0 + odds) * adds > worth:
            worth, me.claims, me.odds = odds / (1.0 + odds) * adds, 0, 0.0
    seen = (me.observed + 1.0) / (me.asked + 1.0)  # what is rarely observed rarely helps
    n = me.h / now.g * (1.0 + cost / now.s2) if known else float(FEW + me.asked)
    if not known and me.observed > FEW:  # it shows one value: others are rare, if there are any, and it takes a few
        n *= FEW
    if me.claims > 0:
        worth, n = explained * me.odds, _LOOKS * (now.s2 + cost) / explained
    me.loan_value = _AHEAD * now.n / now.g * seen * worth / ((cost + 1e-12 * now.s2) * n) - 1.0


@counted
def line_up(state: State) -> None:
    """Every second round is lent while a loan is worth it to anyone, in turn, the most valuable first.

    Of those whose stand-in one member may be, one at most is right, or the member itself: by their odds they share
    what a loan is worth. While places are lent the next refit is when each has had a tenth more looks, or after 0.5 %
    more rows, but then only those who borrowed are looked at again: late in a stream 0.5 % of the rows are many times
    what the question is still worth. Whose turn would come after that need not wait.
    """
    attr, now, k = state.attr, state.now, state.given.k
    soon = max(1, int(0.005 * min(now.n / now.g, now.told)))
    among, values, waiting, least, n = zeros(k + 1), zeros(min(attr.size, soon // 2 + 1)), 0, np.inf, k - k
    for j in range(attr.size):
        among[attr[j].claims] += attr[j].odds
    for p in range(attr.size):
        j = state.order[p]
        me = attr[j]
        value = (1.0 + me.loan_value) / (1.0 + among[me.claims] if me.claims > 0 else 1.0)
        if value > 1.0 and me.place < 0 and me.idle == 0:
            waiting, least = waiting + 1, min(least, me.n)
            n = insert(values, state.queue, n, value, j)
    now.queued, now.turn = n, 0
    if n > 0:
        rows = max(1, int(2.0 * max(1.0, 0.1 * least / now.g) * waiting))
        now.refit_at = min(now.score_at, now.told + min(rows, soon))
