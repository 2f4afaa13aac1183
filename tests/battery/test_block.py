"""A learner's compiled block plays as the protocol would, to the bit, on every learner that has one."""

import numpy as np
import pytest

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
