"""`_play_block` plays as the protocol would, to the bit, for every learner."""

import numpy as np
import pytest

from keyhole.core.serialization import to_bytes
from keyhole.testing import answer_round

from .cases import CASES, PRICES, Case

BLOCKS = [
    *CASES,
    Case("thrifty", k0=2, options={"half_life": 40}),
    Case("thrifty", k=9, options={"prices": PRICES, "budget_per_row": 9.0}),
]


def purchases(played):
    """What each row bought, and how much of it before and after the label; one line stands for all rows."""
    n = played.predictions.size
    assert len(played.attributes) == len(played.sizes) in (1, n)
    lines = np.broadcast_to(played.attributes, (n, played.attributes.shape[1])), np.broadcast_to(played.sizes, (n, 2))
    return list(zip(*lines, strict=True))


@pytest.mark.parametrize("case", BLOCKS, ids=str)
def test_a_block_plays_as_the_protocol_would(case):
    X, y = case.stream(300)
    y = np.where(np.arange(y.size) % 17 == 5, np.nan, y)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    fast, slow, t = case.make(), case.make(), 0
    while t < y.size:
        stop = min(y.size, t + 130)  # a block may end anywhere
        played = fast._play_block(X[t:stop], y[t:stop], None)
        assert 0 < played.predictions.size <= stop - t
        for i, (attributes, (before, after)) in enumerate(purchases(played)):
            r = slow.ask()
            assert r.attributes.tolist() == attributes[:before].tolist()
            assert slow.ask_more(r).tolist() == attributes[before : before + after].tolist()
            assert slow.predict(r, X[t][r.attributes]) == played.predictions[i]
            assert (r.kind == "explore") == played.explored[i]
            if np.isnan(y[t]):
                slow.abandon(r)
            else:
                answer_round(slow, r, X[t], y[t])
                np.testing.assert_equal(played.levels[i], slow._level())  # NaN where there are no intervals
            t += 1
        assert to_bytes(fast) == to_bytes(slow)


@pytest.mark.parametrize("case", BLOCKS, ids=str)
def test_a_block_reads_nothing_that_was_not_bought(case):
    X, y = case.stream(200)
    honest, fooled = case.make(), case.make()
    played = honest._play_block(X, y, None)
    n = played.predictions.size
    seen = np.zeros((n, case.d), dtype=bool)
    for t, (attributes, size) in enumerate(purchases(played)):
        seen[t, attributes[: size.sum()]] = True
    fooled._play_block(np.where(seen, X[:n], np.nan), y[:n], None)
    assert to_bytes(honest) == to_bytes(fooled)
