"""Murata and Suzuki 2018: hard thresholding with exact residuals."""

from math import ceil
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, IndexCheck, NumberCheck, StateSchema
from ...errors import ConfigError
from ...estimation.top_k import only, top_k
from .._options import at_least, is_theory, positive, whole


class MurataExplore(Learner):
    """Iterative hard thresholding over one block of attributes after another.

        sweep n (B_n times):  for each block J of k - s attributes outside S:  buy x(S), x(J);   y_hat = <theta, x(S)>
                              g_i = mean of (<theta, x> - y) x_i over the rounds that observed x_i
        after it:             theta = H_s(theta - eta g);   S = supp(theta);   B_{n+1} = growth B_n

    theta has s < k non-zeros, so the residual is exact and g needs no importance weights: its variance does not grow
    with d. The attributes of S are observed in every round, and their g_i averages all of them.

    Cost: O(k) per round and O(d log d) per sweep (plus O(d) to choose a block); memory O(d).

    Parameters
    ----------
    sparsity
        s; it must be below k to leave places for exploration. Default: k // 2 + 1 (below k).
    tuning
        "theory": eta = step = 1 (the smoothness of features in [-1, 1]). "practical" (the default): eta = step /
        (largest mean of x_i^2 so far), step = 1.
    step, batch, growth
        As above; B_1 = batch = 20 and growth = 2, chosen by `benchmarks/peers.py`, as was s.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=2, T=2000, seed=1)
    >>> learner = kh.make("murata2018-explore", d=12, k=4, seed=0)
    >>> bool(abs(kh.play(learner, X, y).predictions).max() < 2), bool(np.linalg.norm(learner.weights - w) < 0.05)
    (True, True)

    References: Murata and Suzuki, NeurIPS 2018. Reconstructed: iterated hard thresholding, the unbiased gradient and
    the rate O(1/eps) are theirs; the blocks, the batches and the step are ours.
    """

    name = "murata2018-explore"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, iterates with s < k non-zeros",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d)",
        reference="Murata and Suzuki, NeurIPS 2018, exploration",
        status="reconstructed",
        conditions="abi",
        further="restricted eigenvalues; k >= 2",
    )
    _state: ClassVar[StateSchema] = {
        "theta": NumberCheck(),
        "S": IndexCheck("d", ascending=True),
        "sweep": CountCheck(),
        "batch": NumberCheck(1e-300, 1e15),
        "planned": CountCheck(),
        "n_labels": CountCheck(),
        "sums": NumberCheck(),
        "seen": NumberCheck(least=0.0),
        "squares": NumberCheck(least=0.0),
        "counts": NumberCheck(least=0.0),
    }

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
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k < 2:
            raise ConfigError(f"{self.name} needs k >= 2: one attribute for the support and one to explore")
        theory = is_theory(tuning)
        self.s = whole("sparsity", min(k // 2 + 1, k - 1) if sparsity is None else sparsity, 1, k - 1)
        self.step, self.learnt = positive("step", step), not theory
        self.growth = at_least("growth", growth, 1.0)
        self.batch = positive("batch", batch)
        self.theta: Floats = np.zeros(self.d)
        self.S: Ints = np.sort(self.order[: self.s])
        self.sweep = 0
        self.squares: Floats = np.zeros(self.d)
        self.counts: Floats = np.zeros(self.d)
        self._begin()

    def _begin(self) -> None:
        """Start a new sweep."""
        self.planned: Ints = np.zeros(self.d, dtype=np.int64)
        self.n_labels = 0
        self.sums: Floats = np.zeros(self.d)
        self.seen: Floats = np.zeros(self.d)

    @property
    def length(self) -> int:
        """The number of rounds of the current sweep: the number of its blocks times B_n."""
        return ceil((self.d - self.s) / (self.k - self.s)) * ceil(self.batch)

    def _weights(self) -> Floats:
        """Return theta."""
        return self.theta.copy()

    def _support(self) -> Ints:
        """Return S, the non-zeros of theta (filled with ties if there are fewer than s)."""
        return self.S

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Buy S and the next block J, the attributes outside S that were planned least often; the memo holds the number
        of the sweep.
        """
        S, C = self._split(self.S, pool)
        least = C[self.planned[C] == self.planned[C].min(initial=self.t + 1)]
        J = least[: self.k - S.size]
        self.planned[J] += 1
        return Acquisition("explore", np.concatenate([S, J]), memo=(float(self.sweep),))

    def _validate_memo(self, r: Round) -> bool:
        return len(r.memo) == 1

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self.theta[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        B, residual = r.attributes[~np.isnan(x)], self._predict(r, x) - y
        x = x[~np.isnan(x)]
        self.squares[B] += x * x
        self.counts[B] += 1.0
        if r.memo[0] != self.sweep:
            return  # a round of an earlier theta has another residual
        self.sums[B] += residual * x
        self.seen[B] += 1.0
        self.n_labels += 1
        if self.n_labels >= self.length:
            self._threshold()

    def _threshold(self) -> Floats:
        """Set theta = H_s(theta - eta g), start the next sweep, and return the vector before thresholding."""
        u = self.theta - self._eta() * self.sums / np.maximum(self.seen, 1.0)
        self._set(u)
        self.batch *= self.growth
        self.sweep += 1
        self._begin()
        return u

    def _set(self, u: Floats) -> None:
        """Set theta = H_s(u)."""
        self.S = top_k(u, self.s, self.S, self.order)
        self.theta = only(u, self.S)

    def _eta(self) -> float:
        """Return the step size: `step`, relative to the largest second moment if that is estimated."""
        largest = float((self.squares / np.maximum(self.counts, 1.0)).max()) if self.learnt else 1.0
        return self.step / largest if largest > 0.0 else 0.0
