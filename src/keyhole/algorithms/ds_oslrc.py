"""DS-OSLRC, Algorithm 1 of the paper: explore on squares, exploit the support by online Newton steps."""

from typing import ClassVar, Literal

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..core.learner import Acquisition
from ..core.registry.algorithm import AlgorithmInfo
from ..core.round import Round
from ..core.state import IndexCheck, Part, StateSchema
from ..errors import StateError
from ..estimation import dantzig_width, exploration_schedule, sampling
from ..estimation.online_newton import Gradient, Newton, dot_observed
from ._dantzig_estimate import DantzigEstimate, check_range, is_drawn, numbers_kept, one_of, width_of
from ._scheduled_learner import Scheduled
from ._support_exploiter import OnSupport


class DSOSLRC(Scheduled):
    """Dantzig selector for online sparse linear regression under the compatibility condition.

        explore (t = s^2):   B ~ SAMPLING(k, d, w_hat);  y_hat = <w_hat(B), x(B)>
                             b += x_hat y,  H += h,  w_hat = DS(gamma_s),  S = top-k of |w_hat|
        exploit (else):      online Newton step on x(S), restarted at w_hat(S) whenever S changes

    Cost: O(k^2) per round, and a linear program with d variables per exploration. Memory O(d^2).

    Parameters
    ----------
    tuning
        gamma_s: "empirical" (self-tuned, as is rho of the Newton step; the default), "theory", or `Scaled(c)`.
    sigma, delta_s, delta
        The paper's noise level, compatibility constant and failure probability; used by "theory" and `Scaled` only.
    explore
        "squares" (the paper) or a rate such as "2 t^(-1/3)", which is better at horizons below 1e6.
    sampling
        "paper" (Algorithm 2) or "uniform".
    exploit
        "newton" (the paper) or "gradient" (its footnote: O(k) per round, larger regret).
    reset
        "paper": a change of S restarts the exploiter; "partial": it keeps the state of the attributes that stay.
    engine
        The solver of the linear programs: "simplex" (ours, warm-started) or "highs" (the reference).

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> history = kh.play(kh.make("ds-oslrc", d=20, k=4, seed=0), X, y)
    >>> int(history.explored.sum()), int(history.bought.sum())
    (44, 8000)

    References: Li, Liao, Xu and Nie, COLT 2025, Algorithm 1, with the corrections of `docs/paper-map.md`.
    """

    name = "ds-oslrc"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="4 sqrt(T) + 102^4 k^2 d^2 / (delta_S^8 h^2) ln^2(dT/delta) + O(1), with high probability",
        cost="O(LP_d / sqrt(T) + k^2)",
        reference="Li, Liao, Xu and Nie, COLT 2025, Algorithm 1",
        status="verified",
        past_rows="complete",
        conditions="abdf",
        further="3 <= k <= d-3",
    )
    _state: ClassVar[StateSchema] = {
        "estimate": Part(S=IndexCheck("d", ascending=True)),
        "exploiter": Part(S=IndexCheck("d", ascending=True)),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["empirical", "theory"] | str | dantzig_width.Scaled = "empirical",
        sigma: float = 0.1,
        delta_s: float = 1.0,
        delta: float = 0.01,
        explore: str | float = "squares",
        sampling: Literal["paper", "uniform"] = "paper",
        exploit: Literal["newton", "gradient"] = "newton",
        reset: Literal["paper", "partial"] = "paper",
        engine: Literal["simplex", "highs"] = "simplex",
    ) -> None:
        super().__init__(names, k, k0, seed)
        check_range(self.name, self.d, k)
        self.schedule = exploration_schedule.parse(explore)
        self.uniform = one_of("sampling", sampling, ("paper", "uniform")) == "uniform"
        width, constants = width_of(tuning, self.d, k, None, sigma, delta_s, delta)
        self.estimate = DantzigEstimate(self.d, k, width, self.order, engine)
        rho = constants.rho if constants else None
        newton = one_of("exploit", exploit, ("newton", "gradient")) == "newton"
        core = Newton(k, eps=k, rho=rho) if newton else Gradient(k)
        partial = one_of("reset", reset, ("paper", "partial")) == "partial"
        self.exploiter = OnSupport(core, self.support, self.estimate.w_hat[self.support], partial)

    def _weights(self) -> Floats:
        """Return the exploiter's weights on the support, zero elsewhere."""
        return self.exploiter.weights(self.d)

    def _support(self) -> Ints:
        """Return S_s, the k largest |w_hat|."""
        return self.estimate.S

    @property
    def identified(self) -> int:
        """The number of members of the support that are not merely tied."""
        with self._lock:
            return self.estimate.identified

    def _explore(self, pool: Bools | None) -> Acquisition:
        """Draw B_s from SAMPLING(k, d, w_hat_{s-1}); the memo has n, m and q(B), which give its probabilities."""
        places = self._available_in_draw_order(pool)
        n, m = places.size, min(self.k, places.size)
        if m == 0:
            return Acquisition("explore", places, memo=(0.0, 0.0))
        q = sampling.law(np.zeros(n) if self.uniform else self.estimate.w_hat[places])
        drawn = sampling.sample(q, m, self.rng)
        return Acquisition("explore", places[drawn], memo=(float(n), float(m), *q[drawn].tolist()))

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return numbers_kept(d)

    def _check_state(self) -> None:
        if not np.array_equal(self.exploiter.S, self.support):
            raise StateError("the exploiter in the state has another support; the file is damaged or forged")

    def _validate_memo(self, r: Round) -> bool:
        return r.kind == "exploit" or is_drawn(r.memo, r.attributes.size, self.d)

    def _on_stream_end(self) -> None:
        self.estimate.finish()

    def _predict(self, r: Round, x: Floats) -> float:
        if r.kind == "explore":
            return dot_observed(self.estimate.w_hat, r.attributes, x)
        return self.exploiter.predict(r.attributes, x)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        if r.kind == "explore":
            self._learn_support(r, x, y)
        elif np.array_equal(r.memo, self.support):
            self.exploiter.learn(r.attributes, x, y)

    def _learn_support(self, r: Round, x: Floats, y: float) -> None:
        """Lines 7 to 16: update the estimates, DS(gamma_s) and S_s, and start the exploiter of the next epoch."""
        if r.attributes.size == 0:
            return
        n, m = int(r.memo[0]), int(r.memo[1])
        self.estimate.accumulate(r.attributes, x, y, sampling.pairs(np.array(r.memo[2:]), n, m))
        self.estimate.solve()
        self.exploiter.follow(self.support, self.estimate.w_hat)

    def _learn(self, X: Floats, y: Floats) -> None:
        self.estimate.accumulate_complete(X, y)
        self.estimate.solve()
        self.exploiter.follow(self.support, self.estimate.w_hat)

    def _exploit_rows(self, X: Floats, y: Floats) -> Floats:
        return self.exploiter.run(X, y)
