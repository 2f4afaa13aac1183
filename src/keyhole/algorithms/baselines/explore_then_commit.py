"""Explore-then-commit with orthogonal matching pursuit: a simple statistical baseline of our own."""

from math import ceil, log, sqrt
from typing import ClassVar

import numpy as np

from ..._core import matching_pursuit, prior_slopes
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner
from ...core.registry.algorithm import AlgorithmInfo
from ...core.round import Round
from ...core.state import CountCheck, GramCheck, Growing, IndexCheck, NumberCheck, Part, StateSchema
from ...errors import StateError
from .._options import positive
from .._pairwise_moments import Pooled


class ExploreThenCommit(Learner):
    """Buy at random for a while, choose k attributes once, and keep them; explore again at growing intervals.

        explore:  for `explorations` (d/k) ln d rounds, buy k attributes at random; estimate the moments R of the
                  attributes, and c of the attributes with the label, from the values observed together
        commit:   orthogonal matching pursuit on (R, c): starting from S = {}, add the attribute that explains most of
                  what S leaves unexplained, while that exceeds ln(d) var(y) / (n + 1), where n is the median number of
                  observations
        exploit:  least squares on the rows that observed all of S, shrunk to the pooled solution by two pseudo-rows

    If S has fewer than k attributes, the remaining places are filled at random. When the number of rows reaches 2, 4,
    8, ... times that of the first exploration, it explores again, sqrt(2) times longer each time, and commits anew.

    Cost: O(k^3) per round, O(d k^3) per commitment; memory O(d^2).

    Parameters
    ----------
    explorations
        Length of the first exploration: about `explorations` ln d observations of each attribute; 4 by default.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=3, T=3000, seed=1)
    >>> learner = kh.make("explore-then-commit", d=12, k=3, seed=0)
    >>> history = kh.play(learner, X, y)
    >>> (learner.support == np.flatnonzero(w)).all(), int(history.bought.sum())
    (np.True_, 9000)
    """

    name = "explore-then-commit"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="none proven",
        cost="O(k^3), and O(d k^3) at each commitment",
        reference="keyhole's own: what a statistician would try first; matching pursuit on pooled moments",
        status="verified",
        past_rows="any",
        binary_labels=True,
        raw_columns=True,
        further="exchangeable rows",
    )
    _state: ClassVar[StateSchema] = {
        "pooled": Part(),
        "S": Growing(IndexCheck("d")),
        "sums": Growing(GramCheck()),
        "slopes": Growing(NumberCheck()),
        "left": NumberCheck(),
        "next_phase": NumberCheck(least=0),
        "n_labels": CountCheck(),
    }

    def __init__(self, names: tuple[str, ...], k: int, k0: int, seed: int, explorations: float = 4.0) -> None:
        super().__init__(names, k, k0, seed)
        self.first = float(ceil(positive("explorations", explorations) * self.d / k * log(max(self.d, 2))))
        self.pooled = Pooled(self.d)
        self.place = np.argsort(self.order)
        self.S: Ints = np.empty(0, dtype=np.int64)  # in positions of the seeded order, like all indices in this class
        self.sums: Floats = np.zeros((2, 2))
        self.slopes: Floats = np.empty(0)
        self.left, self.next_phase, self.n_labels = self.first, 2.0 * self.first, 0
        self._prior: Floats | None = None

    def _weights(self) -> Floats:
        """Return the weights per unit of the attribute; the remainder of a prediction is the intercept."""
        w = np.zeros(self.d)
        w[self.order[self.S]] = self.slopes
        return w

    def _support(self) -> Ints:
        """Return S; empty before the first commitment."""
        return np.sort(self.order[self.S])

    def _check_state(self) -> None:
        self._prior = None  # it belongs to the previous state
        n = self.S.size
        if n > self.k or self.slopes.shape != (n,) or self.sums.shape != (n + 2, n + 2):
            raise StateError("the support and the sums in the state are inconsistent; the file is damaged or forged")

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return 3 * d * d

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        places = self._available_in_draw_order(pool)
        if self.left > 0:
            m = min(self.k, places.size)
            return Acquisition("explore", places[self.rng.choice(places.size, size=m, replace=False, shuffle=False)])
        S = self.order[self.S]
        S = S if pool is None else S[pool[S]]
        rest = places[~np.isin(places, S)]
        m = min(self.k - S.size, rest.size)
        extra = rest[self.rng.choice(rest.size, size=m, replace=False, shuffle=False)] if m else rest[:0]
        return Acquisition("exploit", np.concatenate([S, extra]))

    def _predict(self, r: Round, x: Floats) -> float:
        B, x = self._seen(r, x)
        at, values = _taken(self.S, B, x)
        p, mean = self.pooled, self.pooled.mean_label
        if at.size == self.S.size > 0:
            n = max(float(self.sums[-2, -2]), 1.0)
            centre = self.sums[:-2, -2] / n if self.sums[-2, -2] else p.mu[at]
            level = self.sums[-1, -2] / n + p.first_label if self.sums[-2, -2] else mean
            return p.within(level + float(self.slopes @ (values - p.ref[at] - centre)))
        if at.size == 0:
            return p.within(mean)
        R = p.R[np.ix_(at, at)] + 0.02 * np.eye(at.size)
        return p.within(mean + float(np.linalg.solve(R, p.c[at]) @ p.standard(at, values)))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        B, x = self._seen(r, x)
        self.pooled.add(B, x, y)
        self.n_labels += 1
        at, values = _taken(self.S, B, x)
        if at.size == self.S.size > 0:
            row = np.concatenate([values - self.pooled.ref[at], [1.0, y - self.pooled.first_label]])
            self.sums += np.outer(row, row)
            self._solve()
        if r.kind == "explore" and self.left > 0:
            self.left -= 1.0
            if self.left <= 0:
                self._commit()
        if self.n_labels >= self.next_phase and self.left <= 0:
            self.left = ceil(self.first * sqrt(self.next_phase / (2.0 * self.first)))
            self.next_phase *= 2.0

    def _learn(self, X: Floats, y: Floats) -> None:
        """Learn from past rows as explorations: a row that observed every attribute counts as d / k rounds."""
        X = X[:, self.order]
        self.pooled.add_rows(X, y)
        n_rounds = int(self.d / self.k * float((~np.isnan(X)).sum(axis=0).min()))
        self.left, self.n_labels = self.left - n_rounds, self.n_labels + n_rounds
        if self.left > 0:
            return
        while self.next_phase <= self.n_labels:
            self.next_phase *= 2.0
        self._commit()
        whole = ~np.isnan(X[:, self.S]).any(axis=1)
        if self.S.size and whole.any():
            centred = X[whole][:, self.S] - self.pooled.ref[self.S]
            rows = np.column_stack([centred, np.ones(len(centred)), y[whole] - self.pooled.first_label])
            self.sums += rows.T @ rows
            self._solve()

    def _seen(self, r: Round, x: Floats) -> tuple[Ints, Floats]:
        """Return the positions and the values of the attributes observed in a round."""
        there = ~np.isnan(x)
        return self.place[r.attributes[there]], x[there]

    def _commit(self) -> None:
        """Choose S again; unless it is unchanged, restart the count of rows that observed all of it."""
        p = self.pooled
        p.fit(psd=self.d <= 150)
        self._prior = None
        stop = log(max(self.d, 2)) * p.variance / (float(np.median(p.attr["n"])) + 1.0)
        S = np.sort(matching_pursuit(p.R, p.c, self.k, stop))
        if not np.array_equal(S, self.S):
            self.S, self.sums = S, np.zeros((S.size + 2, S.size + 2))
            self.slopes = self._pooled_slopes().copy()

    def _solve(self) -> None:
        """Compute the slopes from the sums; those of all rows where numbers so large leave nothing else."""
        slopes = prior_slopes(self.sums, self._pooled_slopes(), self.pooled.sd[self.S] ** 2)
        self.slopes = slopes if np.isfinite(slopes).all() else self._pooled_slopes().copy()

    def _pooled_slopes(self) -> Floats:
        """Return (R_SS + 0.02)^-1 c_S per unit of the attribute, cached until the next commitment."""
        if self._prior is None:
            p, S = self.pooled, self.S
            w = np.linalg.solve(p.R[np.ix_(S, S)] + 0.02 * np.eye(S.size), p.c[S])
            self._prior = np.where(p.sd[S] > 0, w / np.where(p.sd[S] > 0, p.sd[S], 1.0), 0.0)
        return self._prior


def _taken(S: Ints, B: Ints, x: Floats) -> tuple[Ints, Floats]:
    """Return the members of S that are in B, and their values x."""
    i, e = np.nonzero(S[:, None] == B)
    return S[i], x[e]
