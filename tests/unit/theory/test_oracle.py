"""gamma_s and the lemma's bound from the true errors."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.errors import ConfigError
from keyhole.theory import Constants, oracle_gamma, oracle_trace

C = Constants(d=20, k=5, sigma=0.1, delta_s=1.0, delta=0.01)


def test_gamma_is_its_formula_written_out() -> None:
    errors = np.array([1.5, 0.3, 0.0, 0.7])
    for s, gamma in enumerate(oracle_gamma(C, errors), start=1):
        first = (8 / 3 + 0.2) * C.g * C.L1 / s + (6.9 + 0.12) * math.sqrt(C.D * C.L1 / s)
        history = math.sqrt(3 * C.g * C.L1 * sum(e**2 for e in errors[:s])) / s
        assert gamma == pytest.approx(first + history, rel=1e-12)


def test_the_trace_reads_the_errors_on_the_support_alone() -> None:
    w = np.zeros(20)
    w[[3, 7]] = 0.5, -0.2
    W = np.zeros((3, 20))
    W[0, 0], W[1, 3], W[2] = 1.0, 0.4, w
    t = oracle_trace(C, W, w)
    np.testing.assert_allclose(t.error, [0.1 + 0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(t.gamma, oracle_gamma(C, np.array([0.7, 0.3])))
    np.testing.assert_allclose(t.gamma_hat, [C.gamma(1), C.gamma(2)])
    assert t.gamma_suffices.all()
    assert t.bound_holds.all()


def test_it_says_no_where_the_errors_are_larger_than_the_lemma_allows() -> None:
    c = C.with_s0(3.0)
    w = np.zeros(20)
    w[:5] = 0.2
    far = oracle_trace(c, np.repeat(5 * w[None], 3001, axis=0), w)  # an error of 4, twice what is possible
    assert not far.gamma_suffices[[0, -1]].any()
    assert not far.bound_holds[-1]
    near = oracle_trace(c, np.repeat(w[None], 3001, axis=0), w)
    assert near.gamma_suffices.all()
    assert near.bound_holds.all()


def test_bad_input_is_refused() -> None:
    for errors in (np.array([-1.0]), np.array([np.nan]), np.zeros((2, 2))):
        with pytest.raises(ConfigError, match="finite numbers >= 0"):
            oracle_gamma(C, errors)
    with pytest.raises(ConfigError, match=r"\(n\+1, 20\)"):
        oracle_trace(C, np.zeros((3, 19)), np.zeros(20))
    with pytest.raises(ConfigError, match="s0 must be"):
        C.with_s0(0.0)
    assert kh.theory.oracle_gamma is oracle_gamma
