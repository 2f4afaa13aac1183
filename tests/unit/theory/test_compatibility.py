"""The compatibility constant against closed forms, an independent solver, and random members of the cone."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import nnls

from keyhole.data.synthetic_streams import synthetic
from keyhole.errors import ConfigError
from keyhole.theory import compatibility
from keyhole.theory.compatibility import _Hull

Floats = npt.NDArray[np.float64]


def value(X: Floats, S: list[int], w: Floats) -> float:
    return float(len(S) * np.mean((X @ w) ** 2) / np.abs(w[S]).sum() ** 2)


def by_least_squares(X: Floats, S: list[int], alpha: float) -> float:
    """All corners at once: min |A z|^2 + (1'z - 1)^2 over z >= 0 has its minimum f/(1+f) on the nearest point's ray."""
    d, values = X.shape[1], []
    T = [j for j in range(d) if j not in S]
    for signs in product((1, -1), repeat=len(S)):
        corners = []
        for i, sign in zip(S, signs, strict=True):
            for j, size in [(i, 0.0), *product(T, (alpha, -alpha))]:
                corner = np.zeros(d)
                corner[j] = size
                corner[i] += sign
                corners.append(corner)
        A = np.vstack([X @ np.array(corners).T, np.ones(len(corners))])
        z = nnls(A, np.append(np.zeros(len(X)), 1.0), maxiter=10_000)[0]
        values.append(value(X, S, np.array(corners).T @ z))
    return float(np.sqrt(min(values)))


@pytest.mark.parametrize("design", ["uniform", "ar(0.7)", "equicorrelated(0.9)", "ar(-0.9)"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_it_agrees_with_another_solver_and_is_attained(design: str, alpha: float) -> None:
    for seed, S in enumerate(([2], [0, 3], [5, 1, 6])):
        X = synthetic(8, 2, 40, design=design, seed=seed).X
        r = compatibility(X, S, alpha)
        w = r.minimiser
        assert r.delta_s == pytest.approx(by_least_squares(X, S, alpha), rel=1e-6)
        assert r.delta_s**2 == pytest.approx(value(X, S, w), rel=1e-9)
        assert np.abs(w[S]).sum() == pytest.approx(1.0)
        assert np.abs(w).sum() - np.abs(w[S]).sum() <= alpha + 1e-12


def test_no_sign_is_given_up_that_is_better_by_little() -> None:
    """With anything above its value to beat, a problem is solved to its end; with less, it may be given up."""
    gone = 0
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(12, 9)) * 10.0 ** np.random.default_rng(seed + 99).uniform(
            -1, 1, 9
        )
        for signs in product((1.0, -1.0), repeat=3):
            hull = _Hull(X.T @ X / 12, np.array([0, 2, 5, 7]), np.array((1.0, *signs)), 1.0)
            value = hull.nearest(np.inf)[0]
            assert hull.nearest(value * 1.0001)[0] == pytest.approx(value, rel=1e-8)
            gone += hull.nearest(value * 0.5)[0] == np.inf
    assert gone > 48


def test_no_member_of_the_cone_does_better() -> None:
    rng = np.random.default_rng(0)
    X, S = synthetic(12, 3, 60, design="block(4, 0.9)", seed=3).X, [0, 1, 5, 9]
    r = compatibility(X, S)
    for _ in range(2000):
        w = rng.normal(size=12) * (rng.random(12) < 0.5)
        w[S[0]] += 1e-3
        rest = np.delete(np.arange(12), S)
        w[rest] *= min(1.0, np.abs(w[S]).sum() / max(np.abs(w[rest]).sum(), 1e-9))
        assert value(X, S, w) >= r.delta_s**2 - 1e-12


def test_closed_forms() -> None:
    """G = I: 1, by Cauchy-Schwarz. One member, correlation rho with one other, alpha >= rho: sqrt(1 - rho^2)."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 6)))[0] * np.sqrt(30)
    assert compatibility(X, [0, 2, 3]).delta_s == pytest.approx(1.0, rel=1e-9)
    Y = np.column_stack([X[:, 0], 0.6 * X[:, 0] + 0.8 * X[:, 1]])
    assert compatibility(Y, [0]).delta_s == pytest.approx(0.8, rel=1e-9)
    assert compatibility(Y, [0], alpha=0.1).delta_s == pytest.approx(np.sqrt(1 - 0.12 + 0.01), rel=1e-9)
    assert compatibility(Y, [1], alpha=0.0).delta_s == pytest.approx(1.0, rel=1e-9)


def test_a_support_that_can_be_copied_has_no_compatibility() -> None:
    X = np.random.default_rng(1).normal(size=(30, 4))
    for copy in (X[:, 0], -X[:, 0], (X[:, 0] - X[:, 1]) / 2 * 2):
        r = compatibility(np.column_stack([X, copy]), [0, 1])
        assert r.delta_s == pytest.approx(0.0, abs=1e-7)
    assert compatibility(X[:2], [0, 1, 2]).delta_s == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("seed", [18, 62, 76, 78])
def test_the_two_sides_of_a_category_have_no_compatibility(seed: int) -> None:
    """ "f" is 1 less "m": rounding leaves a corner whose square is below zero, which once divided by nothing."""
    rng = np.random.default_rng(seed)
    f = rng.random(200) < 0.5
    X = np.column_stack([f, rng.normal(size=(200, 6)), ~f])
    assert compatibility(X - X.mean(axis=0), [0, 1, 2]).delta_s == pytest.approx(0.0, abs=1e-6)


def test_it_scales_with_the_rows_and_does_not_mind_order() -> None:
    X = synthetic(10, 3, 100, design="ar(0.5)", seed=1).X
    r = compatibility(X, [1, 4, 7])
    assert compatibility(3 * X, [7, 1, 4]).delta_s == pytest.approx(3 * r.delta_s, rel=1e-9)
    assert compatibility(X, [1, 4, 7], alpha=2.0).delta_s <= r.delta_s * (1.0 + 1e-9)


def test_a_hundred_attributes_take_a_moment() -> None:
    X = synthetic(100, 5, 2000, design="ar(0.5)", seed=1).X
    r = compatibility(X, [3, 30, 31, 60, 99])
    assert 0 < r.delta_s**2 == pytest.approx(value(X, [3, 30, 31, 60, 99], r.minimiser), rel=1e-8)


@pytest.mark.parametrize(
    ("S", "alpha", "words"),
    [([], 1.0, "at least one"), ([1, 1], 1.0, "different"), ([4], 1.0, "0 to 3"), ([0], -1.0, "alpha")],
)
def test_wrong_arguments_are_refused(S: list[int], alpha: float, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        compatibility(np.eye(4), S, alpha)


def test_nan_is_refused() -> None:
    with pytest.raises(ConfigError, match="finite"):
        compatibility(np.full((3, 3), np.nan), [0])
