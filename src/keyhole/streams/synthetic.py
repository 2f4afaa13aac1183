"""Realizable streams: labels from a sparse vector plus Gaussian noise."""

import math
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats
from ..errors import ConfigError
from .laws import law

__all__ = ["Stream", "synthetic"]


class Stream(NamedTuple):
    """Rows X (T, d) in [-1, 1], labels y (T,), and the weights w (d,) behind them; unpacks as X, y, w."""

    X: Floats
    y: Floats
    w: Floats


def synthetic(d: int, k: int, T: int, sigma: float = 0.1, design: str = "uniform", seed: int = 0) -> Stream:
    """Draw y_t = <w, x_t> + sigma N(0, 1), t = 1..T, with |w|_0 = k and |w|_1 = 1.

    The support of w is a uniform k-subset of the d columns; on it w_i = e_i u_i / sum_j u_j with independent random
    signs e_i and sizes u_i ~ U(0.5, 1). The rows are independent with entries in [-1, 1], by `design`:

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
    w = _weights(rng, d, k)
    X = draw(rng, T, d)
    return Stream(X, X @ w + sigma * rng.standard_normal(T), w)


def _weights(rng: np.random.Generator, d: int, k: int) -> Floats:
    sizes = rng.uniform(0.5, 1.0, k)
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
