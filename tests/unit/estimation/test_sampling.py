"""Algorithm 2 and its probabilities, against the enumerated law of the procedure itself."""

from itertools import combinations
from math import comb, isclose

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation import sampling


def laws(n):
    """Several q on n indices: uniform, one-hot, half empty, random."""
    rng = np.random.default_rng(n)
    half = np.where(np.arange(n) < max(1, n // 2), 1.0, 0.0)
    return [np.full(n, 1 / n), np.eye(n)[n - 1], half / half.sum(), rng.dirichlet(np.ones(n))]


def enumerate_law(q, m):
    """P[B] by walking through the procedure: which index came first, which set the others are."""
    n, law = q.size, {}
    for first in range(n):
        rest = [i for i in range(n) if i != first]
        for others in combinations(rest, m - 1):
            B = frozenset((first, *others))
            law[B] = law.get(B, 0.0) + q[first] / comb(n - 1, m - 1)
    return law


def pair_matrix(law, n):
    """P[i, j in B] from an enumerated law."""
    P = np.zeros((n, n))
    for B, p in law.items():
        index = sorted(B)
        P[np.ix_(index, index)] += p
    return P


@pytest.mark.parametrize(("d", "k"), [(d, k) for d in range(2, 9) for k in range(1, d)])
def test_inclusion_probabilities_equal_the_enumerated_law(d, k):
    for q in laws(d):
        P = pair_matrix(enumerate_law(q, k), d)
        assert np.abs(sampling.pair_inclusion(q, k) - P).max() < 1e-12
        assert np.abs(sampling.inclusion(q, k) - np.diag(P)).max() < 1e-12


@pytest.mark.parametrize(("d", "k"), [(d, k) for d in range(2, 8) for k in range(1, d + 1)])
def test_triples_equal_the_enumerated_law(d, k):
    for q in laws(d):
        P = np.zeros((d, d, d))
        for B, p in enumerate_law(q, k).items():
            P[np.ix_(sorted(B), sorted(B), sorted(B))] += p
        assert np.abs(sampling.triple_inclusion(q, k) - P).max() < 1e-12


@pytest.mark.parametrize(
    ("d", "k", "k0"), [(d, k, k0) for d in range(3, 8) for k in range(1, d) for k0 in range(1, d - k + 1)]
)
def test_union_probabilities_equal_the_enumerated_law(d, k, k0):
    rng = np.random.default_rng(d * 100 + k * 10 + k0)
    S = np.sort(rng.choice(d, k, replace=False))
    C = np.setdiff1d(np.arange(d), S)
    for q_C in laws(C.size):
        law = {frozenset(S) | {C[i] for i in B}: p for B, p in enumerate_law(q_C, k0).items()}
        q = np.zeros(d)
        q[C] = q_C
        P = pair_matrix(law, d)
        assert np.abs(sampling.union_pair_inclusion(q, k0, S) - P).max() < 1e-12
        assert np.abs(sampling.union_inclusion(q, k0, S) - np.diag(P)).max() < 1e-12


def test_everything_observed_has_probability_one():
    q = np.array([0.7, 0.3, 0.0])
    assert (sampling.pair_inclusion(q, 3) == 1).all()
    assert (sampling.union_pair_inclusion(np.array([0.0, 1.0, 0.0]), 5, np.array([0])) == 1).all()


def test_two_of_one_are_never_a_pair():
    P = sampling.pair_inclusion(np.array([0.5, 0.5]), 1)
    assert P.tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_draw_follows_its_law():
    q, k, n = np.array([0.5, 0.3, 0.2, 0.0, 0.0]), 3, 20_000
    rng = np.random.default_rng(7)
    counts: dict[frozenset[int], int] = {}
    for _ in range(n):
        B = sampling.draw(q, k, rng)
        assert len(set(B.tolist())) == k
        counts[frozenset(B.tolist())] = counts.get(frozenset(B.tolist()), 0) + 1
    for B, p in enumerate_law(q, k).items():
        # five standard deviations of a binomial count
        assert abs(counts.get(B, 0) - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-9, B


def test_an_attribute_with_all_the_mass_is_always_drawn():
    rng = np.random.default_rng(0)
    assert all(2 in sampling.draw(np.eye(6)[2], 3, rng) for _ in range(200))


def test_an_attribute_without_mass_is_never_first():
    rng = np.random.default_rng(0)
    q = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    assert {int(sampling.draw(q, 1, rng)[0]) for _ in range(300)} == {1, 3}


def test_inverse_cdf_at_the_ends():
    q = np.array([0.0, 0.25, 0.75, 0.0])
    assert sampling._inverse_cdf.py_func(q, 0.0) == 1
    assert sampling._inverse_cdf.py_func(q, 0.25) == 2
    assert sampling._inverse_cdf.py_func(q, 1.0) == 2


def test_distribution_takes_sizes_and_is_uniform_at_zero():
    assert sampling.distribution(np.array([-3.0, 1.0])).tolist() == [0.75, 0.25]
    assert sampling.distribution(np.zeros(5)).tolist() == [0.2] * 5
    assert isclose(sampling.distribution(np.array([1e-200, -1e-200])).sum(), 1.0)


@pytest.mark.parametrize("q", [[0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0], [[0.5, 0.5]]])
def test_a_vector_that_is_no_law_is_refused(q):
    with pytest.raises(kh.ConfigError, match="probabilities"):
        sampling.inclusion(np.array(q), 1)


@pytest.mark.parametrize("k", [0, 3])
def test_k_outside_the_pool_is_refused(k):
    with pytest.raises(kh.ConfigError, match="between 1 and 2"):
        sampling.draw(np.array([0.5, 0.5]), k, np.random.default_rng(0))


def test_mass_on_what_is_always_observed_is_refused():
    with pytest.raises(kh.ConfigError, match="always observed"):
        sampling.union_inclusion(np.array([0.5, 0.5, 0.0]), 1, np.array([0]))
