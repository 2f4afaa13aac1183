"""Clients that open connections and do not finish their requests: the rest keep being served."""

import asyncio
import contextlib
import functools
import http.client
import itertools
import json
import os
import platform
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import keyhole as kh
from keyhole.service.server import RESERVED_DESCRIPTORS, Connections, LimitedConnection, Settings, max_connections

from ... import databases
from ...journeys.conftest import environment
from ...journeys.sharing import wait_until
from ...journeys.test_sharing import Server
from ..store.play import create

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of file descriptors are Unix's")
HALF_HEAD = b"POST /v1/learners HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_BODY = HALF_HEAD + b"Content-Length: 100\r\n\r\n{"
NOTHING = b""
HANGS = 300.0  # seconds after which a test has hung; no test waits for them


def started(url, *words, files=200, log=None):
    """A server of a new store that may open few files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with kh.open_store(url) as store:
        create(store)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, before[1]))  # inherited by the server
    try:
        return Server(url, *words, log=log)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def serve(sqlite_url):
    """Start a server for this test alone."""
    with contextlib.ExitStack() as stack:

        def start(*words):
            server = started(sqlite_url, *words)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="module")
def with_timeout():
    """The server with this limit in seconds; tests that leave it as it was share one."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def start(seconds):
            url = f"sqlite:///{stack.enter_context(databases.folder())}/store.db"
            server = started(url, "--request-timeout", seconds)
            stack.callback(server.stop)
            return server

        yield start


def get(server, path, timeout=HANGS):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def answers(server):
    """Whether it answers; where the timeout is short, a busy machine may send a request too slowly."""
    try:
        return get(server, "/healthz")[0] == 200
    except (ConnectionError, http.client.HTTPException):
        return False


def attack(server, n, text):
    """Connections that send this much and nothing more."""
    opened = []
    for _ in range(n):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=HANGS)
        connection.sendall(text)
        opened.append(connection)
    return opened


@pytest.mark.parametrize("text", [NOTHING, HALF_HEAD, HALF_BODY], ids=["nothing", "half a head", "half a body"])
def test_half_requests_do_not_keep_others_from_being_served(with_timeout, text):
    """230 connections against 200 file descriptors; nothing times out, because the oldest make room."""
    server = with_timeout("600")
    held = attack(server, 230, text)
    for _ in range(5):
        assert get(server, "/healthz")[0] == 200
    client = kh.connect(server.address)["icu"]
    r = client.ask(key=f"{len(text)} bytes")
    assert client.tell(r, [0.0] * len(r.names), 1.0)
    for connection in held:
        connection.close()


@pytest.mark.parametrize(("files", "most"), [(64, 10), (200, 20), (256, 48), (1024, 432), (65536, 1000)])
def test_connections_leave_the_descriptors_that_the_server_needs(monkeypatch, files, most):
    """40 threads with three files of SQLite each, and then as many again for connections that are not counted yet."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (files, files))
    assert max_connections(Settings("sqlite:///none.db")) == most
    assert files < 200 or RESERVED_DESCRIPTORS + 2 * most <= files


def test_clients_wait_while_the_server_is_busy_and_nothing_is_logged(sqlite_url, tmp_path):
    """The system drops what finds its queue full, and a client tries again only after a second."""
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("w"))
        server = started(sqlite_url, log=log)
        stack.callback(server.stop)
        wait_until(lambda: answers(server))
        server.process.send_signal(signal.SIGSTOP)
        try:
            for _ in range(120):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert get(server, "/healthz")[0] == 200
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize("text", [NOTHING, HALF_HEAD, HALF_BODY], ids=["nothing", "half a head", "half a body"])
def test_a_half_request_is_ended_after_the_timeout(with_timeout, text):
    server = with_timeout("0.3")
    (connection,) = attack(server, 1, text)
    answer = b""
    with connection:
        while data := connection.recv(65536):  # ends when the server closes
            answer += data
    if text == HALF_BODY:
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        assert "within 0.3 seconds" in json.loads(body)["detail"]
    wait_until(lambda: answers(server))


def test_a_connection_that_is_idle_after_an_answer_is_ended_after_the_timeout(with_timeout):
    server = with_timeout("0.3")
    (connection,) = attack(server, 1, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    answer = b""
    with connection:
        while data := connection.recv(65536):  # ends when the server closes
            answer += data
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_half_body_is_answered_also_where_the_machine_was_too_busy_to_look(serve):
    """The server finds all its timeouts over at once; it answers all the same, and does not just close."""
    server = serve("--request-timeout", "0.3")
    (connection,) = attack(server, 1, HALF_HEAD + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")
    connection.recv(65536)  # sent when the server begins to wait for the body
    over = time.monotonic() + 0.3
    server.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: time.monotonic() > over)
    server.process.send_signal(signal.SIGCONT)
    with connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


CHUNKED = HALF_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
UNREAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"


@pytest.mark.parametrize(
    ("begin", "drip", "status"),
    [
        (HALF_HEAD + b"X: ", b"x", None),
        (HALF_HEAD, b"X: y\r\n", None),
        (HALF_HEAD + b"Content-Length: 1000000\r\n\r\n", b"{", 408),
        (CHUNKED, b"1\r\n{\r\n", 408),
        (UNREAD, b"x", 200),
    ],
    ids=["a header", "headers", "a body", "a chunked body", "a body that nobody reads"],
)
def test_a_request_that_drips_is_ended_after_the_timeout(with_timeout, begin, drip, status):
    """A byte comes far more often than the time limit, so that a limit for each byte alone would never end it."""
    server = with_timeout("0.5")
    wait_until(lambda: answers(server))
    (connection,) = attack(server, 1, begin)
    connection.settimeout(0.02)
    answer, rest = b"", itertools.cycle(drip)

    def is_closed():
        nonlocal answer
        try:
            connection.sendall(bytes([next(rest)]))
            data = connection.recv(65536)
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        answer += data
        return not data

    with connection:
        wait_until(is_closed, seconds=60.0)  # a hundred times the limit
    assert answer.startswith(f"HTTP/1.1 {status} ".encode() if status else b"")


LARGE = b"X: " + b"y" * 2**20 + b"\r\n"


@pytest.mark.parametrize(
    "text",
    [HALF_HEAD + LARGE, HALF_HEAD + b"X: y\r\n" * 200_000, b"GET /" + LARGE, CHUNKED + b"1;" + LARGE],
    ids=["a header", "headers", "an address", "a chunk"],
)
def test_what_is_not_a_body_is_limited_too(with_timeout, text):
    """It is refused long before its end: nothing ends it, and no time runs out."""
    server = with_timeout("600")
    (connection,) = attack(server, 1, b"")
    answer = b""
    with connection, contextlib.suppress(ConnectionError):
        connection.sendall(text)
        while data := connection.recv(65536):  # ends when the server closes
            answer += data
    assert answer.startswith(b"HTTP/1.1 4") or not answer
    assert get(server, "/healthz")[0] == 200


def test_the_limits_of_heads_do_not_depend_on_what_else_is_installed(tmp_path):
    """uvicorn prefers httptools, which limits neither heads nor trailers: 20 MB of them took 300 MB and seconds."""
    (tmp_path / "httptools.py").write_text("")
    code = "import httptools, keyhole.service.server as s; print([c.__name__ for c in s.LimitedProtocol.__mro__])"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    words = [sys.executable, "-c", code]
    run = subprocess.run(words, env=environment() | {"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert "'H11Protocol'" in run.stdout


def test_a_slow_request_in_time_is_served(with_timeout):
    server = with_timeout("600")
    body = b'{"key": "slow"}'
    head = b"POST /v1/learners/icu/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) as connection:
        for part in (head[:20], head[20:] + f"Content-Length: {len(body)}\r\n\r\n".encode(), body[:5], body[5:]):
            connection.sendall(part)
            time.sleep(0.05)
        assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")


def test_streams_take_half_of_the_connections_and_no_more(serve):
    server = serve("--max-connections", "10")
    listening = attack(server, 5, b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert all(connection.recv(100).startswith(b"HTTP/1.1 200") for connection in listening)
    status, body = get(server, "/v1/events")
    assert status == 503
    assert "too many clients listen" in json.loads(body)["detail"]
    assert get(server, "/healthz")[0] == 200
    for connection in listening:
        connection.close()


@pytest.mark.parametrize("path", ["/v1/events", "/v1/learners/icu/events"])
def test_streams_that_begin_together_are_all_counted(serve, path):
    server = serve("--max-connections", "10")
    together = [socket.create_connection(("127.0.0.1", server.port), timeout=HANGS) for _ in range(10)]
    for connection in together:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    answers = [connection.recv(12) for connection in together]
    assert sorted(answers) == [b"HTTP/1.1 200"] * 5 + [b"HTTP/1.1 503"] * 5
    for connection in together:
        connection.close()


def test_waiting_connections_make_room_and_those_at_work_stay(serve):
    server = serve("--max-connections", "4")
    listening = attack(server, 2, b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert all(connection.recv(100).startswith(b"HTTP/1.1 200") for connection in listening)
    assert get(server, "/healthz")[0] == 200
    waiting = attack(server, 20, HALF_BODY)
    assert get(server, "/healthz")[0] == 200
    wait_until(lambda: sum(ended(connection) for connection in waiting) >= 18)
    assert [ended(connection) for connection in listening] == [False, False]
    for connection in listening + waiting:
        connection.close()


def test_where_every_connection_is_at_work_a_new_one_is_refused(serve, sqlite_url):
    """A call that waits for the store is not given up for another one."""
    server = serve("--max-connections", "1")
    body = b'{"key": "a"}'
    ask = b"POST /v1/learners/icu/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    ask += f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as locked:
        locked.execute("BEGIN IMMEDIATE")
        (working,) = attack(server, 1, ask)
        status = 200
        while status == 200:  # the ask was given up because it had not come whole
            status, answer = get(server, "/healthz")
            if status == 200:
                (working,) = attack(server, 1, ask)
        assert (status, json.loads(answer)["detail"]) == (503, "too many connections; try again")
        locked.rollback()
    assert working.recv(65536).startswith(b"HTTP/1.1 201 ")
    working.close()
    assert get(server, "/healthz")[0] == 200


def ended(connection):
    """Whether the server has closed it."""
    connection.settimeout(0.05)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_a_client_that_does_not_read_is_given_up(with_timeout):
    server = with_timeout("0.3")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        connection.settimeout(HANGS)
        with pytest.raises(ConnectionError):
            send_for_ever(connection, asked)
    wait_until(lambda: answers(server))


def send_for_ever(connection, text):
    """Once neither side reads, this waits until the server gives up."""
    while True:
        connection.sendall(text * 100)


def test_a_client_that_reads_on_has_no_time_running():
    """A pause in which it does not read is timed; what the server does afterwards is not."""

    async def scene():
        connections = Connections(limit=5, timeout=HANGS)
        transport = SimpleNamespace(abort=lambda: None)
        connection = LimitedConnection(connections, transport)
        seen = []
        for step in (connection.work, connection.pause, connection.work, connection.resume):
            step()
            seen.append((connection in connections.waiting, connection._timer is not None))
        connection.release()
        return seen, connections.count

    assert asyncio.run(scene()) == ([(False, False), (True, True), (True, True), (False, False)], 0)


ARENAS = """
import ctypes, platform, sys, threading
from keyhole.service.server import share_arenas
share_arenas()
libc, together = ctypes.CDLL(None), threading.Barrier(6)
libc.malloc.restype = ctypes.c_void_p
def work():
    together.wait()
    libc.malloc(5000)
    together.wait()
threads = [threading.Thread(target=work) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_the_threads_of_a_server_share_their_memory():
    """A thread with an arena of its own would leave there what it freed, and the server would grow."""
    clean = {key: value for key, value in environment().items() if key != "MALLOC_ARENA_MAX"}
    words = [sys.executable, "-c", ARENAS]
    found = subprocess.run(words, env=clean, capture_output=True, text=True, check=True).stdout
    assert 1 <= found.count("<heap nr=") <= 2
