"""The comparator against all subsets, and its gap against the truth."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from keyhole.data.synthetic_streams import synthetic
from keyhole.errors import ConfigError
from keyhole.theory import best_sparse

Floats = npt.NDArray[np.float64]


def loss(X: Floats, y: Floats, S: tuple[int, ...]) -> float:
    w = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
    return float(((y - X[:, S] @ w) ** 2).sum())


def smallest_loss(X: Floats, y: Floats, k: int) -> float:
    return min(loss(X, y, S) for S in combinations(range(X.shape[1]), k))


def problem(kind: str, seed: int) -> tuple[Floats, Floats]:
    """Problems on which greedy selection fails now and then: correlated columns, weak signal, few rows."""
    rng = np.random.default_rng(seed)
    if kind == "correlated":
        X, y, _ = synthetic(9, 4, 60, sigma=0.3, design="equicorrelated(0.8)", seed=seed)
        return X, y
    if kind == "collinear":
        X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 9))
        return X, X[:, 0] - X[:, 3] + rng.normal(size=40)
    if kind == "short":
        return rng.normal(size=(6, 9)), rng.normal(size=6)
    return rng.normal(size=(50, 9)) * 10.0 ** rng.integers(-6, 6, 9), rng.normal(size=50)


@pytest.mark.parametrize("kind", ["correlated", "collinear", "short", "noise"])
@pytest.mark.parametrize("k", [1, 2, 4, 8, 9])
def test_it_is_the_best_of_all_supports(kind: str, k: int) -> None:
    for seed in range(4):
        X, y = problem(kind, seed)
        r = best_sparse(X, y, k, nodes=10**6)
        assert r.optimal
        assert r.gap == 0.0
        assert np.count_nonzero(r.weights) <= k
        found = float(((y - X @ r.weights) ** 2).sum())
        assert found <= smallest_loss(X, y, k) + 1e-8 * (y @ y)


def test_greedy_alone_would_not_do() -> None:
    """x_3 is the best single attribute and in no best pair: y = x_1 + x_2, x_3 = x_1 + x_2 + noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1]
    X[:, 2] = y + 0.3 * X[:, 2]
    assert np.flatnonzero(best_sparse(X, y, 1).weights).tolist() == [2]
    assert np.flatnonzero(best_sparse(X, y, 2).weights).tolist() == [0, 1]


def test_the_gap_bounds_what_is_missed_when_the_search_is_cut_short() -> None:
    proved = []
    for seed in range(12):
        X, y, _ = synthetic(12, 4, 40, sigma=0.4, design="equicorrelated(0.9)", seed=seed)
        r = best_sparse(X, y, 4, nodes=3)
        missed = (((y - X @ r.weights) ** 2).sum() - smallest_loss(X, y, 4)) / (y @ y)
        assert missed <= r.gap + 1e-9
        assert r.optimal == (r.gap == 0.0)
        proved.append(r.optimal)
    assert not all(proved)


def test_a_clear_signal_among_many_is_proved_quickly() -> None:
    X, y, w = synthetic(60, 5, 2000, sigma=0.05, seed=2)
    r = best_sparse(X, y, 5)
    assert r.optimal
    np.testing.assert_array_equal(r.weights != 0, w != 0)


def test_weights_are_least_squares_on_their_support() -> None:
    X, y, _ = synthetic(15, 4, 100, sigma=0.5, seed=4)
    r = best_sparse(X, y, 4)
    S = r.weights != 0
    np.testing.assert_allclose(X[:, S].T @ (y - X @ r.weights), 0.0, atol=1e-10)


def test_trivial_problems_have_trivial_answers() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    for r in (best_sparse(X, np.zeros(20), 2), best_sparse(np.zeros((20, 4)), X[:, 0], 2)):
        assert (r.weights == 0).all()
        assert r.optimal
    X[:, 1] = 0.0
    assert best_sparse(X, X[:, 0], 4).weights[1] == 0.0


def test_wrong_arguments_are_refused() -> None:
    X, y = np.ones((5, 3)), np.ones(5)
    for k in (0, 4):
        with pytest.raises(ConfigError, match="between 1 and d = 3"):
            best_sparse(X, y, k)
    with pytest.raises(ConfigError, match=r"\(T, d\)"):
        best_sparse(X, y[:4], 1)
    X[2, 1] = np.nan
    with pytest.raises(ConfigError, match="finite"):
        best_sparse(X, y, 1)
