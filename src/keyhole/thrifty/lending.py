"""Who may borrow a place of the support: those about whom more knowledge is worth more than it costs."""

import math

import numpy as np

from .._jit import inner
from .._types import Floats
from .book import (
    ASKED,
    COND,
    COUNT,
    FEW,
    HOPE,
    N_,
    NOW,
    ORDER,
    PLACE,
    PN,
    PRICE,
    QUEUE,
    QUEUED,
    ROWS,
    S2,
    SD,
    SE,
    SIZE,
    SPEND,
    TURN,
    VICTIM,
    Book,
    C,
    G,
    K,
    P,
    R,
    W,
)
from .scoring import enough, unmatched

__all__ = ["hope", "lending"]


@inner
def _psi(z: float) -> float:
    """E (Z - z)_+ of a standard normal Z; beyond 8 it is below 1e-16."""
    if z > 8.0:
        return 0.0
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - 0.5 * z * math.erfc(z / math.sqrt(2.0))


@inner
def _improvement(w: float, prec: float, r: float, sd: float, c: float, u: float, share: float) -> float:
    """E (gain of j in place of a)_+ for a covariance of j with the residual that is N(r, sd^2); prec = P_aa.

    The gain is positive beyond two thresholds, up and down, and nearly linear there. Where money is short, j has to be
    worth only its `share` of the price of a: the rest buys something else.
    """
    if w < 0.0:
        w, r, u = -w, -r, -u
    w *= math.sqrt(share)
    J = prec + u * u / c
    root = math.sqrt(J * c)
    up, down = w * c / (root + u), w * c / (root - u)
    slope_up = 2.0 * (up + (w - u * up / c) * u / J) / c
    slope_down = 2.0 * (down - (w + u * down / c) * u / J) / c
    return float(sd * (slope_up * _psi((up - r) / sd) + slope_down * _psi((down + r) / sd)))


@inner
def _stand_in(w: float, v_a: float, r: float, se: float, c: float, u: float, v: float, slab: float) -> float:
    """What j is expected to explain if a is only its stand-in: then w_a = u w_j, and r_j should be c_j w_j.

    Both stories are weighed by the likelihood of r_j and by weights drawn from N(0, slab / variance).
    """
    w_j = w / u
    against = ((r - c * w_j) ** 2 - r * r) / (se * se) + (w_j * w_j * v - w * w * v_a) / slab
    if against > 100.0:
        return 0.0
    return float(c * w_j * w_j / (1.0 + math.exp(0.5 * against)))


@inner
def _victim(b: Book, j: int, v: float, u: Floats, s: float, known: bool) -> int:
    """Whose place j borrows: a cheap member that j is not like, and that it was seen with before.

    The rows of j then show those members together with it whose part in what it explains is uncertain; a row without a
    costs g_a, and has the noise S2 + g_a.
    """
    best, least, s2, c, n = 0, np.inf, b.num[S2], b.at[j, C], b.at[j, N_] / b.num[G]
    for a in range(b.cnt[SIZE]):
        w2, cond = b.vec[NOW, W, a] ** 2, b.vec[NOW, COND, a]
        cost = w2 * cond * (s2 + w2 * cond)
        if known:
            apart = unmatched(w2 * b.vec[NOW, SD, a] ** 2 * v, n, b.pair[j, a, PN] / b.num[G], s)
            cost *= (1.0 + u[a] ** 2 * cond / c) * (1.0 + apart * n / (c * s2))
        if cost < least:
            best, least = a, cost
    return best


@inner
def hope(b: Book, j: int, v: float, u: Floats, slab: float, s: float) -> None:
    """hope_j > 0: knowing j twice as well is worth more, over as many rounds as there were, than the places it takes.

    Either j adds something (prior k/d, a weight of the size of the members') in place of the member that is cheapest to
    lose beside it, or it is what a member stands in for.
    """
    prior, rounds = b.cnt[K] / max(b.at.shape[0] - b.cnt[K], 1), b.num[ROWS] / b.num[G]
    known = enough(b, j) and v > 0.0
    n = b.at[j, N_] / b.num[G] if known else FEW + b.at[j, ASKED]
    seen = (b.at[j, COUNT] + 1.0) / (b.at[j, ASKED] + 1.0)  # what is rarely observed rarely helps
    r, se, c = (b.at[j, R], b.at[j, SE], b.at[j, C]) if known else (0.0, 1e9, 1.0)
    v = v if known else 1.0
    ease = slab / v / (slab / v + (se / c) ** 2)
    odds = prior * (math.sqrt(1.0 - ease) * math.exp(min(0.5 * ease * (r / se) ** 2, 50.0)) if known else 1.0)
    limited, worth, least = np.isfinite(b.num[SPEND]), 0.0, np.inf
    weakest, part = 0, 1.0
    for a in range(b.cnt[SIZE]):
        w, u_a, price = b.vec[NOW, W, a], u[a] if known else 0.0, b.at[b.M[NOW, a], PRICE]
        share = min(1.0, b.at[j, PRICE] / price) if limited and price > 0.0 else 1.0
        loss = share * w * w / (b.inv[NOW, P, a, a] + u_a * u_a / c)
        if loss < least and w != 0.0:
            least, weakest, part = loss, a, share
        if abs(u_a) > 1e-3:
            worth = max(worth, _stand_in(w, b.vec[NOW, SD, a] ** 2, r, se, c, u_a, v, slab))
    if np.isfinite(least):
        w, prec, u_a = b.vec[NOW, W, weakest], b.inv[NOW, P, weakest, weakest], u[weakest] if known else 0.0
        adds = _improvement(w, prec, ease * r, se * math.sqrt(ease), c, u_a, part)
        worth = max(worth, odds / (1.0 + odds) * adds)
    victim = _victim(b, j, v, u, s, known)
    cost = b.vec[NOW, W, victim] ** 2 * b.vec[NOW, COND, victim] + 1e-12 * b.num[S2]
    b.at[j, HOPE], b.idx[VICTIM, j] = rounds * seen * worth / (cost * n) - 1.0, victim


def lending(b: Book, hopeful: int) -> None:
    """Every second round is lent while anyone has hope, in turn, the most hopeful first."""
    b.cnt[QUEUED], b.cnt[TURN] = 0, 0
    if not hopeful:
        return
    order = b.idx[ORDER]
    waiting = order[(b.at[order, HOPE] > 0.0) & (b.idx[PLACE, order] < 0)]
    b.idx[QUEUE, : waiting.size] = waiting[np.argsort(-b.at[waiting, HOPE], kind="stable")]
    b.cnt[QUEUED] = waiting.size
