"""Rows in which the label hardly varied say little of a source, and looks that cannot change much are not bought."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.priced.judge import judge
from keyhole.algorithms.thrifty.priced.value import look_values
from tests.unit.algorithms.thrifty.priced.test_kernels import played, rows_of


def residuals(memory):
    """What the fit leaves of every stored label, and which rows show all of the fit; a gap counts as the mean."""
    X, y = rows_of(memory)
    part = memory.w * (X[:, memory.A] - memory.x_bar)
    return y - memory.now["y_bar"][0] - np.nansum(part, axis=1), ~np.isnan(part).any(axis=1)


def test_rows_count_by_how_much_is_left_of_the_label_in_them():
    memory = played(missing=0.0).memory
    judge(memory.state, 40.0)
    X, _ = rows_of(memory)
    e, whole = residuals(memory)
    beside = np.flatnonzero((memory.source["place"] < 0) & (memory.source["n"] > 8))
    assert beside.size > 1
    seen = [e[~np.isnan(X[:, memory.listed[memory.source["first"][s]]])] for s in beside]
    for s, mine in zip(beside, seen, strict=True):
        me = memory.source[s]
        usual = e[whole].var(ddof=1) + me["left"] - memory.now["s2"][0]
        assert me["says"] / me["n"] == pytest.approx(mine.var(ddof=1) / usual, rel=1e-9)
    members = memory.source[memory.support]
    assert (members["says"] == members["n"]).all()


def test_what_calm_rows_show_is_scaled_to_the_usual():
    """Without a fit: gain = (cov(x, y) / s)^2 / var(x)."""
    rng = np.random.default_rng(5)
    X, y, names = rng.normal(size=(400, 6)), rng.normal(size=400), list("abcdef")
    learner = kh.make("thrifty", names=names, prices=dict.fromkeys(names, 1.0), error_cost=20.0, seed=0)
    kh.play(learner, X, y)
    memory = learner.memory
    judge(memory.state, 40.0)
    assert memory.support.size == 0
    Z, label = rows_of(memory)
    for s in np.flatnonzero(memory.source["n"] > 8):
        seen = ~np.isnan(Z[:, s])
        x, mine = Z[seen, s], label[seen]
        r = np.mean((x - x.mean()) * mine) * label.var(ddof=1) / mine.var(ddof=1)
        assert memory.source["gain"][s] == pytest.approx(r**2 / x.var(ddof=1), rel=1e-5)


def test_three_panels_are_found_on_an_unlucky_day():
    """In the 23 rows that showed panel 9 the label varied by a third of the usual: it was given up for good."""
    rng = np.random.default_rng([120, 9])
    X, matter = rng.uniform(-1, 1, (5000, 100)), rng.choice(20, 3, replace=False)
    w = np.zeros(100)
    for p in matter:
        w[5 * p + rng.choice(5, 2, replace=False)] = rng.choice([-1, 1], 2) * rng.uniform(0.5, 1, 2)
    w /= np.abs(w).sum()
    y = X @ w + 0.1 * rng.standard_normal(5000)
    names = [f"x{j}" for j in range(100)]
    sources = {f"p{p}": names[5 * p : 5 * p + 5] for p in range(20)}
    learner = kh.make(
        "thrifty", names=names, sources=sources, prices=dict.fromkeys(sources, 4.0), error_cost=680.0, seed=120
    )
    kh.play(learner, X[:1500], y[:1500])
    assert set(learner.catalog.ordered(learner.support)) == {f"p{p}" for p in matter}


@pytest.mark.parametrize(("rows", "looked"), [(12.0, True), (20_000.0, False)])
def test_one_that_joins_and_fails_is_looked_at_only_while_that_may_change_something(rows, looked):
    memory = played(T=600, missing=0.0).memory
    s = int(np.flatnonzero(memory.source["place"] < 0)[0])
    me, price = memory.source[s], float(memory.source["price"][s])
    rate = float(memory.now["look_rate"][0])
    me["n"] = me["says"] = rows
    me["gain"] = me["adds"] = 1.01 * price / rate  # worth just its price
    me["left"], me["real"], me["idle"], me["instead"] = 10.0 * me["gain"], 1.0, 0, -1
    me["net"], me["barred"] = 0.01 * price, 1
    look_values(memory.state, 600.0, np.inf, 0.1)
    assert (memory.source["value"][s] > 0.0) == looked
