"""The state as a file holds it: checked against the configuration, and open to fields that come later."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty import state as records
from keyhole.algorithms.thrifty.memory import Memory

RECORDS = [records.Attribute, records.Pair, records.Row, records.Shown, records.Member, records.Label, records.Now]


def played():
    X, y, _ = kh.streams.synthetic(6, 2, 120, seed=1)
    learner = kh.make("thrifty", d=6, k=2, seed=0)
    kh.play(learner, X, y)
    return learner


@pytest.mark.parametrize("kind", [*RECORDS, records.Given], ids=lambda kind: kind.__name__)
def test_a_field_is_a_number_whose_name_numpy_has_no_method_for(kind):
    dtype = records.record(kind)
    assert {dtype[name].str[1:] for name in dtype.names} <= {"f8", "i8"}
    assert [name for name in dtype.names if hasattr(np.record, name)] == []


def test_a_field_that_a_file_lacks_is_as_in_a_fresh_state():
    learner, fresh = played(), kh.make("thrifty", d=6, k=2, seed=0)
    flat = learner.get_state()
    older = [name for name in records.record(records.Now).names if name != "alpha"]
    flat["memory.now"] = np.array(flat["memory.now"][older])
    fresh.set_state(flat)
    assert fresh.memory.state.now.alpha == 1.0
    assert fresh.memory.state.now.told == 120
    assert np.array_equal(fresh.memory.attr, learner.memory.attr)


def test_a_field_from_the_future_is_refused():
    flat = played().get_state()
    now = flat["memory.now"]
    newer = np.zeros(1, np.dtype([*now.dtype.descr, ("mood", "f8")]))
    with pytest.raises(kh.StateError, match="'now' in the state has a field 'mood'"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state({**flat, "memory.now": newer})


@pytest.mark.parametrize(
    ("array", "field", "value"),
    [
        *[("now", "m", -1), ("now", "m", 3), ("now", "queued", 7), ("now", "turn", 6), ("now", "told", -1)],
        *[("attr", "place", 5), ("attr", "place", 0), ("attr", "mark", 0), ("attr", "displaced", 2)],
        *[("attr", "displaced", -1), ("member", "j", 6), ("member", "j", -1), ("shown", "j", 6), ("shown", "j", -2)],
        *[("order", None, 0), ("queue", None, -1), ("queue", None, 6)],
    ],
)
def test_an_index_that_points_nowhere_is_refused(array, field, value):
    flat = played().get_state()
    (flat[f"memory.{array}"] if field is None else flat[f"memory.{array}"][field])[...] = value
    with pytest.raises(kh.StateError, match="out of its range|do not fit together|not what it can be"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state(flat)


def test_rows_and_what_they_show_are_as_many():
    flat = played().get_state()
    flat["memory.row"] = flat["memory.row"][:-1]
    with pytest.raises(kh.StateError, match="do not fit together"):
        kh.make("thrifty", d=6, k=2, seed=0).set_state(flat)


def test_the_stored_rows_grow_and_then_become_a_ring():
    memory = Memory(np.arange(3), 2, 0, np.zeros(3), np.inf, None)
    memory.most_rows = 600
    assert memory.free() == 256
    for told, free in ((256, 256), (512, 1 << 40), (700, 1 << 40)):
        memory.now["told"] = told
        memory.state.row[-1].y = told
        assert memory.free() == free
        assert memory.state.row[min(told, 600) - 1].y == told  # what was there still is
        assert (memory.shown["j"] == -1).all()
    assert len(memory.state.row) == len(memory.state.shown) == 600
