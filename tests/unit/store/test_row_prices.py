"""The prices of one row in a store: kept with the event, counted in the totals, replayed."""

import pytest

import keyhole as kh
from keyhole.store.verify import check

PRICES = {"a": 1.0, "b": 2.0, "c": 3.0}


@pytest.fixture
def store(sqlite_url):
    with kh.open_store(sqlite_url) as store:
        yield store


def test_a_row_has_its_own_prices(store):
    learner = store.create("icu", "thrifty", names=list(PRICES), k=3, seed=0, prices=PRICES)
    first = learner.ask(key="p1", prices={"c": 9.25})
    assert first.price == 1.0 + 2.0 + 9.25
    assert learner.ask(key="p1") == first
    second = learner.ask(key="p2")
    assert second.price == 6.0
    learner.tell(first, [1.0, 2.0, 3.0], 1.0)
    assert learner.totals().spent == pytest.approx(18.25, abs=1e-12)
    assert all(verdict.good for verdict in check(store.database))
    with pytest.raises(kh.ProtocolError, match="not a source"):
        learner.ask(key="p3", prices={"d": 1.0})
