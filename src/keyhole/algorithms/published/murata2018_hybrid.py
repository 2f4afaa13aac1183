"""Murata and Suzuki 2018: sweeps of hard thresholding alternating with exploitation."""

from math import ceil
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, PlayedRows
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, IndexCheck, NoCheck, NumberCheck, Part, StateSchema
from ...estimation.online_newton import Newton, dot_observed, zero_filled
from ...estimation.top_k import top_k
from .._options import positive
from .._support_exploiter import OnSupport
from .murata2018_explore import MurataExplore


class MurataHybrid(MurataExplore):
    """Sweeps of "murata2018-explore" alternating with exploitation of the k best attributes.

        after a sweep of n rounds:   J = top-k of |theta - eta g|;   `ratio` n rounds of online Newton steps on x(J)
        after those:                 theta = H_s(the better of theta and the Newton weights), better in those rounds

    Sweeps and the exploitation after them grow geometrically, so that the share of exploration stays 1 / (1 + ratio).
    The Newton steps keep the state of the attributes that stay in J.

    Cost: as "murata2018-explore", and O(k^2) per exploitation (compiled).

    Parameters
    ----------
    ratio
        Exploitation per exploration: 5 (practical, chosen by `benchmarks/peers.py`), 1 in theory.
    sparsity
        s, as for "murata2018-explore", but k // 2 by default, because the Newton steps use all k places anyway.
    tuning, step, batch, growth
        As for "murata2018-explore".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=2, T=2000, seed=1)
    >>> learner = kh.make("murata2018-hybrid", d=12, k=4, seed=0)
    >>> bool(kh.play(learner, X, y).explored.mean() < 0.5), bool(np.linalg.norm(learner.weights - w) < 0.05)
    (True, True)

    References: Murata and Suzuki, NeurIPS 2018. Reconstructed: the combination of exploration and exploitation is
    theirs; the lengths, the Newton steps and the comparison are ours.
    """

    name = "murata2018-hybrid"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, iterates with s < k non-zeros",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d + k^2)",
        reference="Murata and Suzuki, NeurIPS 2018, hybrid",
        status="reconstructed",
        conditions="abi",
        further="restricted eigenvalues; k >= 2",
    )
    _state: ClassVar[StateSchema] = {
        "newton": Part(S=IndexCheck("d", ascending=True)),
        "left": CountCheck(),
        "open_phase": NoCheck(),
        "lead": NumberCheck(),
    }

    # The options are listed by name, as in `MurataExplore`, because the catalogue and editors read the signature.
    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        sparsity: int | None = None,
        tuning: Literal["practical", "theory"] = "practical",
        step: float = 1.0,
        batch: float = 20.0,
        growth: float = 2.0,
        ratio: float | None = None,
    ) -> None:
        sparsity = max(k // 2, 1) if sparsity is None else sparsity
        super().__init__(names, k, k0, seed, sparsity, tuning, step, batch, growth)
        self.ratio = positive("ratio", ratio if ratio is not None else 5.0 if self.learnt else 1.0)
        self.newton = OnSupport(Newton(k, eps=1.0, rho=None), np.sort(self.order[:k]), np.zeros(k), partial=True)
        self.left = 0
        self.open_phase = False
        self.lead = 0.0

    def _weights(self) -> Floats:
        """Return the Newton weights once there are any, else theta."""
        return self.newton.weights(self.d) if self.newton.moves >= 0 else self.theta.copy()

    def _support(self) -> Ints:
        """Return J, the k attributes of the Newton steps."""
        return self.newton.S

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        if self.left == 0:
            self._end_exploitation()
            return super()._ask(t, pool)
        self.left -= 1
        J = self.support if pool is None else self.support[pool[self.support]]
        return Acquisition("exploit", J, memo=(float(self.sweep),))

    def _predict(self, r: Round, x: Floats) -> float:
        return super()._predict(r, x) if r.kind == "explore" else self.newton.predict(r.attributes, x)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        if r.kind == "explore":
            super()._tell(r, x, y, more)
        elif r.memo[0] == self.sweep and self.open_phase:
            by_theta, y_hat = dot_observed(self.theta, r.attributes, x), self.newton.predict(r.attributes, x)
            self.lead += (by_theta - y) * (by_theta - y) - (y_hat - y) * (y_hat - y)
            self.newton.learn(r.attributes, x, y)

    def _threshold(self) -> Floats:
        self.left = ceil(self.ratio * self.length)
        self.open_phase = True
        u = super()._threshold()
        self.newton.follow(top_k(u, self.k, self.newton.S, self.order), self.theta)
        return u

    def _end_exploitation(self) -> None:
        """End the exploitation and continue from the better of its weights and theta."""
        if self.open_phase and self.lead > 0.0:
            self._set(self.newton.weights(self.d))
        self.open_phase, self.lead = False, 0.0

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        n = min(self.left, y.size)
        if n == 0 or prices is not None:
            return super()._play_block(X, y, prices)
        J = self.support
        predictions = self._exploit_rows(np.ascontiguousarray(X[:n, J]), y[:n])
        self.t += n
        self.left -= n
        return PlayedRows.alike(predictions, J)

    def _exploit_rows(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions of exploiting rounds from the values X of the attributes J; learn from each label."""
        y_hat = self.newton.run(X, y)
        # Summed attribute by attribute and row by row, as in `_tell`, to get the same bits.
        by_theta = np.zeros(y.size)
        for w_i, x_i in zip(self.theta[self.support].tolist(), zero_filled(X).T, strict=True):
            by_theta += w_i * x_i
        gain = np.square(by_theta - y) - np.square(y_hat - y)
        self.lead = float(np.cumsum(np.append(self.lead, gain[~np.isnan(y)]))[-1])
        return y_hat
