"""Gibbs-Thompson, a learner of our own: Thompson sampling from a joint posterior over supports, by Gibbs sampling."""

from math import log
from typing import ClassVar

import numpy as np

from ..._core import acquisition_scores, fill_in, gibbs_sweep, learn_row, normal_equations
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, Growing, IndexCheck, NumberCheck, Part, StateSchema
from ...errors import StateError
from .._options import at_least, number
from .._pairwise_moments import Pooled

# Up to this many rounds, every round has a sweep; later there are about this many sweeps per doubling of the rounds.
_SWEEPS = 4000
# After past rows: this many refits, each followed by this many sweeps.
_SETTLING = 8


class GibbsThompson(Learner):
    """Thompson sampling with a spike-and-slab posterior; the unobserved part of each row is imputed.

        w ~ posterior:  w_j = 0 with probability 1 - p, else N(0, tau);  y = mean + <w, z> + N(0, S2)
        ask:            one Gibbs sweep; buy the non-zero w, largest first; fill unused places by draws from the rest
        predict:        mean + <R w_bar, R_BB^-1 z_B>, w_bar the average of E[w | non-zero pattern] over late sweeps
        tell:           z = R_.B R_BB^-1 z_B joins the normal equations, weighted by 1/(S2 + unobserved variance)

    After each 10 % more rows, the moments, S2 and tau are estimated again and all stored rows are imputed again.

    Cost: O(d^2) per round and sweep, O(T d k^2) per refit; memory O(d^2 + T k). A past row with m observed attributes
    is treated as one with k = m.

    Parameters
    ----------
    share
        The prior share p of attributes with an effect; by default k/d, at most a half.
    growth
        The factor by which the number of rows grows between refits; 1.1 by default.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=3, T=1000, seed=1)
    >>> learner = kh.make("gibbs-thompson", d=12, k=3, seed=0)
    >>> bool(kh.play(learner, X, y).losses[500:].mean() < 0.02), (learner.support == np.flatnonzero(w)).all()
    (True, np.True_)
    """

    name = "gibbs-thompson"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="none proven",
        cost="O(d^2), and O(d^2 k T) at each 10 % more rows, which it keeps",
        reference="keyhole's own: what a Bayesian statistician would use instead; spike and slab, Thompson sampling",
        status="verified",
        past_rows="any",
        binary_labels=True,
        raw_columns=True,
        further="exchangeable rows",
    )
    _arrays = ("G", "b", "g", "w", "w_bar", "c", "inside")
    _state: ClassVar[StateSchema] = {
        "pooled": Part(),
        "G": NumberCheck(),
        "b": NumberCheck(),
        "g": NumberCheck(),
        "w": NumberCheck(),
        "w_bar": NumberCheck(),
        "c": NumberCheck(),
        "inside": NumberCheck(least=0.0, most=1.0 + 1e-9),
        "bought": Growing(IndexCheck("d", gaps=True)),
        "values": Growing(NumberCheck()),
        "labels": Growing(NumberCheck()),
        "n_labels": CountCheck(),
        "swept": CountCheck(),
        "next_fit": NumberCheck(),
        "S2": NumberCheck(least=0.0),
        "tau": NumberCheck(least=0.0),
        "centre": NumberCheck(),
    }

    def __init__(
        self, names: tuple[str, ...], k: int, k0: int, seed: int, share: float | None = None, growth: float = 1.1
    ) -> None:
        super().__init__(names, k, k0, seed)
        p = min(max(number("share", k / self.d if share is None else share), 1e-9), 0.5)
        self.odds, self.growth = log(p / (1.0 - p)), at_least("growth", growth, 1.001)
        self.pooled = Pooled(self.d)
        self.place = np.argsort(self.order)
        self.G: Floats = np.zeros((self.d, self.d))  # everything is in positions of the seeded order
        self.b, self.g, self.w, self.w_bar, self.c, self.inside = np.zeros((6, self.d))
        self.bought: Ints = np.empty((0, k), dtype=np.int64)
        self.values: Floats = np.empty((0, k))
        self.labels: Floats = np.empty(0)
        self.n_labels, self.swept, self.next_fit = 0, 0, 2.0
        self.S2, self.tau, self.centre = 1.0, 1.0, 0.0

    def _weights(self) -> Floats:
        """Return w_bar per unit of the attribute; the remainder of a prediction is the intercept."""
        w, sd = np.zeros(self.d), self.pooled.sd
        w[self.order] = np.where(sd > 0, self.w_bar / np.where(sd > 0, sd, 1.0), 0.0)
        return w

    def _support(self) -> Ints:
        """Return the attributes that were non-zero in at least half of the late sweeps: at most the k most frequent."""
        often = np.argsort(-self.inside, kind="stable")[: self.k]
        return np.sort(self.order[often[self.inside[often] >= 0.5]])

    def _check_state(self) -> None:
        if (
            not len(self.bought) == len(self.values) == len(self.labels) >= self.n_labels
            or self.bought.shape != self.values.shape
        ):
            raise StateError("the rows in the state are inconsistent; the file is damaged or forged")

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return 3 * d * d

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        if self.n_labels > self.swept and (t < _SWEEPS or t % (t // _SWEEPS + 1) == 0):
            self._sweep()
        score = np.empty(self.d)
        acquisition_scores(self.G, self.b, self.g, self.w, self.tau, self.rng.standard_normal(self.d), score)
        places = np.arange(self.d) if pool is None else self.place[self._available_in_draw_order(pool)]
        best = places[np.argsort(-score[places], kind="stable")[: self.k]]
        sure = bool((self.w[best] != 0).all())
        return Acquisition("exploit" if sure and best.size else "explore", self.order[best])

    def _predict(self, r: Round, x: Floats) -> float:
        B, x = self._seen(r, x)
        p = self.pooled
        return p.within(p.mean_label + fill_in(p.R, self.c, B, p.standard(B, x))[1])

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        B, x = self._seen(r, x)
        p = self.pooled
        p.add(B, x, y)
        a, _, explained = fill_in(p.R, self.c, B, p.standard(B, x))
        unseen = max(float(self.w_bar @ self.c) - explained, 0.0)
        learn_row(p.R, self.G, self.b, self.g, self.w, B, a, y - self.centre, 1.0 / (self.S2 + unseen))
        self._keep(B, x, y)
        if self.n_labels >= self.next_fit:
            self.next_fit = max(self.n_labels + 1.0, self.n_labels * self.growth)
            self._refit()

    def _learn(self, X: Floats, y: Floats) -> None:
        """Add past rows with any number of observed attributes to the stored rows, then run the sampler until it
        converges.
        """
        X = X[:, self.order]
        seen = ~np.isnan(X)
        self.pooled.add_rows(X, y)
        self._widen(int(seen.sum(axis=1).max()))
        for x, there, label in zip(X, seen, y.tolist(), strict=True):
            B = np.flatnonzero(there)
            self._keep(B, x[B], label)
        self.next_fit = max(self.n_labels + 1.0, self.n_labels * self.growth)
        for _ in range(_SETTLING):
            self._refit()
            for _ in range(_SETTLING):
                self._sweep()

    def _widen(self, width: int) -> None:
        """Make room for rows that observed more than k attributes."""
        more = max(width - self.bought.shape[1], 0)
        self.bought = np.pad(self.bought, ((0, 0), (0, more)), constant_values=-1)
        self.values = np.pad(self.values, ((0, 0), (0, more)))

    def _seen(self, r: Round, x: Floats) -> tuple[Ints, Floats]:
        """Return the positions and the values of the attributes observed in a round."""
        there = ~np.isnan(x)
        return self.place[r.attributes[there]], x[there]

    def _keep(self, B: Ints, x: Floats, y: float) -> None:
        if self.n_labels == len(self.labels):
            more = max(64, self.n_labels // 2)
            width = self.bought.shape[1]
            self.bought = np.vstack([self.bought, np.full((more, width), -1)])
            self.values = np.vstack([self.values, np.zeros((more, width))])
            self.labels = np.append(self.labels, np.zeros(more))
        self.bought[self.n_labels, : B.size], self.values[self.n_labels, : B.size], self.labels[self.n_labels] = B, x, y
        self.n_labels += 1

    def _refit(self) -> None:
        """Estimate the moments, S2 and tau from all data so far, and impute all rows again."""
        p, n = self.pooled, self.n_labels
        p.fit(psd=True)
        self.centre, vy = p.mean_label, p.variance
        bought = self.bought[:n]
        sd, level = p.sd[bought], p.ref[bought] + p.mu[bought]  # padding: -1 reads the last entry, which is unused
        Z = np.clip(np.where(sd > 0, (self.values[:n] - level) / np.where(sd > 0, sd, 1.0), 0.0), -8.0, 8.0)
        if n <= 3:
            self.S2 = vy
        for _ in range(2 if n <= 300 else 1):
            active = min(int(np.count_nonzero(self.w)), self.k)
            self.tau = max((2.0 * vy / self.k + float(self.w_bar @ self.w_bar)) / (2.0 + active), 1e-4 * vy)
            r = self.labels[:n] - self.centre
            top, bottom = normal_equations(p.R, bought, Z, r, self.w_bar, self.S2, self.G, self.b)
            least = max(1e-4 * vy, 0.2 * vy * min(1.0, 10.0 / n))
            self.S2 = min(vy, max((top + 0.3 * vy) / (bottom + 0.3), least))
        self.g = self.G @ self.w
        self.c = p.R @ self.w_bar

    def _sweep(self) -> None:
        """Draw a new sample w, and update the moving averages w_bar and `inside` over about 2 % of the rows."""
        self.swept, n = self.n_labels, float(self.n_labels)
        uniform, normal = self.rng.random(3 * self.d), self.rng.standard_normal(2 * self.d)
        seen = self.pooled.attr["n"].copy()
        mean = np.empty(self.d)
        gibbs_sweep(self.G, self.b, self.g, self.w, seen, self.tau, self.odds, uniform, normal, mean)
        rate = 1.0 / min(n, 10.0 + 0.02 * n)
        self.w_bar = (1.0 - rate) * self.w_bar + rate * mean
        self.inside = self.inside + rate * ((self.w != 0) - self.inside)
        self.c = self.pooled.R @ self.w_bar
