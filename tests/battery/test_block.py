"""A learner's compiled block plays as the protocol would, to the bit, on every learner that has one."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes

from .cases import CASES, PRICES, Case, step

BLOCKS = [case for case in CASES if case.make()._block() is not None]
BLOCKS += [
    Case("thrifty", k0=2, options={"half_life": 40}),
    Case("thrifty", k=9, options={"prices": PRICES, "budget_per_row": 9.0}),
]


def test_thrifty_and_ds_poslrc_have_a_block():
    assert {"thrifty", "ds-poslrc"} <= {case.name for case in BLOCKS}


@pytest.mark.parametrize("case", BLOCKS, ids=str)
def test_a_block_plays_as_the_protocol_would(case):
    X, y = case.stream(300)
    y = np.where(np.arange(y.size) % 17 == 5, np.nan, y)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    fast, slow, t = case.make(), case.make(), 0
    predictions, explored, levels = np.full(y.size, np.nan), np.zeros(y.size, dtype=bool), np.full(y.size, np.nan)
    while t < y.size:
        stop = min(y.size, t + 130)  # a block may end anywhere
        bought, sizes = fast._block()(X[t:stop], y[t:stop], predictions[t:stop], explored[t:stop], levels[t:stop])
        assert 0 < len(bought) == len(sizes)
        assert np.isnan(predictions[t + len(bought) :]).all()
        for attributes, (before, after) in zip(bought, sizes, strict=True):
            r = slow.ask()
            assert r.attributes.tolist() == attributes[:before].tolist()
            assert slow.ask_more(r).tolist() == attributes[before : before + after].tolist()
            assert slow.predict(r, X[t][r.attributes]) == predictions[t]
            assert (r.kind == "explore") == explored[t]
            if np.isnan(y[t]):
                slow.abandon(r)
            else:
                step(slow, r, X[t], y[t])
                np.testing.assert_equal(levels[t], slow._level())  # NaN where there are no intervals
            t += 1
        assert to_bytes(fast) == to_bytes(slow)


@pytest.mark.parametrize("case", BLOCKS, ids=str)
def test_a_block_reads_nothing_that_was_not_bought(case):
    X, y = case.stream(200)
    honest, fooled = case.make(), case.make()
    bought, sizes = honest._block()(X, y, np.empty(y.size), np.empty(y.size, dtype=bool), np.empty(y.size))
    seen = np.zeros((len(bought), case.d), dtype=bool)
    for t, (attributes, size) in enumerate(zip(bought, sizes, strict=True)):
        seen[t, attributes[: size.sum()]] = True
    garbage = np.where(seen, X[: len(bought)], np.nan)
    n = len(bought)
    fooled._block()(garbage, y[:n], np.empty(n), np.empty(n, dtype=bool), np.empty(n))
    assert to_bytes(honest) == to_bytes(fooled)


def test_a_short_stream_compiles_no_block_that_a_long_one_needs(monkeypatch):
    """The first rounds are played one by one, the rest in blocks, and nobody can tell."""
    case, called = next(case for case in BLOCKS if case.name == "ds-poslrc"), []
    cls = type(case.make())
    assert cls._block_from >= 100
    monkeypatch.setattr(cls, "_block_from", 40)
    plain = cls._block
    monkeypatch.setattr(cls, "_block", lambda self: called.append(self.t) or plain(self))
    X, y = case.stream(100)
    short, long, slow = case.make(), case.make(), case.make()
    kh.play(short, X[:40], y[:40])
    assert called == []
    history = kh.play(long, X, y)
    assert called[0] == 40
    assert np.array_equal(history.predictions, kh.play(slow, X, y, compiled=False).predictions)
    assert to_bytes(long) == to_bytes(slow)
