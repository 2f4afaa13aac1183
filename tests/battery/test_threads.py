"""Many threads on one learner: no crash, no lost label, and what happens is what happens in some order of the calls."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.testing import answer_round

from .cases import CASES

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

THREADS, EACH = 20, 4


@pytest.fixture(autouse=True)
def switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def watched(learner, log):
    """Write down the order in which questions and labels really arrive, and that no two are inside at once."""
    inside = []

    def watch(name, plain):
        def call(*args):
            inside.append(name)
            assert len(inside) == 1
            log.append((name, args))
            try:
                return plain(*args)
            finally:
                inside.pop()

        return call

    for name in ("_ask", "_tell"):
        setattr(learner, name, watch(name, getattr(learner, name)))
    return learner


def test_the_trace_is_that_of_some_order_of_the_calls(case):
    X, y = case.stream(THREADS * EACH)
    log = []
    learner = watched(case.make(), log)

    def work(i):
        indices = []
        for t in range(i * EACH, (i + 1) * EACH):
            r = learner.ask()
            assert np.isfinite(learner.predict(r, X[t][r.attributes]))
            assert np.isfinite(learner.weights).all()
            assert learner.support.size <= case.k
            answer_round(learner, r, X[t], float(y[t]))
            indices.append(r.index)
        return indices

    with ThreadPoolExecutor(THREADS) as pool:
        indices = [index for some in pool.map(work, range(THREADS)) for index in some]
    assert sorted(indices) == list(range(1, THREADS * EACH + 1))
    assert learner.open_rounds == ()
    serial = case.make()
    for name, args in log:
        if name == "_ask":
            serial.ask()
        else:
            r, x, label, more = args
            serial.tell(r, x, label, r.extra, more)
    assert to_bytes(serial) == to_bytes(learner)


def test_a_second_play_waits(case):
    X, y = case.stream(40)
    learner, alone = case.make(), case.make()
    with ThreadPoolExecutor(4) as pool:
        histories = list(pool.map(lambda _: kh.play(learner, X, y), range(4)))
    assert learner.t == 4 * 40
    in_turn = [kh.play(alone, X, y) for _ in range(4)]
    assert to_bytes(alone) == to_bytes(learner)
    played = sorted(h.predictions.tolist() for h in histories)
    assert played == sorted(h.predictions.tolist() for h in in_turn)


def test_a_copy_goes_its_own_way(case):
    X, y = case.stream(40)
    learner = case.make()
    kh.play(learner, X[:20], y[:20])
    r = learner.ask()
    for twin in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert to_bytes(twin) == to_bytes(learner)
        before = to_bytes(learner)
        answer_round(twin, r, X[20], float(y[20]))
        assert to_bytes(learner) == before
