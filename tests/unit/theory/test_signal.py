"""The signal in second moments is that in the rows they were made of."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from keyhole.data.synthetic_streams import synthetic
from keyhole.errors import ConfigError
from keyhole.theory import compatibility
from keyhole.theory.conditions import signal

Floats = npt.NDArray[np.float64]


def centred(**law: object) -> tuple[Floats, Floats, Floats]:
    X, y, _ = synthetic(T=400, seed=1, **law)  # type: ignore[arg-type]
    X, y = X - X.mean(axis=0), y - y.mean()
    Z = np.column_stack([X, y])
    return X, y, Z.T @ Z / len(Z)


def r2(X: Floats, y: Floats, S: "tuple[int, ...] | list[int]") -> float:
    w = np.linalg.lstsq(X[:, list(S)], y, rcond=None)[0]
    return float(1 - ((y - X[:, list(S)] @ w) ** 2).sum() / (y @ y))


def test_it_is_what_least_squares_on_the_rows_gives() -> None:
    X, y, C = centred(d=9, k=3, sigma=0.3, design="ar(0.5)")
    s = signal(C, 3)
    subsets = [r2(X, y, S) for S in combinations(range(9), 3)]
    assert s.all == pytest.approx(r2(X, y, list(range(9))), rel=1e-9)
    assert s.best == s.best_bound == pytest.approx(max(subsets), rel=1e-9)
    assert s.best == pytest.approx(r2(X, y, s.support.tolist()), rel=1e-9)
    assert np.quantile(subsets, 0.4) <= s.random <= np.quantile(subsets, 0.6)
    assert s.delta_s == pytest.approx(compatibility(X, s.support).delta_s, rel=1e-6)
    assert s.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(X.T @ X / len(X))[0], rel=1e-9)


def test_the_verdict_says_whether_choosing_matters() -> None:
    assert signal(centred(d=30, k=3, sigma=0.05)[2], 3).verdict == "choosing matters"
    X = np.random.default_rng(0).normal(size=(500, 1)) + 0.1 * np.random.default_rng(1).normal(size=(500, 20))
    Z = np.column_stack([X, X.sum(axis=1)])
    Z -= Z.mean(axis=0)
    alike = signal(Z.T @ Z / 500, 3)
    assert alike.verdict.startswith("columns are interchangeable")
    assert alike.groups == (tuple(range(20)),)
    assert signal(np.eye(6), 2).verdict == "hardly any linear signal"


def test_groups_hold_attributes_that_are_all_alike() -> None:
    """Along a chain each is like the next only: correlation of neighbours 0.96, of others less than 0.95."""
    C = np.eye(5)
    for i, j in ((0, 1), (1, 2), (3, 0)):
        C[i, j] = C[j, i] = 0.96 if j != 0 else -0.5
    C[2, 4] = C[4, 2] = 0.1
    assert signal(C, 1).groups == ((0, 1),)


def test_large_supports_have_no_constant_and_wrong_arguments_are_refused() -> None:
    assert np.isnan(signal(centred(d=14, k=11)[2], 11).delta_s)
    for k in (0, 6):
        with pytest.raises(ConfigError, match="between 1 and d = 5"):
            signal(np.eye(6), k)
    with pytest.raises(ConfigError, match="the label is constant"):
        signal(np.diag([1.0, 1.0, 0.0]), 1)
