"""The learners that buy everything: the same recursion row by row and compiled, and what they refuse."""

import numpy as np
import pytest

import keyhole as kh

NAMES = ["olin-lasso", "rda", "i-lamm", "vaw"]


def holed_stream():
    X, y, _ = kh.streams.synthetic(d=7, k=3, T=150, seed=3)
    X[20:40:3, 2] = np.nan
    y[[5, 64]] = np.nan
    return X, y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tuning", ["theory", "practical"])
def test_compiled_and_row_by_row_agree_bit_for_bit(name, tuning):
    X, y = holed_stream()
    fast, slow = (kh.make(name, d=7, seed=0, tuning=tuning) for _ in range(2))
    a, b = kh.play(fast, X, y), kh.play(slow, X, y, compiled=False)
    np.testing.assert_array_equal(a.predictions, b.predictions)
    np.testing.assert_array_equal(fast.weights, slow.weights)


@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_that_cannot_be_bought_counts_as_zero(name):
    X, y, _ = kh.streams.synthetic(d=5, k=2, T=40, seed=3)
    one, other = (kh.make(name, d=5, seed=0) for _ in range(2))
    mask = np.array([True, True, False, True, True])
    for x, label in zip(X, y, strict=True):
        r, whole = one.ask(available=mask), other.ask()
        assert r.attributes.tolist() == [0, 1, 3, 4]
        assert one.predict(r, x[mask]) == other.predict(whole, x * mask)
        one.tell(r, x[mask], label)
        other.tell(whole, x * mask, label)
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("name", NAMES)
def test_all_zero_rows_and_labels_are_harmless(name):
    for X, y in [(np.zeros((40, 4)), np.ones(40)), (np.ones((40, 4)), np.zeros(40))]:
        history = kh.play(kh.make(name, d=4, seed=0), X, y)
        np.testing.assert_array_equal(history.predictions, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_smaller_budget_is_refused(name):
    with pytest.raises(kh.ConfigError, match="buys all d = 6"):
        kh.make(name, d=6, k=3, seed=0)


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("vaw", {"a": 0}, "a must be > 0"),
        ("vaw", {"tuning": "guess"}, "tuning must be one of 'theory', 'practical'"),
        ("rda", {"gamma": 0.0}, "gamma must be > 0"),
        ("rda", {"lam": -1}, "lam must be >= 0"),
        ("rda", {"groups": [[0, 1], [1, 2]]}, "'x1' is in two"),
        ("rda", {"groups": [["nobody"]]}, "not an attribute"),
        ("rda", {"groups": "all"}, "groups must be a list"),
        ("olin-lasso", {"n0": 1.5}, "n0 must be a whole number"),
        ("olin-lasso", {"c": float("nan")}, "c must be a number"),
        ("i-lamm", {"penalty": "l0"}, "penalty"),
    ],
)
def test_bad_options_are_named(name, options, word):
    with pytest.raises(kh.ConfigError, match=word):
        kh.make(name, d=6, seed=0, **options)
