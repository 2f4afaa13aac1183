"""What is remembered, kept open or left out for speed: nobody can tell, except by the clock."""

import sqlite3
import threading

import pytest

import keyhole as kh
from keyhole.store import cached_learner
from keyhole.store.verify import check

from .play import create, play, row, seen


@pytest.fixture
def two(url):
    """One learner, open in two processes' stead."""
    with kh.open_store(url) as here, kh.open_store(url) as there:
        yield create(here), create(there)


def test_a_prediction_that_another_process_replaced_is_not_used(two):
    here, there = two
    r = here.ask(key="a")
    here.predict(r, seen(r, 0))
    there.predict(r, seen(r, 1))
    with pytest.raises(kh.ProtocolError, match="predicted from other values"):
        here.tell(r, seen(r, 0), 0.5)
    assert here.tell(r, None, 0.5)
    assert here.rounds()[0].values == there.rounds()[0].values == pytest.approx(seen(r, 1))
    assert all(verdict.good for verdict in check(here.database))


def test_what_another_process_told_or_abandoned_is_known(two):
    here, there = two
    told, gone = here.ask(key="told"), here.ask(key="gone")
    for r in (told, gone):
        here.predict(r, seen(r, 0))
    assert there.tell(told, None, 0.25)
    assert there.abandon(gone)
    assert not here.tell(told, None, 0.25)
    with pytest.raises(kh.ProtocolError, match="already has"):
        here.predict(told, seen(told, 1))
    assert not here.abandon(gone)
    assert here.tell(gone, None, 0.5)
    assert here.totals().n_abandoned == 0
    assert all(verdict.good for verdict in check(here.database))


def test_a_round_that_was_not_committed_is_not_remembered(two):
    here, _ = two

    def asked_and_refused(transaction):
        r = transaction.ask("a")
        transaction.predict(r, seen(r, 0))
        transaction.predict(99, {})

    with pytest.raises(kh.ProtocolError):
        here.transact(asked_and_refused)
    with pytest.raises(kh.ProtocolError, match="never asked"):
        here.tell(1, None, 0.5)


def test_few_or_many_rounds_are_remembered_alike(two, monkeypatch):
    monkeypatch.setattr(cached_learner, "_MAX_RECENT", 3)
    here, there = two
    rounds = [here.ask(key=f"patient-{i}") for i in range(8)]
    for i, r in enumerate(rounds):
        here.predict(r, seen(r, i))
    assert len(here._cached.recent) <= 3
    for i, r in enumerate(rounds):
        assert here.tell(r, None, row(i)[1])
    assert there.rounds() == here.rounds()
    assert all(verdict.good for verdict in check(here.database))


def test_a_remembered_round_is_the_one_that_the_events_give(two):
    """After every event, the round in memory and the round that another process reads are equal in every field."""
    here, there = two
    silent, gone, r = here.ask(key="silent"), here.ask(key="gone", deadline=1e9), here.ask(key="a")
    changes = [
        lambda: here.predict(r, seen(r, 0) | {r.names[0]: float("nan")}),
        lambda: here.predict(r, seen(r, 0)),
        lambda: here.tell(r, None, 0.5),
        lambda: here.tell(silent, seen(silent, 1), 0.25),
        lambda: here.abandon(gone),
        lambda: here.tell(gone, seen(gone, 2), 0.125),
    ]
    for change in changes:
        change()
        recent = [here._cached.recent[index].plain() for index in (1, 2, 3)]
        assert recent == [found.plain() for found in there.rounds()]
        assert all(verdict.good for verdict in check(there.database))
    assert [found.status for found in there.rounds()] == ["labelled"] * 3
    assert [found.loss is None for found in there.rounds()] == [True, True, False]


def test_a_writer_that_failed_holds_nothing(sqlite_url, monkeypatch):
    monkeypatch.setattr("keyhole.store.database._LOCK_TIMEOUT", 0.1)
    with kh.open_store(sqlite_url) as here, kh.open_store(sqlite_url) as there:
        learner = create(here)

        def interrupted():
            with here.database.writing() as connection:
                connection.run("UPDATE keyhole_learners SET spent = 5")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        play(there["icu"], 0, 2)
        play(learner, 2, 4)
        assert learner.totals().spent == 0
        assert all(verdict.good for verdict in check(here.database))


def test_threads_stand_in_line_before_they_ask_sqlite(sqlite_url, monkeypatch):
    """A transaction that takes longer than SQLite would wait keeps no thread of this process from its turn."""
    monkeypatch.setattr("keyhole.store.database._LOCK_TIMEOUT", 0.05)
    with kh.open_store(sqlite_url) as store:
        learner, ward, begun, found = create(store), create(store, "ward"), threading.Event(), []

        def later():
            begun.wait()
            found.append(ward.ask(key="a").index)

        waiting = threading.Thread(target=later)
        waiting.start()

        def act(transaction):
            transaction.ask("a")
            begun.set()
            waiting.join(0.5)  # ten times what SQLite would wait

        learner.transact(act)
        waiting.join()
        assert found == [1]


def test_a_closed_store_holds_no_connection(sqlite_url):
    with kh.open_store(sqlite_url) as store:
        play(create(store), 0, 2)
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:  # the last to close empties the log
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    connection.close()


def test_lists_are_read_along_an_index(sqlite_url):
    """The indexes leave out what is never looked for; what is looked for they must still give."""
    wanted = {
        "end_event": "SELECT round FROM keyhole_rounds "
        "WHERE learner = 1 AND status = 'labelled' AND end_event > 3 ORDER BY end_event",
        "n_scored": "SELECT loss FROM keyhole_rounds WHERE learner = 1 AND n_scored IN (1, 2, 3) ORDER BY n_scored",
        "asked_at": "SELECT sum(price) FROM keyhole_rounds WHERE learner = 1 AND asked_at >= 5",
        "status": "SELECT round FROM keyhole_rounds WHERE learner = 1 AND status = 'open' ORDER BY round",
    }
    with kh.open_store(sqlite_url) as store, store.database.reading() as connection:
        for name, query in wanted.items():
            plan = " ".join(row[-1] for row in connection.rows(f"EXPLAIN QUERY PLAN {query}"))
            assert f"INDEX keyhole_rounds_{name}" in plan, (name, plan)
            assert "TEMP B-TREE" not in plan


def test_only_the_newest_rounds_without_a_label_are_kept_in_memory(two, monkeypatch):
    """A server must not grow with the rounds that it has played; all rounds go on from the store."""
    monkeypatch.setattr(cached_learner, "_MAX_RECENT", 3)
    here, _ = two
    rounds = [here.ask(key=str(i)) for i in range(6)]
    assert list(here._cached.recent) == [4, 5, 6]
    here.predict(rounds[3], seen(rounds[3], 0))
    here.ask(key="more")
    assert list(here._cached.recent) == [6, 4, 7]
    for r in rounds:
        here.predict(r, seen(r, 1))
        assert here.tell(r, None, 0.5)
        assert not here.tell(r, None, 0.5)
    assert list(here._cached.recent) == [7]
    assert all(verdict.good for verdict in check(here.database))
