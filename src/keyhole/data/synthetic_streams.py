"""Synthetic streams and the distributions of their rows, named by strings such as "uniform" or "block(5, 0.8)".

The Gaussian laws draw z with unit variances and the stated correlations, and give x = z/3 clipped to [-1, 1]
(an entry is clipped with probability 0.0027).
"""

import math
import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Floats
from ..errors import ConfigError

__all__ = ["Law", "Stream", "designs", "law", "synthetic"]


Law: TypeAlias = Callable[[np.random.Generator, int, int], Floats]
"""A function (rng, T, d) -> X of shape (T, d) with entries in [-1, 1]."""


def uniform() -> Law:
    """Return the law of independent entries, uniform on [-1, 1]: variance 1/3."""
    return lambda rng, T, d: rng.uniform(-1.0, 1.0, (T, d))


def rademacher() -> Law:
    """Return the law of independent signs, -1 or 1 with probability 1/2 each: variance 1."""
    return lambda rng, T, d: 2.0 * rng.integers(0, 2, (T, d)).astype(np.float64) - 1.0


def ar(rho: float) -> Law:
    """Return the autoregressive law along the columns, with corr(z_i, z_j) = rho^|i-j|.

    z_1 = e_1, z_j = rho z_{j-1} + sqrt(1 - rho^2) e_j.
    """
    _require(-1 < rho < 1, f"ar(rho) needs -1 < rho < 1, not {rho:g}")

    def draw(rng: np.random.Generator, T: int, d: int) -> Floats:
        Z = rng.standard_normal((d, T))
        for j in range(1, d):
            Z[j] = rho * Z[j - 1] + math.sqrt(1 - rho**2) * Z[j]
        return _squeeze(Z.T)

    return draw


def equicorrelated(rho: float) -> Law:
    """Return the one-factor law with corr(z_i, z_j) = rho for i != j.

    z_j = sqrt(rho) f + sqrt(1 - rho) e_j, with one factor f per row.
    """
    _require(0 <= rho < 1, f"equicorrelated(rho) needs 0 <= rho < 1, not {rho:g}")
    return lambda rng, T, d: _factors(rng, T, d, d, rho)


def block(size: float, rho: float) -> Law:
    """Return the law of independent blocks of `size` columns (the last may be shorter), equicorrelated within."""
    _require(size >= 1 and float(size).is_integer(), f"block(size, rho) needs a whole size >= 1, not {size:g}")
    _require(0 <= rho < 1, f"block(size, rho) needs 0 <= rho < 1, not {rho:g}")
    return lambda rng, T, d: _factors(rng, T, d, int(size), rho)


def switching(period: float) -> Law:
    """Return the law that alternates between `period` rows of `uniform` and `period` rows of `ar(0.5)`."""
    _require(period >= 1 and float(period).is_integer(), f"switching(period) needs a whole period >= 1, not {period:g}")
    one, other = uniform(), ar(0.5)

    def draw(rng: np.random.Generator, T: int, d: int) -> Floats:
        first = np.arange(T) // int(period) % 2 == 0
        X = np.empty((T, d))
        X[first] = one(rng, int(first.sum()), d)
        X[~first] = other(rng, int(T - first.sum()), d)
        return X

    return draw


_LAWS: dict[str, tuple[str, Callable[..., Law]]] = {
    "uniform": ("uniform", uniform),
    "rademacher": ("rademacher", rademacher),
    "ar": ("ar(rho)", ar),
    "equicorrelated": ("equicorrelated(rho)", equicorrelated),
    "block": ("block(size, rho)", block),
    "switching": ("switching(period)", switching),
}


def designs() -> tuple[str, ...]:
    """Return the available designs, as they are written.

    >>> designs()
    ('uniform', 'rademacher', 'ar(rho)', 'equicorrelated(rho)', 'block(size, rho)', 'switching(period)')
    """
    return tuple(form for form, _ in _LAWS.values())


def law(design: str) -> Law:
    """Return the distribution of rows that `design` names; only numbers are read from the parentheses, nothing is
    evaluated.
    """
    match = re.fullmatch(r"\s*([a-z]+)\s*(?:\(([^()]*)\))?\s*", design)
    form, make = _LAWS.get(match[1], ("", None)) if match else ("", None)
    if match is None or make is None:
        raise ConfigError(f"unknown design {design!r}; the designs are {', '.join(designs())}")
    try:
        arguments = [float(word) for word in match[2].split(",")] if match[2] and match[2].strip() else []
    except ValueError:
        raise ConfigError(f"design {design!r}: write numbers in the parentheses, as in {form}") from None
    _require(len(arguments) == form.count(",") + ("(" in form), f"design {design!r}: it is written {form}")
    return make(*arguments)


def _factors(rng: np.random.Generator, T: int, d: int, size: int, rho: float) -> Floats:
    """Draw z_j = sqrt(rho) f_b + sqrt(1 - rho) e_j, where b = floor(j/size) is the block of column j."""
    shared = rng.standard_normal((T, -(-d // size)))[:, np.arange(d) // size]
    return _squeeze(math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.standard_normal((T, d)))


def _squeeze(Z: Floats) -> Floats:
    return np.ascontiguousarray(np.clip(Z / 3.0, -1.0, 1.0))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)


class Stream(NamedTuple):
    """Rows X (T, d) in [-1, 1], labels y (T,), and the true weights w (d,); unpacks as X, y, w."""

    X: Floats
    y: Floats
    w: Floats


def synthetic(
    d: int, k: int, T: int, sigma: float = 0.1, design: str = "uniform", seed: int = 0, w_min: float | None = None
) -> Stream:
    """Draw y_t = <w, x_t> + sigma N(0, 1), t = 1..T, with |w|_0 = k and |w|_1 = 1.

    The support of w is a uniform k-subset of the d columns; on it w_i = e_i u_i / sum_j u_j with independent random
    signs e_i and sizes u_i ~ U(0.5, 1); or, with `w_min`, one |w_i| is w_min and the others are equal. The rows are
    independent with entries in [-1, 1], by `design`:

    - `uniform`: entries independent, uniform on [-1, 1];
    - `rademacher`: entries independent signs;
    - `ar(rho)`, `equicorrelated(rho)`, `block(size, rho)`: Gaussian z of unit variance, x = z/3 clipped to [-1, 1];
      corr(z_i, z_j) is rho^|i-j|, or rho for all i != j, or rho for i != j in the same block of `size` columns, else 0;
    - `switching(period)`: `period` rows of `uniform`, then `period` rows of `ar(0.5)`, in turns; w stays.

    The same arguments give the same bytes. The rows of a longer stream need not begin with those of a shorter one.

    >>> X, y, w = synthetic(d=20, k=4, T=100, design="ar(0.5)", seed=1)
    >>> X.shape, y.shape, int((w != 0).sum()), round(float(abs(w).sum()), 12)
    ((100, 20), (100,), 4, 1.0)
    """
    _check(d, k, T, sigma, seed)
    draw = law(design)
    rng = np.random.default_rng(seed)
    w = _weights(rng, d, k, w_min)
    X = draw(rng, T, d)
    return Stream(X, X @ w + sigma * rng.standard_normal(T), w)


def _weights(rng: np.random.Generator, d: int, k: int, w_min: float | None) -> Floats:
    sizes = rng.uniform(0.5, 1.0, k)
    if w_min is not None:
        most = 1.0 / k
        _require(0 < w_min <= most * (1 + 1e-12), f"w_min must lie in (0, 1/k] = (0, {most:.4g}], not {w_min:g}")
        sizes = np.full(k, (1.0 - w_min) / max(k - 1, 1))
        sizes[0] = w_min
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1.0, 1.0], k) * sizes / sizes.sum()
    return w


def _check(d: int, k: int, T: int, sigma: float, seed: int) -> None:
    if d < 1 or not 1 <= k <= d:
        raise ConfigError(f"a stream needs d >= 1 columns and 1 <= k <= d relevant ones, not d = {d}, k = {k}")
    if T < 1:
        raise ConfigError(f"T, the number of rows, must be at least 1, not {T}")
    if not 0 <= sigma < math.inf:
        raise ConfigError(f"sigma, the standard deviation of the noise, must be a finite number >= 0, not {sigma}")
    if seed < 0:
        raise ConfigError(f"seed must be a whole number >= 0, not {seed}")
