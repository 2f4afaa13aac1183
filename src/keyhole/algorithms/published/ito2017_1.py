"""Ito et al. 2017, Algorithm 1: dual averaging with extra observations after the label."""

from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import IndexCheck, NumberCheck, Part, StateSchema
from ...errors import ConfigError
from ...estimation import sampling
from ...estimation.top_k import only, top_k
from .._options import is_theory, positive
from ._dual_averaging import DualAveraging, complete_gradient, gradient, is_draw


class Ito1(Learner):
    """Dual averaging with k0 extra observations per round, under linear independence of the features.

        w = argmin_{|v| <= R} <h, v> + (lam_t / 2) |v|^2;   S = top-k of |w|
        y_hat = <w(S), x(S)>;   E ~ UNIF(d - k, k0) outside S;   B = S + E
        h += 2 h_hat w - 2 y x_hat          (importance weighted on B, full w)

    Cost: O(d + (k + k0)^2) per round, memory O(d).

    Parameters
    ----------
    tuning
        "theory": lam_t = lam_scale (d / k0) sqrt(t), lam_scale = 8. "practical" (the default, chosen by
        `benchmarks/peers.py`): lam_t = lam_scale sqrt(sum |g|^2), lam_scale = 3, which adapts to the scale of the data.
    lam_scale, radius
        The factor above, and R, the radius of the ball.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=200, seed=1)
    >>> int(kh.play(kh.make("ito2017-1", d=10, k=3, k0=2, seed=0), X, y).bought.sum())
    1000

    References: Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017, Algorithm 1.
    Reconstructed: the bound, the O(d) time and the top-k step are theirs; the steps and constants are ours.
    """

    name = "ito2017-1"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, then k0 more",
        bound="O(d / (sigma_d^2 k0) sqrt(T)), in expectation",
        cost="O(d)",
        reference="Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017, Algorithm 1",
        status="reconstructed",
        past_rows="complete",
        takes_k0=True,
        needs_k0=True,
        conditions="abcgi",
        further="k0 >= 2",
    )
    _state: ClassVar[StateSchema] = {
        "dual": Part(),
        "w": NumberCheck(most="reach"),
        "S": IndexCheck("d", ascending=True),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        lam_scale: float | None = None,
        radius: float = 1.0,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k0 < min(2, self.d - k):
            raise ConfigError(f"{self.name} needs k0 >= 2: with k0 = {k0} two outside S are never observed together")
        theory = is_theory(tuning)
        scale = positive("lam_scale", lam_scale if lam_scale is not None else 8.0 if theory else 3.0)
        rate = scale * self.d / max(k0, 1) if theory else scale
        self.dual = DualAveraging(self.d, rate, not theory, positive("radius", radius))
        self.reach = radius * (1.0 + 1e-9)
        self.w: Floats = np.zeros(self.d)
        self.S: Ints = np.sort(self.order[:k])

    def _weights(self) -> Floats:
        """Return w on the support S, zero elsewhere."""
        return only(self.w, self.S)

    def _support(self) -> Ints:
        """Return S, the attributes with the k largest |w|."""
        return self.S

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        S, C = self._split(self.S, pool)
        n, m = C.size, min(self.k0, C.size)
        E = C[self.rng.choice(n, size=m, replace=False, shuffle=False)]
        return Acquisition("explore" if m else "exploit", S, E, memo=(float(n), float(m)))

    def _validate_memo(self, r: Round) -> bool:
        return is_draw(r.memo, r.extra.size, self.d)

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self.w[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _learn(self, X: Floats, y: Floats) -> None:
        # Deviation: a past row is an exploration with inclusion probabilities one; t does not advance.
        everything = np.arange(self.d)
        for x, label in zip(X, y.tolist(), strict=True):
            self.dual.add(everything, complete_gradient(x, label, self.w))
            self.w = self.dual.w()
        self.S = top_k(self.w, self.k, self.S, self.order)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        n, m = int(r.memo[0]), int(r.memo[1])
        P = sampling.union_pairs(r.attributes.size, np.full(m, 1.0 / max(n, 1)), n, m)
        B = np.concatenate([r.attributes, r.extra])
        self.dual.add(B, gradient(B, np.concatenate([x, more]), y, P, self.w))
        self.w = self.dual.w()
        self.S = top_k(self.w, self.k, self.S, self.order)
