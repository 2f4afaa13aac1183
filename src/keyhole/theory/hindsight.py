"""The best basket from moments alone: rows that have them stand in for the rows themselves."""

import numpy as np

from .._internal.typing import Floats
from ..core.sources import Market
from ..errors import ConfigError
from .comparators import BestBasket, best_basket

__all__ = ["best_basket_of", "rows_like"]

# Divisions of the search, times attributes.
_NODES = 10_000


def rows_like(C: Floats, c: Floats, variance: float) -> tuple[Floats, Floats]:
    """d + 1 rows (X, y) with mean x x' = C, mean x y = c and mean y^2 = variance.

    The symmetric root of the joint covariance, times sqrt(d + 1): least squares on these rows leaves, on any columns,
    exactly the error that it leaves on all rows, so a search over baskets need not keep them.

    >>> X, y = rows_like(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0]), 4.0)
    >>> np.round(X.T @ X / 3, 9).tolist(), np.round(X.T @ y / 3, 9).tolist(), round(float(y @ y / 3), 9)
    ([[2.0, 1.0], [1.0, 3.0]], [1.0, -1.0], 4.0)
    """
    d = c.size
    joint = np.empty((d + 1, d + 1))
    joint[:d, :d], joint[:d, d], joint[d, :d], joint[d, d] = C, c, c, variance
    size = np.sqrt(np.maximum(np.diag(joint), 0.0))
    safe = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(joint / np.outer(safe, safe))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * size * np.sqrt(d + 1.0)
    return root[:, :d], root[:, d]


def best_basket_of(
    C: Floats,
    c: Floats,
    variance: float,
    market: Market,
    *,
    worth: float | None = None,
    spend: float | None = None,
    k: int | None = None,
    nodes: int | None = None,
) -> BestBasket:
    """`best_basket` for the sources of a market, by covariances; `chosen` are the market's sources.

    Without `nodes` it takes less than a second for a thousand attributes, and is proved where they are few.
    """
    if C.shape != (len(market.names),) * 2:
        raise ConfigError(f"C must be ({len(market.names)}, {len(market.names)}), not {C.shape}")
    X, y = rows_like(C, c, variance)
    groups = [members.tolist() for members in market.members]
    most = _NODES // max(c.size, 1) if nodes is None else nodes
    return best_basket(
        X, y, prices=market.prices, groups=groups, known=market.known, worth=worth, spend=spend, k=k, nodes=most
    )
