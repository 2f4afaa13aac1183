"""`thrifty`: our own learner, with nothing to set but the budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._types import Bools, Floats, Ints
from ..errors import ConfigError
from ..protocol import Draft, Learner
from ..rounds import Round
from ..thrifty import book as at
from ..thrifty.book import Book
from ..thrifty.choosing import choose
from ..thrifty.learning import predict, renew, tell
from ..thrifty.moving import bar, refit
from ..thrifty.store import Store

__all__ = ["Explanation", "Thrifty"]

# The weight of the present beyond which all sums are divided by it.
_HEAVY = 1e30


@dataclass(frozen=True)
class Explanation:
    """What is known about one attribute, and why it is or is not in the support."""

    name: str
    weight: float
    uncertainty: float
    """Standard error: of the weight in the support, of the weight it would have outside."""
    bought: int
    price: float
    in_support: bool
    reason: str


class Thrifty(Learner):
    """Least squares on the few attributes that earned their place; free places go to those that could help most.

        y_hat = mean + alpha f(x_M),    M joined by j when z_j^2 > L = 2 ln(e d / k),  left when z^2 < L / 2

    Every row that shows an attribute counts for it, bought to explore or to exploit. Raw columns: shift, scale and
    intercept are learnt from bought values. Consistent when rows are exchangeable; see docs/thrifty.md.

    Cost: O(k^2) a round, O(d k^2) to score every 3 % more rows, O(d) to fill free places; memory O(d k).

    Parameters
    ----------
    prices, spend
        A price per attribute (a list, or names to prices) and the money a row may cost at most. Without `spend` prices
        only decide between equals.
    half_life
        Rows after which a row counts half; None: never. With it, a change is also noticed (CUSUM).

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> learner = kh.make("thrifty", d=20, k=4, seed=0)
    >>> history = kh.play(learner, 100 * X + 7, 50 * y - 3)
    >>> set(learner.support.tolist()) == set(w.nonzero()[0].tolist())
    True
    """

    name = "thrifty"
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "store")

    def __init__(
        self,
        names: Sequence[str],
        k: int,
        k0: int,
        seed: int,
        prices: "Sequence[float] | Mapping[str, float] | None" = None,
        spend: float | None = None,
        half_life: float | None = None,
    ) -> None:
        super().__init__(names, k, min(k0, len(names) - 1), seed)
        if half_life is not None and not half_life > 0.0:
            raise ConfigError(f"half_life must be > 0 rows; it is {half_life}")
        self.prices = _prices(prices, self.names)
        self.spend = _spend(spend, self.prices, prices is not None)
        affordable = int(np.searchsorted(np.cumsum(np.sort(self.prices)), self.spend, side="right"))
        self.width = max(1, min(k, affordable))
        self.store = Store(self.order, self.width, self.k0, self.prices, self.spend, half_life)

    @property
    def weights(self) -> Floats:
        """Per unit of the raw attribute; zero outside the support."""
        w: Floats = np.zeros(self.d)
        M, s = self.store.members, self.store
        unit, scaled = s.at[M, at.UNIT], s.num[at.YUNIT] * s.vec[at.NOW, at.W, : M.size]
        w[M] = np.divide(scaled, unit, out=np.zeros(M.size), where=unit > 0.0)
        return w

    @property
    def intercept(self) -> float:
        """What is predicted at x = 0, where nothing is clipped."""
        M, s = self.store.members, self.store
        centre = s.at[M, at.REF] + s.at[M, at.UNIT] * s.vec[at.NOW, at.MEANS, : M.size]
        mean = s.top[at.NOW, at.CENTRE] if M.size else s.num[at.MEAN]
        return float(s.num[at.YREF] + s.num[at.YUNIT] * mean - self.weights[M] @ centre)

    @property
    def support(self) -> Ints:
        """The attributes that earned their place, at most k; fewer while fewer did."""
        return np.sort(self.store.members)

    def explain(self) -> tuple[Explanation, ...]:
        """One record per attribute, in the order of the columns."""
        return tuple(self._explain(j) for j in range(self.d))

    def _explain(self, j: int) -> Explanation:
        s, row, a = self.store, self.store.at[j], int(self.store.idx[at.PLACE, j])
        per_unit = float(s.num[at.YUNIT] / row[at.UNIT]) if row[at.UNIT] > 0.0 else 0.0
        L, weight, error = bar(self.d, self.width), 0.0, np.inf
        if a >= 0:
            weight = float(s.vec[at.NOW, at.W, a])
            error = float(np.sqrt(s.num[at.S2] * s.inv[at.NOW, at.V, a, a]))
            reason = f"in the support: z^2 = {(weight / error) ** 2:.1f}, it leaves below {L / 2:.1f}"
        elif row[at.COUNT] == 0:
            reason = "never bought" if row[at.ASKED] == 0 else "bought, never observed"
        elif row[at.UNIT] == 0.0:
            reason = "constant so far"
        elif row[at.ROW_] < at.FEW or row[at.C] <= 0.0:
            reason = f"observed {int(row[at.COUNT])} times: too few to judge"
        else:
            error = float(row[at.SE] / row[at.C])
            reason = _outside(float((row[at.R] / row[at.SE]) ** 2), L, bool(row[at.HOPE] > 0.0))
        error = error * per_unit if np.isfinite(error) else error
        bought, price = int(row[at.ASKED]), float(row[at.PRICE])
        return Explanation(self.names[j], weight * per_unit, error, bought, price, a >= 0, reason)

    @property
    def _book(self) -> Book:
        return self.store.book()

    def _ask(self, t: int, pool: Bools | None) -> Draft:
        out = np.empty(self.width + self.k0, dtype=np.int64)
        n, extras, lent = choose(self._book, self.store.everything if pool is None else pool, out)
        kind = "explore" if lent or self.store.cnt[at.SIZE] == 0 else "exploit"
        return Draft(kind, out[:n].copy(), out[n : n + extras].copy())

    def _predict(self, r: Round, x: Floats) -> float:
        return predict(self._book, r.attributes, x)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        self.store.free()
        who, values = np.concatenate([r.attributes, r.extra]), np.concatenate([x, more])
        tell(self._book, who, values, y, r.attributes.size)
        self._settle()

    def _settle(self) -> None:
        """Weights and support anew, when it is time."""
        b = self._book
        if b.cnt[at.TOLD] >= b.cnt[at.NEXT]:
            if b.num[at.G] > _HEAVY:
                renew(b)
            refit(b)


def _outside(z2: float, L: float, borrows: bool) -> str:
    """Why an attribute that can be judged is not in the support."""
    why = f"z^2 = {z2:.1f} beside the support, it joins above {L:.1f}"
    if z2 > L:
        why = f"z^2 = {z2:.1f} is significant, but those in its place explain more"
    return f"{why}; it borrows a place to be known better" if borrows else why


def _prices(given: "Sequence[float] | Mapping[str, float] | None", names: Sequence[str]) -> Floats:
    """A price for every attribute; zero without prices."""
    if given is None:
        return np.zeros(len(names))
    if isinstance(given, Mapping):
        odd = [n for n in names if n not in given] or [n for n in given if n not in set(names)]
        if odd:
            raise ConfigError(f"prices must name every attribute and no other; see '{odd[0]}'")
        given = [given[n] for n in names]
    try:
        price = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError("prices must be numbers, one per attribute") from None
    if price.shape != (len(names),) or not (np.isfinite(price) & (price >= 0.0)).all():
        raise ConfigError(f"prices must be {len(names)} finite numbers >= 0, one per attribute")
    return price


def _spend(spend: float | None, prices: Floats, priced: bool) -> float:
    """The money a row may cost; infinite without a limit."""
    if spend is None:
        return np.inf
    if not priced:
        raise ConfigError("spend needs prices: what does each attribute cost?")
    if not spend >= prices.min():
        raise ConfigError(f"spend = {spend} buys nothing: the cheapest attribute costs {prices.min():g}")
    return float(spend)
