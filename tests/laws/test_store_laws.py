"""Store and service under interleaved, repeated, late and malformed calls, against a model of what must come out."""

import contextlib
import math
import socket
import threading

import hypothesis.strategies as st
import pytest
import uvicorn
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.service.app import create_app
from keyhole.service.server import Settings
from keyhole.store.verify import check

from .. import databases

NAMES = ["a", "b", "c", "d", "e"]
KEYS = [f"key{i}" for i in range(6)]
numbers = st.sampled_from([0.0, 0.5, -1.0, 1e-3, 2.0])
keys = st.sampled_from(KEYS)
odd = st.sampled_from([{}, {"a": 1.0, "zzz": 2.0}, [1.0] * 9, [math.inf] * 2, "text", None])


@contextlib.contextmanager
def served(url):
    """The address of a server in a thread of this process."""
    app = create_app(Settings(url))
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join()


class Calls(RuleBasedStateMachine):
    """Three doors to one learner: two openings of the store and a client. The model is a plain learner and a book."""

    @initialize()
    def begin(self):
        self.stack = contextlib.ExitStack()
        url = f"sqlite:///{self.stack.enter_context(databases.folder())}/store.db"
        first = self.stack.enter_context(kh.open_store(url))
        first.create("icu", "fixed-random", names=NAMES, k=2, seed=3)
        self.store = first
        second = self.stack.enter_context(kh.open_store(url))
        remote = kh.connect(self.stack.enter_context(served(url)))
        self.doors = [first["icu"], second["icu"], remote["icu"]]
        self.plain = kh.make("fixed-random", names=NAMES, k=2, seed=3)
        self.rounds, self.said, self.labels, self.abandoned, self.events = {}, {}, {}, set(), 0

    def teardown(self):
        if hasattr(self, "stack"):
            assert [verdict.faults for verdict in check(self.store.database)] == [[]]
            assert to_bytes(self.store["icu"].learner()) == to_bytes(self.plain)
            self.stack.close()

    def waiting(self):
        """Keys of rounds that bought something and wait for their label."""
        return [key for key, r in self.rounds.items() if key not in self.labels and r.names]

    @rule(door=st.integers(0, 2), key=keys, available=st.sampled_from([None, NAMES, NAMES[1:], ["a"]]))
    def ask(self, door, key, available):
        r = self.doors[door].ask(key=key, available=available)
        if key not in self.rounds:
            self.rounds[key] = self.plain.ask(available=available)
            self.events += 1
        assert r == self.rounds[key]

    @precondition(lambda self: self.rounds)
    @rule(door=st.integers(0, 2), key=keys, x=st.lists(numbers | st.just(math.nan), min_size=2, max_size=2))
    def predict(self, door, key, x):
        if (r := self.rounds.get(key)) is None:
            return
        x = x[: len(r.names)]
        if key in self.labels:
            with pytest.raises(kh.ProtocolError, match="already has"):
                self.doors[door].predict(r, x)
            return
        y_hat = self.plain.predict(r, x)
        assert self.doors[door].predict(r, x) == y_hat
        if self.said.get(key) != (repr(x), y_hat):
            self.events += 1
        self.said[key] = (repr(x), y_hat)

    @precondition(lambda self: self.rounds)
    @rule(door=st.integers(0, 2), key=keys, y=numbers, same=st.booleans())
    def tell(self, door, key, y, same):
        """With the values of the prediction, or zeros where there was none."""
        if (r := self.rounds.get(key)) is None:
            return
        x = eval(self.said[key][0], {"nan": math.nan}) if key in self.said else [0.0] * len(r.names)
        values = x if same or key not in self.said else None
        if key in self.labels:
            if self.labels[key] == y:
                assert self.doors[door].tell(r, values, y) is False
            else:
                with pytest.raises(kh.ProtocolError, match="already has"):
                    self.doors[door].tell(r, values, y)
            return
        assert self.doors[door].tell(r, values, y) is True
        self.plain.tell(r, x, y)
        self.labels[key] = y
        self.events += 1

    @precondition(lambda self: self.rounds)
    @rule(door=st.integers(0, 2), key=keys)
    def abandon(self, door, key):
        if (r := self.rounds.get(key)) is None:
            return
        if key in self.labels:
            with pytest.raises(kh.ProtocolError, match="already has"):
                self.doors[door].abandon(r)
        else:
            assert self.doors[door].abandon(r) is (key not in self.abandoned)
            self.events += key not in self.abandoned
            self.abandoned.add(key)

    @rule(door=st.integers(0, 2), labels=st.lists(st.tuples(keys, numbers), max_size=4))
    def tell_many(self, door, labels):
        expected = []
        for key, y in labels:
            if key in self.labels:
                expected.append("known already" if self.labels[key] == y else "refused")
            elif key not in self.said:
                expected.append("refused")
            else:
                self.plain.tell(self.rounds[key], eval(self.said[key][0], {"nan": math.nan}), y)
                self.labels[key] = y
                self.events += 1
                expected.append("labelled")
        assert [outcome.status for outcome in self.doors[door].tell_many(labels)] == expected

    @precondition(lambda self: self.waiting())
    @rule(door=st.integers(0, 2), values=odd, y=st.sampled_from([math.nan, math.inf, "much", None]))
    def malformed(self, door, values, y):
        r, icu = self.rounds[self.waiting()[0]], self.doors[door]
        for call in (
            lambda: icu.predict(r, values if values is not None else [0.5] * 9),
            lambda: icu.tell(r, [0.0] * len(r.names), y),
            lambda: icu.tell(r, [0.0] * 7, 1.0),
            lambda: icu.tell(99, [], 1.0),
            lambda: icu.ask(key="x" * 201),
            lambda: icu.ask(available=["zzz"]),
        ):
            with pytest.raises(kh.ProtocolError):
                call()

    @invariant()
    def nothing_is_lost(self):
        if not hasattr(self, "doors"):
            return
        assert self.store["icu"].head == self.events
        open_rounds = {key for key in self.rounds if key not in self.labels and key not in self.abandoned}
        for icu in self.doors:
            assert {e.key for e in icu.rounds(status="open")} == open_rounds
            assert {e.key: e.label for e in icu.rounds(status="labelled")} == self.labels
        scored = [(self.said[key][1] - y) ** 2 for key, y in list(self.labels.items())[1:] if key in self.said]
        assert self.store["icu"].totals().loss == pytest.approx(sum(scored))


Calls.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # a failure is short enough to read, and shrinking servers is slow
)
TestCalls = Calls.TestCase
