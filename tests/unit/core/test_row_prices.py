"""Prices of one row: decided by where money limits, and counted to the cent."""

from math import fsum

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.introspection import basket
from keyhole.core.serialization import to_bytes

NAMES = ["age", "ldl", "hdl", "glucose", "bmi"]
PRICES = {"lipids": 12.0, "glucose": 3.0, "bmi": 0.1}


def make(**options):
    catalog = {"names": NAMES, "sources": {"lipids": ["ldl", "hdl"]}, "free": ["age"], "prices": PRICES}
    return kh.make("thrifty", seed=0, **catalog, **options)


def rows(T=800, seed=0):
    X = np.random.default_rng(seed).normal(size=(T, 5))
    return X, X @ np.array([0.3, 1.0, 0.5, 0.8, 0.0])


def test_a_round_counts_what_this_row_costs():
    learner = make(k=3)
    r = learner.ask(prices={"lipids": 9.5, "bmi": 0.25})
    assert r.price == 9.5 + 3.0 + 0.25
    assert dict(basket(learner, r)) == {"lipids": 9.5, "glucose": 3.0, "bmi": 0.25}
    assert kh.Round.from_json(r.to_json()) == r
    assert learner.spent == r.price
    assert learner.ask().price == 15.1
    assert learner.spent == pytest.approx(r.price + 15.1, abs=1e-12)  # the next row costs what it usually does


def test_with_k_alone_prices_do_not_change_what_is_bought():
    X, y = rows()
    one, other = make(k=2), make(k=2)
    for t in range(300):
        a, b = one.ask(), other.ask(prices={"lipids": 1.0 + t, "glucose": 0.0})
        assert a.attributes.tolist() == b.attributes.tolist()
        one.tell(a, X[t, a.attributes], y[t])
        other.tell(b, X[t, b.attributes], y[t])


def test_with_an_error_cost_a_member_is_left_out_of_a_row_in_which_it_is_too_dear():
    X, y = rows()
    learner = make(error_cost=40.0)
    kh.play(learner, X, y)
    assert set(learner.catalog.ordered(learner.support)) == {"lipids", "glucose"}
    assert "lipids" in learner.ask(prices={"lipids": 30.0}).sources  # it explains 1.25 * 40 a row
    assert "lipids" not in learner.ask(prices={"lipids": 300.0}).sources
    assert "glucose" in learner.ask(prices={"lipids": 300.0}).sources


@pytest.mark.parametrize(
    "limits", [{"budget_per_row": 13.0}, {"total_budget": 2000.0, "expected_rows": 300}, {"error_cost": 40.0}]
)
def test_limits_hold_at_the_prices_of_the_rows_and_the_ledger_is_their_sum(limits):
    X, y = rows(300, seed=1)
    given = {s: np.random.default_rng(2).uniform(0.0, 2.0 * p, 300).round(2) for s, p in PRICES.items()}
    fast, slow = make(**limits), make(**limits)
    history = kh.play(fast, X, y, prices=given)
    by_protocol = kh.play(slow, X, y, prices=given, compiled=False)
    assert np.array_equal(by_protocol.predictions, history.predictions)
    assert np.array_equal(by_protocol.price, history.price)  # to the last bit
    assert to_bytes(slow) == to_bytes(fast)
    assert fast.spent == pytest.approx(fsum(history.price), abs=1e-9)
    assert history.price.max() <= limits.get("budget_per_row", np.inf)
    assert fsum(history.price) <= limits.get("total_budget", np.inf)
    assert history.price.sum() > 0.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "limits",
    [
        {"k": 2, "budget_per_row": 2.0},  # at usual prices k binds, at those of a row the budget
        {"k": 2, "budget_per_row": 1.5},
        {"k": 2, "total_budget": 2500.0, "expected_rows": 600},
    ],
    ids=str,
)
def test_no_limit_is_exceeded_however_dear_a_row_is(limits, seed):
    X, y, _ = kh.streams.synthetic(8, 2, 600, design="ar(0.5)", seed=seed)
    rng = np.random.default_rng(seed)
    learner = kh.make("thrifty", d=8, prices=[1.0] * 8, seed=seed, **limits)
    kh.play(learner, X[:50], y[:50])
    dear = np.where(rng.random((550, 8)) < 0.3, 10.0 ** rng.uniform(-2, 4, (550, 8)), 1.0)
    named = {f"x{j}": dear[:, j] for j in range(8)}
    prices = kh.play(learner, X[50:], y[50:], prices=named).price
    assert prices.max() <= limits.get("budget_per_row", np.inf)
    assert learner.spent <= limits.get("total_budget", np.inf)
    assert np.count_nonzero(prices) > 100


def test_no_look_is_bought_at_a_price_that_no_error_is_worth():
    X, y, _ = kh.streams.synthetic(8, 2, 800, design="ar(0.5)", seed=3)
    learner = kh.make("thrifty", d=8, k=2, prices=[0.01] * 8, error_cost=1e4, seed=3)
    looks = 0
    for t in range(800):
        outside = set(range(8)) - set(learner.support.tolist())
        prices = {f"x{j}": 1e7 for j in outside} if t >= 60 and t % 3 == 0 else None  # var(y) is worth some hundreds
        r = learner.ask(prices=prices)
        looks += t >= 60 and not prices and r.kind == "explore"
        assert r.price < 1e7
        learner.tell(r, X[t, r.attributes], y[t])
    assert looks > 0  # the queue was in use


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({"ldl": 1.0}, "is not a source"),
        ({"lipids": -1.0}, "from 0 to 1e\\+100"),
        ({"lipids": float("nan")}, "from 0 to 1e\\+100"),
        ({"lipids": 1.1e100}, "from 0 to 1e\\+100"),
        ({"lipids": 10**400}, "from 0 to 1e\\+100"),
        ({"lipids": True}, "must be a number"),
        ([1.0], "must map names"),
    ],
)
def test_a_bad_price_is_named_and_changes_nothing(prices, said):
    learner = make(k=2)
    with pytest.raises(kh.ProtocolError, match=said):
        learner.ask(prices=prices)
    assert learner.t == 0
    with pytest.raises(kh.ProtocolError, match="created with prices"):
        kh.make("thrifty", d=3, k=1).ask(prices={"x0": 1.0})
