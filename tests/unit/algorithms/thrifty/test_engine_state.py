"""The state as a file holds it: checked against the configuration before the engine works on it."""

import math

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes


def played(**options):
    X, y, _ = kh.streams.synthetic(6, 2, 120, seed=1)
    learner = kh.make("thrifty", d=6, seed=0, **{"k": 2, **options})
    kh.play(learner, X, y)
    return learner


def test_a_field_from_the_future_is_refused():
    flat = played().get_state()
    now = flat["memory.scalars"]
    newer = np.zeros(1, np.dtype([*now.dtype.descr, ("mood", "f8")]))
    with pytest.raises(kh.StateError, match="'scalars' in the state is not"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state({**flat, "memory.scalars": newer})


@pytest.mark.parametrize(
    ("array", "field", "value"),
    [
        *[
            ("scalars", "m", -1),
            ("scalars", "m", 3),
            ("scalars", "queue_size", 7),
            ("scalars", "queue_next", 6),
            ("scalars", "n_labels", -1),
        ],
        *[
            ("attr", "column", 5),
            ("attr", "column", 0),
            ("attr", "scratch_index", 0),
            ("attr", "source", 1),
            ("attr", "slot", 1),
        ],
        *[
            ("source", "displaced_member", 6),
            ("source", "displaced_member", -2),
            ("source", "member", 2),
            ("source", "first", 0),
        ],
        *[("column", "j", 6), ("column", "j", -1), ("value", "j", 6), ("value", "j", -2), ("row", "begin", 10**6)],
        *[("queue", None, -1), ("queue", None, 6), ("scalars", "row_weight", 0.0), ("scalars", "s2", np.nan)],
        *[("scalars", "oldest", 10**9), ("scalars", "head", -1), ("source", "size", 2), ("prior", None, 0.9)],
    ],
)
def test_an_index_that_points_nowhere_is_refused(array, field, value):
    flat = played().get_state()
    (flat[f"memory.{array}"] if field is None else flat[f"memory.{array}"][field])[...] = value
    fresh = kh.make("thrifty", d=6, k=2, seed=0)
    with pytest.raises(kh.StateError, match=r"do not match|not finite|not positive|is invalid"):
        fresh.set_state(flat)


@pytest.mark.parametrize(("name", "x"), [("spent", -1e-9), ("rate", -1.0), ("rate", math.nan)])
def test_money_below_nothing_is_refused(name, x):
    flat = played().get_state()
    flat["memory.scalars"][name] = x
    with pytest.raises(kh.StateError, match="less than nothing"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state(flat)


@pytest.mark.parametrize(
    ("lagged_xx", "lagged_xz", "sound"),
    [
        (1e100, 1e100, True),
        (3.0, -3.0, True),
        (0.0, 0.0, True),
        (3.0, 3.1, False),
        (3.0, -3.1, False),
        (-5.0, 0.0, False),
    ],
)
def test_a_correlation_from_row_to_row_is_at_most_one(lagged_xx, lagged_xz, sound):
    flat = played().get_state()
    flat["memory.scalars"]["lagged_xx"], flat["memory.scalars"]["lagged_xz"] = lagged_xx, lagged_xz
    fresh = kh.make("thrifty", d=6, k=2, seed=0)
    if sound:
        fresh.set_state(flat)
        X, y, _ = kh.streams.synthetic(6, 2, 60, seed=2)
        kh.play(fresh, X, y)
        assert np.isfinite(from_bytes(to_bytes(fresh)).weights).all()
    else:
        with pytest.raises(kh.StateError, match="correlation of attributes from row to row beyond 1"):
            fresh.set_state(flat)


@pytest.mark.parametrize("price", [0.0, 1.5, 1e200])
def test_a_price_is_that_of_the_configuration(price):
    """Else the engine would choose by other prices than those that are paid."""
    options = {"prices": [1.0] * 6, "total_budget": 200.0, "expected_rows": 200}
    flat = played(**options).get_state()
    flat["memory.source"]["price"][3] = price
    with pytest.raises(kh.StateError, match="do not match"):
        kh.make("thrifty", d=6, k=2, seed=0, **options).set_state(flat)


@pytest.mark.parametrize("n", [-(2**63), -1, 121, 2**62])
def test_there_are_no_more_past_rows_than_labels(n):
    flat = played().get_state()
    flat["memory.scalars"]["n_past_rows"] = n
    with pytest.raises(kh.StateError, match="do not match"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state(flat)


def free_beside_two_places():
    return kh.make("thrifty", names=[f"x{j}" for j in range(6)], free=["x0", "x1"], k=2, seed=0)


@pytest.mark.parametrize("members", [[3, 3], [0, 4], [0, 5]])  # sources 4 and 5 are the free attributes
def test_a_stored_regime_has_each_source_once_and_none_that_is_free(members):
    """Baskets would else have more attributes than there is room for."""
    flat = free_beside_two_places().get_state()
    flat["memory.stored_regime_members"][0, :2] = members
    free_beside_two_places().set_state(flat)  # of a regime without members
    flat["memory.stored_regime"]["n_members"][0] = 2
    with pytest.raises(kh.StateError, match="do not match"):
        free_beside_two_places().set_state(flat)


def test_the_fit_has_each_source_once():
    flat = free_beside_two_places().get_state()
    flat["memory.column"]["j"][0, :4] = 0, 1, 1, 1
    flat["memory.attr"]["column"][1], flat["memory.scalars"]["m"] = 3, 4
    with pytest.raises(kh.StateError, match="do not match"):
        free_beside_two_places().set_state(flat)


@pytest.mark.parametrize("name", ["pair", "column", "gram", "hidden", "V", "P", "C"])
def test_arrays_of_the_fit_have_one_width(name):
    flat = played().get_state()
    flat[f"memory.{name}"] = flat[f"memory.{name}"][:, :-1].copy()
    with pytest.raises(kh.StateError, match="do not match"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state(flat)


def test_where_only_money_limits_the_fit_grows_with_its_support():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 60))
    y = X @ rng.choice([-1.0, 1.0], 60) + rng.standard_normal(3000)
    learner = kh.make("thrifty", d=60, prices=[1e-6] * 60, error_cost=1.0, seed=0)
    history = kh.play(learner, X, y)
    assert learner.support.size == 60
    assert history.losses[-500:].mean() < 1.1
    other = kh.make("thrifty", d=60, prices=[1e-6] * 60, error_cost=1.0, seed=0)
    other.set_state(learner.get_state())
    assert np.array_equal(other.weights, learner.weights)


@pytest.mark.parametrize("half_life", [1e-5, 1.0])
@pytest.mark.parametrize("sources", [None, {"panel": ["x4", "x5"]}])
def test_what_was_seen_a_thousand_half_lives_ago_can_be_saved(half_life, sources):
    X, y, _ = kh.streams.synthetic(6, 2, 1200, design="ar(0.5)", seed=1)
    learner = kh.make("thrifty", d=6, k=3, seed=0, half_life=half_life, sources=sources)
    kh.play(learner, X[:100], y[:100])
    for t in range(100, 1200):
        r = learner.ask(available=["x0", "x1", "x2", "x3"])
        learner.tell(r, X[t, r.attributes], y[t])
        if t % 20 == 0:
            learner = from_bytes(to_bytes(learner))
    assert np.isfinite(learner.weights).all()


def test_values_of_every_size_can_be_saved_at_every_half_life():
    """The second value sets the unit, and the others are 1e60 of it; a row weighs up to 1e45 before it is rescaled."""
    learner = kh.make("thrifty", d=3, k=3, seed=0, half_life=0.02008)
    largest = 0.0
    for t, x in enumerate([0.0, 1e-30, *[1e30] * 4, *[0.5] * 10]):
        r = learner.ask()
        learner.tell(r, np.full(r.attributes.size, x), (-1.0) ** t)
        largest = max(largest, learner.memory.attr["raw_x"].max())
        learner = from_bytes(to_bytes(learner))
    assert largest > 1e104
