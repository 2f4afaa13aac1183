"""What every attribute outside the support would be worth, from the rows that showed it.

    r_j = cov(x_j, y) - sum_a w_a q_ja          q_ja = cov(x_j, x_a): as observed in the rows of j that show a,
    c_j = var(x_j) - q_j' P q_j                 shrunk by n_ja / (n_ja + s) in its rows that do not
    se_j^2 = c_j s2 / n_j + what q_ja adds      n_j: rows of j, each weighted by s2 / (s2 + label variance it misses)

r_j^2 / c_j is then the gain of adding j to the support, and z_j = r_j / se_j its significance.
"""

import math

from ..._bare import inner
from ..._types import Floats
from .free_places import likelihood_ratio
from .state import FEW, Attribute, Fit, Now, Pair, Records, State

__all__ = ["accumulate", "enough", "evidence", "recount", "regress", "shrinkage", "swap", "unmatched"]

# No candidate is thought to be more than 95 % explained by the support: that much collinearity is not estimable.
_LEAST = 0.05


@inner
def _missed(member: Records, shown: Records, now: Now, t: int) -> float:
    """The variance of the label that the members missing from stored row t explain."""
    missed, lost, last = 0.0, 0, 0
    for a in range(now.m):
        there = False
        for i in range(shown.shape[1]):
            there = there or shown[t, i].j == member[a].j
        if not there:
            missed += (member[a].w * member[a].sd) ** 2
            lost, last = lost + 1, a
    if lost == 1 and member[last].cond > 0.0:
        missed = member[last].w ** 2 * member[last].cond
    return min(missed, now.y_var)


@inner
def accumulate(state: State, t: int) -> None:
    """Add stored row t to the sums of every attribute it shows that is not a member, with weight
    s2 / (s2 + missed)."""
    attr, shown, y, o, s2 = state.attr, state.shown, state.row[t].y, state.row[t].weight, state.now.s2
    if s2 > 0.0:
        o = o * s2 / (s2 + _missed(state.fit.member, shown, state.now, t))
    for i in range(shown.shape[1]):
        j, x = shown[t, i].j, shown[t, i].x
        if j < 0:
            break
        me = attr[j]
        if me.place >= 0:
            continue
        me.n += o
        me.x += o * x
        me.xx += o * x * x
        me.xy += o * x * y
        me.y += o * y
        me.rows += 1
        for e in range(shown.shape[1]):
            other = shown[t, e]
            if other.j < 0:
                break
            a = attr[other.j].place
            if a >= 0:
                pair = state.pair[j, a]
                pair.n += o
                pair.x_j += o * x
                pair.x_a += o * other.x
                pair.x_ja += o * x * other.x


@inner
def recount(state: State) -> None:
    """All sums anew from the stored rows: the support has changed, and with it what they are relative to."""
    for j in range(state.attr.size):
        me = state.attr[j]
        me.n, me.x, me.xx, me.xy, me.y, me.rows, me.failed = 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0
        for a in range(state.pair.shape[1]):
            pair = state.pair[j, a]
            pair.n, pair.x_j, pair.x_a, pair.x_ja = 0.0, 0.0, 0.0, 0.0
    for t in range(min(state.now.told, state.row.size)):
        accumulate(state, t)


@inner
def _covariance(pair: Pair, x_bar: float, mean: float) -> float:
    """cov(x_j, x_a) over the rows that show both."""
    return (pair.x_ja - x_bar * pair.x_a - mean * pair.x_j + pair.n * x_bar * mean) / pair.n


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
def unmatched(size: float, n: float, n_a: float, s: float) -> float:
    """What not knowing q_ja adds to the variance of r_j: of its n rows, those without a rely on the n_a with it, and on
    s; size = w_a^2 var(x_a) var(x_j)."""
    return size * max(0.0, 1.0 - n_a / n) / (n_a + s)


@inner
def regress(me: Attribute, pair: Records, fit: Fit, now: Now, s: float, u: Floats) -> float:
    """r, c, se and ratio of a candidate, and u = P q, its regression on the support; the variance of x_j is returned.

    `pair` are the candidate's sums with the members.
    """
    m, g, member = now.m, now.g, fit.member
    x_bar, v = _spread(me)
    if v <= 0.0:
        return 0.0
    r, used, apart = (me.xy - x_bar * me.y) / me.n, 0.0, 0.0
    q = fit.q
    for a in range(m):
        n, w, sd, q[a] = pair[a].n, member[a].w, member[a].sd, 0.0
        if n > 0.0:
            most = 0.995 * math.sqrt(v) * sd
            share = n / me.n
            cov = _covariance(pair[a], x_bar, member[a].x_bar)
            q[a] = min(most, max(-most, cov)) * (share + (1.0 - share) * n / (n + s * g))
        r -= w * q[a]
        used += 1.0 / (n / g + s)
        if pair.size > 1:  # else no row could ever show both
            apart += unmatched((w * sd) ** 2 * v, me.n / g, n / g, s)
    c = v
    for a in range(m):
        u[a] = 0.0
        for e in range(m):
            u[a] += fit.P[a, e] * q[e]
        c -= u[a] * q[a]
    c = max(c / max(0.5, 1.0 - used), _LEAST * v)  # q is estimated: it explains a little by chance
    me.r, me.c, me.fresh = r, c, me.asked
    me.se = math.sqrt((c * now.s2 / (me.n / g) + apart) * (1.0 + 4.0 / me.rows))
    if now.expects > 0.0:
        me.ratio = likelihood_ratio(r, me.se, c, now.expects) if me.se > 0.0 else 1.0
    return v


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
def evidence(me: Attribute, s2: float) -> float:
    """Twice the log likelihood ratio of j beside the support: z^2 (-ln(1 - rho)) / rho, rho its share of s2.

    z^2 takes the residual variance before j joined; a strong attribute lowers it, and is significant sooner.
    """
    rho = min(me.r**2 / (me.c * s2), 0.98)
    sharpen = -math.log1p(-rho) / rho if rho > 1e-6 else 1.0
    return (me.r / me.se) ** 2 * sharpen


@inner
def enough(me: Attribute) -> bool:
    """Whether a candidate was seen often enough, and varied, to be judged at all."""
    return me.rows >= FEW and me.n > 0.0
