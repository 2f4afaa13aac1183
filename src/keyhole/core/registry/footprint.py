"""Estimates of the memory and time a learner needs, by its size, before it is built.

The coefficients are rounded up from measurements (resident memory and processor time of one core at d from 100 to
30 000, with k from 5 to d). They are for deciding whether a size is feasible, not for benchmarks. Memory includes what
building takes for a moment, and is right within a factor of about three; time is right within about ten, because it
depends on the processor and on the data.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Footprint", "footprint", "machine_memory"]

Estimate = Callable[[int, int, int], tuple[float, float, float]]
"""A function from (d, k, k0) to bytes, seconds to build, and seconds of a slow round."""

# Where the cost grows with the support and not with k: supports of more attributes are rare, because the data must show
# that each of them is useful.
_THRIFTY_SUPPORT, _PURSUIT_SUPPORT = 200, 80
# The rows after which the memory and the time of learners that keep rows are estimated; thrifty keeps this many values.
_ROWS, _THRIFTY_ROWS, _THRIFTY_VALUES = 300, 1 << 15, 1 << 22


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


def _linear(d: int, k: int, k0: int) -> tuple[float, float, float]:
    return 400.0 * d, 6e-7 * d, 1e-4 + 1e-6 * d


def _bought(per_pair: float, build: float = 0.0) -> Estimate:
    """Return an estimate with a number of bytes per pair of the attributes that are bought in a row."""

    def estimate(d: int, k: int, k0: int) -> tuple[float, float, float]:
        pairs = float(k + k0) ** 2
        return 400.0 * d + per_pair * pairs, 6e-7 * d + build * pairs, 1e-4 + 1e-6 * d + 1e-8 * pairs

    return estimate


def _dense(per_pair: float, build: float = 2e-9, round: float = 2e-9) -> Estimate:
    """Return an estimate with a fixed number of bytes and seconds per pair of attributes."""
    return lambda d, k, k0: (
        400.0 * d + per_pair * d**2,
        6e-7 * d + build * d**2,
        1e-4 + 1e-6 * d + round * d**2,
    )


def _sum(*estimates: Estimate) -> Estimate:
    def estimate(d: int, k: int, k0: int) -> tuple[float, float, float]:
        memory, build, round = zip(*(one(d, k, k0) for one in estimates), strict=True)
        return sum(memory), sum(build), sum(round)

    return estimate


def _thrifty(d: int, k: int, k0: int) -> tuple[float, float, float]:
    columns = min(k, _THRIFTY_SUPPORT)
    first_values, values = 256 * (k + k0), min(_THRIFTY_ROWS * (k + k0), _THRIFTY_VALUES)
    memory = 6e6 + 4000.0 * d + 88.0 * d * columns + 16.0 * max(first_values, values)
    return memory, 2e-6 * d, 0.03 + 6e-8 * d * columns**2


def _greedy(d: int, k: int, k0: int) -> tuple[float, float, float]:
    forecasters = max(k0, 1) + 2  # one per candidate and two more, each with pairs of k attributes
    memory = 400.0 * d + 16.0 * d**2 + 8.0 * d * k + (16.0 * forecasters + 16.0) * k**2
    round = 1e-4 + 1e-6 * d + 2e-9 * d**2 + 1e-7 * d * float(k) ** 2  # of the last round of a batch
    return memory, 6e-7 * d + 1e-8 * forecasters * k**2, round


def _pursuit(d: int, k: int, k0: int) -> tuple[float, float, float]:
    return 0.0, 0.0, 2e-11 * d * float(min(k, _PURSUIT_SUPPORT)) ** 4


def _imputed(d: int, k: int, k0: int) -> tuple[float, float, float]:
    return 32.0 * _ROWS * k, 0.0, 1e-8 * _ROWS * d * float(k) ** 2


def _every_support(numbers: Callable[[int], float], seconds: float) -> Estimate:
    """Return an estimate for learners that store so many numbers for each of the C(d, k) supports of size k."""

    def estimate(d: int, k: int, k0: int) -> tuple[float, float, float]:
        n = float(math.comb(d, min(k, d - k, 60))) if d < 10**6 else math.inf
        pairs = float(k + k0) ** 2
        memory = 400.0 * d + (80.0 + 8.0 * numbers(k)) * n + 16.0 * d**2 + 16.0 * pairs
        return memory, (2e-6 + 2e-9 * k**2) * n, (seconds + 2e-9 * k**2) * n + 1e-8 * (d**2 + pairs)

    return estimate


_NEWTON = _bought(24, build=1e-8)  # and once more while the support changes
_FIXED = _bought(16, build=1e-8)
_SAMPLED = _bought(16)
_DANTZIG = _dense(16, round=3e-8)
_ESTIMATES: dict[str, Estimate] = {
    "thrifty": _thrifty,
    "ds-oslrc": _sum(_DANTZIG, _NEWTON),
    "ds-poslrc": _sum(_DANTZIG, _NEWTON),
    "kale2017-dantzig": _DANTZIG,
    "kale2017-greedy": _greedy,
    "explore-then-commit": _sum(_dense(32, build=1e-8, round=3e-9), _pursuit),
    "gibbs-thompson": _sum(_dense(70, round=7e-6), _imputed),
    "vaw": _dense(16, build=2e-8),
    "olin-lasso": _dense(26, round=3e-8),
    "i-lamm": _dense(17, round=1e-7),
    "foster2016": _every_support(lambda k: 2 * k + 1, 1.5e-6),
    "support-bandit": _every_support(lambda k: k * k + 2 * k, 5e-8),
    "fixed-random": _FIXED,
    "oracle-support": _FIXED,
    "aer": _NEWTON,
    "aerr": _NEWTON,
    "aelr": _NEWTON,
    "murata2018-hybrid": _NEWTON,
    "ito2017-1": _SAMPLED,
    "ito2017-2": _SAMPLED,
    "ito2017-3": _SAMPLED,
    "murata2018-explore": _linear,
    "rda": _linear,
}


def footprint(name: str, d: int, k: int | None = None, k0: int = 0) -> Footprint:
    """Estimate the memory and time that a learner needs, without building it.

    Parameters
    ----------
    name : the name of an algorithm.
    d : the number of attributes.
    k : how many of them may be bought per row; by default all. If a source brings several attributes, each counts, and
        so do free attributes.
    k0 : how many more may be bought after the label.

    Returns
    -------
    Bytes, seconds to build, and seconds of a slow round.

    Raises
    ------
    ConfigError : if there is no such algorithm.

    Examples
    --------
    >>> print(footprint("vaw", d=6000))
    578 MB, 0.72 s to build and 0.078 s for a slow round
    >>> footprint("aer", d=6000, k=5).memory
    2400600.0
    """
    from .catalogue import record

    takes_k0 = record(name).takes_k0
    k = d if k is None else min(k, d)
    return Footprint(*_ESTIMATES.get(name, _linear)(d, k, min(k0, d - k) if takes_k0 else 0))


def machine_memory() -> float:
    """Return the memory of this machine in bytes; infinite if the system does not report it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
