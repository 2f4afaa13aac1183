"""Top-k with ties, against sorting everything."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from keyhole.estimation.top_k import identified, top_k

few = st.sampled_from([0.0, 0.0, 0.0, 0.5, -0.5, 1.0, -2.0])


@st.composite
def problems(draw):
    d = draw(st.integers(2, 12))
    k = draw(st.integers(1, d))
    w = np.array(draw(st.lists(few, min_size=d, max_size=d)))
    order = np.array(draw(st.permutations(range(d))))
    return w, k, np.array(sorted(draw(st.permutations(range(d)))[:k])), order


@given(problems())
def test_top_k_is_sorting_by_size_then_current_support_then_seeded_order(problem):
    w, k, S, order = problem
    rank = {int(i): r for r, i in enumerate(order)}
    ranking = sorted(range(w.size), key=lambda i: (-abs(w[i]), i not in S, rank[i]))
    assert top_k(w, k, S, order).tolist() == sorted(ranking[:k])


@given(problems())
def test_identified_counts_the_places_above_everything_outside(problem):
    w, k, S, order = problem
    chosen = top_k(w, k, S, order)
    outside = max((abs(w[i]) for i in range(w.size) if i not in chosen), default=0.0)
    assert identified(w, chosen) == sum(abs(w[i]) > outside for i in chosen)


def test_a_zero_estimate_keeps_the_support():
    assert top_k(np.zeros(6), 3, np.array([1, 2, 5]), np.arange(6)).tolist() == [1, 2, 5]
    assert identified(np.zeros(6), np.array([1, 2, 5])) == 0


def test_weights_that_differ_by_rounding_are_tied():
    w, S, order = np.array([0.5, 0.5 * (1 + 1e-13), 0.2, 0.5 * (1 - 1e-13)]), np.array([0, 2]), np.array([3, 1, 0, 2])
    assert top_k(w, 1, S, order).tolist() == [0]
    assert top_k(w, 2, S, order).tolist() == [0, 3]
    assert top_k(np.array([0.5, 0.5 * (1 + 1e-8)]), 1, np.array([0]), np.arange(2)).tolist() == [1]
