"""Ito et al. 2017, Algorithms 1 to 3: dual averaging on importance-weighted gradients, then the k largest weights."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .. import sampling, schedule
from .._types import Bools, Floats, Ints
from ..errors import ConfigError
from ..moments import estimate
from ..protocol import Draft, Learner
from ..rounds import Round
from ..rules import Numbers, Places, Rule
from ..support import top_k
from ._dual import DualAveraging
from ._options import is_theory, positive


def gradient(B: Ints, x: Floats, y: float, P: Floats, w: Floats) -> Floats:
    """2 h w - 2 y x_hat on the observed B: E equals 2 (<w, x> - y) x, whatever the full x and w are."""
    x_hat, h = estimate(x, P)
    return 2.0 * (h @ w[B] - y * x_hat)


def is_draw(memo: tuple[float, ...], drawn: int, d: int) -> bool:
    """Whether this is (n, m) of m attributes drawn from n, and m as many as the round has."""
    return len(memo) == 2 and memo[1] == drawn and memo[0] in range(drawn, d + 1)


class Ito1(Learner):
    """Dual averaging with k0 extra observations a round, under linear independence of the features.

        w = argmin_{|v| <= R} <h, v> + (lam_t / 2) |v|^2;   S = top-k of |w|
        y_hat = <w(S), x(S)>;   E ~ UNIF(d - k, k0) outside S;   B = S + E
        h += 2 h_hat w - 2 y x_hat          (importance weighted on B, full w)

    Cost: O(d + (k + k0)^2) a round, memory O(d).

    Parameters
    ----------
    tuning
        "theory": lam_t = lam_scale (d / k0) sqrt(t), lam_scale = 8. "practical" (the default, chosen by
        `benchmarks/peers.py`): lam_t = lam_scale sqrt(sum |g|^2), lam_scale = 3, which needs no scale of the data.
    lam_scale, radius
        The factor above and R, the radius of the ball.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=200, seed=1)
    >>> int(kh.play(kh.make("ito2017-1", d=10, k=3, k0=2, seed=0), X, y).bought.sum())
    1000

    References: Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017, Algorithm 1.
    Reconstructed: the bound, the O(d) time and the top-k step are theirs; the steps and constants are ours.
    """

    name = "ito2017-1"
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "dual", "w", "S")
    _rules: ClassVar[Mapping[str, Rule]] = {"w": Numbers(most="reach"), "S": Places("d", ascending=True)}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: str = "practical",
        lam_scale: float | None = None,
        radius: float = 1.0,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k0 < min(2, self.d - k):
            raise ConfigError(f"{self.name} needs k0 >= 2: with k0 = {k0} two attributes outside S never meet")
        theory = is_theory(tuning)
        scale = positive("lam_scale", lam_scale if lam_scale is not None else 8.0 if theory else 3.0)
        rate = scale * self.d / max(k0, 1) if theory else scale
        self.dual = DualAveraging(self.d, rate, not theory, positive("radius", radius))
        self.reach = radius * (1.0 + 1e-9)
        self.w: Floats = np.zeros(self.d)
        self.S: Ints = np.sort(self.order[:k])

    @property
    def weights(self) -> Floats:
        """w(S)."""
        w = np.zeros(self.d)
        w[self.S] = self.w[self.S]
        return w

    @property
    def support(self) -> Ints:
        """S: where |w| is largest."""
        return self.S

    def _ask(self, t: int, pool: Bools | None) -> Draft:
        mask = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        S = self.S[mask[self.S]]
        mask[self.S] = False
        C = self._places(mask)
        n, m = C.size, min(self.k0, C.size)
        E = C[self.rng.choice(n, size=m, replace=False, shuffle=False)]
        return Draft("explore" if m else "exploit", S, E, memo=(float(n), float(m)))

    def _memo_fits(self, r: Round) -> bool:
        return is_draw(r.memo, r.extra.size, self.d)

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self.w[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        n, m = int(r.memo[0]), int(r.memo[1])
        P = sampling.union_pairs(r.attributes.size, np.full(m, 1.0 / max(n, 1)), n, m)
        B = np.concatenate([r.attributes, r.extra])
        self.dual.add(B, gradient(B, np.concatenate([x, more]), y, P, self.w))
        self.w = self.dual.w()
        self.S = top_k(self.w, self.k, self.S, self.order)


class Ito2(Learner):
    """Explore with dual averaging, exploit with dual averaging, under linear independence of the features.

        explore:  v = argmin_{|v| <= R} <hE, v> + (lamE_s / 2) |v|^2;   B ~ UNIF(d, k);   y_hat = <v(B), x(B)>
                  hE += 2 h_hat v - 2 y x_hat;   S = top-k of |mean of the v so far|
        exploit:  w = argmin_{|w| <= R} <hX, w> + (lamX_n / 2) |w|^2;   y_hat = <w(S), x(S)>
                  hX(S) += 2 (y_hat - y) x(S)

    The exploiter is one vector of length d and never restarts: its gradient lives on S, so its regret is against w*(S)
    whatever S has been.

    Cost: O(d + k^2) an exploration, O(k) an exploitation (compiled); memory O(d).

    Parameters
    ----------
    tuning
        "theory": lamE_s = lam_explore d(d-1)/(k(k-1)) sqrt(s), lamX_n = lam_exploit 4 sqrt(2k) sqrt(n), both factors 1,
        explorations on squares. "practical" (the default, chosen by `benchmarks/peers.py`): lam = factor
        sqrt(sum |g|^2), lam_explore = 16, lam_exploit = 1, explorations at the rate "2 t^(-1/3)".
    lam_explore, lam_exploit, radius, explore
        The factors above, R, and when to explore: "squares" or a rate such as "2 t^(-1/3)".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=400, seed=1)
    >>> int(kh.play(kh.make("ito2017-2", d=10, k=3, seed=0, explore="squares"), X, y).explored.sum())
    20

    References: Ito et al., NIPS 2017, Algorithm 2. Reconstructed: the bound, the O(d) time and about sqrt(T)
    explorations are theirs; the steps, the averaging, the schedule and the constants are ours.
    """

    name = "ito2017-2"
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "explorer", "exploiter", "total", "S")
    _rules: ClassVar[Mapping[str, Rule]] = {"S": Places("d", ascending=True)}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: str = "practical",
        lam_explore: float | None = None,
        lam_exploit: float | None = None,
        radius: float = 1.0,
        explore: str | float | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k < min(2, self.d):
            raise ConfigError(f"{self.name} needs k >= 2: with k = 1 no two attributes are ever seen together")
        theory, R = is_theory(tuning), positive("radius", radius)
        self.G = self.d * (self.d - 1) / max(k * (k - 1), 1)
        rate = positive("lam_explore", lam_explore if lam_explore is not None else 1.0 if theory else 16.0)
        self.explorer = DualAveraging(self.d, rate * self.G if theory else rate, not theory, R)
        rate = positive("lam_exploit", 1.0 if lam_exploit is None else lam_exploit)
        self.exploiter = DualAveraging(self.d, rate * 4.0 * np.sqrt(2.0 * k) if theory else rate, not theory, R)
        self.schedule = schedule.parse(explore if explore is not None else "squares" if theory else "2 t^(-1/3)")
        self.total: Floats = np.zeros(self.d)
        self.S: Ints = np.sort(self.order[:k])

    @property
    def weights(self) -> Floats:
        """The exploiter's w(S)."""
        w = np.zeros(self.d)
        w[self.S] = self.exploiter.w()[self.S]
        return w

    @property
    def support(self) -> Ints:
        """S: where the explorer's average is largest."""
        return self.S

    def _v(self) -> Floats:
        """The explorer's iterate."""
        return self.explorer.w()

    def _ask(self, t: int, pool: Bools | None) -> Draft:
        if self.schedule.next(t - 1) > t:
            return Draft("exploit", self.S if pool is None else self.S[pool[self.S]])
        places = self._places(pool)
        n, m = places.size, min(self.k, places.size)
        B = places[self.rng.choice(n, size=m, replace=False, shuffle=False)]
        return Draft("explore", B, memo=(float(n), float(m)))

    def _memo_fits(self, r: Round) -> bool:
        return r.kind == "exploit" or is_draw(r.memo, r.attributes.size, self.d)

    def _predict(self, r: Round, x: Floats) -> float:
        w = self._v() if r.kind == "explore" else self.exploiter.w()
        return float(w[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        if r.kind == "exploit":
            self.exploiter.run(r.attributes, x[None, :], np.array([y]))
            return
        n, m = int(r.memo[0]), int(r.memo[1])
        v = self._v()
        P = sampling.pairs(np.full(m, 1.0 / max(n, 1)), n, m)
        self.explorer.add(r.attributes, gradient(r.attributes, x, y, P, v))
        self.total += v
        self.S = top_k(self.total, self.k, self.S, self.order)

    def _steady(self) -> tuple[Ints, int]:
        return self.S, self.schedule.next(self.t) - self.t - 1

    def _run(self, X: Floats, y: Floats) -> Floats:
        self.t += y.size
        return self.exploiter.run(self.S, X, y)


class Ito3(Ito2):
    """Algorithm 2 with an l1-regularised explorer, under the compatibility condition.

        explore:  v = argmin_{|v| <= R} <hE, v> + s lam1_s |v|_1 + (lamE_s / 2) |v|^2,   lam1_s = c1 s^(-1/4)

    Everything else, cost and parameters too, is as for "ito2017-2".

    Parameters
    ----------
    l1
        "theory": c1 = l1 sqrt(G), G = d(d-1)/(k(k-1)), l1 = 1 (delta_S unknown). "practical" (the default, chosen by
        `benchmarks/peers.py`): lam1_s = l1 (root mean square of |g|) / sqrt(d) s^(-1/4), l1 = 0.3.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=400, seed=1)
    >>> int(kh.play(kh.make("ito2017-3", d=10, k=3, seed=0), X, y).bought.sum())
    1200

    References: Ito et al., NIPS 2017, Algorithm 3. Reconstructed: the bound, the O(d) time and the rate s^(-1/4) of
    |v - w*|_1 are theirs; the steps and constants are ours.
    """

    name = "ito2017-3"

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: str = "practical",
        lam_explore: float | None = None,
        lam_exploit: float | None = None,
        radius: float = 1.0,
        explore: str | float | None = None,
        l1: float | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed, tuning, lam_explore, lam_exploit, radius, explore)
        self.l1 = positive("l1", l1 if l1 is not None else 1.0 if is_theory(tuning) else 0.3)

    def _v(self) -> Floats:
        s, V = self.explorer.tally
        c1 = self.l1 * np.sqrt(V / (max(s, 1.0) * self.d) if self.explorer.learnt else self.G)
        return self.explorer.w(c1 * (s + 1.0) ** 0.75)
