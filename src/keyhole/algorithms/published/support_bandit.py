"""One arm per support: the paper's advice for k <= 2 and k >= d - 2, where its own algorithm does not apply."""

from collections.abc import Mapping
from math import comb
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import NumberCheck, Rule
from .._dantzig_estimate import one_of
from .._options import is_theory, positive, whole
from ._bandit_masters import BatchedExp3, Corral, Tsallis
from ._enumerate_supports import all_supports, most_available
from ._ridge_bank import bank

# No arm with a probability below this was ever drawn.
_UNHEARD_OF = 1e-100


class SupportBandit(Learner):
    """A bandit whose arms are the C(d, k) supports; the played arm alone learns to predict.

        U ~ p;   y_hat = the prediction of U's own forecaster from x(U), which then learns from y
        f = min(1, (y_hat - y)^2 / scale);   p = master(losses so far, importance weighted)

    Masters: "tsallis", the 1/2-Tsallis regularised leader p_j = 4 / (eta_t (L_j - z))^2, eta_t = eta / sqrt(t);
    "corral", log-barrier mirror descent with growing learning rates; "batched-exp3", exponential weights over blocks of
    about (t/N)^(1/3) rounds.

    Cost: O(C(d, k) + k^2) a round (compiled), memory O(k^2 C(d, k)); more than 1e5 supports are refused.

    Parameters
    ----------
    master, base
        As above; the forecaster of an arm: "newton" (online Newton step) or "vaw" (Vovk-Azoury-Warmuth).
    tuning
        "theory": scale = (1 + label_bound)^2; eta = 2 (tsallis), 1 (times CORRAL's own min(1/(40 ln T), sqrt(N/T))) and
        1 (times sqrt(ln N / (m N)) in block m); a block starts its forecaster afresh. "practical" (the default, chosen
        by `benchmarks/peers.py`): scale = twice the running mean of y^2, eta = 16, 1000 and 64, and a forecaster
        keeps what it knows.
    eta, ridge, label_bound, horizon
        The factor above; what A starts from in a forecaster; the bound on |y| behind the theory's scale; the T that
        CORRAL starts with, doubled whenever the stream outlives it.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=6, k=1, T=500, seed=1, design="rademacher")
    >>> learner = kh.make("support-bandit", d=6, k=1, seed=0)
    >>> bool(kh.play(learner, X, y).regret(w)[-1] < 100), learner.support.tolist() == np.flatnonzero(w).tolist()
    (True, True)

    References: Li, Liao, Xu and Nie, COLT 2025, section 2 (the reduction); Agarwal, Luo, Neyshabur and Schapire, COLT
    2017 (CORRAL); Foster, Gentile, Mohri and Zimmert, NeurIPS 2020 (hedged FTRL, for which "tsallis" stands in); Ito et
    al., AISTATS 2018 (batches). Reconstructed: the reduction, CORRAL's update and the rates are theirs; the Tsallis
    stand-in, the batched steps, the learnt scale and the step sizes are ours.
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
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "bank", "master", "squares", "n")
    _rules: ClassVar[Mapping[str, Rule]] = {"squares": NumberCheck(least=0.0)}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        master: Literal["tsallis", "corral", "batched-exp3"] = "tsallis",
        base: Literal["vaw", "newton"] = "vaw",
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
        self.bank = bank(one_of("base", base, ("newton", "vaw")), self.U.shape[0], k, positive("ridge", ridge))
        self.master = self._master(master, eta, whole("horizon", horizon, 3, 10**15))
        self.squares, self.n = 0.0, 0

    def _master(self, master: str, eta: float | None, T: int) -> Tsallis | Corral | BatchedExp3:
        """The master by name, with its own default eta."""
        theory, practical = {"tsallis": (2.0, 16.0), "corral": (1.0, 1000.0), "batched-exp3": (1.0, 64.0)}[
            one_of("master", master, ("tsallis", "corral", "batched-exp3"))
        ]
        c = positive("eta", eta if eta is not None else theory if self.theory else practical)
        N = self.U.shape[0]
        if master == "corral":
            return Corral(N, T, c)
        return Tsallis(N, c) if master == "tsallis" else BatchedExp3(N, c)

    @property
    def best(self) -> int:
        """The most likely arm."""
        return int(np.argmax(self.master.p))

    @property
    def weights(self) -> Floats:
        """The weights of the most likely arm's forecaster."""
        w = np.zeros(self.d)
        w[self.order[self.U[self.best]]] = self.bank.weights(self.best)
        return w

    @property
    def support(self) -> Ints:
        """The most likely arm."""
        return np.sort(self.order[self.U[self.best]])

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        """An arm; the round carries which one, its probability, and what could be bought where not everything could."""
        places = None if pool is None else pool[self.order]
        awake = None if places is None else most_available(self.U, places)
        arm, p = self.master.choose(self.rng, awake)
        bought = self.order[self.U[arm]]
        memo = (float(arm), p) if places is None else (float(arm), p, *map(float, places))
        kind = "exploit" if arm == self.best else "explore"
        return Acquisition(kind, bought if pool is None else bought[pool[bought]], memo=memo)

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        return k * comb(d, k)

    def _memo_fits(self, r: Round) -> bool:
        arm, p, *places = r.memo if len(r.memo) >= 2 else (-1.0, 0.0)
        likely = _UNHEARD_OF < p <= 1.0 or (p == 0.0 and isinstance(self.master, BatchedExp3))
        return arm in range(len(self.U)) and likely and len(places) in (0, self.d)

    def _row(self, r: Round, x: Floats) -> Floats:
        """The arm's own attributes in its own order; what was not bought, or not observed, is zero."""
        row = np.zeros(self.d)
        row[r.attributes] = np.nan_to_num(x, nan=0.0)
        return np.asarray(row[self.order[self.U[int(r.memo[0])]]])

    def _predict(self, r: Round, x: Floats) -> float:
        return self.bank.predict(int(r.memo[0]), self._row(r, x))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        arm, p, row = int(r.memo[0]), r.memo[1], self._row(r, x)
        self.squares, self.n = self.squares + y * y, self.n + 1
        f = self._loss(self.bank.predict(arm, row) - y)
        if self.theory and isinstance(self.master, BatchedExp3) and self.master.told == 0:
            self.bank.restart(arm)
        self.bank.learn(arm, row, y)
        awake = most_available(self.U, np.array(r.memo[2:]) > 0.0) if len(r.memo) > 2 else None
        if r.attributes.size:
            self.master.learn(arm, f, p, awake)

    def _loss(self, residual: float) -> float:
        """The squared error in [0, 1]."""
        scale = self.worst if self.theory else 2.0 * self.squares / self.n
        return min(1.0, residual * residual / scale) if scale > 0.0 else float(residual != 0.0)
