"""DS-POSLRC, Algorithm 3 of the paper: predict on S, then buy k0 more attributes; every round explores."""

from typing import ClassVar, Literal

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..core.learner import Acquisition, Learner, PlayedRows
from ..core.registry.algorithm import AlgorithmInfo
from ..core.round import Round
from ..core.state import IndexCheck, Part, StateSchema
from ..errors import ConfigError, StateError
from ..estimation import dantzig_width, sampling
from ..estimation.online_newton import Newton, dot_on_support
from ..estimation.top_k import only
from ._dantzig_estimate import DantzigEstimate, check_range, is_drawn, numbers_kept, one_of, width_of
from ._poslrc_block import is_due, play_block
from ._support_exploiter import OnSupport


class DSPOSLRC(Learner):
    """Dantzig selector for online sparse linear regression with k0 extra observations per round.

        y_hat = <w_hat(S), x(S)>;   B = S + SAMPLING(k0, d - k, w_hat outside S)
        b += x_hat y,  H += h,  w_hat = DS(gamma_s),  S = top-k of |w_hat|

    Cost: O((k + k0)^2) and a linear program with d variables per round; `solve` avoids most of the programs.

    Parameters
    ----------
    tuning, sigma, delta_s, delta
        As for "ds-oslrc", with the paper's constants for (d - k, k0).
    solve
        "every" round (the paper), every m-th (an integer m), or at "powers" of two (the paper's remark).
    exploit
        "dantzig": predict with w_hat (the paper); "newton": with online Newton steps on S (a remark in the paper).
    sampling
        "paper" (Algorithm 2 outside S) or "uniform".
    reset
        As for "ds-oslrc"; only relevant with exploit="newton".
    engine
        As for "ds-oslrc".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=3, T=300, seed=1)
    >>> learner = kh.make("ds-poslrc", d=12, k=3, k0=4, seed=0, solve="powers")
    >>> int(kh.play(learner, X, y).bought.sum())
    2100

    References: Li, Liao, Xu and Nie, COLT 2025, Algorithm 3, with the corrections of `docs/paper-map.md`.
    """

    name = "ds-poslrc"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, then k0 more",
        bound="O(k^2 d / (delta_S^4 k0) (d/k0 + ln T) ln(dT/delta)), with high probability",
        cost="O(LP_d)",
        reference="Li, Liao, Xu and Nie, COLT 2025, Algorithm 3",
        status="verified",
        past_rows="complete",
        takes_k0=True,
        needs_k0=True,
        conditions="abdf",
        further="3 <= k <= d-3, k0 >= 3",
    )
    _state: ClassVar[StateSchema] = {
        "estimate": Part(S=IndexCheck("d", ascending=True)),
        "newton": Part(S=IndexCheck("d", ascending=True)),
    }

    # The options are listed by name, as in `DSOSLRC`, because the catalogue and editors read the signature.
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
        solve: Literal["every", "powers"] | int = "every",
        exploit: Literal["dantzig", "newton"] = "dantzig",
        sampling: Literal["paper", "uniform"] = "paper",
        reset: Literal["paper", "partial"] = "paper",
        engine: Literal["simplex", "highs"] = "simplex",
    ) -> None:
        super().__init__(names, k, k0, seed)
        check_range(self.name, self.d, k)
        if k0 < 3:
            raise ConfigError(f"{self.name} needs k0 >= 3 attributes after the label, but k0 = {k0}")
        self.every = _period(solve)
        self.uniform = one_of("sampling", sampling, ("paper", "uniform")) == "uniform"
        self.by_newton = one_of("exploit", exploit, ("dantzig", "newton")) == "newton"
        width, constants = width_of(tuning, self.d, k, k0, sigma, delta_s, delta)
        self.estimate = DantzigEstimate(self.d, k, width, self.order, engine)
        core = Newton(k, eps=k, rho=constants.rho if constants else None)
        keeps = one_of("reset", reset, ("paper", "partial")) == "partial"
        self.newton = OnSupport(core, self.support, self.estimate.w_hat[self.support], keeps)

    def _weights(self) -> Floats:
        """Return the predicting weights on the support, zero elsewhere."""
        if self.by_newton:
            return self.newton.weights(self.d)
        return only(self.estimate.w_hat, self.support)

    def _support(self) -> Ints:
        """Return S_s, the k largest |w_hat|."""
        return self.estimate.S

    @property
    def identified(self) -> int:
        """The number of members of the support that are not merely tied."""
        with self._lock:
            return self.estimate.identified

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Return S_{s-1}, and B' from SAMPLING(k0, d', w_hat outside S); the memo has n, m, q(B'), and S for Newton."""
        # Deviation: drawn in positions of the complement and mapped back to [d] (E32).
        S, C = self._split(self.support, pool)
        n, m = C.size, min(self.k0, C.size)
        epoch = tuple(map(float, self.support)) if self.by_newton else ()
        if m == 0:
            return Acquisition("exploit", S, memo=(0.0, 0.0, *epoch))
        q = sampling.law(np.zeros(n) if self.uniform else self.estimate.w_hat[C])
        drawn = sampling.sample(q, m, self.rng)
        return Acquisition("explore", S, C[drawn], memo=(float(n), float(m), *q[drawn].tolist(), *epoch))

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return numbers_kept(d)

    def _check_state(self) -> None:
        if self.by_newton and not np.array_equal(self.newton.S, self.support):
            raise StateError("the exploiter in the state has another support; the file is damaged or forged")

    def _validate_memo(self, r: Round) -> bool:
        drawn, epoch = r.memo[: 2 + r.extra.size], r.memo[2 + r.extra.size :]
        return is_drawn(drawn, r.extra.size, self.d) and len(epoch) in (0, self.k)

    def _on_stream_end(self) -> None:
        self.estimate.finish()

    def _predict(self, r: Round, x: Floats) -> float:
        if self.by_newton:
            return self.newton.predict(r.attributes, x)
        return dot_on_support(self.estimate.w_hat[self.support], self.support, r.attributes, x)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        drawn, epoch = 2 + r.extra.size, r.memo[2 + r.extra.size :]
        if self.by_newton and np.array_equal(epoch, self.support):
            self.newton.learn(r.attributes, x, y)
        B = np.concatenate([r.attributes, r.extra])
        if B.size == 0:
            return
        n, m = int(r.memo[0]), int(r.memo[1])
        P = sampling.union_pairs(r.attributes.size, np.array(r.memo[2:drawn]), n, m)
        self.estimate.accumulate(B, np.concatenate([x, more]), y, P)
        if self._is_due():
            self.estimate.solve()
            if self.by_newton:
                self.newton.follow(self.support, self.estimate.w_hat)

    def _learn(self, X: Floats, y: Floats) -> None:
        self.estimate.accumulate_complete(X, y)
        self.estimate.solve()
        if self.by_newton:
            self.newton.follow(self.support, self.estimate.w_hat)

    def _is_due(self) -> bool:
        """Return whether DS(gamma_s) is solved after this round."""
        return is_due(self.every, self.estimate.seq.s)

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        parts = None if self.by_newton or prices is not None else self.estimate.seq.parts()
        return super()._play_block(X, y, prices) if parts is None else play_block(self, parts, X, y)


def _period(solve: str | int) -> int:
    """Return `solve=` as a period in rounds; 0 stands for the powers of two."""
    if solve in ("every", "powers"):
        return int(solve == "every")
    if isinstance(solve, bool) or not str(solve).isdigit() or int(solve) < 1:
        raise ConfigError(f"solve must be 'every', 'powers' or a whole number of rounds, not {solve!r}")
    return int(solve)
