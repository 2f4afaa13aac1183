"""Kale et al. 2017, the agnostic case: a chain of experts chooses attributes one after another, in mini-batches."""

from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, IndexCheck, NoCheck, NumberCheck, Part, Stateful, StateSchema
from ...errors import ConfigError
from .._options import is_theory, positive
from ._ridge_bank import ForwardBank


class PairSums(Stateful):
    """Sums of x_i x_j and x_i y over the rounds that observed them, with which new forecasters are initialised."""

    _state: ClassVar[StateSchema] = {
        "H": NumberCheck(),
        "N": NumberCheck(least=0.0),
        "b": NumberCheck(),
    }

    def __init__(self, d: int) -> None:
        self.H: Floats = np.zeros((d, d))
        self.N: Floats = np.zeros((d, d))
        self.b: Floats = np.zeros(d)

    def add(self, B: Ints, x: Floats, y: float) -> None:
        """Add one round on the positions B."""
        block = np.ix_(B, B)
        self.H[block] += np.outer(x, x)
        self.N[block] += 1.0
        self.b[B] += y * x

    def start(self, B: Ints) -> tuple[Floats, Floats]:
        """Return n G and n mean(x y) on the positions B, where n is the smallest number of observations in B and G, the
        estimated mean of x x', is made positive semidefinite.
        """
        seen = np.diagonal(self.N)[B]
        n = seen.min() if B.size else 0.0
        pairs = self.N[np.ix_(B, B)]
        # Off-diagonal means of few products are shrunk towards zero: with 5 rounds by half.
        G = self.H[np.ix_(B, B)] / (pairs + np.where(np.eye(B.size) > 0, 1e-300, 5.0))
        values, vectors = np.linalg.eigh(G)
        return n * (vectors * np.maximum(values, 0.0)) @ vectors.T, n * self.b[B] / np.maximum(seen, 1.0)


class KaleGreedy(Learner):
    """Greedy selection by k exponential-weights learners, the i-th for the i-th attribute given its predecessors.

        batch of B rounds:  a_i ~ softmax(-eta L_i) without its predecessors, V_i = {a_1..a_i}
                            i* ~ U[k];   Q ~ UNIF(d, k0);   buy x(V_k), after the label x(Q)
                            predict with V_k (Vovk-Azoury-Warmuth)
                            update in parallel forecasters on V_{i*-1}, and on V_{i*-1} + f for every f in Q
        after it:           L_{i*}[f] += k (d / k0) (mean loss of V_{i*-1} + f  -  that of V_{i*-1}) / scale,   f in Q

    Over i* and Q, the last line is an unbiased estimate of the gain of f at every position of the chain.

    Cost: O(k0 k^2) per round (compiled), O(k d) per batch; memory O(d^2).

    Parameters
    ----------
    tuning
        "theory": B = batch n^(1/3) after n rounds, batch = 1; eta = eta_scale sqrt(k0 ln(d) / (k d m)) in batch m,
        eta_scale = 1; scale = (1 + label_bound)^2; every batch starts new forecasters. "practical" (the default, chosen
        by `benchmarks/peers.py`): eta_scale = 50, batch = 0.5, scale = twice the running mean of y^2, and forecasters
        start from the moments of all rounds so far.
    eta_scale, batch, ridge, label_bound
        As above; the initial ridge of a forecaster; the bound on |y|.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=2, T=200, seed=1)
    >>> kh.play(kh.make("kale2017-greedy", d=10, k=2, k0=3, seed=0), X, y).regret(w).shape
    (200,)

    References: Kale, Karnin, Liang and Pal, ICML 2017, Algorithm 2. Reconstructed: "agnostic, under RIP" is theirs;
    every step here is ours, after the online greedy method of Streeter and Golovin 2008, and within the budget (theirs
    buys O(k ln T) attributes). It should not be taken for the authors' algorithm.
    """

    name = "kale2017-greedy"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d, then k0 more",
        bound="~O(T^(2/3)) poly(k, d), in expectation, with O(k ln T) attributes a round (here k)",
        cost="O(k0 k^2 + d)",
        reference="Kale, Karnin, Liang and Pal, ICML 2017, Algorithm 2",
        status="reconstructed",
        past_rows="complete",
        takes_k0=True,
        needs_k0=True,
        conditions="e",
        further="k0 >= 1",
    )
    _state: ClassVar[StateSchema] = {
        "L": NumberCheck(),
        "V": IndexCheck("d"),
        "Q": IndexCheck("d"),
        "position": IndexCheck("k"),
        "sets": IndexCheck("d", gaps=True),
        "bank": Part(),
        "pooled": Part(),
        "losses": NumberCheck(least=0.0),
        "batch": CountCheck(),
        "n_labels": CountCheck(),
        "n": CountCheck(),
        "squares": NumberCheck(least=0.0),
        "fresh": NoCheck(),
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        eta_scale: float | None = None,
        batch: float | None = None,
        ridge: float = 1.0,
        label_bound: float = 1.0,
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k0 < 1:
            raise ConfigError(f"{self.name} needs k0 >= 1: it tests candidates with attributes bought after the label")
        self.theory = is_theory(tuning)
        self.eta_scale = positive("eta_scale", eta_scale if eta_scale is not None else 1.0 if self.theory else 50.0)
        self.size, self.ridge = (
            positive("batch", batch if batch is not None else 1.0 if self.theory else 0.5),
            positive("ridge", ridge),
        )
        self.worst = (1.0 + positive("label_bound", label_bound)) ** 2
        self.m = min(k0, self.d)
        self.L: Floats = np.zeros((k, self.d))
        self.V: Ints = np.arange(k)
        self.Q: Ints = np.arange(self.m)
        self.position, self.batch, self.n_labels, self.n, self.squares = 0, 0, 0, 0, 0.0
        self.fresh = True
        self.sets: Ints = np.full((self.m + 2, k), -1)
        self.bank = ForwardBank(self.m + 2, k, self.ridge)
        self.pooled = PairSums(self.d)
        self.losses: Floats = np.zeros(self.m + 2)

    def _weights(self) -> Floats:
        """Return the ridge weights of the forecaster on V."""
        w = np.zeros(self.d)
        w[self.order[self.V]] = self.bank.weights(0)
        return w

    def _support(self) -> Ints:
        """Return V, the attributes that the chain chose."""
        return np.sort(self.order[self.V])

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        if self.fresh:
            self._open_batch()
        mask = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        V = self.order[self.V]
        V, Q = V[mask[V]], self.order[self.Q]
        mask[V] = False
        Q = Q[mask[Q]] if V.size or mask[Q].any() else self._available_in_draw_order(mask)[:1]
        return Acquisition("explore", V, Q, memo=(float(self.batch),))

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return 2 * d * d

    def _check_state(self) -> None:
        CountCheck(most="n").check("n_labels", self.n_labels, self)

    def _validate_memo(self, r: Round) -> bool:
        return len(r.memo) == 1

    def _open_batch(self) -> None:
        """Draw the chain, the position to probe and the candidates, and set up their forecasters."""
        self.fresh = False
        self.V = self._draw_chain()
        self.position = int(self.rng.integers(self.k))
        self.Q = self.rng.choice(self.d, size=self.m, replace=False, shuffle=False)
        prefix = self.V[: self.position]
        self.sets[:] = -1
        self.sets[0] = self.V
        self.sets[1:, : self.position] = prefix
        self.sets[1:-1, self.position] = np.where(np.isin(self.Q, prefix), -1, self.Q)
        for j in range(self.m + 2):
            self._start(self.bank, j, self.sets[j])

    def _draw_chain(self) -> Ints:
        """Draw V: a_i ~ softmax(-eta L_i) without its predecessors."""
        eta = self.eta_scale * sqrt(self.m * log(max(self.d, 2)) / (self.k * self.d * (self.batch + 1)))
        V: Ints = np.empty(self.k, dtype=np.int64)
        free = np.ones(self.d, dtype=np.bool_)
        for i in range(self.k):
            p = np.where(free, np.exp(-eta * (self.L[i] - self.L[i][free].min())), 0.0)
            V[i] = self.rng.choice(self.d, p=p / p.sum())
            free[V[i]] = False
        return V

    def _start(self, bank: ForwardBank, j: int, members: Ints) -> None:
        """Initialise forecaster j, from nothing or from the pooled moments of its attributes."""
        bank.restart(j)
        if not self.theory:
            used = members >= 0
            A, b = self.pooled.start(members[used])
            values, vectors = np.linalg.eigh(A)  # never singular after the ridge is added, however large A is
            bank.A_inv[j][np.ix_(used, used)] = (vectors / (np.maximum(values, 0.0) + self.ridge)) @ vectors.T
            bank.b[j][used] = b

    def _place(self) -> Ints:
        """The position of each attribute in `order`."""
        place = np.empty(self.d, dtype=np.int64)
        place[self.order] = np.arange(self.d)
        return place

    def _row(self, attributes: Ints, x: Floats) -> Floats:
        """Return a vector of values by position, zero where nothing was bought; its last entry, to which the index -1
        refers, is always zero.
        """
        row = np.zeros(self.d + 1)
        row[self._place()[attributes]] = np.nan_to_num(x, nan=0.0)
        return row

    def _predict(self, r: Round, x: Floats) -> float:
        return self.bank.predict(0, self._row(r.attributes, x)[self.sets[0]])

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        B, values = np.concatenate([r.attributes, r.extra]), np.concatenate([x, more])
        B, values = B[~np.isnan(values)], values[~np.isnan(values)]
        row = self._row(B, values)
        self.squares, self.n = self.squares + y * y, self.n + 1
        if r.memo[0] == self.batch and not self.fresh:
            self.losses += (self.bank.run(row[self.sets], y) - y) ** 2
            self.n_labels += 1
        self.pooled.add(self._place()[B], values, y)
        if self.n_labels >= max(1, round(self.size * (self.n - self.n_labels) ** (1 / 3))):
            self._close_batch()

    def _learn(self, X: Floats, y: Floats) -> None:
        """Probe every position of a chain with every candidate on batches of past rows, without importance weights.

        The open batch continues: only the losses L and the pooled moments change.
        """
        # Deviation: a past row is an exploration with inclusion probabilities one; t does not advance.
        X, start = X[:, self.order], 0
        while start < y.size:
            end = start + max(1, round(self.size * self.n ** (1 / 3)))
            self._probe_everything(X[start:end], y[start:end])
            start = end

    def _probe_everything(self, X: Floats, y: Floats) -> None:
        """Run one batch of past rows: for each position i of the chain and every candidate f, add the mean loss of
        V_{i-1} + f minus that of V_{i-1}.
        """
        V = self._draw_chain()
        self.squares, self.n = self.squares + float(y @ y), self.n + y.size
        scale = self.worst if self.theory else 2.0 * self.squares / self.n
        for i in range(self.k):
            sets = np.full((self.d + 1, self.k), -1)
            sets[:, :i] = V[:i]
            sets[:-1, i] = np.where(np.isin(np.arange(self.d), V[:i]), -1, np.arange(self.d))
            bank = ForwardBank(self.d + 1, self.k, self.ridge)
            for j in range(self.d + 1):
                self._start(bank, j, sets[j])
            losses = np.zeros(self.d + 1)
            for x, label in zip(X, y.tolist(), strict=True):
                losses += (bank.run(np.append(x, 0.0)[sets], label) - label) ** 2
            if scale > 0.0:
                self.L[i] += (losses[:-1] - losses[-1]) / (y.size * scale)
        for x, label in zip(X, y.tolist(), strict=True):
            self.pooled.add(np.arange(self.d), x, label)

    def _close_batch(self) -> None:
        """Add the gain of each candidate at the probed position; the next `ask` draws a new batch."""
        scale = self.worst if self.theory else 2.0 * self.squares / self.n
        if scale > 0.0:
            self.L[self.position][self.Q] += gains(self.losses / (self.n_labels * scale), self.k, self.d / self.m)
        self.batch += 1
        self.n_labels, self.fresh = 0, True
        self.losses = np.zeros(self.m + 2)


def gains(losses: Floats, k: int, ratio: float) -> Floats:
    """Return k (d / k0) (loss with f - loss without) for f in Q, from the mean losses (V, each candidate, the prefix).

    Multiplied by the probabilities 1/k of the position and k0/d of the candidate, this is the difference itself.
    """
    return np.asarray(k * ratio * (losses[1:-1] - losses[-1]))
