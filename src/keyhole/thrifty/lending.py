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
    PRICE,
    QUEUE,
    QUEUED,
    ROWS,
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
from .scoring import enough

__all__ = ["hope", "lending"]


@inner
def _share(b: Book, j: int, a: int) -> float:
    """The part of the money for member a that j takes; 1 where money is not limited."""
    price = b.at[b.M[NOW, a], PRICE]
    return float(min(1.0, b.at[j, PRICE] / price)) if np.isfinite(b.num[SPEND]) and price > 0.0 else 1.0


@inner
def _psi(z: float) -> float:
    """E (Z - z)_+ of a standard normal Z."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - 0.5 * z * math.erfc(z / math.sqrt(2.0))


@inner
def _improvement(b: Book, a: int, r: float, sd: float, c: float, u: float, share: float) -> float:
    """E (gain of j in place of a)_+ / (cost of a round without a), for a covariance of j that is N(r, sd^2).

    The gain is positive beyond two thresholds, up and down, and nearly linear there. Where money is short, j has to be
    worth only its `share` of the price of a: the rest buys something else.
    """
    full, cond = abs(b.vec[NOW, W, a]), b.vec[NOW, COND, a]
    w = full * math.sqrt(share)
    if b.vec[NOW, W, a] < 0.0:
        r, u = -r, -u
    J = b.inv[NOW, P, a, a] + u * u / c
    root = math.sqrt(J * c)
    up, down = w * c / (root + u), w * c / (root - u)
    slope_up = 2.0 * (up + (w - u * up / c) * u / J) / c
    slope_down = 2.0 * (down - (w + u * down / c) * u / J) / c
    return float(sd * (slope_up * _psi((up - r) / sd) + slope_down * _psi((down + r) / sd)) / (full * full * cond))


@inner
def hope(b: Book, j: int, v: float, u: Floats, slab: float) -> None:
    """hope_j > 0: knowing j twice as well is worth more, over as many rounds as there were, than the places it takes.

    Either j adds something (prior k/d, a weight of the size of the members'), or it is what a member a stands in for:
    then w_a = u_a w_j, and r_j should be c_j w_a / u_a.
    """
    m, d, rounds = b.cnt[SIZE], b.at.shape[0], b.num[ROWS] / b.num[G]
    known = enough(b, j) and v > 0.0
    n = b.at[j, N_] / b.num[G] if known else FEW + b.at[j, ASKED]
    seen = (b.at[j, COUNT] + 1.0) / (b.at[j, ASKED] + 1.0)  # what is rarely observed rarely helps
    r, se, c = (b.at[j, R], b.at[j, SE], b.at[j, C]) if known else (0.0, 1e9, 1.0)
    v = v if known else 1.0
    ease = slab / v / (slab / v + (se / c) ** 2)
    odds = b.cnt[K] / max(d - b.cnt[K], 1) * math.sqrt(1.0 - ease) * math.exp(min(0.5 * ease * (r / se) ** 2, 50.0))
    odds = odds if known else b.cnt[K] / max(d - b.cnt[K], 1)
    best, victim = 0.0, 0
    for a in range(m):
        if b.vec[NOW, W, a] == 0.0:
            continue
        ua = u[a] if known else 0.0
        worth = odds / (1.0 + odds) * _improvement(b, a, ease * r, se * math.sqrt(ease), c, ua, _share(b, j, a))
        if abs(ua) > 1e-3:
            other = c * b.vec[NOW, W, a] / ua
            chance = 1.0 / (1.0 + math.exp(min(0.5 * ((r - other) ** 2 - r * r) / se**2, 50.0)))
            worth = max(worth, chance * c / (ua * ua * b.vec[NOW, COND, a]))
        if worth > best:
            best, victim = worth, a
    b.at[j, HOPE], b.idx[VICTIM, j] = rounds * seen * best / n - 1.0, victim


def lending(b: Book) -> None:
    """Every second round is lent while anyone has hope, in turn, the most hopeful first."""
    order = b.idx[ORDER]
    waiting = order[(b.at[order, HOPE] > 0.0) & (b.idx[PLACE, order] < 0)]
    b.idx[QUEUE, : waiting.size] = waiting[np.argsort(-b.at[waiting, HOPE], kind="stable")]
    b.cnt[QUEUED], b.cnt[TURN] = waiting.size, 0
