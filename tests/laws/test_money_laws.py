"""Random markets, options, prices of rows and gaps: no limit is exceeded, nothing is bought in part, the ledger is the
sum of rounds, and a learner that is saved and loaded on the way continues bit for bit."""

from math import fsum

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes


def instance(seed):
    """A learner with random sources, prices and limits, and rows with gaps."""
    rng = np.random.default_rng([seed, 13])
    d, rows = int(rng.integers(2, 12)), int(rng.choice([40, 40, 300]))
    names = [f"x{j}" for j in range(d)]
    known = [n for n in names[: d - 1] if rng.random() < 0.15]
    rest, sources = [n for n in names if n not in known], {}
    while len(rest) > 2 and rng.random() < 0.7:
        size = int(rng.integers(1, min(4, len(rest)) + 1))
        sources[f"p{len(sources)}"] = [rest.pop(int(rng.integers(len(rest)))) for _ in range(size)]
    offered = [*sources, *rest]
    prices = {s: float(rng.choice([0.0, 0.1, 0.3, 1.0, rng.uniform(0, 5)])) for s in offered}
    n, options = len(offered), {}
    options["k"] = int(rng.integers(1, n + 1))
    options["k0"] = int(rng.integers(0, n - options["k"] + 1))
    if rng.random() < 0.5:
        options["budget_per_row"] = max(float(rng.uniform(0.05, 6.0)), min(prices.values()))  # less buys nothing
    if rng.random() < 0.5:
        options["error_cost"] = float(10.0 ** rng.uniform(-2, 3))
    if rng.random() < 0.5:
        options |= {"total_budget": float(rng.uniform(0.5, 60.0)), "expected_rows": int(rng.integers(5, 2 * rows))}
    if rng.random() < 0.2:
        options["half_life"] = float(rng.uniform(5, 50))
    catalog = {"sources": sources or None, "free": known or None, "prices": prices}
    if binary := rng.random() < 0.15:
        options["label"] = "binary"
    learner = kh.make("thrifty", names=names, seed=seed, **catalog, **options)
    X = rng.normal(size=(rows, d)) * 10.0 ** rng.integers(-2, 3, d)
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.4)) + rng.choice([0.0, 1.0]) * rng.normal(size=rows)
    y = (y > 0.0).astype(float) if binary else y
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.5])] = np.nan
    if rng.random() < 0.2:
        learner.learn(X[: rows // 2], y[: rows // 2])
    y[rng.random(rows) < 0.05] = np.nan
    return learner, X, y, prices, sources, known, options, rng


def prices_of_row(prices, rng, chance):
    """The prices of a row: those of some sources are other ones, from nothing to ten thousand times the usual."""
    if rng.random() >= chance:
        return {}
    return {s: p * float(rng.choice([0.0, 0.5, 2.0, 1e4])) for s, p in prices.items() if rng.random() < 0.5}


def check(learner, r, available, prices, sources, known, options):
    """One round within all limits; what it costs."""
    extras = learner.catalog.ordered(r.extra)
    brings = {s: sources.get(s, [s]) for s in prices}
    assert [learner.names[i] for i in r.attributes[: len(known)]] == known
    wanted = [name for s in r.sources for name in brings[s]]
    assert sorted(learner.names[i] for i in r.attributes[len(known) :]) == sorted(wanted)
    assert sorted(learner.names[i] for i in r.extra) == sorted(name for s in extras for name in brings[s])
    assert not set(r.sources) & set(extras)
    assert len(r.sources) <= options["k"]
    assert len(extras) <= options["k0"]
    if available is not None:
        assert all(set(brings[s]) <= available for s in (*r.sources, *extras))
    price = fsum(prices[s] for s in (*r.sources, *extras))
    assert r.price == pytest.approx(price, abs=1e-9)
    assert price <= options.get("budget_per_row", np.inf) * (1 + 1e-12)
    return price


def hold(seed):
    learner, X, y, prices, sources, known, options, rng = instance(seed)
    spent, total, asked = [], options.get("total_budget", np.inf), dict.fromkeys(prices, 0)
    waiting, of_rows = [], float(rng.choice([0.0, 0.5]))
    for x, label in zip(X, y, strict=True):
        if rng.random() < 0.02:
            saved = to_bytes(learner)
            learner = from_bytes(saved)
            assert to_bytes(learner) == saved
        available = None if rng.random() < 0.6 else {n for n in learner.names if rng.random() < 0.6}
        here = prices_of_row(prices, rng, of_rows)
        r = learner.ask(available=None if available is None else sorted(available), prices=here or None)
        spent.append(check(learner, r, available, prices | here, sources, known, options))
        assert fsum(spent) <= total * (1 + 1e-12)
        for s in (*r.sources, *learner.catalog.ordered(r.extra)):
            asked[s] += 1
        assert np.isfinite(learner.predict(r, x[r.attributes]))
        waiting.append((r, x, label))
        while waiting and rng.random() < 0.8:  # some labels come late, and not in order
            r, x, label = waiting.pop(int(rng.integers(len(waiting))))
            if np.isnan(label):
                learner.abandon(r)
            else:
                learner.tell(r, x[r.attributes], label, r.extra, x[r.extra])
    assert learner.spent == pytest.approx(fsum(spent), rel=1e-12, abs=1e-9)
    assert {e.name: e.bought for e in learner.explain()} == asked
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("part", range(4))
def test_no_limit_is_exceeded_and_the_ledger_is_the_sum_of_rounds(part):
    for seed in range(15 * part, 15 * part + 15):
        hold(seed)


@pytest.mark.slow
def test_the_same_for_a_thousand_markets():
    for seed in range(1000):
        hold(seed)
