"""DS-POSLRC's compiled block: the protocol's numbers to the bit, also where a solve needs help from outside."""

import warnings

import numpy as np
import pytest

import keyhole as kh
from keyhole._core import invert
from keyhole.algorithms import _poslrc_block
from keyhole.core.serialization import to_bytes
from keyhole.estimation.dantzig.simplex import SMALL

SETTINGS = [
    dict(d=9, k=3, k0=6),  # everything is bought
    dict(d=12, k=3, k0=4, tuning="theory"),  # w = 0 all along
    dict(d=12, k=3, k0=4, tuning="scaled(0.02)", solve="powers"),
    dict(d=12, k=3, k0=4, sampling="uniform", solve=3),
    dict(d=60, k=4, k0=8, tuning="scaled(0.002)"),  # the basis outgrows its arrays
    dict(d=100, k=5, k0=10, tuning="scaled(0.0005)"),  # the inverse of such a basis is left to LAPACK
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_run_in_blocks_equals_one_round_by_round(setting):
    X, y, _ = kh.streams.synthetic(setting["d"], 3, 300, seed=2)
    y[40] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kh.KeyholeWarning)
        ends = [kh.make("ds-poslrc", seed=5, **setting) for _ in range(2)]
        fast, slow = (kh.play(end, X, y, compiled=c) for end, c in zip(ends, (True, False), strict=True))
    assert np.array_equal(fast.predictions, slow.predictions)
    assert (fast.bought == slow.bought).all()
    assert to_bytes(ends[0]) == to_bytes(ends[1])


def test_a_solve_that_needs_help_goes_on_where_it_stopped(monkeypatch):
    """At least the first solve, of the empty basis, and one whose basis outgrows its arrays do."""
    helped = []
    real = _poslrc_block.Reached
    monkeypatch.setattr(_poslrc_block, "Reached", lambda *reached: helped.append(reached[1]) or real(*reached))
    X, y, _ = kh.streams.synthetic(100, 5, 100, seed=1)
    kh.play(kh.make("ds-poslrc", d=100, k=5, k0=10, seed=0, tuning="scaled(0.0005)"), X, y)
    assert set(helped) == {True, False}


def test_silence_is_said_in_the_middle_of_a_block():
    X, y, _ = kh.streams.synthetic(12, 3, 100, seed=0)
    learner = kh.make("ds-poslrc", d=12, k=3, k0=4, seed=0, tuning="theory")
    with pytest.warns(kh.KeyholeWarning, match="was zero in all 30 explorations"):
        kh.play(learner, X, y)


def test_the_numbers_are_those_of_the_reference_engine():
    X, y, _ = kh.streams.synthetic(30, 4, 200, seed=1)
    ours, highs = (
        kh.play(kh.make("ds-poslrc", d=30, k=4, k0=6, seed=0, engine=engine), X, y) for engine in ("simplex", "highs")
    )
    assert np.abs(ours.predictions - highs.predictions).max() < 1e-9
    assert (ours.bought == highs.bought).all()


@pytest.mark.parametrize("m", [1, 2, 7, SMALL])
def test_a_small_inverse_is_one(m):
    G = np.random.default_rng(m).normal(size=(m + 2, m + 2))
    if m > 1:
        G[0, 0] = 0.0  # no pivot without an exchange of rows
    out = np.full_like(G, 7.0)
    assert invert(G, out, m)
    assert np.abs(out[:m, :m] @ G[:m, :m] - np.eye(m)).max() < 1e-10
    assert (out[m:] == 7.0).all()


def test_a_singular_basis_has_no_inverse():
    G = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.0]])
    assert not invert(G, np.empty_like(G), 3)
