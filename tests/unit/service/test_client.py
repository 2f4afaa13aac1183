"""`kh.connect` has the store's interface: the same calls give the same values and the same errors."""

import contextlib
import http.client
import json
import math
import socket
import threading
import time

import numpy as np
import pandas as pd
import pytest
import uvicorn

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.service.app import create_app
from keyhole.service.server import Settings

from ..store.play import NAMES, create, play, row, seen


@contextlib.contextmanager
def running(app):
    """A server in a thread of this process, and its address."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def server(sqlite_url):
    """The address of a server, and its store."""
    app = create_app(Settings(sqlite_url))
    with running(app) as (_, address):
        yield address, app.state.store


@pytest.fixture(params=["store", "client"])
def both(request, server):
    """The same learner, from the store and over the wire."""
    address, store = server
    return store if request.param == "store" else kh.connect(address)


def test_a_round_is_the_same_over_http_in_every_field(server):
    address, store = server
    here = create(store, algorithm="kale2017-dantzig", k0=2)
    there = kh.connect(address)["icu"]
    for i in range(4):
        r = there.ask(key=f"patient-{i}", deadline=2e9)
        there.predict(r, seen(r, i) | {r.names[0]: math.nan})
        if i < 3:
            there.tell(r, None, row(i)[1], r.extra, {name: row(i)[0][name] for name in r.extra_names})
    there.abandon(4)
    assert any(r.extra.size for r in here.rounds())
    for mine, other in zip(here.rounds(), there.rounds(), strict=True):
        times = [name for name in ("asked_at", "labelled_at", "deadline") if getattr(mine, name) is not None]
        assert all(abs(getattr(other, name) - getattr(mine, name)) < 1e-5 for name in times)  # ISO 8601: microseconds
        assert other.plain() | {name: getattr(mine, name) for name in times} == mine.plain()
    assert [r.loss for r in there.rounds()] == [r.loss for r in here.rounds()]


def test_the_interface_is_the_same(both, server):
    icu = create(both)
    play(icu, 0, 4)
    r = icu.ask(key="late", available=NAMES[:4])
    assert set(r.names) <= set(NAMES[:4])
    assert icu.ask(key="late") == r
    assert set(icu.ask(key="mask", available=np.array([True] * 2 + [False] * 5)).names) <= set(NAMES[:2])
    x = seen(r, 9) | {r.names[0]: math.nan}
    said = icu.predict(r, x)
    assert icu.abandon(r) is True
    assert icu.tell(r, list(x.values()), row(9)[1]) is True
    assert icu.tell(r, None, row(9)[1]) is False
    assert [e.key for e in icu.rounds(status="open")] == ["mask"]
    assert len(icu.rounds()) == 6
    entry = icu.round(5)
    assert (entry.prediction, entry.label, entry.status) == (said, row(9)[1], "labelled")
    assert math.isnan(entry.values[r.names[0]])
    assert icu.history().losses[-1] == (said - row(9)[1]) ** 2
    assert [p.name for p in icu.ledger()][:3] == list(icu.round(1).names)
    outcomes = icu.tell_many([("patient-0", row(0)[1]), ("nobody", 1.0), ("mask", 1.0)])
    assert [o.status for o in outcomes] == ["known already", "refused", "refused"]
    assert to_bytes(icu.learner()) == to_bytes(server[1]["icu"].learner())
    assert icu.totals() == server[1]["icu"].totals()
    assert list(both) == ["icu"]
    assert "icu" in both
    assert len(both) == 1


def test_the_errors_are_the_same(both):
    icu = create(both)
    r = icu.ask(key="a")
    with pytest.raises(kh.ProtocolError, match="no value for"):
        icu.predict(r, {})
    with pytest.raises(kh.ProtocolError, match="expected 3 values"):
        icu.predict(r, [1.0])
    with pytest.raises(kh.ProtocolError):
        icu.predict(r, [math.inf] * 3)
    with pytest.raises(kh.ProtocolError):
        icu.tell(r, seen(r, 0), math.nan)
    with pytest.raises(kh.ProtocolError, match="finite"):
        icu.tell(r, seen(r, 0), 10**400)
    with pytest.raises(kh.ProtocolError):
        icu.predict("1", {})
    with pytest.raises(kh.ProtocolError):
        icu.ask(available=["nothing"])
    with pytest.raises(kh.ProtocolError):
        icu.ask(key="")
    with pytest.raises(kh.ProtocolError, match="never asked|no round"):
        icu.tell(99, {}, 1.0)
    icu.tell(r, seen(r, 0), 0.5)
    with pytest.raises(kh.ProtocolError, match="already has"):
        icu.tell(r, seen(r, 0), 0.6)
    with pytest.raises(kh.ConfigError, match="another configuration"):
        create(both, k=4)
    with pytest.raises(kh.ConfigError, match="no algorithm"):
        create(both, "b", "nothing")
    with pytest.raises(kh.ConfigError, match="status must be one of open, labelled, abandoned"):
        icu.rounds(status="lost")
    with pytest.raises(KeyError, match="no learner 'nobody'"):
        both["nobody"]


def test_extras_go_over_the_wire(both):
    icu = create(both, "more", "ds-poslrc", k0=3)
    r = icu.ask(key="a")
    with pytest.raises(kh.ProtocolError, match="3 more"):
        icu.tell(r, seen(r, 0), 0.1)
    assert icu.tell(r, seen(r, 0), 0.1, r.extra, [0.1, math.nan, 0.2]) is True


def test_an_address_that_is_none(server):
    with pytest.raises(kh.ConfigError, match="not the address of a server"):
        kh.connect("ward:8765")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match="does not answer"):
        list(kh.connect(f"http://127.0.0.1:{port}"))
    with pytest.raises(kh.StateError, match="Not Found"):
        list(kh.connect(server[0] + "/static/page.css?"))


def test_the_client_needs_only_the_core():
    import subprocess
    import sys

    code = (
        "import sys, keyhole as kh; kh.connect('http://127.0.0.1:1');"
        "print([m for m in ('sqlalchemy', 'fastapi', 'httpx', 'pydantic', 'requests', 'scipy') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def posted(address, path, body):
    """Status, kind and content of an answer, and whether to try again."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=300)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.headers["content-type"], json.loads(answer.read()), answer.headers["retry-after"]


def test_a_server_that_goes_says_so_to_who_waits(sqlite_url):
    """Calls that take longer than it stays are to be tried again: not a fault, and not the connection torn."""
    app, answers = create_app(Settings(sqlite_url)), []
    icu = create(app.state.store)
    with running(app) as (server, address), icu._cached.lock:  # the call waits for the learner
        path = "/v1/learners/icu/rounds"
        call = threading.Thread(target=lambda: answers.append(posted(address, path, {"key": "a"})))
        call.start()
        while not server.server_state.tasks:  # until the call has come
            time.sleep(0.01)
        server.should_exit = True
        call.join()
    ((status, kind, problem, again),) = answers
    assert (status, kind, again) == (503, "application/problem+json", "1")
    assert problem["detail"] == "the server is going; try again"


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_server_that_is_away_is_tried_again_and_then_said_to_be(sqlite_url, status, monkeypatch):
    monkeypatch.setattr("keyhole.service.client.time.sleep", lambda _: None)
    app, tries = create_app(Settings(sqlite_url)), []

    async def proxied(scope, receive, send):
        """What stands between, and does not reach it every time."""
        tries.append(scope["type"])
        if scope["type"] != "http" or tries.count("http") in (3, 4, 5):
            await app(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b"<h1>away</h1>"})

    with running(proxied) as (_, address):
        assert list(kh.connect(address)) == []  # at its third try
        tries.extend(["http"] * 9)
        with pytest.raises(ConnectionError, match="does not answer: (Bad Gateway|Service Unavailable|Gateway Timeout)"):
            list(kh.connect(address))


def test_a_connection_that_was_closed_while_idle_is_opened_again_at_once(sqlite_url, monkeypatch):
    """Servers close idle connections after some seconds; the next call must not wait for that."""
    waits = []
    monkeypatch.setattr("keyhole.service.client.time.sleep", waits.append)
    app = create_app(Settings(sqlite_url))
    create(app.state.store)
    with running(app) as (server, address):
        learner = kh.connect(address)["icu"]
        r = learner.ask(key="a")
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        assert learner.ask(key="a") == r
    assert waits == []
    with pytest.raises(ConnectionError, match="does not answer"):
        learner.ask(key="a")
    assert waits == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_what_the_server_cannot_do_is_a_problem_too(sqlite_url, monkeypatch):
    app = create_app(Settings(sqlite_url))
    icu = create(app.state.store)
    with running(app) as (_, address):
        remote = kh.connect(address)["icu"]
        r = remote.ask(key="a")
        with app.state.store.database.writing() as connection:
            connection.run("DELETE FROM keyhole_events")  # somebody's hand
        with pytest.raises(kh.StateError, match="has lost the first event of round 1; run keyhole store check sqlite"):
            remote.ask(key="a")
        monkeypatch.setattr(type(icu), "change", lambda *_: 1 / 0)
        with pytest.raises(kh.StateError, match="its log says why"):
            remote.predict(r, seen(r, 0))


def test_events_are_sent_as_they_are_written(server):
    address, store = server
    icu = create(store)
    play(icu, 0, 1)
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=300)

    def listen(path, n, headers=None):
        connection.close()
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        found = []
        while len(found) < n:
            line = answer.readline().decode()
            if line.startswith("data:"):
                found.append(json.loads(line[5:]))
        return found, answer

    past, answer = listen("/v1/learners/icu/events?after=0", 3)
    assert [(e["number"], e["kind"], e["round"]) for e in past] == [
        *((1, "ask", "icu:1"), (2, "predict", "icu:1"), (3, "tell", "icu:1"))
    ]
    icu.ask(key="now")
    while not (line := answer.readline()).startswith(b"data:"):
        assert line, "the stream has ended"
    assert json.loads(line[5:])["number"] == 4
    (missed,), _ = listen("/v1/learners/icu/events?after=0", 1, {"Last-Event-ID": "3"})
    assert missed["number"] == 4
    connection.close()


def test_past_rows_are_taken_once(both, server):
    icu = create(both, algorithm="thrifty")
    table = np.array([list(row(i)[0].values()) for i in range(30)])
    table[3, 2] = math.nan
    labels = [row(i)[1] for i in range(30)]
    assert icu.learn(table, labels) is True
    assert icu.learn(table, labels) is False
    frame = pd.DataFrame(table + 0.01, columns=NAMES)[NAMES[::-1]]
    assert icu.learn(frame, labels) is True
    plain = kh.make("thrifty", names=NAMES, k=3, seed=0)
    plain.learn(table, labels)
    plain.learn(frame, labels)
    assert to_bytes(server[1]["icu"].learner()) == to_bytes(plain)
    with pytest.raises(ValueError, match="columns|cells"):
        icu.learn(table[:, 1:], labels)
    assert icu.learner().n_past_rows == 60
