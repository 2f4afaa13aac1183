"""Estimates of the memory and time a learner needs, by its size, before it is built.

The coefficients are rounded up from measurements (resident memory and processor time of one core at d = 200, 800 and
2400). They are for deciding whether a size is feasible, not for benchmarks: memory is right within a factor of about
two, and time within about ten, because it depends on the processor and on the data.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Footprint", "footprint", "machine_memory"]

Estimate = Callable[[int, int], tuple[float, float, float]]
"""A function from (d, k) to bytes, seconds to build, and seconds of a slow round."""


@dataclass(frozen=True)
class Footprint:
    """The estimated memory and time of a learner."""

    memory: float
    """Memory in bytes once the whole state is in use."""
    build_seconds: float
    round_seconds: float
    """Seconds of a slow round: one that solves an optimization problem or refits."""

    def __str__(self) -> str:
        return (
            f"{_memory(self.memory)}, {_seconds(self.build_seconds)} to build and "
            f"{_seconds(self.round_seconds)} for a slow round"
        )


def _memory(n: float) -> str:
    return f"{n / 1e9:.1f} GB" if n >= 1e9 else f"{max(n / 1e6, 0.1):.3g} MB"


def _seconds(s: float) -> str:
    return f"{s:.2g} s" if s < 60 else f"{s:.0f} s"


def _linear(d: int, k: int) -> tuple[float, float, float]:
    return 400.0 * d, 6e-7 * d, 1e-4 + 1e-6 * d + 1e-8 * k**2


def _dense(per_pair: float, build: float = 2e-9, round: float = 2e-9) -> Estimate:
    """Return an estimate with a fixed number of bytes and seconds per pair of attributes."""
    return lambda d, k: (
        400.0 * d + per_pair * d**2,
        6e-7 * d + build * d**2,
        1e-4 + 1e-6 * d + round * d**2 + 1e-8 * k**2,
    )


def _every_support(seconds: float) -> Estimate:
    """Return an estimate for learners that store something for each of the C(d, k) supports."""

    def estimate(d: int, k: int) -> tuple[float, float, float]:
        n = float(math.comb(d, min(k, d - k, 60))) if d < 10**6 else math.inf
        return 400.0 * d + (80.0 + 8.0 * k**2) * n, 1e-7 * n, seconds * n

    return estimate


_DANTZIG = _dense(16, round=3e-8)
_ESTIMATES: dict[str, Estimate] = {
    "thrifty": lambda d, k: (6e6 + 4000.0 * d, 2e-6 * d, 0.03 + 6e-8 * d * min(k, 50) ** 2),
    "ds-oslrc": _DANTZIG,
    "ds-poslrc": _DANTZIG,
    "kale2017-dantzig": _DANTZIG,
    "kale2017-greedy": _dense(16),
    "explore-then-commit": _dense(32, build=1e-8, round=3e-9),
    "gibbs-thompson": _dense(70, round=7e-6),
    "vaw": _dense(16, build=2e-8),
    "olin-lasso": _dense(26, round=3e-8),
    "i-lamm": _dense(17, round=3e-8),
    "foster2016": _every_support(1.5e-6),
    "support-bandit": _every_support(5e-8),
}
_LINEAR = (
    *("aer", "aerr", "aelr", "rda", "fixed-random", "oracle-support", "murata2018-explore", "murata2018-hybrid"),
    *("ito2017-1", "ito2017-2", "ito2017-3"),
)


def footprint(name: str, d: int, k: int | None = None) -> Footprint:
    """Estimate the memory and time that a learner needs, without building it.

    Parameters
    ----------
    name : the name of an algorithm.
    d : the number of attributes.
    k : how many may be bought per row; by default all of them.

    Returns
    -------
    Bytes, seconds to build, and seconds of a slow round.

    Raises
    ------
    ConfigError : if there is no such algorithm.

    Examples
    --------
    >>> print(footprint("vaw", d=6000))
    578 MB, 0.72 s to build and 0.44 s for a slow round
    >>> footprint("aer", d=6000, k=5).memory
    2400000.0
    """
    from .catalogue import record

    record(name)  # raises the error that lists the algorithms
    estimate = _ESTIMATES.get(name, _linear)
    return Footprint(*estimate(d, min(d if k is None else k, d)))


def machine_memory() -> float:
    """Return the memory of this machine in bytes; infinite if the system does not report it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
