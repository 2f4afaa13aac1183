"""Problems made to break the engine: sequences of rounds whose data has ties, gaps, copies and extremes."""

from collections.abc import Callable, Iterator

import numpy as np

from keyhole._internal.typing import Floats
from keyhole.estimation.dantzig import Sequence

Draw = Callable[[np.random.Generator, int], Floats]
Gamma = Callable[[np.random.Generator, Sequence, float], "float | Floats"]


def uniform(rng: np.random.Generator, d: int) -> Floats:
    return rng.uniform(-1, 1, d)


def signs(rng: np.random.Generator, d: int) -> Floats:
    return rng.choice([-1.0, 1.0], d)


def binary(rng: np.random.Generator, d: int) -> Floats:
    return rng.integers(0, 2, d).astype(float)


def rare(rng: np.random.Generator, d: int) -> Floats:
    return (rng.random(d) < 0.15).astype(float)


def integers(rng: np.random.Generator, d: int) -> Floats:
    return rng.integers(-2, 3, d).astype(float)


def copied_and_dead(rng: np.random.Generator, d: int) -> Floats:
    x = rng.uniform(-1, 1, d)
    x[d // 2 : d // 2 + d // 4] = x[: d // 4]
    x[-2:] = 0.0
    return x


def constant(rng: np.random.Generator, d: int) -> Floats:
    x = rng.uniform(-1, 1, d)
    x[0] = 1.0
    return x


def rank_three(rng: np.random.Generator, d: int) -> Floats:
    return np.asarray(rng.normal(size=3) @ np.random.default_rng(d).normal(size=(3, d)) / 3)


def without_solution(rng: np.random.Generator, d: int) -> Floats:
    return rank_three(rng, d)


def share(rng: np.random.Generator, seq: Sequence, c: float) -> float:
    return c * seq.gamma_max


def jumps(rng: np.random.Generator, seq: Sequence, c: float) -> float:
    return float(seq.gamma_max * np.exp(rng.uniform(np.log(1e-3), np.log(0.8))))


def vector(rng: np.random.Generator, seq: Sequence, c: float) -> Floats:
    return seq.gamma_max * rng.uniform(0.02, 0.6, seq.d)


def vector_with_ends(rng: np.random.Generator, seq: Sequence, c: float) -> Floats:
    gamma = seq.gamma_max * rng.uniform(0.02, 0.6, seq.d)
    gamma[rng.random(seq.d) < 0.1] = 0.0
    gamma[rng.random(seq.d) < 0.2] = np.inf
    return gamma


# name -> (law of a row, gamma, its size as a share of gamma_max, are whole rows seen)
LAWS: dict[str, tuple[Draw, Gamma, float, bool]] = {
    "uniform": (uniform, share, 0.3, False),
    "small gamma": (uniform, share, 0.01, False),
    "tiny gamma": (uniform, share, 1e-4, False),
    "signs": (signs, share, 0.2, False),
    "binary": (binary, share, 0.15, False),
    "rare": (rare, share, 0.1, False),
    "copied and dead": (copied_and_dead, share, 0.1, False),
    "constant": (constant, share, 0.1, False),
    "rank three": (rank_three, share, 0.05, True),
    "often without solution": (without_solution, jumps, 0.0, True),
    "integers": (integers, share, 0.1, False),
    "jumps": (uniform, jumps, 0.0, False),
    "jumps of signs": (signs, jumps, 0.0, True),
    "vector": (uniform, vector, 0.0, False),
    "vector with ends": (signs, vector_with_ends, 0.0, False),
    "zero": (uniform, share, 0.0, False),
}


def rounds(name: str, seed: int, length: int) -> Iterator[tuple[Sequence, "float | Floats"]]:
    """A warm sequence after each of its rounds, with the gamma to solve it at."""
    draw, gamma, c, whole = LAWS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    d = int(rng.integers(6, 36))
    k = d if whole else int(rng.integers(3, max(4, d // 2)))
    w = np.where(rng.random(d) < 0.3, rng.choice([-1.0, 0.5, 1.0], d), 0.0)
    seq = Sequence(d)
    for _ in range(length):
        x = draw(rng, d)
        y = float(x @ w + 0.1 * rng.normal()) if draw is not integers else float(x @ np.sign(w))
        B = np.sort(rng.choice(d, k, replace=False))
        h, v = estimates(x[B], y, k, d)
        if draw is without_solution:
            # b leaves the range of H.
            v += 0.02 * rng.normal(size=k)
        seq.update(B, h, v)
        yield seq, gamma(rng, seq, c)


def estimates(x: Floats, y: float, k: int, d: int) -> tuple[Floats, Floats]:
    """The unbiased estimates of x x' and x y from k attributes out of d drawn uniformly."""
    p, pair = k / d, k * (k - 1) / (d * (d - 1))
    h = np.outer(x, x) / pair
    np.fill_diagonal(h, x * x / p)
    return h, x * y / p
