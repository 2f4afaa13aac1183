"""The store's promises, on both databases: one round per key, labels that always come in, nothing half done."""

import math
import threading

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.registry.catalogue import from_config
from keyhole.core.serialization import to_bytes
from keyhole.store import cached_learner
from keyhole.store.database import Connection
from keyhole.store.models import NoSuchRound, StoreUnavailable
from keyhole.store.verify import check

from ... import databases
from .play import NAMES, create, play, row, seen


@pytest.fixture
def store(url):
    with kh.open_store(url) as store:
        yield store


def test_a_stored_learner_does_what_a_plain_one_does(store):
    learner, plain = create(store), kh.make("ds-oslrc", names=NAMES, k=3, seed=0)
    for i in range(20):
        r, p = learner.ask(key=f"patient-{i}"), plain.ask()
        assert r == p
        assert learner.predict(r, seen(r, i)) == plain.predict(p, seen(p, i))
        learner.tell(r, seen(r, i), row(i)[1])
        plain.tell(p, seen(p, i), row(i)[1])
    assert to_bytes(learner.learner()) == to_bytes(plain)


def test_another_process_sees_it_at_once(store, url):
    learner = create(store)
    with kh.open_store(url) as elsewhere:
        there = elsewhere["icu"]
        for i in range(6):  # in turns, each catching up with the other
            here = (learner, there)[i % 2]
            r = here.ask(key=f"patient-{i}")
            (there, learner)[i % 2].tell(r, seen(r, i), row(i)[1])
        assert to_bytes(learner.learner()) == to_bytes(there.learner())
    assert all(verdict.good for verdict in check(store.database))


def test_a_key_names_one_round_for_ever(store, url):
    learner = create(store)
    r = learner.ask(key="patient-17")
    assert learner.ask(key="patient-17") == r
    assert learner.ask(key="patient-18") != r
    with kh.open_store(url) as elsewhere:
        assert elsewhere["icu"].ask(key="patient-17", available=[]) == r
    learner.tell(r, seen(r, 17), 0.5)
    assert learner.ask(key="patient-17") == r
    assert learner.totals().n_asked == 2


def test_without_a_key_every_ask_is_a_new_round(store):
    learner = create(store)
    assert learner.ask().index == 1
    assert learner.ask().index == 2


def test_an_identical_label_is_no_event_and_another_one_is_refused(store):
    learner = create(store)
    r = learner.ask(key="a")
    values = seen(r, 0)
    assert learner.tell(r, values, 0.25) is True
    before = store.heads()
    assert learner.tell(r, values, 0.25) is False
    assert learner.tell(r, None, 0.25) is False
    assert learner.tell(r.index, list(values.values()), 0.25) is False
    for other in ((values, 0.26), ({**values, r.names[0]: 0.9}, 0.25)):
        with pytest.raises(kh.ProtocolError, match="already has a label, 0.25"):
            learner.tell(r, *other)
    assert store.heads() == before


def test_a_late_label_wins_over_abandonment(store):
    learner = create(store)
    r = learner.ask(key="a", deadline=0.0)
    learner.abandon(r)
    learner.abandon(r)
    assert [e.status for e in learner.rounds()] == ["abandoned"]
    assert learner.rounds(status="open") == ()
    assert learner.totals().n_abandoned == 1
    learner.tell(r, seen(r, 0), 0.5)
    assert [(e.index, e.key, e.status, e) for e in learner.rounds("labelled")] == [(1, "a", "labelled", r)]
    assert learner.totals().n_abandoned == 0
    assert store.heads() == {"icu": 3}
    with pytest.raises(kh.ProtocolError, match="already has"):
        learner.abandon(r)
    assert all(verdict.good for verdict in check(store.database))


def test_a_prediction_comes_with_its_interval_once_there_is_one(store):
    learner = store.create("ward", "thrifty", names=NAMES, k=3, seed=0)
    r = learner.ask()
    said = learner.predict_interval(r, seen(r, 0))
    assert (said.low, said.high) == (None, None)
    learner.tell(r, None, row(0)[1])
    play(learner, 1, 30)
    r = learner.ask(key="later")
    said = learner.predict_interval(r, seen(r, 30))
    assert (said.low, said.high) == learner.learner().interval(r, seen(r, 30), 0.9)
    assert said.low < said.prediction < said.high
    assert learner.rounds("open")[-1].plain() == said.plain()
    play(learner, 31, 40)
    assert all(verdict.good for verdict in check(store.database))


@pytest.mark.parametrize("index", [0, -1, 2, 2**31, 10**400, 1.5, "1", None])
def test_a_round_that_is_not_there_is_named(store, index):
    learner = create(store)
    learner.ask()
    with pytest.raises(NoSuchRound, match="learner 'icu' has no round "):
        learner.round(index)


def test_the_last_prediction_before_the_label_counts(store):
    learner = create(store)
    play(learner, 0, 12)
    r = learner.ask(key="late")
    first = learner.predict(r, dict.fromkeys(r.names, 0.0))
    values = dict.fromkeys(r.names, 0.9)
    last = learner.predict(r, values)
    assert learner.predict(r, values) == last
    head = store.heads()["icu"]
    assert head == 12 * 3 + 3, "saying the same again is no event"
    play(learner, 12, 30)
    learner.tell(r, None, 0.5)
    history = learner.history()
    assert (history.keys[-1], history.predictions[-1], history.labels[-1]) == ("late", last, 0.5)
    assert history.losses[-1] == learner.round(13).loss == (last - 0.5) ** 2
    assert first != last
    with pytest.raises(kh.ProtocolError, match="already has"):
        learner.predict(r, values)


def test_values_given_with_the_prediction_may_be_repeated_or_left_out_but_not_replaced(store):
    learner = create(store)
    r = learner.ask()
    with pytest.raises(kh.ProtocolError, match="no values yet"):
        learner.tell(r, None, 0.5)
    x = seen(r, 0) | {r.names[0]: math.nan}
    learner.predict(r, x)
    with pytest.raises(kh.ProtocolError, match="predicted from other values"):
        learner.tell(r, seen(r, 0), 0.5)
    assert learner.tell(r, x, 0.5)
    assert math.isnan(learner.rounds()[0].values[r.names[0]])


def test_bad_input_is_a_protocol_error_and_no_event(store):
    learner = create(store)
    r = learner.ask(key="a")
    other = kh.make("ds-oslrc", names=NAMES, k=3, seed=1).ask()
    forged = kh.Round(r.index, r.kind, np.array([0, 1, 2]), tuple(NAMES[:3]), r.learner, r.extra, r.memo)
    good, before, state = seen(r, 0), store.heads(), to_bytes(learner.learner())
    for bad in (
        lambda: learner.predict(r, [1.0]),
        lambda: learner.predict(r, good | {"nothing": 1.0}),
        lambda: learner.predict(r, dict.fromkeys(r.names, math.inf)),
        lambda: learner.predict(99, good),
        lambda: learner.predict(-1, good),
        lambda: learner.predict(10**12, good),
        lambda: learner.predict("1", good),
        lambda: learner.predict(other, good),
        lambda: learner.predict(forged, good),
        lambda: learner.tell(forged, good, 0.1),
        lambda: learner.tell(r, good, math.nan),
        lambda: learner.tell(r, good, "much"),
        lambda: learner.tell(r, good, 0.1, extra_attributes=[3], extra_values=[1.0]),
        lambda: learner.abandon(forged),
        lambda: learner.ask(key=""),
        lambda: learner.ask(key="x" * 201),
        lambda: learner.ask(key="a\x00b"),
        lambda: learner.ask(key=5),
        lambda: learner.ask(available=["nothing"]),
        lambda: learner.ask(available=[1, 2]),
        lambda: learner.ask(deadline=math.inf),
        lambda: learner.ask(deadline=10**400),
    ):
        with pytest.raises(kh.ProtocolError):
            bad()
    assert store.heads() == before
    assert to_bytes(learner.learner()) == state
    assert learner.ask(key="b").index == 2


def test_available_is_a_mask_or_names(store):
    learner = create(store)
    assert set(learner.ask(available=NAMES[:3]).names) <= set(NAMES[:3])
    assert set(learner.ask(available=np.array([False] * 4 + [True] * 3)).names) <= set(NAMES[4:])
    assert learner.ask(available=[]).names == ()
    assert all(verdict.good for verdict in check(store.database))


def test_extras_are_told_by_name_or_in_order(store):
    names = NAMES
    learner = create(store, "more", "ds-poslrc", k0=3)
    for i in range(4):
        r = learner.ask(key=str(i))
        more = [names[j] for j in r.extra]
        with pytest.raises(kh.ProtocolError, match="3 more attributes"):
            learner.tell(r, seen(r, i), 0.1)
        if i % 2:
            learner.tell(r, seen(r, i), 0.1, extra_values=dict.fromkeys(more, 0.2))
            assert not learner.tell(r, seen(r, i), 0.1, extra_values=[0.2, 0.2, 0.2])
            with pytest.raises(kh.ProtocolError, match="already has a label"):
                learner.tell(r, seen(r, i), 0.1, extra_values=[0.2, 0.2, 0.3])
        else:
            learner.tell(r, seen(r, i), 0.1, r.extra, [0.2, 0.2, math.nan])
    assert all(verdict.good for verdict in check(store.database))


def test_equal_configurations_are_one_learner(store):
    learner = create(store)
    play(learner, 0, 2)
    assert create(store).totals() == learner.totals()
    assert store.create("icu", "ds-oslrc", names=NAMES, k=3).totals() == learner.totals(), "no seed matches any"
    for other in (dict(k=4), dict(seed=1), dict(names=NAMES[:6]), dict(algorithm="fixed-random")):
        with pytest.raises(kh.ConfigError, match="another configuration"):
            create(store, **other)
    for name in ("", "a/b", "a:b", "x" * 65, "a\n", "_a", " a", "..", None):
        with pytest.raises(kh.ConfigError, match="a learner's name"):
            create(store, name)
    with pytest.raises(kh.ConfigError, match="printable"):
        store.create("odd", "fixed-random", names=["a\ud800", "b"], k=1)
    with pytest.raises(KeyError, match="no learner 'nobody'"):
        store["nobody"]
    assert list(store) == ["icu"]
    assert "icu" in store
    assert "nobody" not in store


def test_money_and_ledger(store):
    prices = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    learner = create(store, "ward", "thrifty", prices=prices)
    play(learner, 0, 10)
    ledger = learner.ledger()
    assert sum(p.price for p in ledger) == learner.totals().spent > 0
    assert {p.price for p in ledger if p.name == "test6"} <= {64.0}
    entry = learner.ask(key="next")
    assert entry.price == sum(prices[NAMES.index(name)] for name in entry.sources)


def test_snapshots_are_what_a_replay_comes_to(store, url, monkeypatch):
    monkeypatch.setattr(cached_learner, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr("keyhole.store.transaction.SNAPSHOT_EVERY", 10)
    learner = create(store)
    for i in range(3):
        learner.ask(key=f"open-{i}")
    play(learner, 0, 15)
    with kh.open_store(url) as elsewhere:  # from the snapshot after event 40, and 8 events
        assert to_bytes(elsewhere["icu"].learner()) == to_bytes(learner.learner())
    (verdict,) = check(store.database)
    assert verdict.good, verdict.faults
    assert verdict.events == 48


def test_threads_share_one_learner(store):
    learner = create(store)
    faults = []

    def work(n):
        try:
            play(learner, n * 10, n * 10 + 10)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert learner.totals().n_labels == 40
    (verdict,) = check(store.database)
    assert verdict.good, verdict.faults


def test_a_transaction_that_fails_leaves_nothing_here_or_there(store, monkeypatch):
    learner = create(store)
    play(learner, 0, 3)
    state, head = to_bytes(learner.learner()), store.heads()
    monkeypatch.setattr("keyhole.store.transaction.totals_after", lambda *_: 1 / 0)  # after the learner has asked
    with pytest.raises(ZeroDivisionError):
        learner.ask()
    monkeypatch.undo()
    assert store.heads() == head
    assert to_bytes(learner.learner()) == state
    play(learner, 3, 5)
    assert all(verdict.good for verdict in check(store.database))


def test_what_came_before_a_refusal_in_one_transaction_is_taken_back_with_it(store):
    learner = create(store)
    play(learner, 0, 3)
    state, head = to_bytes(learner.learner()), store.heads()

    def asked_and_refused(transaction):
        transaction.ask("new")
        transaction.predict(99, {})

    with pytest.raises(kh.ProtocolError, match="never asked"):
        learner.transact(asked_and_refused)
    assert store.heads() == head
    assert to_bytes(learner.learner()) == state
    play(learner, 3, 5)
    assert all(verdict.good for verdict in check(store.database))


def test_the_record_holds_where_a_replay_asks_otherwise(store, url, monkeypatch):
    def otherwise(config):
        learner = from_config(config)
        learner.rng.random()
        return learner

    learner = create(store)
    play(learner, 0, 4)
    with kh.open_store(url) as elsewhere:
        there = elsewhere["icu"]
        monkeypatch.setattr("keyhole.core.registry.catalogue.from_config", otherwise)
        with pytest.warns(kh.KeyholeWarning, match="would ask for other attributes at event 1"):
            assert there.learner().t == 4
        assert there.ask(key="patient-0") == learner.ask(key="patient-0")


def test_totals_and_history_agree(store):
    learner = create(store)
    play(learner, 0, 12)
    silent = learner.ask()
    learner.tell(silent, seen(silent, 0), 0.3)  # nothing was said: no loss
    history, totals = learner.history(), learner.totals()
    assert len(history) == totals.n_labels == 13
    assert totals.n_scored == 11  # the first label is left out
    assert totals.loss == pytest.approx(np.nansum(history.losses[1:]), rel=1e-12)
    before = np.cumsum(history.labels)[:-1] / np.arange(1, 13)
    assert totals.baseline_loss == pytest.approx(((before - history.labels[1:]) ** 2)[:11].sum(), rel=1e-12)
    assert totals.mean_loss == totals.loss / 11
    assert np.isnan(history.predictions[-1])
    assert learner.history(limit=2).labels.tolist() == history.labels[:2].tolist()


def test_sources_are_ordered_whole_and_known_attributes_cost_nothing(store):
    sources = {"panel": ["test1", "test2", "test3"]}
    prices = {"panel": 12.0, "test4": 3.0, "test5": 1.0, "test6": 1.0}
    learner = create(store, "sources", "fixed-random", k=2, sources=sources, free=["test0"], prices=prices)
    entry = learner.ask(key="a")
    assert set(entry.sources) <= set(prices)
    assert entry.price == sum(prices[name] for name in entry.sources)
    assert "test0" in entry.names
    learner.tell(entry, dict.fromkeys(entry.names, 0.5), 0.5)
    assert [(p.name, p.price) for p in learner.ledger()] == [(name, prices[name]) for name in entry.sources]
    assert all(verdict.good for verdict in check(store.database))


def test_a_process_that_begins_keeps_nobody_waiting(store, url, monkeypatch):
    """Reading the state may take seconds in a new process: it comes before the learner is held."""
    store.create("icu", "fixed-random", names=NAMES, k=2, seed=0)
    monkeypatch.setattr("keyhole.store.database._LOCK_TIMEOUT", 1.0)
    other, cold = kh.open_store(url), kh.open_store(url)
    other["icu"].ask(key="before")
    real, held = from_config, []

    def slow(config):
        held.append(other["icu"].ask(key=f"meanwhile-{len(held)}").index)  # waits in vain where the learner is held
        return real(config)

    monkeypatch.setattr("keyhole.core.registry.catalogue.from_config", slow)
    assert cold["icu"].ask(key="after").index == 3
    assert held == [2]
    assert store["icu"].totals().n_asked == 3


def test_what_sqlite_committed_survives_a_power_cut(sqlite_url):
    """Every connection of a store: a write-ahead log that is forced to the disk at each commit."""
    with kh.open_store(sqlite_url) as store:
        for transaction in (store.database.reading, store.database.writing):
            with transaction() as connection:
                settings = [connection.row(f"PRAGMA {name}")[0] for name in ("journal_mode", "synchronous")]
                assert settings == ["wal", 2]


def test_learners_do_not_wait_for_each_other_on_postgresql():
    """While one learner is held, rounds of another are asked and told; the first one itself has to wait."""
    import psycopg

    with (
        kh.open_store(databases.postgres()) as store,
        kh.open_store(store.database.url) as elsewhere,
    ):
        learner, ward, mine = create(store), create(store, "ward"), []
        play(ward, 0, 1)
        waiting = threading.Thread(target=lambda: mine.append(elsewhere["icu"].ask(key="b").index))

        def act(transaction):
            transaction.ask("a")
            waiting.start()
            play(elsewhere["ward"], 1, 4)
            with psycopg.connect(store.database.url, autocommit=True) as watcher:
                while watcher.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (0,):
                    assert not mine, "it did not wait"
            return list(mine)

        assert learner.transact(act) == []
        waiting.join()
        assert mine == [2]
        assert store["ward"].totals().n_labels == 4
        assert all(verdict.good for verdict in check(store.database))


def test_a_store_that_is_locked_too_long_is_unavailable(sqlite_url, monkeypatch):
    monkeypatch.setattr("keyhole.store.database._LOCK_TIMEOUT", 0.1)
    with kh.open_store(sqlite_url) as store, kh.open_store(sqlite_url) as elsewhere:
        learner = create(store)
        head = store.heads()
        with elsewhere.database.writing(), pytest.raises(StoreUnavailable, match="locked by another process"):
            learner.ask(key="a")
        assert store.heads() == head
        assert learner.ask(key="a").index == 1


def test_a_commit_that_is_not_confirmed_is_not_said_to_have_changed_nothing():
    """The connection breaks after PostgreSQL has committed; the call may be repeated with its key."""
    import psycopg

    url = databases.postgres()
    with kh.open_store(url) as store, psycopg.connect(url, autocommit=True) as administrator:
        learner, cut = create(store), []
        run = Connection.run

        def run_and_cut(connection, statement, parameters=None):
            if statement == "COMMIT" and not cut:
                pid = connection.row("SELECT pg_backend_pid()")[0]
                run(connection, statement, parameters)
                administrator.execute("SELECT pg_terminate_backend(%s)", (pid,))
                cut.append(pid)
                while administrator.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone():
                    pass
            return run(connection, statement, parameters)

        learner.ask(key="before")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Connection, "run", run_and_cut)
            with pytest.raises(StoreUnavailable, match="not known whether this was recorded; repeat the call"):
                learner.ask(key="a")
        assert cut
        assert learner.ask(key="a").index == 2
        assert [r.key for r in learner.rounds()] == ["before", "a"]
        assert all(verdict.good for verdict in check(store.database))
