"""Groups and baskets against every subset of the groups."""

import time
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from keyhole.errors import ConfigError
from keyhole.theory import best_basket, best_sparse
from keyhole.theory.branch_and_bound import Budget, LeastSquares, Search

Floats = npt.NDArray[np.float64]
GROUPS = [[0, 1, 2], [3, 4], [11, 5], [6]]
FREE = [7]
MEMBERS = [*GROUPS, [8], [9], [10], [12], [13]]


def problem(seed: int, kind: str = "shared factor") -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 14)) + (0.0 if kind == "plain" else 0.8) * rng.normal(size=(60, 1))
    if kind == "collinear":
        X[:, 4], X[:, 9] = X[:, 3] - X[:, 8], 2 * X[:, 7]
    return X, X @ (rng.normal(size=14) * (rng.random(14) < 0.5)) + rng.normal(size=60)


def mse(X: Floats, y: Floats, columns: list[int]) -> float:
    w = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return float(((y - X[:, columns] @ w) ** 2).mean())


def every_choice(X: Floats, y: Floats) -> dict[tuple[int, ...], float]:
    """The mean squared error of every set of groups, with what is known."""
    choices = [S for r in range(len(MEMBERS) + 1) for S in combinations(range(len(MEMBERS)), r)]
    return {S: mse(X, y, FREE + [i for g in S for i in MEMBERS[g]]) for S in choices}


@pytest.mark.parametrize("kind", ["plain", "shared factor", "collinear"])
def test_groups_and_known_columns_are_those_of_exhaustive_search(kind: str) -> None:
    for seed in range(2):
        X, y = problem(seed, kind)
        table = every_choice(X, y)
        for k in (1, 2, 4, 9):
            r = best_sparse(X, y, k, groups=GROUPS, free=FREE, nodes=10**6)
            assert r.optimal
            assert r.chosen.size <= k
            best = min(value for S, value in table.items() if len(S) <= k)
            assert ((y - X @ r.weights) ** 2).mean() <= best + 1e-8 * (y @ y) / 60
            used = {i for g in r.chosen for i in MEMBERS[g]} | set(FREE)
            assert set(np.flatnonzero(r.weights)) <= used


@pytest.mark.parametrize("kind", ["plain", "shared factor", "collinear"])
@pytest.mark.parametrize(
    "limits",
    [
        {"error_cost": 0.05},
        {"error_cost": 1.0},
        {"error_cost": 30.0},
        {"budget_per_row": 6.0},
        {"error_cost": 3.0, "budget_per_row": 7.5},
        {"budget_per_row": 8.0, "k": 2},
    ],
)
def test_baskets_are_those_of_exhaustive_search(kind: str, limits: dict[str, float]) -> None:
    prices = np.array([3.0, 2.0, 2.5, 1.0, 0.5, 4.0, 0.0, 1.5, 1.5])
    for seed in range(2):
        X, y = problem(seed, kind)
        r = best_basket(X, y, prices=prices, groups=GROUPS, free=FREE, nodes=10**6, **limits)  # type: ignore[arg-type]
        error_cost, budget_per_row, k = (
            limits.get("error_cost"),
            limits.get("budget_per_row", np.inf),
            limits.get("k", 9),
        )
        costs = {
            S: (error_cost * value + prices[list(S)].sum() if error_cost else value)
            for S, value in every_choice(X, y).items()
            if prices[list(S)].sum() <= budget_per_row and len(S) <= k
        }
        assert r.optimal
        assert r.gap == 0
        assert r.price == prices[r.chosen].sum() <= budget_per_row
        assert r.mse == pytest.approx(((y - X @ r.weights) ** 2).mean())
        found = error_cost * r.mse + r.price if error_cost else r.mse
        assert found <= min(costs.values()) + 1e-8 * (error_cost or 1.0) * (y @ y) / 60


def test_the_gap_bounds_what_is_missed_when_the_search_is_cut_short() -> None:
    prices, proved = np.full(9, 1.0), []
    for seed in range(6):
        X, y = problem(seed)
        for limits in ({"error_cost": 2.0}, {"budget_per_row": 3.0}):
            r = best_basket(X, y, prices=prices, groups=GROUPS, free=FREE, nodes=2, **limits)  # type: ignore[arg-type]
            whole = best_basket(X, y, prices=prices, groups=GROUPS, free=FREE, nodes=10**6, **limits)  # type: ignore[arg-type]
            error_cost = limits.get("error_cost", 1.0)
            cost = [error_cost * b.mse + (b.price if "error_cost" in limits else 0.0) for b in (r, whole)]
            assert cost[0] - cost[1] <= r.gap + 1e-8
            proved.append(r.optimal)
    assert not all(proved)


def test_what_leaving_out_adds_is_exact_alone_and_never_overstated_together() -> None:
    rng = np.random.default_rng(3)
    for seed in range(20):
        X, y = problem(seed, "collinear" if seed % 2 else "shared factor")
        Z, z = X / np.linalg.norm(X, axis=0), y / np.linalg.norm(y)
        squares = LeastSquares(Z, z, np.array([7]))
        group = np.array([0, 0, 0, 1, 1, 2, 3, -1, 4, 5, 6, 2, 7, 8])
        A = np.flatnonzero(group >= 0)
        free = np.sort(rng.choice(9, 6, replace=False))
        left = squares.removal(A, group[A], free)
        for S in [*([i] for i in range(6)), *(rng.choice(6, 3, replace=False) for _ in range(10))]:
            rest = np.flatnonzero(~np.isin(group, free[S]) & (group >= 0))
            added = squares.loss(rest) - left.loss
            assert added >= left.share[S].sum() - 1e-7
            if len(S) == 1:
                assert added == pytest.approx(left.alone[S[0]], abs=1e-7)


def searching(seed: int, most: int) -> Search:
    X, y = problem(seed)
    squares = LeastSquares(X / np.linalg.norm(X, axis=0), y / np.linalg.norm(y), np.empty(0, dtype=np.int64))
    return Search(squares, np.arange(14), Budget(np.zeros(14), most, np.zeros(14), np.inf))


@pytest.mark.parametrize("most", [12, 13])
def test_what_must_be_left_out_is_never_overstated(most: int) -> None:
    """Of all 14 columns one or two are left out: no choice adds less than the bound says, and it says something."""
    for seed in range(10):
        search = searching(seed, most)
        everything = np.arange(14)
        left = search.squares.removal(everything, everything, everything)
        least, with_it = search._least(left, everything, everything[:0])
        added = {S: search.squares.loss(np.array(S)) - left.loss for S in combinations(range(14), most)}
        assert 0 < least <= min(added.values()) + 1e-12
        for g in range(14):
            assert with_it[g] <= min(value for S, value in added.items() if g in S) + 1e-12


def test_the_gap_is_that_of_the_best_part_that_is_left() -> None:
    parts = []
    for seed in range(10):
        search = searching(seed, 4)
        _, gap = search.run(1)
        assert gap == (search.value - min(entry[0] for entry in search.heap) if search.heap else 0.0)
        parts.append(len(search.heap))
    assert max(parts) > 2


def test_nothing_is_bought_where_nothing_is_worth_its_price() -> None:
    X, y = problem(0)
    r = best_basket(X, y, prices=np.full(14, 1e9), error_cost=1.0)
    assert (r.chosen.size, r.price, r.optimal) == (0, 0.0, True)
    assert r.mse == pytest.approx((y**2).mean())
    assert best_basket(X, 0 * y, prices=np.ones(14), error_cost=1.0).chosen.size == 0
    assert best_basket(0 * X, y, prices=np.ones(14), budget_per_row=3.0).mse == pytest.approx((y**2).mean())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"groups": [[0, 14]]}, "does not exist"),
        ({"groups": [[0], [0, 1]]}, "already free or in another group"),
        ({"groups": [[0], []]}, "empty"),
        ({"free": [0], "groups": [[0, 1]]}, "already free or in another group"),
        ({"prices": [1.0]}, "one per group"),
        ({"prices": [-1.0] * 14}, ">= 0"),
        ({"error_cost": 0.0}, "error_cost"),
        ({"error_cost": None}, "error_cost, budget_per_row or k"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, object], said: str) -> None:
    X, y = problem(0)
    with pytest.raises(ConfigError, match=said):
        best_basket(X, y, **{"prices": np.ones(14), "error_cost": 1.0} | change)  # type: ignore[arg-type]


def triangle(name: str) -> Floats:
    """A real table, centred, its gaps filled by the means, and the label: all that least squares sees of them."""
    from keyhole import data

    try:
        table = data.load(name)
    except ConfigError as fault:
        pytest.skip(str(fault))  # what carries it is not installed
    X = np.where(np.isfinite(table.X), table.X, np.nanmean(table.X, axis=0))
    R: Floats = np.linalg.qr(np.column_stack([X - X.mean(axis=0), table.y - table.y.mean()]), mode="r")  # type: ignore[assignment]
    return R


@pytest.mark.parametrize("name", ["ames", "chicago", "check_times", "deliveries", "hotel_rates", "randhie", "toyota"])
def test_the_best_ten_of_real_tables_are_proved_in_seconds(name: str) -> None:
    R, start = triangle(name), time.process_time()
    for k in (3, 5, 10):
        assert best_sparse(R[:, :-1], R[:, -1], k).optimal
    assert time.process_time() - start < 10


def test_five_of_95_are_proved_and_of_ten_the_gap_is_said() -> None:
    R = triangle("nhanes")
    assert best_sparse(R[:, :-1], R[:, -1], 5).optimal
    r = best_sparse(R[:, :-1], R[:, -1], 10, nodes=500)
    assert (r.optimal, 0 < r.gap < 0.02) == (False, True)
