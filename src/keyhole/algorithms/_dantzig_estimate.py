"""The estimate that DS-OSLRC and DS-POSLRC share: from the explorations so far to w_hat_s and S_s."""

import warnings
from typing import ClassVar

import numpy as np

from .._core import estimate_round
from .._internal.typing import Floats, Ints
from ..core.state import CountCheck, NumberCheck, Part, Stateful, StateSchema
from ..errors import ConfigError, KeyholeWarning
from ..estimation import dantzig_width, sampling
from ..estimation.dantzig import Sequence
from ..estimation.dantzig.sequence import DENSE
from ..estimation.dantzig.simplex import Reached
from ..estimation.top_k import identified, top_k
from ..theory import Constants

# Explorations with w = 0 before a learner warns: while it runs, and at the end of a stream.
PATIENCE = 30
_PATIENCE_AT_END = 5


class DantzigEstimate(Stateful):
    """The estimate H, b, gamma_s, w_hat_s and S_s, updated by one exploration at a time.

    `zeros` counts the solves so far with w_hat = 0, and `failures` the solves without a solution, after which the
    previous w_hat is kept.
    """

    _state: ClassVar[StateSchema] = {
        "seq": Part(),
        "width": Part(),
        "w_hat": NumberCheck(),
        "S": CountCheck(),
        "solved": CountCheck(),
        "zeros": CountCheck(),
        "failures": CountCheck(),
    }

    def __init__(self, d: int, k: int, width: dantzig_width.Width, order: Ints, engine: str = "simplex") -> None:
        self.k, self.width, self.order = k, width, order
        # Deviation: if there are several solutions, the seeded order selects one (E37).
        self.seq = Sequence(d, one_of("engine", engine, ("simplex", "highs")), order=order)
        self.w_hat: Floats = np.full(d, 1.0 / d)
        # Deviation: S_0 is drawn from the seed, not "arbitrary" (E12).
        self.S: Ints = np.sort(order[:k])
        self.solved = self.zeros = self.failures = 0
        # Not state: a learner played in blocks and one asked row by row must save the same bytes.
        self._warned_at_end = False

    @property
    def identified(self) -> int:
        """The number of members of S that are not merely tied."""
        return identified(self.w_hat, self.S) if self.solved else 0

    def accumulate(self, B: Ints, x: Floats, y: float, P: Floats) -> None:
        """Add x_hat y to b and h to H, on the entries of B; O(|B|^2)."""
        n = B.size
        v, h, deviation = np.empty(n), np.empty((n, n)), np.empty(n)
        estimate_round(self.w_hat, B, x, y, P, v, h, deviation)
        self.width.observe(B, deviation)
        self.seq.update(B, h, v)

    def accumulate_complete(self, X: Floats, y: Floats) -> None:
        """Add complete past rows, as explorations that observed everything."""
        # Deviation: a past row is an exploration with inclusion probabilities one; s grows, t does not.
        d = self.w_hat.size
        everything, certain = np.arange(d), np.ones((d, d))
        for x, label in zip(X, y.tolist(), strict=True):
            self.accumulate(everything, x, label, certain)

    def solve(self, reached: Reached | None = None) -> None:
        """Set w_hat = DS(gamma_s) and S = its k largest entries; `reached`: where compiled code stopped."""
        solution = self.seq.solve(self.width.gamma(self.seq.s), reached)
        self.solved += 1
        if solution.status == "optimal":
            self.w_hat = solution.w
            self.S = top_k(self.w_hat, self.k, self.S, self.order)
            self.zeros += not self.w_hat.any()
        else:
            self._count_failure(solution.status)
        if self.silent and self.solved == PATIENCE:
            self.warn_that_estimate_is_zero()

    def _count_failure(self, status: str) -> None:
        """Keep the previous estimate, and warn the first time."""
        self.failures += 1
        if self.failures == 1:
            text = f"Dantzig problem of exploration {self.seq.s} is {status}; the last estimate is kept (shown once)"
            warnings.warn(text, KeyholeWarning, stacklevel=2)

    @property
    def silent(self) -> bool:
        """Whether w_hat was 0 in every exploration so far, in which case S is arbitrary."""
        return 0 < self.solved == self.zeros

    def nearest(self) -> tuple[float, float]:
        """Return (gamma, gamma_max) of the attribute closest to entering: it would enter if gamma < gamma_max."""
        b = np.abs(self.seq.b) / self.seq.s
        gamma = np.broadcast_to(self.width.gamma(self.seq.s), b.shape)
        i = int(np.argmax(b / np.maximum(gamma, 1e-300)))
        return float(gamma[i]), float(b[i])

    def silence(self) -> str:
        """Return the message that the estimate has always been 0."""
        gamma, gamma_max = self.nearest()
        return (
            f"the Dantzig estimate was zero in all {self.solved} explorations (gamma {gamma:.3g} >= gamma_max "
            f"{gamma_max:.3g}): the support is arbitrary so far"
        )

    def warn_that_estimate_is_zero(self) -> None:
        """Warn that w has been 0 in every exploration so far."""
        warnings.warn(f"{self.silence()} (shown once)", KeyholeWarning, stacklevel=2)

    def finish(self) -> None:
        """Warn at the end of a stream that had fewer than `PATIENCE` explorations."""
        if self.silent and _PATIENCE_AT_END <= self.solved < PATIENCE and not self._warned_at_end:
            self._warned_at_end = True
            self.warn_that_estimate_is_zero()


def width_of(
    spec: str | dantzig_width.Scaled, d: int, k: int, k0: int | None, sigma: float, delta_s: float, delta: float
) -> tuple[dantzig_width.Theory | dantzig_width.Empirical, Constants | None]:
    """Return the rule that `tuning=` selects, and the paper's constants if the rule uses them."""
    parsed = dantzig_width.parse(spec)
    if parsed == "empirical":
        return dantzig_width.Empirical(d), None
    constants = Constants(d=d, k=k, sigma=sigma, delta_s=delta_s, delta=delta, k0=k0)
    c = parsed.c if isinstance(parsed, dantzig_width.Scaled) else 1.0
    return dantzig_width.Theory(constants, c), constants


def is_drawn(memo: tuple[float, ...], drawn: int, d: int) -> bool:
    """Return whether a round's memo is a valid (n, m, q(B)) of m attributes drawn from n by SAMPLING."""
    if len(memo) != 2 + drawn or memo[1] != drawn or memo[0] not in range(drawn, d + 1):
        return False
    q = np.array(memo[2:])
    return bool(((q >= 0.0) & (q <= 1.0)).all() and (sampling.pairs(q, int(memo[0]), drawn) > 0.0).all())


def numbers_kept(d: int) -> int:
    """Return how many numbers a saved `DantzigEstimate` holds at least: d^2 if the matrix H is stored densely,
    otherwise d.
    """
    return d * d if d <= DENSE else d


def check_range(name: str, d: int, k: int) -> None:
    """Check the paper's 3 <= k <= d - 3; outside this range the paper recommends a bandit over supports."""
    if not 3 <= k <= d - 3:
        legal = f"3 <= k <= d - 3 = {d - 3}" if d >= 6 else "d >= 6 and 3 <= k <= d - 3"
        raise ConfigError(f"{name} needs {legal}, but d = {d} and k = {k}; there use 'support-bandit'")


def one_of(option: str, value: str, legal: tuple[str, ...]) -> str:
    """Return a named choice; raise a `ConfigError` that lists the choices if it is invalid."""
    if value not in legal:
        raise ConfigError(f"{option} must be one of {', '.join(map(repr, legal))}; it is {value!r}")
    return value
