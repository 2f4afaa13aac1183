"""Any order of calls: the protocol against a small model of what must be true (hypothesis chooses the calls)."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes
from keyhole.testing import answer_round

from .cases import CASES

NAMES = (
    "thrifty",
    "ds-oslrc",
    "ds-poslrc",
    "ito2017-1",
    "kale2017-greedy",
    "support-bandit",
    "murata2018-hybrid",
    "vaw",
)
BY_NAME = {case.name: case for case in reversed(CASES)}
VALUES = st.one_of(st.floats(-1, 1), st.sampled_from([np.nan, 0.0, -0.0, 1e99, 1e-300]))


class Protocol(RuleBasedStateMachine):
    """The model: which rounds are open and how many were ever asked."""

    rounds = Bundle("rounds")

    @initialize(name=st.sampled_from(NAMES), seed=st.integers(0, 5))
    def begin(self, name, seed):
        warnings.simplefilter("ignore", kh.KeyholeWarning)
        self.case = BY_NAME[name]
        self.learner = self.case.make(seed)
        self.open, self.asked = {}, 0

    def row(self, data):
        return np.array(data.draw(st.lists(VALUES, min_size=self.case.d, max_size=self.case.d)))

    @rule(target=rounds, mask=st.one_of(st.none(), st.integers(0, 2**9 - 1)))
    def ask(self, mask):
        d = self.case.d
        available = None if mask is None else np.array([bool(mask >> i & 1) for i in range(d)])
        r = self.learner.ask(available)
        self.asked += 1
        assert r.index == self.asked
        bought = [*r.attributes.tolist(), *r.extra.tolist()]
        assert len(set(bought)) == len(bought)
        assert r.attributes.size <= self.case.k
        assert r.extra.size <= self.case.k0
        assert available is None or all(available[i] for i in bought)
        self.open[r.index] = r
        return r.to_json()

    @rule(text=rounds, data=st.data(), y=st.floats(-1, 1))
    def tell(self, text, data, y):
        r, x = kh.Round.from_json(text), self.row(data)
        if r.index in self.open:
            before = to_bytes(self.learner)
            assert np.isfinite(self.learner.predict(r, x[r.attributes]))
            assert to_bytes(self.learner) == before
            answer_round(self.learner, r, x, y)
            del self.open[r.index]
        else:
            self.refused(lambda: answer_round(self.learner, r, x, y))

    @rule(text=rounds)
    def abandon(self, text):
        r = kh.Round.from_json(text)
        if r.index in self.open:
            self.learner.abandon(r)
            del self.open[r.index]
        else:
            self.refused(lambda: self.learner.abandon(r))

    @rule(text=rounds, y=st.sampled_from([np.nan, np.inf, 1e101, "x", None]))
    def tell_nonsense(self, text, y):
        r = kh.Round.from_json(text)
        x = np.zeros(self.case.d)
        self.refused(lambda: answer_round(self.learner, r, x, y))
        self.refused(lambda: self.learner.predict(r, [0.0] * (r.attributes.size + 1)))

    @rule(text=rounds, field=st.sampled_from(["index", "kind", "attributes", "learner", "memo"]))
    def tell_a_changed_round(self, text, field):
        data = json.loads(text)
        data[field] = {"index": 10**6, "kind": "?", "attributes": [0, 0], "learner": "x", "memo": [7.0] * 40}[field]
        changed = kh.Round.from_json(json.dumps(data))
        self.refused(lambda: self.learner.tell(changed, [0.0] * changed.attributes.size, 0.0))

    @rule()
    def send_to_another_process(self):
        data = to_bytes(self.learner)
        self.learner = from_bytes(data)
        assert to_bytes(self.learner) == data

    def refused(self, call):
        before = to_bytes(self.learner)
        with pytest.raises(kh.ProtocolError):
            call()
        assert to_bytes(self.learner) == before

    @invariant()
    def the_open_rounds_are_those_of_the_model(self):
        if hasattr(self, "learner"):
            assert self.learner.open_rounds == tuple(self.open.values())
            assert self.learner.t == self.asked
            assert np.isfinite(self.learner.weights).all()
            assert self.learner.support.size <= self.case.k


TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)
