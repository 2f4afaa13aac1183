"""Masters of a bandit over supports: which arm to play, learnt from the losses of the arms that were played.

A loss f in [0, 1] of arm i, played with probability p_i, stands for the vector

    l = f e_i / p_i,        E[l] = the losses of all arms

An arm that could not be played (asleep) is given f itself, the loss of whoever stood in for it. (Centring the losses at
their running mean was tried and fails: an arm played by luck then gains without bound.)
"""

from math import exp, log, sqrt
from typing import ClassVar

import numpy as np

from ... import _core
from ..._internal.typing import Bools, Floats
from ...core.state import CountCheck, IndexCheck, NumberCheck, ProbabilityCheck, Stateful, StateSchema
from ._enumerate_supports import pick

__all__ = ["BatchedExp3", "Corral", "HedgedFTRL", "Tsallis", "log_barrier_step", "loss_estimate", "tsallis_law"]


def loss_estimate(N: int, i: int, f: float, p_i: float, awake: Bools | None) -> Floats:
    """The vector l above."""
    loss = np.zeros(N)
    loss[i] = f / p_i
    if awake is not None:
        loss[~awake] = f
    return loss


def tsallis_law(L: Floats, eta: float) -> Floats:
    """p_j = 4 / (eta (L_j - z))^2 with z < min L such that sum p = 1: the 1/2-Tsallis regularised leader."""
    p = np.empty(L.size)
    _core.tsallis_law(L, eta, p)
    return p


def log_barrier_step(p: Floats, loss: Floats, eta: Floats) -> Floats:
    """p_i <- 1 / (1/p_i + eta_i (loss_i - z)), with z in [min loss, max loss] such that they sum to 1."""
    new = np.empty(p.size)
    _core.log_barrier_step(p, loss, eta, new)
    return new


class Tsallis(Stateful):
    """p = tsallis_law(L, c / sqrt(n)), L the sum of the loss vectors. O(N) a round.

    This is the best bandit for arms whose losses do not depend on how often they are played. The arms here learn, so
    that its bound does not apply; `HedgedFTRL` has one.
    """

    _state: ClassVar[StateSchema] = {
        "L": NumberCheck(least=0.0),
        "p": ProbabilityCheck(),
        "n": CountCheck(),
    }

    def __init__(self, N: int, c: float) -> None:
        self.c = c
        self.L: Floats = np.zeros(N)
        self.p: Floats = np.full(N, 1.0 / N)
        self.n = 0

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """An arm and the probability it had."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Take in the loss of a played arm."""
        self.L += loss_estimate(self.L.size, i, f, p_i, awake)
        self.n += 1
        self.p = tsallis_law(self.L, self.c / sqrt(self.n + 1))


class HedgedFTRL(Stateful):
    """The 1/2-Tsallis leader on losses from which a bonus is subtracted (Foster et al. 2020). O(N) a round.

        rho_i = the largest 1/p_i so far,   B_i = r sqrt(T) (sqrt(rho_i) - sqrt(N)),   p = tsallis_law(L - B, c/sqrt(T))

    An arm that is rarely played learns slowly: its own regret grows like sqrt(rho_i). The bonus pays for that in
    advance. T is the horizon; `extend` doubles it when the stream outlives it.
    """

    _state: ClassVar[StateSchema] = {
        "L": NumberCheck(least=0.0),
        "rho": NumberCheck(1.0, 1e100),
        "p": ProbabilityCheck(),
        "n": CountCheck(),
        "T": CountCheck(least=1),
    }

    def __init__(self, N: int, T: int, c: float, r: float) -> None:
        self.c, self.r = c, r
        self.restart(N, T)

    def restart(self, N: int, T: int) -> None:
        """Begin again with horizon T."""
        self.T, self.n = T, 0
        self.L: Floats = np.zeros(N)
        self.rho: Floats = np.full(N, float(N))
        self.p: Floats = np.full(N, 1.0 / N)

    @property
    def bonus(self) -> Floats:
        """B: what has been subtracted from each arm's losses so far."""
        return np.asarray(self.r * sqrt(self.T) * (np.sqrt(self.rho) - sqrt(self.rho.size)))

    def extend(self) -> None:
        """Double the horizon and keep what is known."""
        self.T *= 2

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """An arm and the probability it had."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Take in the loss of a played arm, and the bonus of every arm that is at its least likely."""
        self.L += loss_estimate(self.L.size, i, f, p_i, awake)
        self.n += 1
        self.p = tsallis_law(self.L - self.bonus, self.c / sqrt(self.T))
        self.rho = np.maximum(self.rho, 1.0 / self.p)


class Corral(Stateful):
    """Log-barrier mirror descent whose learning rates grow for arms that get starved (Agarwal et al. 2017). O(N).

    The analysis knows T. Here T doubles whenever the stream outlives it, and the rates shrink as they would have been
    chosen smaller; what is learnt stays (a restart, as the doubling trick has it, would throw it away).
    """

    _state: ClassVar[StateSchema] = {
        "q": ProbabilityCheck(),
        "eta": NumberCheck(1e-100, 1e100),
        "rho": NumberCheck(1.0, 1e100),
        "T": CountCheck(least=3),
        "n": CountCheck(),
    }

    def __init__(self, N: int, T: int, c: float) -> None:
        self.T, self.n = T, 0
        self.q: Floats = np.full(N, 1.0 / N)
        self.eta: Floats = np.full(N, c * self._rate(T))
        self.rho: Floats = np.full(N, 2.0 * N)

    def _rate(self, T: int) -> float:
        """eta of an arm that was never starved, for T rounds."""
        return min(1.0 / (40.0 * log(T)), sqrt(self.q.size / T))

    @property
    def gamma(self) -> float:
        """The share of the uniform law."""
        return 1.0 / self.T

    @property
    def beta(self) -> float:
        """What a starved arm's rate grows by: above 1. A widely copied implementation has it upside down."""
        return exp(1.0 / log(self.T))

    @property
    def p(self) -> Floats:
        """The law an arm is drawn from: q with a little of the uniform law."""
        return (1.0 - self.gamma) * self.q + self.gamma / self.q.size

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """An arm and the probability it had."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Take in the loss of a played arm, and raise the learning rate of every arm below its threshold."""
        self.n += 1
        if self.n > self.T:
            self.eta *= self._rate(2 * self.T) / self._rate(self.T)
            self.T *= 2
        self.q = log_barrier_step(self.q, loss_estimate(self.q.size, i, f, p_i, awake), self.eta)
        starved = 1.0 / self.p > self.rho
        self.rho[starved] = 2.0 / self.p[starved]
        self.eta[starved] *= self.beta


class BatchedExp3(Stateful):
    """Exponential weights over arms that are kept for a block of rounds each (Ito et al. 2018). O(N) a block.

    The m-th block has b = (t/N)^(1/3) rounds, t the rounds before it; the arm's mean loss in the block is what counts.
    """

    _state: ClassVar[StateSchema] = {
        "L": NumberCheck(least=0.0),
        "p": ProbabilityCheck(),
        "m": CountCheck(),
        "n": CountCheck(),
        "arm": IndexCheck("N", gaps=True),
        "chance": NumberCheck(1e-100, 1.0),
        "n_labels": CountCheck(most="n"),
        "total": NumberCheck(least=0.0),
    }

    def __init__(self, N: int, c: float) -> None:
        self.N, self.c = N, c
        self.L: Floats = np.zeros(N)
        self.p: Floats = np.full(N, 1.0 / N)
        self.m = self.n = self.n_labels = 0
        self.arm, self.chance, self.total = -1, 1.0, 0.0

    @property
    def length(self) -> int:
        """How many rounds the present block has."""
        return max(1, round(float(((self.n - self.n_labels) / self.L.size) ** (1 / 3))))

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """The block's arm, drawn where a block begins. A stand-in for an arm asleep has probability 0: not learnt."""
        if self.arm < 0:
            self.arm, self.chance = pick(self.p, None, rng)
        if awake is not None and not awake[self.arm]:
            return int(np.argmax(np.where(awake, self.p, -1.0))), 0.0
        return self.arm, self.chance

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Take in a loss; at the end of the block, its mean. Losses of an arm of an earlier block come too late."""
        if i != self.arm or p_i != self.chance:
            return
        length = self.length
        self.n, self.n_labels, self.total = self.n + 1, self.n_labels + 1, self.total + f
        if self.n_labels < length:
            return
        self.L += loss_estimate(self.L.size, i, self.total / self.n_labels, p_i, None)
        self.m += 1
        self.arm, self.n_labels, self.total = -1, 0, 0.0
        weights = np.exp(-self.c * sqrt(log(max(self.L.size, 2)) / (self.L.size * self.m)) * (self.L - self.L.min()))
        self.p = weights / weights.sum()
