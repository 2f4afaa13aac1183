"""Every option works beside every other: limits hold, sources are learnt, changes and intervals are as without it."""

from itertools import product
from math import fsum

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.explain import Explanation
from keyhole.core.serialization import from_bytes, to_bytes

NAMES = [f"x{j}" for j in range(10)]
PANELS = {"p": ["x1", "x2", "x3"], "r": ["x4", "x5"]}
PRICES = {"x0": 1.0, "p": 3.0, "r": 2.0, "x6": 1.0, "x7": 0.5, "x8": 2.0, "x9": 1.0}
W = np.array([0.5, 1.0, 0.0, -0.5, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0])

MONEY = {
    "k": {},
    "budget": {"budget_per_row": 6.0},
    "error": {"error_cost": 20.0},
    "total": {"total_budget": 5.0, "expected_rows": 1},  # per row
}
MONEYS = [("k",), ("budget",), ("error",), ("total",), ("budget", "error"), ("budget", "total"), ("error", "total")]
MONEYS += [("budget", "error", "total")]
EVERY_COMBINATION = pytest.mark.parametrize(
    ("money", "k0", "half_life", "panels"), list(product(MONEYS, (0, 1), (None, 1000.0), (False, True))), ids=str
)


def options(money, k0, half_life, panels, rows):
    """The options of a learner, and what each of its sources brings."""
    given = {"k": 4, "k0": k0, "half_life": half_life}
    for name in money:
        given |= MONEY[name]
    if "total" in money:
        given |= {"total_budget": 5.0 * rows, "expected_rows": rows}
    if panels:
        brings = {s: PANELS.get(s, [s]) for s in PRICES if s != "x0"}
        given |= {"sources": PANELS, "free": ["x0"], "prices": {s: PRICES[s] for s in brings}}
    else:
        brings = {n: [n] for n in NAMES}
        given |= {"prices": {n: PRICES.get(n, 1.0) for n in NAMES}}
    return given, brings


def stream(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 10))
    return X, X @ W + 0.3 * rng.standard_normal(rows), rng


@EVERY_COMBINATION
def test_limits_hold_and_sources_are_learnt_from_rows_as_they_come(money, k0, half_life, panels):
    """Missing values, sources that cannot be had, prices of the row, and labels that come late, or never."""
    rows = 600
    X, y, rng = stream(rows, 5)
    X[rng.random(X.shape) < 0.05] = np.nan
    given, brings = options(money, k0, half_life, panels, rows)
    learner = kh.make("thrifty", names=NAMES, seed=2, **given)
    waiting, paid, errors, held = [], [], [], []
    asked = dict.fromkeys(brings, 0)
    for t in range(rows):
        offered = [s for s in brings if rng.random() < 0.9] + ["x0"]
        here = {s: float(given["prices"][s] * rng.choice([0.5, 1.0, 1.5])) for s in brings if rng.random() < 0.3}
        r = learner.ask(available=offered, prices=here)
        extras = learner.catalog.ordered(r.extra)
        price = fsum((given["prices"] | here)[s] for s in (*r.sources, *extras))
        assert {*r.sources, *extras} <= set(offered)
        assert len(r.sources) <= 4
        assert len(extras) <= k0
        assert r.price == pytest.approx(price, abs=1e-12)
        assert price <= given.get("budget_per_row", np.inf) * (1 + 1e-12)
        paid.append(price)
        for s in (*r.sources, *extras):
            asked[s] += 1
        x = X[t, r.attributes]
        errors.append(learner.predict(r, x) - y[t])
        low, high = learner.interval(r, x, 0.9)
        held.append(low <= y[t] <= high)
        waiting.append((r, x, t))
        while waiting and rng.random() < 0.8:
            r, x, at = waiting.pop(int(rng.integers(len(waiting))))
            if rng.random() < 0.03:
                learner.abandon(r)
            else:
                learner.tell(r, x, y[at], r.extra, X[at, r.extra])
        if t == rows // 2:
            learner = from_bytes(to_bytes(learner))
    assert fsum(paid) <= given.get("total_budget", np.inf) * (1 + 1e-12)
    assert learner.spent == pytest.approx(fsum(paid), abs=1e-9)
    assert np.mean(np.square(errors[-300:])) < 0.5 * y.var()
    assert np.mean(held[100:]) == pytest.approx(0.9, abs=0.06)
    assert learner.alarms == ()
    records = learner.explain()
    assert {type(e) for e in records} == {Explanation}
    assert {e.name: e.bought for e in records} == asked
    assert [e.attributes for e in records] == [tuple(brings[e.name]) for e in records]
    assert {n for e in records if e.in_support for n in e.attributes} == {NAMES[j] for j in learner.support}


@EVERY_COMBINATION
def test_changes_are_noticed_and_intervals_hold_their_level(money, k0, half_life, panels):
    """All weights turn at row 1500, the level of the label moves at row 2500."""
    rows = 3500
    X, y, _ = stream(rows, 6)
    y[1500:] -= 2.0 * (X @ W)[1500:]
    y[2500:] += 12.0
    given, _ = options(money, k0, half_life, panels, rows)
    learner = kh.make("thrifty", names=NAMES, seed=2, **given)
    history = kh.play(learner, X, y)
    levels = [a.row for a in learner.alarms if "the label's level moved by +1" in a.what]
    changes = [a.row for a in learner.alarms if "rows before count 1/1000" in a.what]
    assert len(levels) == 1
    assert 2500 < levels[0] <= 2800
    assert len(changes) == 1
    assert 1500 < changes[0] <= (2000 if "total" in money else 1700)  # it pays for two members in most rows
    assert len(learner.alarms) == 2
    assert history.losses[-500:].mean() < 0.5 * (X @ W).var()
    for level in (0.5, 0.9):
        assert history.coverage(level) == pytest.approx(level, abs=0.02)
