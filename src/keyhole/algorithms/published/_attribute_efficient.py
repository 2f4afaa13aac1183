"""Attribute-efficient regression: train on a few attributes of an example, predict with the largest weights.

d is the number of attributes, k how many are bought per round, B the attributes bought, w the weights, y the label. In
the formulas, n attributes are available, and m + 1 <= k are bought in training.

    training (exploration rounds):   i_1, ..., i_m uniform with replacement;   xt = (n/m) sum_r x_{i_r} e_{i_r}
                                     j ~ q, q_j proportional to |w_j|^p;       phi = x_j w_j / q_j - y
                                     w <- step(w, phi xt);   w_bar <- average of the iterates
    prediction (all other rounds):   S = top-k of |w_bar|;   y_hat = <w_bar(S), x(S)>, or online Newton steps on x(S)

xt and phi are independent given w, E xt = x and E phi = <w, x> - y, so phi xt is an unbiased estimate of the gradient
of (<w, x> - y)^2 / 2 from m + 1 <= k attributes. These learners were designed to return a dense w_bar after training;
predicting with its largest entries is the way to use them within a budget.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition
from ...core.round import Round
from ...core.state import CountCheck, IndexCheck, NumberCheck, Part, StateSchema
from ...errors import ConfigError
from ...estimation import exploration_schedule, sampling
from ...estimation.online_newton import Newton
from ...estimation.top_k import only, top_k
from .._dantzig_estimate import one_of
from .._options import Presets, number, preset
from .._scheduled_learner import Scheduled
from .._support_exploiter import OnSupport


class AttributeEfficient(Scheduled):
    """The base class of AER, AERR and AELR, which differ in the distribution of j (`power`), the step size eta_s of the
    theory, and the step itself.
    """

    power: ClassVar[int]
    """The power p: with 1, |phi| <= |w|_1 + |y|; with 2, E (phi + y)^2 = |w|_2^2 |x|_2^2."""
    presets: ClassVar[Presets]
    _state: ClassVar[StateSchema] = {
        "s": CountCheck(),
        "w": NumberCheck(most="reach"),
        "w_bar": NumberCheck(most="reach"),
        "exploiter": Part(S=IndexCheck("d", ascending=True)),
    }

    def __init__(
        self,
        names: Sequence[str],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        step: float | None = None,
        average: float | None = None,
        radius: float = 1.0,
        explore: str | float = "2 t^(-1/3)",
        exploit: Literal["newton", "weights"] = "newton",
    ) -> None:
        super().__init__(names, k, k0, seed)
        if k < 2:
            raise ConfigError(f"{self.name} needs k >= 2, because it trains on two attributes or more, but k = {k}")
        numbers = preset(self.presets, tuning, step=step, average=average)
        self.step, self.average = number("step", numbers["step"], above=0.0), numbers["average"]
        self.radius = number("radius", radius, above=0.0)
        self.reach = self.radius * (1.0 + 1e-9)
        self.schedule = exploration_schedule.parse(explore)
        self.by_newton = one_of("exploit", exploit, ("weights", "newton")) == "newton"
        self.s = 0
        self.w: Floats = np.zeros(self.d)
        self.w_bar: Floats = np.zeros(self.d)
        S = np.sort(self.order[:k])
        self.exploiter = OnSupport(Newton(k, eps=0.1 * k, rho=None), S, np.zeros(k), partial=True)
        self._begin()

    # -- specific to each algorithm

    def _begin(self) -> None:
        """Initialise additional state; called at the end of the constructor."""

    @abstractmethod
    def _eta(self, s: int, m: int) -> float:
        """Return the theory's step size at the s-th example, of which m + 1 attributes are bought."""

    @abstractmethod
    def _descend(self, B: Ints, g: Floats, eta: float) -> None:
        """Move w one step against the gradient g, which is zero outside B."""

    # -- shared

    def _weights(self) -> Floats:
        """Return the predicting weights on the support, zero elsewhere."""
        if self.by_newton:
            return self.exploiter.weights(self.d)
        return only(self.w_bar, self.support)

    def _support(self) -> Ints:
        """Return the k largest entries of the averaged weights."""
        return self.exploiter.S

    def _explore(self, pool: Bools | None) -> Acquisition:
        """Draw the two samples of an example; the memo has n/m, the position of j, w_j/q_j, and how often each
        attribute was drawn.
        """
        places = self._available_in_draw_order(pool)
        n, m = places.size, self.k - 1
        if n == 0:
            return Acquisition("explore", places, memo=(0.0, 0.0, 0.0))
        drawn = places[self.rng.integers(n, size=m)]
        q = sampling.distribution(np.abs(self.w[places]) ** self.power)
        at = int(sampling.draw(q, 1, self.rng)[0])
        j, ratio = places[at], self.w[places[at]] / q[at]
        B, counts = np.unique(np.append(drawn, j), return_counts=True)
        where = int(np.searchsorted(B, j))
        counts[where] -= 1  # the draw of j belongs to phi, not to xt
        return Acquisition("explore", B, memo=(n / m, float(where), float(ratio), *map(float, counts)))

    def _validate_memo(self, r: Round) -> bool:
        if r.kind == "exploit" or r.attributes.size == 0:
            return True
        return len(r.memo) == 3 + r.attributes.size and r.memo[1] in range(r.attributes.size)

    def _predict(self, r: Round, x: Floats) -> float:
        if r.kind == "explore" or not self.by_newton:
            return float(self.w_bar[r.attributes] @ np.where(np.isnan(x), 0.0, x))
        return self.exploiter.predict(r.attributes, x)

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        if r.kind == "explore":
            if r.attributes.size:
                self._train(r.attributes, self._gradient(r, x, y))
        elif self.by_newton and np.array_equal(r.memo, self.support):
            self.exploiter.learn(r.attributes, x, y)

    @staticmethod
    def _gradient(r: Round, x: Floats, y: float) -> Floats:
        """Return the gradient estimate phi xt on the bought attributes; an unobserved value counts as zero, which
        biases it.
        """
        x = np.where(np.isnan(x), 0.0, x)
        scale, where, ratio, *counts = r.memo
        phi = x[int(where)] * ratio - y
        g: Floats = phi * scale * np.array(counts) * x
        return g

    def _train(self, B: Ints, g: Floats) -> None:
        """Take one step, and update the average and the support."""
        self.s += 1
        # Deviation: the theory's eta assumes a known number of examples; here it is the number so far.
        self._descend(B, g, self.step * self._eta(self.s, self.k - 1))
        # The weights of the average grow like s^average (Shamir and Zhang 2013); 0 is the plain mean of the theory.
        self.w_bar += (self.w - self.w_bar) * (self.average + 1.0) / (self.s + self.average)
        S = top_k(self.w_bar, self.k, self.support, self.order)
        self.exploiter.follow(S, self.w_bar)

    def _exploit_rows(self, X: Floats, y: Floats) -> Floats:
        if self.by_newton:
            return self.exploiter.run(X, y)
        return np.asarray(np.nan_to_num(X, nan=0.0) @ self.w_bar[self.support])
