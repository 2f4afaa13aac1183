"""A process killed while it learns from past rows: afterwards they are there whole or not at all, and never twice."""

import multiprocessing
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time

import numpy as np
import pytest

import keyhole as kh
from keyhole import runs
from keyhole.algorithms.thrifty.engine_state import EngineState
from keyhole.cli import main
from keyhole.core.serialization import to_bytes
from keyhole.store.database import Connection
from keyhole.store.events import ADD_EVENT
from keyhole.store.store import StoredLearner
from keyhole.store.verify import check

from ..unit.runs.test_lifecycle import Silent, publish
from ..unit.store.play import NAMES, WEIGHTS, create, play
from . import sharing
from .conftest import stream, write
from .test_killed import assert_equal_results

# Forked, because everything is imported already; the store is closed meanwhile.
CONTEXT = multiprocessing.get_context("fork") if sys.platform != "win32" else None

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is Unix's")

X = np.random.default_rng(3).uniform(-1, 1, (60, len(NAMES)))
Y = X @ WEIGHTS


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at(target, *arguments):
    """Run in a process of its own, which kills itself; return whether it did."""
    process = CONTEXT.Process(target=target, args=arguments)
    process.start()
    process.join(60)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def die_at_write(n):
    """Kill this process before the n-th write of an event's transaction, or after its commit if n < 0."""
    writes, run, learn = iter(range(10**9)), Connection.run, StoredLearner.learn

    def counted(self, statement, parameters=None):
        counted.began = counted.began or statement == ADD_EVENT
        if counted.began and next(writes) == n:
            die()
        return run(self, statement, parameters)

    def learn_and_die(self, X, y):
        learn(self, X, y)
        die()  # committed, and nobody was told

    counted.began = False
    if n < 0:
        StoredLearner.learn = learn_and_die
    else:
        Connection.run = counted


# -- a store


def learn_in_store(url, n):
    with kh.open_store(url) as store:
        die_at_write(n)
        store["icu"].learn(X, Y)


def assert_learnt_once(store, there):
    """Retrying learns what is missing, and only that."""
    learner, plain = store["icu"], kh.make("thrifty", names=NAMES, k=3, seed=0)
    head = learner.head
    assert learner.learner().n_past_rows == (len(Y) if there else 0)
    assert learner.learn(X, Y) is not there
    assert learner.learn(X, Y) is False
    assert learner.head == head + (not there)
    plain.learn(X, Y)
    assert to_bytes(learner.learner()) == to_bytes(plain)
    assert [verdict.faults for verdict in check(store.database)] == [[]]


@pytest.mark.parametrize(("n", "there"), [(0, False), (1, False), (-1, True)])
def test_a_store_killed_between_its_writes(sqlite_url, n, there):
    with kh.open_store(sqlite_url) as store:
        create(store, algorithm="thrifty")
    assert killed_at(learn_in_store, sqlite_url, n)
    with kh.open_store(sqlite_url) as store:
        assert_learnt_once(store, there)


def learn_tables(url, folder, seed):
    """Learn many tables one after the other, and note each one that was acknowledged."""
    with kh.open_store(url) as store, open(f"{folder}/learnt", "ab", buffering=0) as notes:
        for i in range(10**6):
            store["icu"].learn(X + 1000 * seed + i, Y)
            notes.write(b"x")


@pytest.mark.slow
def test_a_store_killed_fifty_times(url, tmp_path):
    chance, notes = random.Random(0), tmp_path / "learnt"
    notes.touch()
    with kh.open_store(url) as store:
        create(store, algorithm="thrifty")
    for seed in range(50):
        before = notes.stat().st_size
        process = CONTEXT.Process(target=learn_tables, args=(url, str(tmp_path), seed))
        process.start()
        sharing.wait_until(lambda least=before: notes.stat().st_size > least)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        process.join()
    with kh.open_store(url) as store:
        events = store["icu"].events(0, 10**9)
        acknowledged = notes.stat().st_size
        assert acknowledged <= len(events) <= acknowledged + 50
        digests = [event.content["digest"] for event in events]
        assert len(set(digests)) == len(digests)
        assert store["icu"].learner().n_past_rows == len(Y) * len(events)
        assert [verdict.faults for verdict in check(store.database)] == [[]]


# -- a server


def serve(url, port, n):
    if n is not None:
        die_at_write(n)
    sys.argv = ["keyhole", "serve", "--store", url, "--port", str(port)]
    main()


def serving(url, port, n=None):
    import keyhole.service.app  # noqa: F401  # once here instead of in every child

    process = CONTEXT.Process(target=serve, args=(url, port, n), daemon=True)
    process.start()
    return process


def patiently(call):
    """Repeat a call until the server answers."""
    end = time.monotonic() + 300
    while True:
        try:
            return call()
        except ConnectionError:
            assert time.monotonic() < end
            time.sleep(0.02)


def upload_under_kills(url, port, kills):
    """Post one table to servers that die of it, and twice to one that lives; return its answers."""
    for n in kills:
        process = serving(url, port, n)
        icu = patiently(lambda: kh.connect(f"http://127.0.0.1:{port}", timeout=120)["icu"])
        with pytest.raises(ConnectionError):
            icu.learn(X, Y)
        process.join(300)
        assert process.exitcode == -signal.SIGKILL
    process = serving(url, port)
    icu = patiently(lambda: kh.connect(f"http://127.0.0.1:{port}", timeout=120)["icu"])
    answers = [icu.learn(X, Y), icu.learn(X, Y)]
    process.kill()
    process.join()
    return answers


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


@pytest.mark.parametrize("kills", [[-1], pytest.param([0, 1, 2, -1], marks=pytest.mark.slow)])
def test_a_server_killed_while_it_receives_past_rows(sqlite_url, kills, monkeypatch):
    monkeypatch.setattr("keyhole.service.client._TRIES", 1)  # the test itself repeats, without pauses
    with kh.open_store(sqlite_url) as store:
        create(store, algorithm="thrifty")
    assert upload_under_kills(sqlite_url, free_port(), kills) == [-1 not in kills, False]
    with kh.open_store(sqlite_url) as store:
        assert_learnt_once(store, True)


@pytest.mark.slow
def test_a_server_killed_at_random_while_it_receives_past_rows(sqlite_url, monkeypatch):
    monkeypatch.setattr("keyhole.service.client._TRIES", 1)
    chance, port = random.Random(1), free_port()
    with kh.open_store(sqlite_url) as store:
        create(store, algorithm="thrifty")
        play(store["icu"], 0, 3)
    remote, done = kh.connect(f"http://127.0.0.1:{port}", timeout=120), 0
    for _ in range(12):
        process = serving(sqlite_url, port)
        patiently(remote.__len__)
        remote["icu"].learn(X + done, Y)
        done += 1
        timer = threading.Timer(chance.uniform(0, 0.1), process.kill)
        timer.start()
        try:
            while True:
                remote["icu"].learn(X + done, Y)
                done += 1
        except ConnectionError:
            timer.join()
            process.join()
    with kh.open_store(sqlite_url) as store:
        learner, known = store["icu"], store["icu"].learner().n_past_rows
        assert known in (len(Y) * done, len(Y) * (done + 1))  # the last one may be committed and not acknowledged
        assert learner.learn(X + done, Y) is (known == len(Y) * done)
        assert learner.learner().n_past_rows == len(Y) * (done + 1)
        assert [verdict.faults for verdict in check(store.database)] == [[]]


# -- a run


def run_with_past(folder, n):
    """Begin the run, or continue it; die before the n-th file is moved to its place, or while learning if n < 0."""
    moved, replace = iter(range(10**9)), os.replace

    def counted(*names):
        if next(moved) == n:
            die()
        replace(*names)

    os.replace = counted
    if n < 0:
        EngineState.learn = lambda self, X, y: die()
    if (folder / "cut" / "run.json").exists():
        runs.resume(folder / "cut", Silent(), publish, 0.0)
    else:
        runs.begin(plan_in(folder), folder / "cut", Silent(), publish, 0.0)


def plan_in(folder):
    return runs.prepare(runs.RunConfig(folder / "new.csv", "y", k=3, past=folder / "past.csv"))


@pytest.fixture
def tables(tmp_path):
    columns = stream(400, seed=1)
    write(tmp_path / "past.csv", {name: column[:200] for name, column in columns.items()})
    write(tmp_path / "new.csv", {name: column[200:] for name, column in columns.items()})
    assert runs.begin(plan_in(tmp_path), tmp_path / "whole", Silent(), publish, 0.0)
    return tmp_path


def test_a_run_killed_while_it_learns_the_past(tables):
    for n in (-1, 0, 1, 3):
        assert killed_at(run_with_past, tables, n)
    assert not killed_at(run_with_past, tables, 10**9)
    assert_equal_results(tables / "cut", tables / "whole")


@pytest.mark.slow
def test_a_run_killed_before_each_of_its_files(tables):
    n = 0
    while killed_at(run_with_past, tables, n):
        n += 1
        if n % 2:  # every other time it begins again
            shutil.rmtree(tables / "cut", ignore_errors=True)
    assert n > 5
    assert_equal_results(tables / "cut", tables / "whole")
