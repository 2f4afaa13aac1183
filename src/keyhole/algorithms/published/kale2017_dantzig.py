"""Kale et al. 2017, the realizable case: a Dantzig selector at powers of two from k0 randomly drawn attributes."""

from functools import lru_cache
from math import ceil, log, log1p, sqrt
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, IndexCheck, Part, Stateful, StateSchema
from ...errors import ConfigError
from ...estimation import dantzig_width, sampling
from ...estimation.top_k import only
from .._dantzig_estimate import DantzigEstimate, numbers_kept, one_of
from .._options import at_least, is_theory, positive


class KaleWidth(Stateful):
    """The fixed width gamma(t) = C sqrt(d ln(t d / delta) / (t k0)) (sigma + d / k0)."""

    def __init__(self, d: int, k0: int, C: float, sigma: float, delta: float) -> None:
        self.d, self.k0, self.C, self.sigma, self.delta = d, k0, C, sigma, delta

    def observe(self, B: object, deviation: object) -> None:
        """Do nothing: this width is fixed in advance."""

    def gamma(self, t: int) -> float:
        """Return the width after t rounds."""
        inside = self.d * log(t * self.d / self.delta) / (t * self.k0)
        return self.C * sqrt(inside) * (self.sigma + self.d / self.k0)


@lru_cache(maxsize=1024)
def coin_inclusion(n: int, p: float, cap: int) -> tuple[float, float]:
    """Return (P[i], P[i, j]) for n independent coins of probability p, of which at most `cap` successes are kept.

    The number kept is m = min(Bin(n, p), cap), and given m the set is uniform: P[i] = E[m]/n,
    P[i, j] = E[m(m-1)]/(n(n-1)). Without a cap these are p and p^2.

    >>> tuple(round(chance, 12) for chance in coin_inclusion(4, 0.5, cap=4))
    (0.5, 0.25)
    """
    j = np.arange(n + 1)
    log_binomial = _log_factorials(n)[n] - _log_factorials(n)[j] - _log_factorials(n)[n - j]
    chance = np.exp(log_binomial + j * log(p) + (n - j) * log1p(-p)) if p < 1.0 else (j == n).astype(np.float64)
    chance /= chance.sum()
    m = np.minimum(j, cap)
    return float(chance @ m / n), float(chance @ (m * (m - 1)) / max(n * (n - 1), 1))


@lru_cache(maxsize=16)
def _log_factorials(n: int) -> Floats:
    """Return ln 0!, ..., ln n!, as sums of logarithms because the factorials overflow."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


class KaleDantzig(Learner):
    """Predict with the k largest weights of a Dantzig selector; after the label, observe k0 random attributes.

        y_hat = <w(S), x(S)>;   R ~ UNIF(d, k0)
        b += y x_hat,   H += h          (importance weighted on R alone)
        t = 1, 2, 4, 8, ... >= t0:   w = DS(gamma_t),   S = top-k of |w|
        gamma_t = C sqrt(d ln(t d / delta) / (t k0)) (sigma + d / k0)

    R is drawn from all d attributes and may overlap S. Attributes of R that are in S are already known, so the extra
    purchase is R without S. Before t0 = ceil(k ln d) the prediction is 0.

    Cost: O(k0^2) per round, and log2(T) linear programs with d variables. Memory O(d^2).

    Parameters
    ----------
    tuning
        "theory": the gamma_t above with C = 1, where w is nearly always 0 below T = 1e5. "practical" (the default,
        chosen by `benchmarks/peers.py`): the self-tuned width of "ds-poslrc" with factor C = 0.5, which adapts to the
        data.
    C, sigma, delta
        The factor, and the noise level and failure probability in gamma_t.
    sampling
        "uniform": exactly k0 attributes, with pair probability k0(k0-1)/(d(d-1)). "bernoulli": independent coins of
        probability k0/d, of which at most k0 successes are kept, with the exact probabilities of this distribution.
        "union": k0 attributes outside S, and estimates from S and them (less variance; ours).
    growth
        A solve at t is followed by one at growth t: 2 is the paper's, 1 solves in every round.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=3, T=300, seed=1)
    >>> learner = kh.make("kale2017-dantzig", d=12, k=3, k0=4, seed=0, sampling="union")
    >>> int(kh.play(learner, X, y).bought.sum())
    2100

    References: Kale, Karnin, Liang and Pal, ICML 2017, Algorithm 1. Reconstructed: programs at powers of two, top-k and
    the rates are theirs; gamma_t, t0 and the distribution of R are ours (theirs may be independent coins, which can
    exceed the budget).
    """

    name = "kale2017-dantzig"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, then k0 more",
        bound="O(k^2 d^3 / k0^3 ln(T) ln(dT/delta)), with high probability",
        cost="O(LP_d log(T) / T + d)",
        reference="Kale, Karnin, Liang and Pal, ICML 2017, Algorithm 1",
        status="reconstructed",
        past_rows="complete",
        takes_k0=True,
        needs_k0=True,
        conditions="abef",
        further="k0 >= 2",
    )
    _state: ClassVar[StateSchema] = {
        "estimate": Part(S=IndexCheck("d", ascending=True)),
        "due": CountCheck(),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        C: float | None = None,
        sigma: float = 0.1,
        delta: float = 0.01,
        sampling: Literal["uniform", "bernoulli", "union"] = "uniform",
        growth: float = 2.0,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k0 < min(2, self.d):
            raise ConfigError(f"{self.name} needs k0 >= 2: with k0 = {k0} no two attributes are ever observed together")
        self.sampling = one_of("sampling", sampling, ("uniform", "bernoulli", "union"))
        self.growth = at_least("growth", growth, 1.0)
        self.estimate = DantzigEstimate(self.d, k, self._width(is_theory(tuning), C, sigma, delta), self.order)
        self.estimate.w_hat = np.zeros(self.d)
        self.t0 = ceil(k * log(self.d))
        self.due = 1

    def _width(self, theory: bool, C: float | None, sigma: float, delta: float) -> dantzig_width.Width:
        """Return the width rule that `tuning=` selects."""
        sigma = at_least("sigma", sigma, 0.0)
        if positive("delta", delta) >= 1.0:
            raise ConfigError(f"delta must be below 1; it is {delta}")
        C = positive("C", C if C is not None else 1.0 if theory else 0.5)
        return KaleWidth(self.d, self.k0, C, sigma, delta) if theory else dantzig_width.Empirical(self.d, C)

    def _weights(self) -> Floats:
        """Return w on the support S, zero elsewhere."""
        return only(self.estimate.w_hat, self.support)

    def _support(self) -> Ints:
        """Return S, the attributes with the k largest |w|."""
        return self.estimate.S

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Buy S and draw the extra attributes R; the memo holds (P[i], P[i, j]) and the part of R that is in S."""
        S = self.support if pool is None else self.support[pool[self.support]]
        mask = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        if self.sampling == "union":
            mask[S] = False
        places = self._available_in_draw_order(mask)
        n = places.size
        m, single, pair = self._law(n)
        R = places[self.rng.choice(n, size=m, replace=False, shuffle=False)]
        mask[S] = False
        shared = S if self.sampling == "union" else R[~mask[R]]
        return Acquisition("explore" if m else "exploit", S, R[mask[R]], memo=(single, pair, *map(float, shared)))

    def _law(self, n: int) -> tuple[int, float, float]:
        """Return how many of n attributes to draw, and the inclusion probabilities of one and of two of them."""
        m = min(self.k0, n)
        if self.sampling == "bernoulli" and m < n:
            single, pair = coin_inclusion(n, m / n, cap=m)
            return min(int(self.rng.binomial(n, m / n)), m), single, pair
        P = sampling.pairs(np.full(2, 1.0 / max(n, 1)), n, m)
        return m, float(P[0, 0]), float(P[0, 1])

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return numbers_kept(d)

    def _validate_memo(self, r: Round) -> bool:
        single, pair, *shared = r.memo if len(r.memo) >= 2 else (0.0, 0.0)
        n = len(shared) + r.extra.size
        likely = 0.0 < single <= 1.0 if n else True
        return likely and (n < 2 or 0.0 < pair <= single) and set(shared) <= set(map(float, r.attributes))

    def _on_stream_end(self) -> None:
        self.estimate.finish()

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self.weights[r.attributes] @ np.nan_to_num(x, nan=0.0))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        single, pair = r.memo[:2]
        shared = np.array(r.memo[2:], dtype=np.int64)
        row = np.zeros(self.d)
        row[r.attributes] = x
        B = np.concatenate([shared, r.extra])
        P = np.full((B.size, B.size), pair)
        np.fill_diagonal(P, single)
        if self.sampling == "union":
            P[: shared.size], P[:, : shared.size] = single, single
            P[: shared.size, : shared.size] = 1.0
        self.estimate.accumulate(B, np.concatenate([row[shared], more]), y, P)
        self._solve_if_due()

    def _learn(self, X: Floats, y: Floats) -> None:
        self.estimate.accumulate_complete(X, y)
        self.due = min(self.due, self.estimate.seq.s)
        self._solve_if_due()

    def _solve_if_due(self) -> None:
        """Solve DS(gamma_t) at t = 1, growth, growth^2, ..., but not before t0."""
        t = self.estimate.seq.s
        if t >= self.due:
            self.due = max(t + 1, ceil(t * self.growth))
            if t >= self.t0:
                self.estimate.solve()
