"""The lemmas of the paper's appendix: exact on enumerated samples, and as properties."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

SIZES = [(d, k) for d in (6, 7, 8) for k in range(3, d - 2)]
unit = st.floats(-1, 1, allow_subnormal=False)


def law(d: int, k: int, q: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """SAMPLING: the first index by q, the others uniformly without replacement; P[B] = q(B)/C(d-1, k-1)."""
    return [(B, float(q[list(B)].sum()) / math.comb(d - 1, k - 1)) for B in combinations(range(d), k)]


def seen(outcomes: list[tuple[tuple[int, ...], float]], *indices: int) -> float:
    return sum(p for B, p in outcomes if set(indices) <= set(B))


def second_moments(
    outcomes: list[tuple[tuple[int, ...], float]], x: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, float]:
    """E[z_i^2] for z = (h - x x') v, and the largest |z_i|; by enumeration."""
    d = x.size
    P = np.array([[seen(outcomes, i, j) for j in range(d)] for i in range(d)])
    moments, largest, mean = np.zeros(d), 0.0, np.zeros(d)
    for B, p in outcomes:
        part = np.zeros((d, d))
        part[np.ix_(B, B)] = 1 / P[np.ix_(B, B)]
        z = (np.outer(x, x) * (part - 1)) @ v
        moments, mean, largest = moments + p * z**2, mean + p * z, max(largest, float(np.abs(z).max()) if p else 0.0)
    np.testing.assert_allclose(mean, 0, atol=1e-9 * (1 + np.abs(v).sum()))
    return moments, largest


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, int, np.ndarray, np.ndarray]:
    d, k = draw(st.sampled_from(SIZES))
    w = draw(arrays(np.float64, d, elements=unit))
    x = draw(arrays(np.float64, d, elements=st.one_of(unit, st.sampled_from([-1.0, 1.0]))))
    return d, k, np.where(np.abs(w) > 1e-6, w, 0.0), x


def law_of(w: np.ndarray) -> np.ndarray:
    return np.abs(w) / np.abs(w).sum() if w.any() else np.full(w.size, 1 / w.size)


@given(problems())
def test_variance_where_the_law_follows_the_estimate(problem: tuple[int, int, np.ndarray, np.ndarray]) -> None:
    """Corollary 1: at most 2 D |w|_1^2, and |z| <= g |w|_1."""
    d, k, w, x = problem
    D, g, size = (d - 1) / (k - 1), (d - 1) * (d - 2) / ((k - 1) * (k - 2)), np.abs(w).sum()
    moments, largest = second_moments(law(d, k, law_of(w)), x, w)
    assert (moments <= 2 * D * size**2 * (1 + 1e-9) + 1e-15).all()
    assert largest <= g * size * (1 + 1e-9) + 1e-12


@given(problems(), st.integers(0, 2**32 - 1))
def test_variance_for_any_vector(problem: tuple[int, int, np.ndarray, np.ndarray], seed: int) -> None:
    """Corollary 2: at most (g-1) |v|_2^2 + (D-1) (|v|_1^2 - |v|_2^2)."""
    d, k, w, x = problem
    v = np.random.default_rng(seed).normal(size=d)
    D, g = (d - 1) / (k - 1), (d - 1) * (d - 2) / ((k - 1) * (k - 2))
    one, two = np.abs(v).sum() ** 2, v @ v
    moments, _ = second_moments(law(d, k, law_of(w)), x, v)
    assert (moments <= ((g - 1) * two + (D - 1) * (one - two)) * (1 + 1e-9)).all()


def test_variance_is_of_the_order_of_its_bound() -> None:
    """Equal weights on all coordinates but one: at least a tenth of 2 D (D = 3.5)."""
    x, w = np.ones(8), np.append(0.0, np.full(7, 1 / 7))
    moments, _ = second_moments(law(8, 3, law_of(w)), x, w)
    assert 0.2 * 3.5 < moments.max() <= 2 * 3.5


@given(problems())
def test_ratio_of_probabilities(problem: tuple[int, int, np.ndarray, np.ndarray]) -> None:
    """P[i,j,r] <= D P[i,j] P[i,r] for three different indices."""
    d, k, w, _ = problem
    outcomes = law(d, k, law_of(w))
    for i, j, r in ((0, 1, 2), (2, 0, 1), (d - 1, 0, 1)):
        pairs = seen(outcomes, i, j) * seen(outcomes, i, r)
        assert seen(outcomes, i, j, r) <= (d - 1) / (k - 1) * pairs * (1 + 1e-12)


def test_the_ratio_is_attained() -> None:
    outcomes = law(6, 3, np.eye(6)[0])  # attribute 0 is always seen
    assert seen(outcomes, 1, 0, 2) == pytest.approx(5 / 2 * seen(outcomes, 1, 0) * seen(outcomes, 1, 2), rel=1e-12)


@st.composite
def estimates(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """w*, an estimate with |w_hat|_1 <= |w*|_1, its top k by the package, and k."""
    d = draw(st.integers(4, 9))
    k = draw(st.integers(1, d - 1))
    S = np.array(draw(st.permutations(range(d)))[:k])
    w = np.zeros(d)
    w[S] = draw(arrays(np.float64, k, elements=st.one_of(st.floats(0.05, 1), st.floats(-1, -0.05))))
    w_hat = draw(arrays(np.float64, d, elements=unit))
    size = np.abs(w_hat).sum()
    if size > 0:
        w_hat = w_hat * draw(st.floats(0, 1)) * np.abs(w).sum() / size
    from keyhole.estimation.top_k import top_k

    top = np.asarray(top_k(w_hat, k, np.arange(k), np.arange(d)))
    return w, w_hat, top, k


def restricted(w: np.ndarray, S: np.ndarray) -> np.ndarray:
    out = np.zeros_like(w)
    out[S] = w[S]
    return out


@given(estimates())
def test_top_k(case: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    """|w*(S n S_s) - w*|_1 <= |w_hat - w*|_1; |w_hat(S_s) - w*|_1 <= 3 |w_hat(S) - w*|_1 (the 3x lemma);
    |w_hat(S_s) - w*|_2^2 <= 3 |w_hat - w*|_2^2; |Delta(S^c)|_1 <= |Delta(S)|_1."""
    w, w_hat, top, k = case
    S = np.flatnonzero(w)
    assert np.unique(top).size == k
    rest = np.setdiff1d(np.arange(w.size), top)
    assert np.abs(w_hat[top]).min() >= np.abs(w_hat[rest]).max() - 1e-15
    slack = 1e-12
    error = np.abs(w_hat - w).sum()
    assert np.abs(restricted(w, top) - w).sum() <= error + slack
    on_support = np.abs(w_hat[S] - w[S]).sum()
    assert np.abs(np.delete(w_hat, S)).sum() <= on_support + slack
    assert np.abs(restricted(w_hat, top) - w).sum() <= 3 * on_support + slack
    assert ((restricted(w_hat, top) - w) ** 2).sum() <= 3 * ((w_hat - w) ** 2).sum() + slack


@given(estimates())
def test_the_support_is_the_true_one_once_the_error_is_below_the_smallest_weight(
    case: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    """S_s = S after s2: there 2 |Delta(S)|_1, and so |Delta|_1, is below min |w*_i|."""
    w, w_hat, top, _ = case
    S = np.flatnonzero(w)
    if 2 * np.abs(w_hat[S] - w[S]).sum() < np.abs(w[S]).min():
        assert set(top.tolist()) == set(S.tolist())


@given(st.integers(1, 6), st.integers(1, 60), st.floats(0.01, 10), st.floats(0.01, 10), st.integers(0, 2**32 - 1))
def test_log_determinant(k: int, T: int, r: float, eps: float, seed: int) -> None:
    """For |u| <= r: sum u'V^-1 u <= ln(det V/det eps I) <= k ln(1 + r^2 T/(k eps)), as E26 uses it; the paper
    has no k below r^2 T."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(T, k))
    U *= r * rng.random((T, 1)) ** 0.3 / np.linalg.norm(U, axis=1, keepdims=True)
    V, total = eps * np.eye(k), 0.0
    for u in U:
        V += np.outer(u, u)
        total += float(u @ np.linalg.solve(V, u))
    log_det = float(np.linalg.slogdet(V)[1]) - k * math.log(eps)
    assert total <= log_det * (1 + 1e-9) + 1e-9
    assert log_det <= k * math.log1p(r**2 * T / (k * eps)) * (1 + 1e-9) + 1e-9
    assert k * math.log1p(r**2 * T / (k * eps)) <= k * math.log1p(r**2 * T / eps) * (1 + 1e-12)
