"""Rounds and learners as the contract has them: whatever goes wrong, one sentence and the state as it was."""

import json
import threading

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.learner import Acquisition
from keyhole.core.serialization import to_bytes
from keyhole.core.sources import SourceCatalog

NAMES = ("age", "bmi", "hba1c", "ldl", "hdl", "crp", "tsh", "iron")


@pytest.fixture
def learner():
    return kh.make("ds-oslrc", names=NAMES, k=3, seed=0)


@pytest.fixture
def poslr():
    return kh.make("ds-poslrc", d=12, k=3, k0=4, seed=0)


def test_a_round_says_what_to_buy(learner):
    r = learner.ask()
    assert (r.index, r.kind) == (1, "explore")
    assert r.attributes.dtype.kind == "i"
    assert len(set(r.attributes.tolist())) == 3
    assert r.names == tuple(NAMES[i] for i in r.attributes)
    assert learner.ask().kind == "exploit"
    assert learner.ask_more(r).size == 0


def test_a_round_cannot_be_changed(learner):
    r = learner.ask()
    with pytest.raises(AttributeError):
        r.index = 5
    with pytest.raises(ValueError, match="read-only"):
        r.attributes[0] = 1


def test_json_loses_nothing(poslr):
    for _ in range(30):
        r = poslr.ask()
        again = kh.Round.from_json(r.to_json())
        assert again == r
        assert hash(again) == hash(r)
        poslr.tell(again, np.full(r.attributes.size, 0.1), 0.2, poslr.ask_more(r), np.full(r.extra.size, 0.3))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"index": "x"}', "null", '{"index": 1, "kind": "explore"}'])
def test_what_is_not_the_json_of_a_round_is_refused(text):
    with pytest.raises(kh.ProtocolError, match="not the JSON of a round"):
        kh.Round.from_json(text)


def test_values_by_name_equal_values_in_order():
    one, two = (kh.make("ds-oslrc", names=NAMES, k=3, seed=0) for _ in range(2))
    r = one.ask()
    two.ask()
    values = np.array([0.3, -0.2, 0.9])
    by_name = dict(zip(reversed(r.names), values[::-1], strict=True))
    assert one.predict(r, values) == two.predict(r, by_name)
    one.tell(r, values, 0.5)
    two.tell(r, by_name, 0.5)
    assert to_bytes(one) == to_bytes(two)


BAD_VALUES = {
    "too few": ([0.1, 0.2], "expected 3 values"),
    "too many": ([0.1] * 4, "expected 3 values"),
    "a matrix": (np.zeros((3, 1)), "expected 3 values"),
    "infinity": ([0.1, np.inf, 0.2], "pass NaN"),
    "overflow": ([0.1, 1e200, 0.2], "pass NaN"),
    "text": (["a", "b", "c"], "must be numbers"),
    "a missing name": ({"age": 1.0}, "no value for"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values_change_nothing(learner, case):
    values, message = BAD_VALUES[case]
    r = learner.ask()
    before = to_bytes(learner)
    with pytest.raises(kh.ProtocolError, match=message):
        learner.predict(r, values)
    with pytest.raises(kh.ProtocolError, match=message):
        learner.tell(r, values, 0.1)
    assert to_bytes(learner) == before
    learner.tell(r, [0.1, 0.2, 0.3], 0.1)


def test_a_value_that_was_not_asked_for_is_named(learner):
    r = learner.ask()
    foreign = next(n for n in NAMES if n not in r.names)
    with pytest.raises(kh.ProtocolError, match=f"not requested in this round: '{foreign}'"):
        learner.tell(r, dict.fromkeys((*r.names, foreign), 0.1), 0.1)


@pytest.mark.parametrize(
    ("y", "message"),
    [(np.nan, "abandon"), (np.inf, "finite"), (-np.inf, "finite"), ("a", "number"), ("3", "number"), (None, "number")],
)
def test_a_bad_label_changes_nothing(learner, y, message):
    r = learner.ask()
    before = to_bytes(learner)
    with pytest.raises(kh.ProtocolError, match=message):
        learner.tell(r, [0.1, 0.2, 0.3], y)
    assert to_bytes(learner) == before


def test_a_round_is_told_once(learner):
    r = learner.ask()
    learner.tell(r, [0.1, 0.2, 0.3], 0.1)
    before = to_bytes(learner)
    for again in (lambda: learner.tell(r, [0.1, 0.2, 0.3], 0.1), lambda: learner.abandon(r)):
        with pytest.raises(kh.ProtocolError, match="already labelled or abandoned"):
            again()
    assert to_bytes(learner) == before


def test_a_round_of_another_learner_is_refused(learner):
    other = kh.make("ds-oslrc", names=NAMES, k=3, seed=1)
    r = other.ask()
    learner.ask()
    with pytest.raises(kh.ProtocolError, match="another learner"):
        learner.tell(r, [0.1, 0.2, 0.3], 0.1)


def test_a_round_that_was_never_asked_or_was_changed_is_refused(learner):
    r = learner.ask()
    data = json.loads(r.to_json())
    future = kh.Round.from_json(json.dumps({**data, "index": 7}))
    with pytest.raises(kh.ProtocolError, match="never asked"):
        learner.tell(future, [0.1, 0.2, 0.3], 0.1)
    changed = kh.Round.from_json(
        json.dumps({**data, "attributes": sorted(set(range(8)) - set(data["attributes"]))[:3]})
    )
    with pytest.raises(kh.ProtocolError, match="contents were changed"):
        learner.tell(changed, [0.1, 0.2, 0.3], 0.1)
    with pytest.raises(kh.ProtocolError, match="expected the Round"):
        learner.tell("round", [0.1, 0.2, 0.3], 0.1)


def test_a_round_whose_extra_names_were_exchanged_is_refused():
    learner = kh.make("kale2017-dantzig", d=8, k=3, k0=2, seed=0)
    r = next(r for r in (learner.ask() for _ in range(20)) if r.extra.size == 2)
    assert r.extra_names == tuple(learner.names[i] for i in r.extra)
    data = json.loads(r.to_json())
    changed = kh.Round.from_json(json.dumps({**data, "extra_names": data["extra_names"][::-1]}))
    with pytest.raises(kh.ProtocolError, match="contents were changed"):
        learner.tell(changed, [0.1, 0.2, 0.3], 0.1, r.extra, dict.fromkeys(r.extra_names, 0.5))


def test_extras_are_drawn_by_ask_and_must_come_with_the_label(poslr):
    r = poslr.ask()
    extra = poslr.ask_more(r)
    assert np.array_equal(extra, poslr.ask_more(r))
    assert extra.size == 4
    assert not set(extra.tolist()) & set(r.attributes.tolist())
    before = to_bytes(poslr)
    with pytest.raises(kh.ProtocolError, match="4 more attributes"):
        poslr.tell(r, [0.1] * 3, 0.2)
    with pytest.raises(kh.ProtocolError, match="must be learner.ask_more"):
        poslr.tell(r, [0.1] * 3, 0.2, extra[::-1], [0.1] * 4)
    with pytest.raises(kh.ProtocolError, match="expected 4 values"):
        poslr.tell(r, [0.1] * 3, 0.2, extra, [0.1] * 3)
    assert to_bytes(poslr) == before
    poslr.tell(r, [0.1] * 3, 0.2, extra, [0.1, np.nan, 0.1, 0.1])


def test_extras_where_none_were_asked_are_refused(learner):
    r = learner.ask()
    with pytest.raises(kh.ProtocolError, match="must be learner.ask_more"):
        learner.tell(r, [0.1] * 3, 0.2, [1], [0.1])
    with pytest.raises(kh.ProtocolError, match="expected 0 values"):
        learner.tell(r, [0.1] * 3, 0.2, [], [0.1])


@pytest.mark.parametrize(
    ("available", "message"),
    [(["age", "glucose"], "'glucose'"), (np.ones(3, dtype=bool), "length 8"), (np.arange(8), "length 8")],
)
def test_an_impossible_availability_is_refused_and_draws_nothing(learner, available, message):
    before = to_bytes(learner)
    with pytest.raises(kh.ProtocolError, match=message):
        learner.ask(available=available)
    assert to_bytes(learner) == before


def test_available_by_name_equals_available_by_mask():
    one, two = (kh.make("ds-oslrc", names=NAMES, k=3, seed=0) for _ in range(2))
    mask = np.array([n in ("age", "ldl", "tsh", "iron") for n in NAMES])
    assert one.ask(available=["tsh", "age", "iron", "ldl"]) == two.ask(available=mask)
    assert one.ask(available=[]).attributes.size == 0


def test_an_exploit_round_asks_for_the_available_part_of_its_support(learner):
    learner.abandon(learner.ask())
    mask = np.ones(8, dtype=bool)
    mask[learner.support[0]] = False
    assert learner.ask(available=mask).attributes.tolist() == learner.support[1:].tolist()


def test_an_exploit_round_of_an_old_support_moves_no_weight():
    X, y, _ = kh.streams.synthetic(8, 3, 4000, seed=0)
    learner = kh.make("ds-oslrc", d=8, k=3, seed=0)
    learner.abandon(learner.ask())
    old = learner.ask()
    support = learner.support
    kh.play(learner, X, y)
    assert not np.array_equal(learner.support, support)  # else the test shows nothing
    weights = learner.weights
    learner.tell(old, [0.5, 0.5, 0.5], 1.0)
    assert np.array_equal(learner.weights, weights)
    assert learner.open_rounds == ()


def test_unobserved_values_take_no_part_in_a_prediction(learner):
    r = learner.ask()
    w = np.full(8, 1 / 8)
    assert learner.predict(r, [0.5, np.nan, 0.25]) == pytest.approx(w[:2] @ [0.5, 0.25])


@pytest.mark.parametrize(
    "available",
    [5, 1.5, "age", object(), [1, 2], [None], [["age"]], [True], np.zeros((8, 1), bool), np.array(True), b"a"],
)
def test_an_odd_availability_is_one_sentence(learner, available):
    before = to_bytes(learner)
    with pytest.raises(kh.ProtocolError, match="available"):
        learner.ask(available)
    assert to_bytes(learner) == before


@pytest.mark.parametrize("extra", [5, "x", [[1], [1, 2]], object(), [0.5], None, {}])
def test_odd_extras_are_one_sentence(poslr, extra):
    r = poslr.ask()
    before = to_bytes(poslr)
    with pytest.raises(kh.ProtocolError, match="extra_attributes|values"):
        poslr.tell(r, [0.1] * 3, 0.2, extra, [0.1] * 4)
    assert to_bytes(poslr) == before


@pytest.mark.parametrize("y", [10**400, -(10**400), "1" * 5000, [1.0], 1j])
def test_a_label_beyond_arithmetic_is_one_sentence(learner, y):
    r = learner.ask()
    with pytest.raises(kh.ProtocolError, match="label") as caught:
        learner.tell(r, [0.1, 0.2, 0.3], y)
    assert len(str(caught.value)) < 200


def test_a_value_beyond_arithmetic_is_one_sentence(learner):
    r = learner.ask()
    with pytest.raises(kh.ProtocolError, match="too large"):
        learner.tell(r, [0.1, 10**400, 0.3], 0.1)


ROUND = '{"index": %s, "kind": "explore", "attributes": %s, "names": [], "learner": "", "extra": [], "memo": []}'
NOT_ROUNDS = {
    "nested without end": "[" * 100_000,
    "a number of 400 digits": ROUND % (1, [10**400]),
    "a number of 5000 digits": ROUND % ("9" * 5000, []),
    "half an attribute": ROUND % (1, [0.5]),
    "a truth for a number": ROUND % ("true", []),
}


@pytest.mark.parametrize("case", NOT_ROUNDS)
def test_a_hostile_round_is_one_sentence(case):
    with pytest.raises(kh.ProtocolError, match="not the JSON of a round") as caught:
        kh.Round.from_json(NOT_ROUNDS[case])
    assert len(str(caught.value)) < 250


def test_values_of_every_size_are_taken_within_what_can_be_computed():
    one, two = (kh.make("vaw", d=3, seed=0) for _ in range(2))
    r, q = one.ask(), two.ask()
    one.tell(r, [1e99, -1e80, 1e-200], 1e99)
    two.tell(q, [1e30, -1e30, 0.0], 1e30)
    assert to_bytes(one) == to_bytes(two)


def test_the_price_of_a_round_is_that_of_all_it_buys_the_extras_too():
    names, prices = ("a", "b", "c", "d"), [1.0, 2.0, 4.0, 8.0]

    class Priced(kh.Learner):
        name = "priced"

        def _weights(self):
            return np.zeros(4)

        def _support(self):
            return np.array([0])

        def _ask(self, t, pool):
            return Acquisition("explore", np.array([0, 2]), np.array([3]))

        def _predict(self, r, x):
            return 0.0

        def _tell(self, r, x, y, more):
            pass

    assert Priced(names, 2, 1, 0, SourceCatalog.build(names, prices=prices)).ask().price == 13.0
    assert Priced(names, 2, 1, 0).ask().price == 0.0


@pytest.mark.parametrize("method", ["ask", "learn", "predict_rows"])
def test_a_call_waits_for_whoever_holds_the_lock(method):
    X, y, _ = kh.streams.synthetic(d=6, k=2, T=40, seed=0)
    learner = kh.make("thrifty", d=6, k=2, seed=0)
    kh.play(learner, X, y)
    arguments = {"ask": (), "learn": (X, y), "predict_rows": (X,)}[method]
    done = threading.Event()
    call = threading.Thread(target=lambda: (getattr(learner, method)(*arguments), done.set()))
    with learner.locked():
        call.start()
        assert not done.wait(0.2)
    call.join()
    assert done.is_set()
