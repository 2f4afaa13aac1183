"""DS-POSLRC, Algorithm 3 of the paper: predict on S, then buy k0 more attributes; every round explores."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..core.learner import Acquisition, Block, Learner
from ..core.registry.algorithm import AlgorithmInfo
from ..core.round import Round
from ..core.state import IndexCheck, Rule
from ..errors import ConfigError, StateError
from ..estimation import dantzig_width, sampling
from ..estimation.online_newton import Newton, dot_on_support
from ..estimation.top_k import only
from ._dantzig_estimate import DantzigEstimate, check_range, is_drawn, numbers_kept, one_of, width_of
from ._poslrc_block import is_due, play_block
from ._support_exploiter import OnSupport


class DSPOSLRC(Learner):
    """Dantzig selector for online sparse linear regression with k0 extra observations a round.

        y_hat = <w_hat(S), x(S)>;   B = S + SAMPLING(k0, d - k, w_hat outside S)
        b += x_hat y,  H += h,  w_hat = DS(gamma_s),  S = top-k of |w_hat|

    Cost: O((k + k0)^2) and a linear program with d variables a round; `solve` spares most of the programs.

    Parameters
    ----------
    tuning, sigma, delta_s, delta
        As for "ds-oslrc", with the paper's constants for (d - k, k0).
    solve
        "every" round (the paper), every m-th (a whole number), or at "powers" of two (the paper's remark).
    exploit
        "dantzig": predict with w_hat (the paper); "newton": with online Newton steps on S (the paper's aside).
    sampling
        "paper" (Algorithm 2 on what is not in S) or "uniform".
    reset
        As for "ds-oslrc"; it matters with exploit="newton" only.
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
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "estimate", "newton")
    _rules: ClassVar[Mapping[str, Rule]] = dict.fromkeys(("estimate.S", "newton.S"), IndexCheck("d", ascending=True))

    # The options by name, as in `DSOSLRC`: the catalogue, editors and the command line read this list.
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

    @property
    def weights(self) -> Floats:
        """The weights that predict, on the support; zero elsewhere."""
        if self.by_newton:
            return self.newton.weights(self.d)
        return only(self.estimate.w_hat, self.support)

    @property
    def support(self) -> Ints:
        """S_s: where |w_hat| is largest."""
        return self.estimate.S

    @property
    def identified(self) -> int:
        """How many of the k places of the support are more than a tie."""
        return self.estimate.identified

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """S_{s-1}, and B' from SAMPLING(k0, d', w_hat outside S); it carries n, m, q(B'), and S for Newton."""
        # Deviation: drawn in the complement's own places, mapped back to [d] (E32).
        S, C = self._split(self.support, pool)
        n, m = C.size, min(self.k0, C.size)
        epoch = tuple(map(float, self.support)) if self.by_newton else ()
        if m == 0:
            return Acquisition("exploit", S, memo=(0.0, 0.0, *epoch))
        q = sampling.law(np.zeros(n) if self.uniform else self.estimate.w_hat[C])
        drawn = sampling.sample(q, m, self.rng)
        return Acquisition("explore", S, C[drawn], memo=(float(n), float(m), *q[drawn].tolist(), *epoch))

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        return numbers_kept(d)

    def _check_state(self) -> None:
        if self.by_newton and not np.array_equal(self.newton.S, self.support):
            raise StateError("the exploiter in the state is on another support than the learner")

    def _memo_fits(self, r: Round) -> bool:
        drawn, epoch = r.memo[: 2 + r.extra.size], r.memo[2 + r.extra.size :]
        return is_drawn(drawn, r.extra.size, self.d) and len(epoch) in (0, self.k)

    def _finish(self) -> None:
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
        """Whether DS(gamma_s) is solved after this round."""
        return is_due(self.every, self.estimate.seq.s)

    def _block(self) -> Block | None:
        parts = None if self.by_newton else self.estimate.seq.parts()
        return None if parts is None else partial(play_block, self, parts)


def _period(solve: str | int) -> int:
    """`solve=` as a period in rounds; 0 stands for the powers of two."""
    if solve in ("every", "powers"):
        return int(solve == "every")
    if isinstance(solve, bool) or not str(solve).isdigit() or int(solve) < 1:
        raise ConfigError(f"solve must be 'every', 'powers' or a whole number of rounds, not {solve!r}")
    return int(solve)
