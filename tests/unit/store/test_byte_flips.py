"""A fuzzer of stores: change bytes of a file, as a failing disk does, and compare all that the library then answers.

Notes, times of creation and tokens have no checksum: of them `check` can only find that they have another form.
"""

import contextlib
import sqlite3
import warnings
from pathlib import Path

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.store.export_import import export_store, import_store
from keyhole.store.models import NoSuchLearner
from keyhole.store.tokens import create_token, list_tokens
from keyhole.store.verify import check

from ... import databases
from .play import create, play, seen

OURS = (kh.StateError, kh.ConfigError, kh.ProtocolError, NoSuchLearner)
LEARNERS = {"icu": "thrifty", "ward": "ds-oslrc", "fixed": "fixed-random"}


def answer(call):
    """What a call returns; any error but ours fails the test."""
    try:
        return call()
    except OURS:
        return "refused"


def reads(learner):
    history = learner.history()
    columns = (history.rounds, history.labelled_at, history.labels, history.predictions, history.price)
    return {
        "rounds": lambda: [r.to_json() for r in learner.rounds()],
        "round": lambda: learner.round(2).to_json(),
        "history": lambda: (history.keys, *[column.tolist() for column in columns]),
        "ledger": learner.ledger,
        "totals": learner.totals,
        "warnings": lambda: learner.warnings(now=0.0),
        "events": learner.events,
        "learner": lambda: to_bytes(learner.learner()),
    }


def writes(learner):
    return {
        "ask again": lambda: learner.ask(key="patient-1").to_json(),
        "ask": lambda: learner.ask(key="new")._request(),
        "predict": lambda: learner.predict(7, [0.5] * len(learner.round(7).names)),
        "tell": lambda: learner.tell(7, None, 0.25),
        "tell_many": lambda: learner.tell_many([("new", 0.5), ("late", 0.5)]),
        "abandon": lambda: learner.abandon(8),
        "learn": lambda: learner.learn(np.eye(7), np.ones(7)),
        "afterwards": lambda: to_bytes(learner.learner()),
    }


def answers(store):
    """The answers to all calls; those that change something come last."""
    found = {
        "names": answer(lambda: list(store)),
        "summaries": answer(lambda: [(s.name, s.algorithm, s.head, s.totals) for s in store.summaries()]),
    }
    for calls in (reads, writes):
        for name in LEARNERS:
            made = answer(lambda calls=calls, name=name: calls(store[name]))
            found |= {(name, what): answer(call) for what, call in made.items()} if made != "refused" else {name: made}
            answer(lambda name=name: store[name].note)
    answer(lambda: list_tokens(store.database))
    return found


@pytest.fixture(scope="module")
def undamaged():
    """The bytes of a store, the answers to all calls, and the events of each learner."""
    with databases.folder() as folder:
        file = Path(folder, "store.db")
        with kh.open_store(f"sqlite:///{file}") as store:
            for name, algorithm in LEARNERS.items():
                learner = create(store, name, algorithm)
                play(learner, 0, 6)
                late = learner.ask(key="late")
                learner.predict(late, seen(late, 99))
                learner.ask(key="gone")
            create_token(store.database, "icu", ("read",))
            with store.database.writing() as connection:
                store["icu"]._cached.snapshot(connection)
            events = {name: store[name].events() for name in store}
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        whole = file.read_bytes()
        with kh.open_store(f"sqlite:///{file}") as store:
            assert all(verdict.good for verdict in check(store.database))
            return whole, answers(store), events


def saves_what_is_sound(store, folder, events):
    """`export --sound` writes what `check` calls sound after the import: the first events of each learner."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kh.KeyholeWarning)
        n = export_store(store.database, folder / "out", sound_only=True)
    with kh.open_store(f"sqlite:///{folder}/saved.db") as saved:
        assert import_store(saved.database, folder / "out") == n
        assert [verdict.faults for verdict in check(saved.database)] == [[]] * len(saved)
        for name in saved:
            assert saved[name].events() == events[name][: saved[name].head]
    return n


def survives(torn, undamaged):
    """Whether check finds the damage."""
    _, expected, events = undamaged
    with databases.folder() as name:
        folder = Path(name)
        (folder / "store.db").write_bytes(torn)
        store = answer(lambda: kh.open_store(f"sqlite:///{folder}/store.db"))
        if store == "refused":
            return "refused"
        with store:
            verdicts = answer(lambda: list(check(store.database)))
            if verdicts == "refused":
                return "refused"
            answer(lambda: export_store(store.database, folder / "all"))
            saves_what_is_sound(store, folder, events)
            sound = all(verdict.good for verdict in verdicts)
            found = answers(store)
            assert not sound or found == expected
            return "sound" if sound else "damaged"


def flips(undamaged, seeds):
    whole, outcomes = undamaged[0], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        torn = bytearray(whole)
        for _ in range(rng.choice([1, 1, 3, 10])):
            place = int(rng.integers(len(torn)))
            torn[place] = int(rng.integers(256)) if rng.integers(3) else torn[place] ^ 1 << int(rng.integers(8))
        outcomes.append(survives(torn, undamaged))
    return outcomes


def test_a_store_with_changed_bytes_is_found_damaged_or_answers_as_before(undamaged):
    outcomes = flips(undamaged, range(60))
    assert outcomes.count("damaged") >= 15
    assert "sound" in outcomes  # bytes that SQLite does not use


@pytest.mark.slow
def test_thousands_of_stores_with_changed_bytes_are_found_damaged_or_answer_as_before(undamaged):
    assert flips(undamaged, range(60, 5000)).count("damaged") > 1000
