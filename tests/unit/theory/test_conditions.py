"""Conditions of a design against brute force and closed forms; bounds are never on the wrong side."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

import keyhole as kh
from keyhole.errors import ConfigError
from keyhole.theory import compatibility, conditions, conditions_of
from keyhole.theory.compatibility import _all_signs, compatibility_floor, eigenvalue_floor
from keyhole.theory.conditions import Isometry, coherence, isometry, unit_diagonal

Floats = npt.NDArray[np.float64]


def design(seed: int, T: int = 40, d: int = 10) -> Floats:
    """Correlated, sometimes with fewer rows than columns."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(T, d)) + 0.7 * rng.normal(size=(T, 1)) * rng.random(d)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("T", [6, 40])
def test_the_floor_never_exceeds_the_constant(alpha: float, T: int) -> None:
    close = []
    for seed in range(6):
        X = design(seed, T)
        G, S = X.T @ X / T, np.array([0, 2, 3, 7])
        exact = 4 * _all_signs(G, S, alpha)[0]
        floor = compatibility_floor(G, S, alpha)[0]
        assert 0 <= floor <= exact * (1 + 1e-9) + 1e-12
        close.append(floor / exact if exact > 1e-9 else 1.0)
    assert T < 10 or np.median(close) > 0.8  # and it is worth something


def test_beyond_twelve_members_the_bounds_hold_the_truth() -> None:
    """G = a I + b 11': where the signs of w cancel, delta_S^2 = a."""
    n = 14
    G = 0.3 * np.eye(n + 2) + 0.05
    X = np.linalg.cholesky(G).T * np.sqrt(n + 2)
    r = compatibility(X, range(n))
    assert not r.exact
    assert r.lower <= np.sqrt(0.3) + 1e-9
    assert np.sqrt(0.3) - 1e-6 <= r.delta_s <= 1.02 * np.sqrt(0.3)
    assert r.lower >= 0.98 * np.sqrt(0.3)
    w = r.minimiser
    assert np.abs(w[:n]).sum() == pytest.approx(1.0)
    assert np.sqrt(n * (w @ G @ w)) == pytest.approx(r.delta_s)


def test_the_larger_search_agrees_with_all_signs_where_both_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["keyhole.theory.compatibility"]
    for seed in range(4):
        X, S = design(seed, 60, 12), [0, 1, 4, 5, 9]
        exact = compatibility(X, S)
        monkeypatch.setattr(module, "_LARGEST", 3)
        bounded = compatibility(X, S)
        monkeypatch.undo()
        assert (exact.exact, bounded.exact) == (True, False)
        assert bounded.lower <= exact.delta_s * (1 + 1e-9)
        assert exact.delta_s - 1e-6 <= bounded.delta_s <= 1.05 * exact.delta_s


def test_the_restricted_eigenvalue_lies_within_its_bounds() -> None:
    rng = np.random.default_rng(0)
    for seed in range(5):
        X = design(seed, 80)
        S = np.array([1, 4, 6])
        c = conditions(X, X[:, 0], S=S)
        G = X.T @ X / 80
        low, high = c.restricted
        assert low == pytest.approx(min(high, eigenvalue_floor(G, S, 1.0)))
        C = np.setdiff1d(np.arange(10), S)
        for _ in range(500):
            w = np.zeros(10)
            w[S], part = rng.normal(size=3), rng.normal(size=7)
            w[C] = part / np.abs(part).sum() * np.abs(w[S]).sum() * rng.random()
            assert w @ G @ w / (w[S] @ w[S]) >= low - 1e-12
        assert low <= high


@pytest.mark.parametrize(("T", "d", "S"), [(8, 8, [0, 2, 3, 7]), (12, 12, [0, 1, 4, 5, 9, 11])])
def test_no_member_of_the_cone_is_below_the_floor_of_the_eigenvalue(T: int, d: int, S: list[int]) -> None:
    """Nor is the one that has the compatibility constant, where few rows make G nearly singular."""
    positive = 0
    for seed in range(15):
        X = design(seed, T, d)
        G, w = X.T @ X / T, compatibility(X, S).minimiser
        value, floor = w @ G @ w / (w[S] @ w[S]), eigenvalue_floor(G, np.array(S), 1.0)
        assert value >= floor - 1e-12
        positive += floor > 1e-6
    assert positive > 5  # and it is worth something


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_isometry_bounds_hold_the_constant_of_all_subsets(order: int) -> None:
    attained = []
    for seed in range(6):
        X = design(seed, 60, 9)
        N = unit_diagonal(X.T @ X / 60)
        ends = [np.linalg.eigvalsh(N[np.ix_(S, S)])[[0, -1]] for S in combinations(range(9), order)]
        exact = max(max(1 - a, b - 1) for a, b in ends)
        r = isometry(X.T @ X / 60, order)
        assert r.low <= exact + 1e-12
        assert exact <= r.high + 1e-12
        assert r.support.size == order
        attained.append(r.low == pytest.approx(exact, abs=1e-9))
    assert sum(attained) >= 4


@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_upper_bound_needs_no_help_from_the_lower(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules["keyhole.theory.conditions"], "_grow", lambda N, start, order, sign: np.arange(order)
    )
    for seed in range(6):
        N = unit_diagonal((X := design(seed, 60, 9)).T @ X / 60)
        ends = [np.linalg.eigvalsh(N[np.ix_(S, S)])[[0, -1]] for S in combinations(range(9), order)]
        assert max(max(1 - a, b - 1) for a, b in ends) <= isometry(N, order).high + 1e-12
    even = 0.95 * np.eye(40) + 0.05  # delta_s = (s - 1)/20, by Gershgorin
    assert isometry(even, order).high == pytest.approx(0.05 * (order - 1))
    against = np.eye(6)  # columns 1 to 5 pull apart: the smallest eigenvalue is the farthest from one
    against[1:, 1:] = 1.2 * np.eye(5) - 0.2
    assert isometry(against, 5).high == pytest.approx(0.8)


def test_the_isometry_is_of_the_order_that_kale_et_al_need() -> None:
    X, y, w = kh.streams.synthetic(d=12, k=3, T=200, seed=0)
    assert conditions(X, y, S=np.flatnonzero(w)).isometry.order == 9


@pytest.mark.parametrize(("low", "high", "met"), [(0.05, 0.2, "met"), (0.1, 0.5, "open"), (0.3, 0.5, "not met")])
def test_what_kale_needs_is_met_open_or_not_met(low: float, high: float, met: str) -> None:
    X, y, w = kh.streams.synthetic(d=8, k=3, T=100, seed=0)
    found = replace(conditions(X, y, S=np.flatnonzero(w)), isometry=Isometry(8, low, high, np.arange(8)))
    assert found.assumptions[4].finding.endswith(f"Kale et al. need 0.2: {met}")


def test_coherence_is_the_largest_correlation_of_two_columns() -> None:
    X = design(3)
    pairs = [
        abs(X[:, i] @ X[:, j]) / np.sqrt((X[:, i] @ X[:, i]) * (X[:, j] @ X[:, j]))
        for i, j in combinations(range(10), 2)
    ]
    assert coherence(X.T @ X / 40) == pytest.approx(max(pairs))
    assert coherence(np.diag([1.0, 0.0, 2.0])) == 0.0


def test_moments_and_rows_say_the_same() -> None:
    X, y, w = kh.streams.synthetic(d=10, k=3, T=500, seed=2)
    S = np.flatnonzero(w)
    V = np.column_stack([X, y])
    a, b = conditions(X, y, S=S), conditions_of(V.T @ V / 500, S)
    assert a.compatibility.delta_s == pytest.approx(b.compatibility.delta_s, rel=1e-6)
    assert a.compatibility.delta_s == pytest.approx(compatibility(X, S).delta_s, rel=1e-6)
    assert a.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(X.T @ X / 500)[0])
    assert a.isometry.high == pytest.approx(b.isometry.high)
    assert [x.letter for x in a.assumptions] == list("abcdefgi")
    assert sum("needs the rows" in line for line in b.lines) == 4
    assert not any("needs the rows" in line for line in a.lines)


def test_the_default_support_is_the_best_k() -> None:
    X, y, w = kh.streams.synthetic(d=12, k=3, T=400, seed=1)
    assert conditions(X, y, k=3).support.tolist() == np.flatnonzero(w).tolist()


def test_data_can_speak_against_an_assumption() -> None:
    rng = np.random.default_rng(5)
    X, y, w = kh.streams.synthetic(d=8, k=3, T=4000, seed=3)
    S, drift = np.flatnonzero(w), X + np.linspace(0, 0.5, 4000)[:, None]

    def against(X: Floats, y: Floats) -> str:
        found = {a.letter: a.finding for a in conditions(X, y, S=S).assumptions}
        return "".join(letter for letter in "afi" if found[letter].startswith("evidence against it"))

    assert against(X, y) == ""
    assert against(X, X @ w + 0.1 * (rng.exponential(size=4000) - 1)) == "f"
    assert against(X, y + 0.2 * X[:, np.flatnonzero(w == 0)[0]]).startswith("a")
    assert against(X, X @ w + np.convolve(rng.normal(size=4001), [1, 0.5], "valid")) == "i"
    assert "i" in against(drift, drift @ w + 0.1 * rng.normal(size=4000))


def test_moments_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(ConfigError, match="label last"):
        conditions_of(np.ones((3, 2)), np.array([0]))
