"""What every attribute outside the support would be worth, from the rows that showed it.

    q_ja = cov(x_j, x_a), u_j = P q_j                   by the rows that show both, and by what the other members say
    c_j = var(x_j) - q_j' P q_j                         what x_j has of its own
    r_j = mean of (x_j - u_j'x) e                       e: what a row leaves unexplained, see `sums`
    se_j^2 = c_j s2 / h_j + what q_ja adds              h_j: rows of j, by what each says of it

r_j^2 / c_j is then the gain of adding j to the support, and z_j = r_j / se_j its significance.
"""

import math

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats
from .free_places import likelihood_ratio
from .state import FEW, Attribute, Fit, Now, Pair, Records, State
from .sums import weigh_again

__all__ = ["enough", "evidence", "listen", "regress", "shrinkage", "swap"]

# No candidate is thought to be more than 97 % explained by the support, nor to be more correlated with a member: that
# much collinearity is not estimable.
_LEAST, _MOST = 0.03, 0.995
# How often q is worked out anew from what the members say of each other: see `_project`.
_SWEEPS = 3
# How many rows of few a mean and a slope fit by chance.
_BY_CHANCE = 2.5
# All rows are weighed again when so many more show others than members, so many more of any, or s2 is so much another.
_NEWS, _MORE, _OTHER = 0.03, 0.1, 0.05


@inner
def _covariance(pair: Pair, x_bar: float, mean: float) -> float:
    """cov(x_j, x_a) over the rows that show both."""
    return (pair.x_ja - x_bar * pair.x_a - mean * pair.x_j + pair.n * x_bar * mean) / pair.n


@inner
def _correlation(pair: Pair) -> float:
    """Of x_j and x_a over the rows that show both, whatever they are elsewhere: of copies it is nearly exact."""
    x_j, x_a = pair.x_j / pair.n, pair.x_a / pair.n
    v_j, v_a = pair.x_jj / pair.n - x_j * x_j, pair.x_aa / pair.n - x_a * x_a
    if v_j <= 1e-12 * x_j * x_j or v_a <= 1e-12 * x_a * x_a:
        return 0.0
    return min(_MOST, max(-_MOST, (pair.x_ja / pair.n - x_j * x_a) / math.sqrt(v_j * v_a)))


@inner
def _spread(me: Attribute) -> tuple[float, float]:
    """Mean and variance of a candidate; variance 0 while it looks constant."""
    mean, square = me.x / me.n, me.xx / me.n
    variance = square - mean * mean
    return mean, variance if variance > 1e-13 * square else 0.0


@inner
def shrinkage(attr: Records, pairs: Records, member: Records, now: Now) -> float:
    """s = 1 / mean squared correlation of candidates with members, beyond chance: how far to trust few joint rows."""
    g, top, bottom = now.g, 0.0, 0.0
    for j in range(attr.size):
        me = attr[j]
        if me.place >= 0 or me.rows < 3:
            continue
        x_bar, v = _spread(me)
        for a in range(now.m):
            pair, mean, sd = pairs[j, a], member[a].x_bar, member[a].sd
            n = pair.n / g
            if n >= 4.0 and v > 0.0 and sd > 0.0:
                weight = min(n, 200.0)
                top += weight * (_covariance(pair, x_bar, mean) ** 2 / (v * sd**2) - 1.0 / n)
                bottom += weight
    return 1.0 / min(1.0, max((top + 50.0 / 8.0) / (bottom + 50.0), 1e-3))


@inner
def _beyond(pair: Records, C: Floats, m: int, a: int, most: float) -> float:
    """q_ja by the u that the rows were weighed by, and what they show beyond it: (C u)_a + cov(x_j - u'x, x_a)."""
    q: float = pair[a].own_xa / pair[a].own_n
    for e in range(m):
        q += C[a, e] * pair[e].u
    return min(most, max(-most, q))


@inner
def _observe(pair: Records, fit: Fit, now: Now, s: float, v: float, own: float) -> None:
    """q_j as the rows with each member show it, how far each is trusted, and its variance: rows 0 to 3 of `fit.q`.

    Of what q_ja could be, tau is expected: the mean square of all correlations, or its own as far as that is beyond
    chance. What the others leave of either, by the correlations seen so far, bounds what it adds to theirs. Once there
    is a u, `own` is the variance of x_j - u'x: with so much less noise is q_ja then known.
    """
    g, member, q, seen, trust, doubt = now.g, fit.member, fit.q[0], fit.q[1], fit.q[2], fit.q[3]
    least, next_least, nearest = 1.0, 1.0, -1
    for a in range(now.m):
        n, q[a], seen[a], trust[a], doubt[a] = pair[a].n / g, 0.0, 0.0, 1.0 / s, 1.0
        if n > 0.0:
            rho = _correlation(pair[a])
            tau = max(1.0 / s, rho * rho - 2.0 * math.log(s) / n)
            rest = min(1.0, 1.0 - rho * rho + 2.0 / n)
            shrunk = rho * n * tau / (n * tau + rest)
            scale = math.sqrt(v) * member[a].sd
            q[a], seen[a], trust[a], doubt[a] = shrunk * scale, rho * scale, tau, rest
            if own > 0.0:
                many = pair[a].own_n / g
                q[a] = seen[a] = _beyond(pair, fit.C, now.m, a, _MOST * scale)
                doubt[a] = min(1.0, own / v * (1.0 + 2.0 / many) + 4.0 / (many * many))
            if 1.0 - shrunk * shrunk < least:
                least, next_least, nearest = 1.0 - shrunk * shrunk, least, a
            else:
                next_least = min(next_least, 1.0 - shrunk * shrunk)
    for a in range(now.m):
        n, inflation = (pair[a].own_n if own > 0.0 else pair[a].n) / g, fit.P[a, a] * member[a].sd ** 2
        prior = inflation * doubt[a] / (trust[a] * (next_least if a == nearest else least))
        trust[a], doubt[a] = n / (n + prior), v * member[a].sd ** 2 * doubt[a] / (n + prior)


@inner
def _own(me: Attribute, pair: Records, m: int, v: float) -> float:
    """The variance of x_j - u'x in the rows as they were weighed; 0 where u = 0 then."""
    for a in range(m):
        if pair[a].u != 0.0:
            return min(v, max(me.own_xx / me.n, 1e-9 * v))
    return 0.0


@inner
def _project(me: Attribute, pair: Records, fit: Fit, now: Now, s: float, u: Floats) -> float:
    """u = P q, the regression of x_j on the support, and c; the variance of x_j is returned.

    With few joint rows q_ja is rather what the other members say of it, -sum_e P_ae q_je / P_aa: of two members that
    are alike, one that was rarely seen with j is as like j as the other. A few sweeps are enough.
    """
    _, v = _spread(me)
    if v <= 0.0:
        return 0.0
    own = _own(me, pair, now.m, v)
    _observe(pair, fit, now, s, v, own)
    m, P, q, seen, trust, used = now.m, fit.P, fit.q[0], fit.q[1], fit.q[2], 0.0
    for _ in range(_SWEEPS):
        for a in range(m):
            implied = 0.0
            for e in range(m):
                implied -= P[a, e] * q[e] if e != a else 0.0
            q[a] = trust[a] * seen[a] + (1.0 - trust[a]) * implied / P[a, a]
    c = v
    for a in range(m):
        u[a] = 0.0
        for e in range(m):
            u[a] += P[a, e] * q[e]
        c -= u[a] * q[a]
        n = pair[a].own_n if own > 0.0 else pair[a].n
        used += trust[a] * now.g / n if n > 0.0 else 0.0
    c = own if own > 0.0 else c
    me.c = max(c / max(0.5, 1.0 - used), _LEAST * v)  # q is estimated: it explains a little by chance
    return v


@inner
def regress(me: Attribute, pair: Records, fit: Fit, now: Now, s: float, u: Floats) -> float:
    """r, c, se and ratio of a candidate, and u; the variance of x_j is returned, 0 where nothing is known of it.

    r is the mean of e (x_j - u'x), less what members that rows lack have in common with j; `pair` are its sums with
    the members. What is taken off is pull'P q: as uncertain as q.
    """
    v = _project(me, pair, fit, now, s, u)
    if v <= 0.0 or me.h <= 0.0:
        return 0.0
    r, apart = me.xe - me.x / me.n * me.e, 0.0
    for a in range(now.m):
        r -= u[a] * (pair[a].x_ae + pair[a].pull)
        if pair.size > 1:  # else no row could ever show both
            by = 0.0
            for e in range(now.m):
                by += fit.P[a, e] * pair[e].pull
            apart += (by / me.h) ** 2 * fit.q[3, a]
    me.r, me.fresh = r / me.h, me.asked
    me.se = math.sqrt(me.c * now.s2 * now.g / me.h + apart)
    if now.expects > 0.0:
        me.ratio = likelihood_ratio(me.r, me.se, me.c, now.expects) if me.se > 0.0 else 1.0
    return v


@inner
def _stale(now: Now) -> bool:
    """Whether rows would be weighed otherwise than they were: there is news, or s2 is another."""
    n, s2 = min(now.n / now.g, now.told), now.heard_s2
    much = now.news >= _NEWS * n or now.told - now.heard_at >= _MORE * n
    return much or abs(now.s2 - s2) > _OTHER * s2


@inner
def listen(state: State, s: float, u: Floats) -> None:
    """Weigh all rows again, by what each attribute has of its own now, if need be; where the support is another at
    once, and twice, for there was no u yet.

    Not once the oldest were overwritten, unless the support is another: what they said would be lost.
    """
    now = state.now
    times = 2 if now.heard != now.moves else 1 if _stale(now) and now.told <= state.row.size else 0
    for _ in range(times):
        for j in range(state.attr.size):
            me = state.attr[j]
            if me.place < 0 and me.rows >= 2 and _project(me, state.pair[j], state.fit, now, s, u) > 0.0:
                for a in range(now.m):
                    state.pair[j, a].u = u[a]
        weigh_again(state)
    if times > 0:
        now.heard, now.heard_at, now.heard_s2, now.news = now.moves, now.told, now.s2, 0


@inner
def swap(fit: Fit, m: int, r: float, c: float, u: Floats, losses: Floats) -> int:
    """losses[a]: explained variance lost when member a leaves after j came in; which member it is cheapest to lose.

    w_a' = w_a - u_a r / c,   loss_a = w_a'^2 / (P_aa + u_a^2 / c)
    """
    best = 0
    for a in range(m):
        left = fit.member[a].w - u[a] * r / c
        losses[a] = left * left / (fit.P[a, a] + u[a] * u[a] / c)
        if losses[a] < losses[best]:
            best = a
    return best


@inner
def evidence(me: Attribute, now: Now) -> float:
    """Twice the log likelihood ratio of j beside the support: z^2 (-ln(1 - rho)) / rho, rho its share of s2.

    z^2 takes the residual variance before j joined; a strong attribute lowers it, and is significant sooner. Of h rows
    a mean and a slope fit two or three by chance: 1 - 2.5 / h, as Bartlett has it.
    """
    rho = min(me.r**2 / (me.c * now.s2), 0.98)
    sharpen = -math.log1p(-rho) / rho if rho > 1e-6 else 1.0
    return (me.r / me.se) ** 2 * sharpen * max(0.0, 1.0 - _BY_CHANCE * now.g / me.h)


@inner
def enough(me: Attribute) -> bool:
    """Whether a candidate was seen often enough, and varied, to be judged at all."""
    return me.rows >= FEW and me.h > 0.0
