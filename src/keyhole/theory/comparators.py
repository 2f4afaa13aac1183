"""Comparators in hindsight: the best k-sparse vector, and the best basket of columns or of groups of columns."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.sources import SourceCatalog
from ..errors import ConfigError
from .branch_and_bound import Budget, LeastSquares, Search

__all__ = ["BestBasket", "BestSparse", "best_basket", "best_basket_of", "best_sparse", "rows_like"]

# Node limit of the search for the best basket from moments, times the number of attributes.
_NODES = 10_000

Groups: TypeAlias = "Sequence[Sequence[int] | Ints]"


class BestSparse(NamedTuple):
    """The best sparse vector found, and whether it is proved optimal."""

    weights: Floats
    """(d,) the weights, non-zero in at most k columns (or groups of columns)."""
    optimal: bool
    """Whether it is proved that no other support is better (up to rounding, 1e-9 |y|^2)."""
    gap: float
    """An upper bound on (loss - minimal loss) / |y|^2; 0 if optimal."""
    chosen: Ints
    """The chosen columns, or groups if `groups` was given, ascending."""


class BestBasket(NamedTuple):
    """The best basket (set of groups of columns) found, and whether it is proved optimal."""

    weights: Floats
    """(d,) the least squares weights on the free columns and those of the basket."""
    chosen: Ints
    """The groups in the basket, ascending."""
    price: float
    """The price of the basket per row."""
    mse: float
    """The remaining mean squared error."""
    optimal: bool
    """Whether it is proved that no other basket is better, up to rounding."""
    gap: float
    """An upper bound on the gain of another basket, in units of cost (of mse without an error_cost)."""


def best_sparse(
    X: Floats,
    y: Floats,
    k: int,
    *,
    groups: "Groups | None" = None,
    free: "Sequence[int] | Ints" = (),
    nodes: int = 5000,
) -> BestSparse:
    """Return argmin_w |y - X w|^2 subject to |w|_0 <= k, without intercept, by branch and bound.

    With `groups`, k counts groups of columns that come together; every other column is a group of its own, numbered
    after those given. The `free` columns are always included and do not count. After `nodes` nodes the search stops,
    and the gap is that of the remaining nodes' bound.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=3, T=500, seed=0)
    >>> r = best_sparse(X, y, k=3)
    >>> bool(((r.weights != 0) == (w != 0)).all()), r.optimal
    (True, True)
    """
    X, y = _checked(X, y)
    group, m = _groups(X.shape[1], groups, free)
    if not 1 <= k <= m:
        what = f"d = {X.shape[1]}" if groups is None and not len(free) else f"the number of groups, {m}"
        raise ConfigError(f"k must be between 1 and {what}; it is {k}")
    chosen, gap = _search(X, y, group, Budget(np.zeros(m), k, np.zeros(m), np.inf), nodes)
    return BestSparse(_weights(X, y, group, chosen), gap == 0.0, gap, chosen)


def best_basket(
    X: Floats,
    y: Floats,
    *,
    prices: "Sequence[float] | Floats",
    groups: "Groups | None" = None,
    free: "Sequence[int] | Ints" = (),
    error_cost: float | None = None,
    budget_per_row: float | None = None,
    k: int | None = None,
    nodes: int = 5000,
) -> BestBasket:
    """Minimise error_cost * mean (y - X w)^2 + price of the groups that w uses, without intercept, by branch and bound.

    `prices` has one price per group, in the order of `best_sparse`. `budget_per_row` limits the price of the basket,
    and `k` the number of its groups. Without `error_cost`, only the error is minimized, within `budget_per_row` or `k`.

    >>> X = np.eye(3)[[0, 1, 2] * 2] * np.sqrt(3)                      # mean square 1 each, orthogonal
    >>> y = X @ [1.0, 0.5, 0.1]
    >>> r = best_basket(X, y, prices=[0.3, 0.3, 0.3], error_cost=2.0)       # gains 2, 0.5 and 0.02
    >>> r.chosen.tolist(), r.price, round(r.mse, 9), r.optimal
    ([0, 1], 0.6, 0.01, True)
    """
    X, y = _checked(X, y)
    group, m = _groups(X.shape[1], groups, free)
    costs = np.asarray(prices, dtype=np.float64)
    if costs.shape != (m,) or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ConfigError(f"prices must be {m} numbers >= 0, one per group")
    if error_cost is None and budget_per_row is None and k is None:
        raise ConfigError("say what limits the basket: error_cost, budget_per_row or k")
    if error_cost is not None and not 0 < error_cost < np.inf:
        raise ConfigError(
            f"error_cost, of one unit of squared error in one row, must be a finite number > 0, not {error_cost}"
        )
    size = float(y @ y) / len(y)
    unit = size * (error_cost or 1.0)  # cost per unit of the search objective
    toll = np.zeros(m) if error_cost is None or unit == 0 else costs / unit
    budget = Budget(toll, m if k is None else k, costs, np.inf if budget_per_row is None else budget_per_row)
    chosen, gap = _search(X, y, group, budget, nodes)
    if size == 0:
        chosen = chosen[:0]
    w = _weights(X, y, group, chosen)
    return BestBasket(w, chosen, float(costs[chosen].sum()), float(((y - X @ w) ** 2).mean()), gap == 0.0, gap * unit)


def rows_like(C: Floats, c: Floats, variance: float) -> tuple[Floats, Floats]:
    """Return d + 1 rows (X, y) with mean x x' = C, mean x y = c and mean y^2 = variance.

    They are the symmetric root of the joint covariance, times sqrt(d + 1). On any columns, least squares on these rows
    has exactly the same error as on all rows, so a search over baskets need not keep the data.

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
    catalog: SourceCatalog,
    *,
    error_cost: float | None = None,
    budget_per_row: float | None = None,
    k: int | None = None,
    nodes: int | None = None,
) -> BestBasket:
    """Compute `best_basket` from covariances, for the sources of a catalog; `chosen` holds indices of its sources.

    With the default `nodes`, it takes less than a second for a thousand attributes; with few, optimality is proved.
    """
    if C.shape != (len(catalog.names),) * 2:
        raise ConfigError(f"C must be ({len(catalog.names)}, {len(catalog.names)}), not {C.shape}")
    X, y = rows_like(C, c, variance)
    groups = [members.tolist() for members in catalog.members]
    most = _NODES // max(c.size, 1) if nodes is None else nodes
    return best_basket(
        X,
        y,
        prices=catalog.prices,
        groups=groups,
        free=catalog.free,
        error_cost=error_cost,
        budget_per_row=budget_per_row,
        k=k,
        nodes=most,
    )


def _search(X: Floats, y: Floats, group: Ints, budget: Budget, nodes: int) -> tuple[Ints, float]:
    """Return the best groups and the optimality gap, for columns and a label of unit norm; zero columns are ignored."""
    size, length = np.linalg.norm(X, axis=0), np.linalg.norm(y)
    used = np.flatnonzero(size > 0)
    if used.size == 0 or length == 0:
        return np.empty(0, dtype=np.int64), 0.0
    free = np.flatnonzero(group[used] < 0)
    return Search(LeastSquares(X[:, used] / size[used], y / length, free), group[used], budget).run(nodes)


def _weights(X: Floats, y: Floats, group: Ints, chosen: Ints) -> Floats:
    """Return the least squares weights on the free columns and the chosen groups."""
    weights = np.zeros(X.shape[1])
    S = np.flatnonzero((group < 0) | np.isin(group, chosen))
    S = S[np.any(X[:, S] != 0, axis=0)]
    weights[S] = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
    return weights


def _groups(d: int, groups: "Groups | None", free: "Sequence[int] | Ints") -> tuple[Ints, int]:
    """Return the group number of each column as a (d,) array (-1 for free columns), and the number of groups."""
    group = np.full(d, -2, dtype=np.int64)
    named = [("free", -1, free), *((f"group {g}", g, members) for g, members in enumerate(groups or ()))]
    for name, number, members in named:
        columns = np.asarray(members, dtype=np.int64).ravel()
        if ((columns < 0) | (columns >= d)).any():
            raise ConfigError(f"{name} refers to a column that does not exist; the columns are 0 to {d - 1}")
        if (group[columns] != -2).any() or np.unique(columns).size < columns.size:
            raise ConfigError(f"{name} contains a column that is already free or in another group")
        if number >= 0 and columns.size == 0:
            raise ConfigError(f"{name} is empty")
        group[columns] = number
    alone, n = np.flatnonzero(group == -2), len(groups or ())
    group[alone] = np.arange(n, n + alone.size)
    return group, n + alone.size


def _checked(X: Floats, y: Floats) -> tuple[Floats, Floats]:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ConfigError(f"X must be (T, d) and y (T,), not {X.shape} and {y.shape}")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ConfigError("X and y must be finite; fill missing values first (with the column's mean, say)")
    return X, y
