"""Foster, Kale and Karloff 2016: Hedge over all supports, each with its own gradient descent."""

from math import comb, log, sqrt
from typing import ClassVar, Literal

import numpy as np

from ..._core import hedge_step
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, NumberCheck, StateSchema
from ...errors import ConfigError
from ...estimation import sampling
from ...estimation.importance_weighting import estimate_quickly
from .._options import is_theory, positive
from ._enumerate_supports import all_supports, most_available, pick


class Foster(Learner):
    """Hedge over all C(d, k) supports with importance-weighted losses, and gradient descent within each.

        U ~ p,  p_U proportional to exp(-etaH_t L_U);   y_hat = <w_U, x(U)>;   R ~ UNIF(d, k0)
        for every U:   L_U += w_U' h w_U - 2 z' w_U + y^2,      h, z importance weighted on R alone
                       w_U = project(w_U - etaG_t 2 (h w_U - z))  on |w| <= radius

    The estimates use R only, not what U bought, because U is drawn from weights that depend on the past. Attributes of
    R that are in U are already known, so the extra purchase is R without U.

    Cost: O(k^2 C(d, k)) per round (compiled), memory O(k C(d, k)); more than 1e5 supports are rejected.

    Parameters
    ----------
    tuning
        "theory": etaH_t = sqrt(8 ln N / t) / M with M = d(d-1)/(k0(k0-1)) + 2 Y d/k0, etaG_t = radius /
        (2 sqrt(k) (d/k0)^2 sqrt(t)); the analysis fixes t = T, which need not be known here. "practical" (the default,
        chosen by `benchmarks/peers.py`): the same orders in the actual scale of the data, etaH_t = 2 sqrt(ln N / V),
        etaG_t = 0.1 radius / sqrt(G_U), where V sums the variances under p of the loss estimates and G_U the squared
        gradients of U.
    hedge_scale, step_scale, radius, label_bound
        Additional factors of the two rates, the radius of the ball, and Y.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=8, k=2, T=200, seed=1)
    >>> kh.play(kh.make("foster2016", d=8, k=2, k0=4, seed=0), X, y).regret(w).shape
    (200,)

    References: Foster, Kale and Karloff, COLT 2016. Reconstructed: the bound, the cost and k0 >= 2 are theirs; the
    steps are the standard ones that give that bound.
    """

    name = "foster2016"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, then k0 more; small d",
        bound="O(d^2 / k0^2 sqrt(kT ln d)), in expectation",
        cost="O(d^k)",
        reference="Foster, Kale and Karloff, COLT 2016",
        status="reconstructed",
        takes_k0=True,
        needs_k0=True,
        further="none; k0 >= 2",
    )
    _state: ClassVar[StateSchema] = {
        "W": NumberCheck(most="reach"),
        "L": NumberCheck(),
        "G": NumberCheck(least=0.0, most=1e280),  # sums of fourth powers, as is V
        "n": CountCheck(),
        "V": NumberCheck(least=0.0, most=1e280),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        hedge_scale: float = 1.0,
        step_scale: float = 1.0,
        radius: float = 1.0,
        label_bound: float = 1.0,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k0 < min(2, self.d):
            raise ConfigError(f"{self.name} needs k0 >= 2: with k0 = {k0} no two attributes are ever observed together")
        self.U = all_supports(self.name, self.d, k, per_support=2 * k + 1)
        self.R, self.learnt = positive("radius", radius), not is_theory(tuning)
        self.reach = self.R * (1.0 + 1e-9)
        seen = min(k0, self.d)
        ratio, pairs = self.d / seen, comb(self.d, 2) / max(comb(seen, 2), 1)
        M = pairs + 2.0 * positive("label_bound", label_bound) * ratio
        own = (2.0, 0.1) if self.learnt else (sqrt(8.0) / M, 1.0 / (2.0 * sqrt(k) * ratio**2))
        log_N = log(max(self.U.shape[0], 2))
        self.eta_hedge = sqrt(log_N) * own[0] * positive("hedge_scale", hedge_scale)
        self.eta_step = self.R * own[1] * positive("step_scale", step_scale)
        self.W: Floats = np.zeros(self.U.shape)
        self.L: Floats = np.zeros(self.U.shape[0])
        self.G: Floats = np.zeros(self.U.shape[0])
        self.n, self.V = 0, 0.0

    @property
    def p(self) -> Floats:
        """The distribution from which Hedge draws a support."""
        eta = self.eta_hedge / sqrt((self.V or 1.0) if self.learnt else self.n + 1)
        p = np.exp(-eta * (self.L - self.L.min()))
        return np.asarray(p / p.sum())

    def _weights(self) -> Floats:
        """Return w_U of the most likely support."""
        w = np.zeros(self.d)
        best = int(np.argmin(self.L))
        w[self.order[self.U[best]]] = self.W[best]
        return w

    def _support(self) -> Ints:
        """Return the most likely support."""
        return np.sort(self.order[self.U[int(np.argmin(self.L))]])

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Draw a support U from Hedge and extra attributes R from all; the memo holds U, (n, m) and the part of R that
        is in U.
        """
        awake = None if pool is None else most_available(self.U, pool[self.order])
        arm, _ = pick(self.p, awake, self.rng)
        bought = self.order[self.U[arm]]
        bought = bought if pool is None else bought[pool[bought]]
        places = self._available_in_draw_order(pool)
        n, m = places.size, min(self.k0, places.size)
        R = places[self.rng.choice(n, size=m, replace=False, shuffle=False)]
        mine = np.zeros(self.d, dtype=np.bool_)
        mine[bought] = True
        known = mine[R]
        memo = (float(arm), float(n), float(m), *map(float, R[known]))
        return Acquisition("explore", bought, R[~known], memo)

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return k * comb(d, k)

    def _validate_memo(self, r: Round) -> bool:
        arm, n, m, *shared = r.memo if len(r.memo) >= 3 else (-1.0, 0.0, 0.0)
        drawn = len(shared) + r.extra.size
        inside = arm in range(len(self.U)) and m == drawn and n in range(drawn, self.d + 1)
        return inside and set(shared) <= set(map(float, r.attributes))

    def _predict(self, r: Round, x: Floats) -> float:
        arm = int(r.memo[0])
        w = np.zeros(self.d)
        w[self.order[self.U[arm]]] = self.W[arm]
        return float(w[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        n, m = int(r.memo[1]), int(r.memo[2])
        shared = np.array(r.memo[3:], dtype=np.int64)
        row = np.zeros(self.d)
        row[r.attributes] = x
        B = np.concatenate([shared, r.extra])
        values = np.concatenate([row[shared], more])
        x_hat, h_B = estimate_quickly(values, sampling.pairs(np.full(m, 1.0 / max(n, 1)), n, m))
        place = np.empty(self.d, dtype=np.int64)
        place[self.order] = np.arange(self.d)
        z, h = np.zeros(self.d), np.zeros((self.d, self.d))
        z[place[B]] = y * x_hat
        h[np.ix_(place[B], place[B])] = h_B
        self._descend(h, z)

    def _descend(self, h: Floats, z: Floats) -> None:
        """Take one step of every gradient descent and of Hedge, given estimates h of x x' and z of y x, in the order of
        `order`.
        """
        p, before = self.p, self.L.copy()
        self.n += 1
        eta = self.eta_step if self.learnt else self.eta_step / sqrt(self.n)
        hedge_step(self.U, self.W, self.L, self.G, h, z, eta, self.learnt, self.R)
        loss = self.L - before
        self.V += float(p @ (loss - p @ loss) ** 2)
