"""The ring of stored rows: it holds the last rows as they were, and grows without losing any."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty import engine_state

D = 40


def check_store(learner, X, y):
    """The stored rows are the last of X and y."""
    memory, scalars = learner.memory, learner.memory.scalars[0]
    n = int(scalars["n_rows"])
    used = memory.row[(int(scalars["oldest"]) + np.arange(n)) % len(memory.row)]
    assert (used["weight"] > 0.0).all()
    for row, x, label in zip(used, X[y.size - n :], y[y.size - n :], strict=True):
        values = memory.value[row["begin"] : row["begin"] + row["size"]]
        j = values["j"]
        assert memory.attr["ref"][j] + memory.attr["unit"][j] * values["x"] == pytest.approx(x[j], rel=1e-9)
        assert scalars["y_ref"] + scalars["y_unit"] * row["y"] == pytest.approx(label, abs=0.05)  # less the level
    return n


@pytest.mark.parametrize("seed", range(3))
def test_the_store_holds_the_last_rows_as_they_were(seed, monkeypatch):
    """Past rows fill the ring of values first, rounds the ring of rows; some rows show nothing."""
    monkeypatch.setattr(engine_state, "_MOST_VALUES", 6000)
    rng = np.random.default_rng(seed)
    X, y, _ = kh.streams.synthetic(D, 3, 5000, seed=seed)
    X[rng.random(len(X)) < 0.05] = np.nan
    learner, t = kh.make("thrifty", d=D, k=3, seed=seed), 0
    while t < 4500:
        n = int(rng.integers(1, 400))
        part = slice(t, t + n)
        if rng.random() < 0.3:
            learner.learn(X[part], y[part])
        else:
            kh.play(learner, X[part], y[part], compiled=bool(rng.random() < 0.5))
        t += n
        assert check_store(learner, X[:t], y[:t]) >= min(t, 140)  # 6000 values of whole rows


def test_rounds_go_on_after_many_past_rows():
    """The values of past rows took more room than rounds may ever need, and the ring of rows had to grow."""
    X, y, _ = kh.streams.synthetic(D, 3, 8000, seed=1)
    learner = kh.make("thrifty", d=D, k=3, seed=0)
    kh.play(learner, X[:700], y[:700])
    learner.learn(X[700:6000], y[700:6000])
    kh.play(learner, X[6000:], y[6000:])
    assert check_store(learner, X, y) == 8000
