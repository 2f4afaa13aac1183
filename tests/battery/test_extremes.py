"""Whatever numbers come: finite predictions, finite weights, no exception, and a file that loads."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes

from .cases import CASES

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

T = 70


def logarithmic(rng, shape, low, high):
    return 10.0 ** rng.uniform(low, high, shape) * rng.choice([-1.0, 1.0], shape)


def one_bad_cell(X, y, rng):
    X[T // 2] = 1e4
    return X, y


STREAMS = {
    "every size there is": lambda X, y, rng: (
        logarithmic(rng, X.shape, -300, 100),
        logarithmic(rng, y.shape, -300, 100),
    ),
    "tiny labels": lambda X, y, rng: (X, y * 1e-160),
    "tiny everything": lambda X, y, rng: (X * 1e-200, y * 1e-300),
    "small everything": lambda X, y, rng: (X * 1e-20, y * 1e-25),
    "huge labels": lambda X, y, rng: (X, y * 1e99),
    "huge rows": lambda X, y, rng: (X * 1e99, y),
    "huge against small": lambda X, y, rng: (X * 1e-28, y * 1e29),
    "constant 1e9": lambda X, y, rng: (np.full_like(X, 1e9), np.full_like(y, 1e9)),
    "labels 1e9": lambda X, y, rng: (X * 1e9, y * 1e9),
    "one row of 1e4": one_bad_cell,
    "whole numbers": lambda X, y, rng: (np.round(X * 5).astype(np.int64), np.round(y * 5).astype(np.int64)),
    "minus zero": lambda X, y, rng: (X * -0.0, y * -0.0),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_extreme_numbers_are_survived(case, stream):
    rng = np.random.default_rng(0)
    X, y = STREAMS[stream](*case.stream(T), rng)
    learner, slow = case.make(), case.make()
    history = kh.play(learner, X, y)
    assert np.isfinite(history.predictions).all()
    assert np.isfinite(learner.weights).all()
    assert np.isfinite(kh.play(slow, X[:20], y[:20], compiled=False).predictions).all()
    again = from_bytes(to_bytes(learner))
    assert np.isfinite(kh.play(again, *case.stream(20)).predictions).all()


def test_beyond_all_measure_is_refused(case):
    X, y = case.stream(5)
    for bad in (1e101, np.inf):
        with pytest.raises(kh.ProtocolError, match="row 3"):
            kh.play(case.make(), X, np.where(np.arange(5) == 2, bad, y))
