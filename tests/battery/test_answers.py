"""What must come out where a label is late and where values are missing: every learner, number by number."""

import dataclasses

import numpy as np
import pytest

from keyhole.core.serialization import from_bytes, to_bytes
from keyhole.testing import answer_round

from .cases import CASES, RAW, rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning"),
    pytest.mark.parametrize("case", CASES, ids=str),
]

T = 60
# Their sums count who was seen, so that what was not observed is to them as if it had not been bought; to all others,
# whose values lie in [-1, 1], it is zero.
COUNTS = RAW | {"kale2017-greedy", "murata2018-explore", "murata2018-hybrid"}


def numbers(learner):
    """The state, field by field. How often a source was tried is no number learnt from values: it counts orders."""
    for name, value in learner.get_state().items():
        fields = value.dtype.names if isinstance(value, np.ndarray) else None
        if fields:
            yield from ((f"{name}.{field}", value[field]) for field in fields if field != "tried")
        else:
            yield name, value


def assert_same(one, other):
    for (name, a), (_, b) in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def without(r, x):
    """The round as if what is missing had not been bought."""
    seen = ~np.isnan(x[r.attributes])
    names = tuple(name for name, there in zip(r.names, seen, strict=True) if there)
    attributes, extra = r.attributes[seen], r.extra[~np.isnan(x[r.extra])]
    return dataclasses.replace(r, attributes=attributes, names=names, extra=extra)


def test_a_missing_value_teaches_nothing(case):
    X, y = case.stream(T)
    learner, other, rng = case.make(), case.make(), np.random.default_rng(6)
    counts = case.name in COUNTS or case.options.get("standardize")
    for x, label in rows(X, y):
        x = np.where(rng.random(x.size) < rng.choice([0.0, 0.3]), np.nan, x)
        r, q = learner.ask(), other.ask()
        if np.isnan(x[r.attributes]).all():  # what a row of which nothing came is worth, each learner has to say
            learner.abandon(r)
            other.abandon(q)
            continue
        answer_round(learner, r, x, label)
        if counts:
            other.abandon(q)
            q = without(q, x)
            other._tell(q, x[q.attributes], label, x[q.extra])
        else:
            answer_round(other, q, np.nan_to_num(x), label)
        assert_same(learner, other)


def test_a_late_label_teaches_what_it_would_have_taught_at_once(case):
    """Rounds that were asked since and never answered change nothing of it."""
    X, y = case.stream(T)
    learner = case.make()
    for t, (x, label) in enumerate(rows(X, y)):
        r = learner.ask()
        if t % 3 == 0:
            late = from_bytes(to_bytes(learner))
            for later in [late.ask() for _ in range(3)]:
                late.abandon(later)
            answer_round(late, r, x, label)
        answer_round(learner, r, x, label)
        if t % 3 == 0:
            assert np.array_equal(late.weights, learner.weights)
            assert np.array_equal(late.support, learner.support)
