"""A regime that comes back gets its rows back; one that does not leaves no trace."""

import numpy as np

import keyhole as kh
from keyhole.core.serialization import to_bytes


def weights(which):
    return kh.streams.synthetic(12, 3, 1, seed=which).w


def in_turns(regimes, rows=1500, seed=0):
    """X, y, noise, the rows of each regime in turn."""
    T = rows * len(regimes)
    X, noise = kh.streams.synthetic(12, 3, T, seed=seed).X, 0.1 * np.random.default_rng(seed).standard_normal(T)
    w = np.repeat([weights(which) for which in regimes], rows, axis=0)
    return X, np.einsum("td,td->t", X, w) + noise, noise


def played(regimes, **options):
    X, y, noise = in_turns(regimes)
    learner = kh.make("thrifty", d=12, k=3, seed=2, **options)
    history = kh.play(learner, X, y)
    return learner, history.losses - noise**2


def back(learner):
    return [alarm for alarm in learner.alarms if "holds again" in alarm.what]


def test_compiled_and_row_by_row_play_are_the_same():
    X, y, _ = in_turns([1, 2, 1])
    fast, slow = (kh.make("thrifty", d=12, k=3, seed=2) for _ in range(2))
    a, b = kh.play(fast, X[:3300], y[:3300]), kh.play(slow, X[:3300], y[:3300], compiled=False)
    assert np.array_equal(a.predictions, b.predictions)
    assert to_bytes(fast) == to_bytes(slow)
    assert len(back(fast)) == 1
