"""One arm per support: the paper's recommendation for k <= 2 and k >= d - 2, where its own algorithm does not apply."""

from math import comb, sqrt
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, NumberCheck, Part, StateSchema
from .._dantzig_estimate import one_of
from .._options import is_theory, positive, whole
from ._bandit_masters import BatchedExp3, Corral, HedgedFTRL, Tsallis
from ._enumerate_supports import all_supports, most_available
from ._ridge_bank import GradientBank, bank

# r of the bonus for forecasters that learn faster than in the theory. With T = 20 000, sign attributes and (d, k) =
# (10, 1), (10, 2), (20, 2), the share of the avoidable loss is 0.006, 0.027, 0.090; with r = 0.1, 0.12, 0.76, 0.83.
_PRACTICAL_BONUS = 0.01
# An arm with a probability below this is never drawn in practice.
_UNHEARD_OF = 1e-100


class SupportBandit(Learner):
    """A bandit whose arms are the C(d, k) supports; only the chosen arm learns to predict.

        U ~ p;   y_hat = the prediction of U's own forecaster from x(U), which then learns from y
        f = min(1, (y_hat - y)^2 / scale);   p = master(losses so far, importance weighted)

    Masters: "tsallis", FTRL with 1/2-Tsallis regularization, p_j = 4 / (eta_t (L_j - z))^2, eta_t = eta / sqrt(t);
    "hedged-ftrl", the same with a bonus for rarely played arms, which learn slowly; "corral", log-barrier mirror
    descent with growing learning rates; "batched-exp3", exponential weights over blocks of about (t/N)^(1/3) rounds.

    The bound O(sqrt(NT)) in expectation, N = C(d, k), holds only for master="hedged-ftrl", base="gradient",
    tuning="theory" (proof in `docs/derivations.md`). The default predicts much better but has no proved bound.

    Cost: O(C(d, k) + k^2) per round (compiled), memory O(k^2 C(d, k)); more than 1e5 supports are rejected.

    Parameters
    ----------
    master, base
        As above; the forecaster of an arm: "gradient" (online gradient descent, the paper's), "newton" (online Newton
        step) or "vaw" (Vovk-Azoury-Warmuth).
    tuning
        "theory": scale = (1 + label_bound)^2, with gradient descent (sqrt(k) + label_bound)^2; eta = 2 (tsallis), at
        most 2 (hedged-ftrl), 1 (times CORRAL's own min(1/(40 ln T), sqrt(N/T))) and 1 (times sqrt(ln N / (m N)) in
        block m); each block, and each doubling of hedged-ftrl's horizon, restarts the forecasters. "practical" (the
        default, chosen by `benchmarks/peers.py`): scale = twice the running mean of y^2, eta = 16, 16, 1000 and 64, and
        forecasters keep their state.
    eta, ridge, label_bound, horizon
        The factor above; the initial ridge of a forecaster; the bound on |y| in the theory's scale; the initial T of
        CORRAL and hedged-ftrl, which doubles whenever the stream exceeds it.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=6, k=1, T=500, seed=1, design="rademacher")
    >>> learner = kh.make("support-bandit", d=6, k=1, seed=0)
    >>> bool(kh.play(learner, X, y).regret(w)[-1] < 100), learner.support.tolist() == np.flatnonzero(w).tolist()
    (True, True)

    References: Li, Liao, Xu and Nie, COLT 2025, section 2 (the reduction); Agarwal, Luo, Neyshabur and Schapire, COLT
    2017 (CORRAL); Foster, Gentile, Mohri and Zimmert, NeurIPS 2020 (hedged FTRL); Ito et al., AISTATS 2018 (batches).
    Reconstructed: the reduction, CORRAL's update, the bonus and the rates are theirs; the batched steps, the learnt
    scale, the step sizes and the constants of the proof are ours.
    """

    name = "support-bandit"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d; small d, or k <= 2, or k >= d-2",
        bound="O(sqrt(NT)) in expectation, N = C(d, k) (batched-exp3: ~O(N^(1/3) T^(2/3)))",
        cost="O(d^k)",
        reference=(
            "Li, Liao, Xu and Nie, COLT 2025, section 2; Agarwal et al., COLT 2017; Foster et al., NeurIPS 2020; "
            "Ito et al., AISTATS 2018"
        ),
        status="reconstructed",
        further="none",
    )
    _state: ClassVar[StateSchema] = {
        "bank": Part(),
        "master": Part(),
        "squares": NumberCheck(least=0.0),
        "n": CountCheck(),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        master: Literal["tsallis", "hedged-ftrl", "corral", "batched-exp3"] = "tsallis",
        base: Literal["vaw", "newton", "gradient"] = "vaw",
        tuning: Literal["practical", "theory"] = "practical",
        eta: float | None = None,
        ridge: float = 1.0,
        label_bound: float = 1.0,
        horizon: int = 1024,
    ) -> None:
        super().__init__(names, k, k0, seed)
        self.U = all_supports(self.name, self.d, k, per_support=k * k + 2 * k)
        self.theory = is_theory(tuning)
        self.worst = (1.0 + positive("label_bound", label_bound)) ** 2
        if one_of("base", base, ("gradient", "newton", "vaw")) == "gradient":  # a prediction is at most sqrt(k)
            self.worst = (sqrt(k) + label_bound) ** 2
        self.bank = bank(base, self.U.shape[0], k, positive("ridge", ridge))
        self.master = self._master(master, eta, whole("horizon", horizon, 3, 10**15))
        self.squares, self.n = 0.0, 0

    @property
    def slowness(self) -> float:
        """The factor r in the bound r sqrt(rho T) on the regret of an arm, in units of the largest loss.

        It is that of gradient descent, or a small number for forecasters that learn faster.
        """
        return 4.0 * sqrt(self.k / self.worst) if self.theory else _PRACTICAL_BONUS

    def _master(self, master: str, eta: float | None, T: int) -> Tsallis | HedgedFTRL | Corral | BatchedExp3:
        """Return the master by name, with its own default eta."""
        theory, practical = {
            "tsallis": (2.0, 16.0),
            "hedged-ftrl": (min(2.0, 0.5 / self.slowness), 16.0),
            "corral": (1.0, 1000.0),
            "batched-exp3": (1.0, 64.0),
        }[one_of("master", master, ("tsallis", "hedged-ftrl", "corral", "batched-exp3"))]
        c = positive("eta", eta if eta is not None else theory if self.theory else practical)
        N = self.U.shape[0]
        if master == "hedged-ftrl":
            return HedgedFTRL(N, T, c, self.slowness)
        if master == "corral":
            return Corral(N, T, c)
        return Tsallis(N, c) if master == "tsallis" else BatchedExp3(N, c)

    @property
    def best(self) -> int:
        """The most likely arm."""
        return int(np.argmax(self.master.p))

    def _weights(self) -> Floats:
        """Return the weights of the most likely arm's forecaster."""
        w = np.zeros(self.d)
        w[self.order[self.U[self.best]]] = self.bank.weights(self.best)
        return w

    def _support(self) -> Ints:
        """Return the support of the most likely arm."""
        return np.sort(self.order[self.U[self.best]])

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """Draw an arm; the memo has the arm, its probability, and the availability mask unless all are available."""
        places = None if pool is None else pool[self.order]
        awake = None if places is None else most_available(self.U, places)
        arm, p = self.master.choose(self.rng, awake)
        bought = self.order[self.U[arm]]
        memo = (float(arm), p) if places is None else (float(arm), p, *map(float, places))
        kind = "exploit" if arm == self.best else "explore"
        return Acquisition(kind, bought if pool is None else bought[pool[bought]], memo=memo)

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return k * comb(d, k)

    def _validate_memo(self, r: Round) -> bool:
        arm, p, *places = r.memo if len(r.memo) >= 2 else (-1.0, 0.0)
        likely = _UNHEARD_OF < p <= 1.0 or (p == 0.0 and isinstance(self.master, BatchedExp3))
        return arm in range(len(self.U)) and likely and len(places) in (0, self.d)

    def _row(self, r: Round, x: Floats) -> Floats:
        """Return the values of the arm's attributes in its own order, with zeros for unbought or unobserved values."""
        row = np.zeros(self.d)
        row[r.attributes] = np.nan_to_num(x, nan=0.0)
        return np.asarray(row[self.order[self.U[int(r.memo[0])]]])

    def _predict(self, r: Round, x: Floats) -> float:
        return self.bank.predict(int(r.memo[0]), self._row(r, x))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        arm, p, row = int(r.memo[0]), r.memo[1], self._row(r, x)
        self.squares, self.n = self.squares + y * y, self.n + 1
        f = self._loss(self.bank.predict(arm, row) - y)
        if self.theory and isinstance(self.master, BatchedExp3) and self.master.n_labels == 0:
            self.bank.restart(arm)
        self._update_arm(arm, row, y, p)
        awake = most_available(self.U, np.array(r.memo[2:]) > 0.0) if len(r.memo) > 2 else None
        if r.attributes.size:
            self.master.learn(arm, f, p, awake)
            self._extend_horizon()

    def _update_arm(self, arm: int, row: Floats, y: float, p: float) -> None:
        """Update the forecaster of the chosen arm by one step."""
        if self.theory and isinstance(self.bank, GradientBank) and p > 0.0:
            # D / (G sqrt(T)), D = 2 the diameter of the ball, G = 2 sqrt(k worst) the largest gradient.
            self.bank.step(arm, row, y, p, 1.0 / sqrt(self.k * self.worst * self._T))
        else:
            self.bank.learn(arm, row, y)

    @property
    def _T(self) -> int:
        """The horizon: the master's, or twice the number of rounds so far."""
        return self.master.T if isinstance(self.master, HedgedFTRL | Corral) else 2 * self.n

    def _extend_horizon(self) -> None:
        """Double the horizon of hedged FTRL when the stream exceeds it; the theory's tuning then restarts."""
        if isinstance(self.master, HedgedFTRL) and self.master.n >= self.master.T:
            if self.theory:
                self.master.restart(len(self.U), 2 * self.master.T)
                for arm in range(len(self.U)):
                    self.bank.restart(arm)
            else:
                self.master.extend()

    def _loss(self, residual: float) -> float:
        """Return the squared error scaled and clipped to [0, 1]."""
        scale = self.worst if self.theory else 2.0 * self.squares / self.n
        return min(1.0, residual * residual / scale) if scale > 0.0 else float(residual != 0.0)
