"""Master algorithms of a bandit over supports: each chooses an arm (a support) per round and learns from the losses of
the arms it chose.

L is the sum of the loss vectors so far, N the number of arms, T the horizon, eta the learning rate.

A loss f in [0, 1] of arm i, played with probability p_i, is represented by the vector

    l = f e_i / p_i,        E[l] = the losses of all arms

An unavailable ("sleeping") arm receives f itself, the loss of the arm played in its place. (Centring the losses at
their running mean was tried and fails: an arm that is played by luck then gains without bound.)
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
    """Return the unbiased loss vector l of the module's docstring, if arm i had loss f; `awake` marks the available
    arms.
    """
    loss = np.zeros(N)
    loss[i] = f / p_i
    if awake is not None:
        loss[~awake] = f
    return loss


def tsallis_law(L: Floats, eta: float) -> Floats:
    """Return the distribution p_j = 4 / (eta (L_j - z))^2, with z < min L such that sum p = 1: follow the regularised
    leader (FTRL) with 1/2-Tsallis regularisation.
    """
    p = np.empty(L.size)
    _core.tsallis_law(L, eta, p)
    return p


def log_barrier_step(p: Floats, loss: Floats, eta: Floats) -> Floats:
    """Return 1 / (1/p_i + eta_i (loss_i - z)), with z in [min loss, max loss] such that the result sums to 1."""
    new = np.empty(p.size)
    _core.log_barrier_step(p, loss, eta, new)
    return new


class Tsallis(Stateful):
    """The 1/2-Tsallis master p = tsallis_law(L, c / sqrt(n)), where L is the sum of the loss vectors; O(N) per round.

    It is optimal for arms whose losses do not depend on how often they are played. The arms here learn, so its bound
    does not apply; `HedgedFTRL` has one that does.
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
        """Draw an arm; return it with its probability."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Add the loss f of arm i, which was chosen with probability p_i, to the sum of losses."""
        self.L += loss_estimate(self.L.size, i, f, p_i, awake)
        self.n += 1
        self.p = tsallis_law(self.L, self.c / sqrt(self.n + 1))


class HedgedFTRL(Stateful):
    """FTRL with 1/2-Tsallis regularization on losses minus a bonus (Foster et al. 2020); O(N) per round.

        rho_i = the largest 1/p_i so far,   B_i = r sqrt(T) (sqrt(rho_i) - sqrt(N)),   p = tsallis_law(L - B, c/sqrt(T))

    An arm that is rarely played learns slowly: its own regret grows like sqrt(rho_i). The bonus compensates for this in
    advance. T is the horizon; `extend` doubles it when the stream exceeds it.
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
        """Restart with horizon T."""
        self.T, self.n = T, 0
        self.L: Floats = np.zeros(N)
        self.rho: Floats = np.full(N, float(N))
        self.p: Floats = np.full(N, 1.0 / N)

    @property
    def bonus(self) -> Floats:
        """The bonus B of each arm: what is subtracted from its losses so far."""
        return np.asarray(self.r * sqrt(self.T) * (np.sqrt(self.rho) - sqrt(self.rho.size)))

    def extend(self) -> None:
        """Double the horizon and keep the state."""
        self.T *= 2

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """Draw an arm; return it with its probability."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Add the loss f of arm i to the sum of losses, and raise the bonus of every arm whose probability is the
        smallest it has had.
        """
        self.L += loss_estimate(self.L.size, i, f, p_i, awake)
        self.n += 1
        self.p = tsallis_law(self.L - self.bonus, self.c / sqrt(self.T))
        self.rho = np.maximum(self.rho, 1.0 / self.p)


class Corral(Stateful):
    """Log-barrier mirror descent with learning rates that grow for rarely played arms (Agarwal et al. 2017); O(N).

    The analysis assumes a known T. Here T doubles whenever the stream exceeds it, and the rates shrink as if they had
    been chosen for the larger T; the state is kept (the restart of the doubling trick would discard it).
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
        """Return the initial learning rate eta of an arm for T rounds."""
        return min(1.0 / (40.0 * log(T)), sqrt(self.q.size / T))

    @property
    def gamma(self) -> float:
        """The weight of the uniform distribution."""
        return 1.0 / self.T

    @property
    def beta(self) -> float:
        """The growth factor, above 1, of a rarely played arm's rate. A widely copied implementation has its inverse."""
        return exp(1.0 / log(self.T))

    @property
    def p(self) -> Floats:
        """The distribution from which an arm is drawn: q mixed with the uniform distribution."""
        return (1.0 - self.gamma) * self.q + self.gamma / self.q.size

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """Draw an arm; return it with its probability."""
        return pick(self.p, awake, rng)

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Update the distribution with the loss f of arm i, and raise the learning rate of every arm whose probability
        is below its threshold.
        """
        self.n += 1
        if self.n > self.T:
            self.eta *= self._rate(2 * self.T) / self._rate(self.T)
            self.T *= 2
        self.q = log_barrier_step(self.q, loss_estimate(self.q.size, i, f, p_i, awake), self.eta)
        starved = 1.0 / self.p > self.rho
        self.rho[starved] = 2.0 / self.p[starved]
        self.eta[starved] *= self.beta


class BatchedExp3(Stateful):
    """Exponential weights over arms, each kept for a block of rounds (Ito et al. 2018); O(N) per block.

    The m-th block has b = (t/N)^(1/3) rounds, where t is the number of rounds before it; the update uses the arm's mean
    loss in the block.
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
        """The number of rounds in the current block."""
        return max(1, round(float(((self.n - self.n_labels) / self.L.size) ** (1 / 3))))

    def choose(self, rng: np.random.Generator, awake: Bools | None) -> tuple[int, float]:
        """Return the arm of the block, drawn in its first round, with its probability; a substitute for an unavailable
        arm has probability 0.
        """
        if self.arm < 0:
            self.arm, self.chance = pick(self.p, None, rng)
        if awake is not None and not awake[self.arm]:
            return int(np.argmax(np.where(awake, self.p, -1.0))), 0.0
        return self.arm, self.chance

    def learn(self, i: int, f: float, p_i: float, awake: Bools | None) -> None:
        """Record a loss; at the end of the block, update with the arm's mean loss. Losses of arms of earlier blocks are
        ignored.
        """
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
