"""Every route under hostile headers, bodies and parameters: never a 5xx, and a refusal is a problem document."""

import random
import re

import pytest
from fastapi.testclient import TestClient

from keyhole.service.app import create_app
from keyhole.service.server import Settings

from ... import databases
from .conftest import ICU

NUMBERS = ("9" * 5000, "-1", "1e9999", "0x10", "٣", "", "\x00", "1" + "0" * 400, "nan", " 7", "+7", "1_0")
TEXTS = (
    "\ud800".encode("utf-8", "surrogatepass"),
    b"\xff\xfe\x00",
    b"\x00",
    b"../../etc/passwd",
    b"%00%ff",
    b"a" * 9000,
)
BRACKETS = 100_000
BODIES = (
    b"[" * BRACKETS,
    b"{" * BRACKETS,
    b'{"a":' * BRACKETS,
    b'{"key": "a", "y": ' + b"[" * BRACKETS + b"}",
    b'{"key": "a", "y": ' + b"9" * 6000 + b"}\n",
    b'{"key": "a", "y": 1e999}\n{"key": "a", "y": -1e999}\n{"key": "a", "y": NaN}',
    b'{"values": {"age": ' + b"9" * 6000 + b"}}",
    b'{"y": 1e999}',
    b'{"y": "1"}',
    b'{"name": "\\ud800", "algorithm": "thrifty", "d": 3, "k": 1}',
    b'{"name": "x", "d": 3, "k": 1, "__class__": 1, "prices": [[[[[[[1]]]]]]]}',
    b'{"name": "x", "names": ["a"], "k": 1, "free": ["\\ud800"]}',
    b'{"name": "x", "names": ["a"], "k": 1, "sources": {"\\ud800": ["\\ud800"]}}',
    b'{"name": "x", "schema": "' + b"[" * BRACKETS + b'"}',
    b'{"name": "x", "schema": "a = ' + b"[" * 5000 + b'"}',
    b'{"name": "x", "algorithm": "thrifty", "d": 3, "k": 1, "note": {"label": "' + b"n" * 10_000 + b'"}}',
    b"key,y\n" + b'"' * 1001,
    b'key,y\n"' + b"x" * 200_000 + b'",1\n',
    b"key,y\na,1e999\n\xff,1\n",
    b"key,y\n" + b"a," + b"9" * 100_000 + b"\n",
    b"\xef\xbb\xbf" * 50,
    b"\x1f\x8b\x08\x00" + b"\x00" * 50,
    b"y=" + b"%" * 500,
    b"&".join(b"v%d=1" % i for i in range(6000)),
    b"",
)
FORMS = (
    b"--x\r\nContent-Disposition: " + b"(" * BRACKETS + b"\r\n\r\na\r\n--x--",
    b"--x\r\nContent-Type: " + b"(" * BRACKETS + b'\r\nContent-Disposition: form-data; name="table"\r\n\r\na\r\n--x--',
    b"--x\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" * 50,
    b'--x\r\nContent-Disposition: form-data; name="table"\r\n\r\n' + b'"' * 1001 + b"\r\n--x--",
    b"--x\r\n" * BRACKETS,
)
KINDS = {
    **dict.fromkeys(BODIES, ("application/json", "text/csv", "application/x-www-form-urlencoded")),
    **dict.fromkeys(FORMS, ("multipart/form-data; boundary=x", "multipart/form-data")),
}
HEADERS = (
    ("last-event-id", NUMBERS),
    ("content-length", ("-1", "9" * 5000, "1e3", "x")),
    (
        "content-type",
        ("application/json; charset=" + "x" * 2000, "text/csv; charset=utf-16", "multipart/form-data", "\x7f"),
    ),
    ("content-encoding", ("gzip", "deflate", "br")),
    (
        "authorization",
        ("Bearer", "Bearer " + "k" * 8000, "Basic ====", "Bearer kh_0_\x7f", "Bearer kh_" + "a" * 12 + "_" + "b" * 43),
    ),
    ("cookie", ("keyhole_token=" + "x" * 4000, "=;;;=", 'keyhole_token="\\777"')),
    ("host", ("127.0.0.1:" + "9" * 400, "[::1", "localhost:x", "localhost@evil", "")),
    ("origin", ("null", "http://[", "x" * 5000)),
    ("range", ("bytes=0-" + "9" * 400, "bytes=" + "0-0," * 400, "bytes=--1")),
    ("if-none-match", ("*" * 4000,)),
    ("accept", ("x" * 4000,)),
    ("transfer-encoding", ("x",)),
    ("expect", ("100-continue", "x")),
)


@pytest.fixture(scope="module", params=[False, True], ids=["open", "tokens"])
def app(request):
    with databases.folder() as name:
        app = create_app(Settings(f"sqlite:///{name}/store.db", auth=request.param))
        app.state.store.create("icu", ICU["algorithm"], names=ICU["names"], k=3, seed=0).ask(key="a")
        yield app


@pytest.fixture(scope="module")
def client(app):
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


def routes(app):
    """Method and path of every route: API, pages and documents. The endless streams have a test of their own."""
    found = [("GET", "/static/page.js"), ("POST", "/rounds/{id}/x"), ("PUT", "/"), ("TRACE", "/v1/learners")]
    for part in app.routes:
        for route in getattr(getattr(part, "original_router", None), "routes", [part]):
            found += [(method, route.path) for method in sorted(getattr(route, "methods", None) or ())]
    return [(method, path) for method, path in found if not path.endswith("/events")]


def test_every_route_is_attacked(app):
    found = routes(app)
    assert set(app.openapi()["paths"]) < {path for _, path in found}
    pages = {"/", "/login", "/learners/{name}/figures", "/learners/{name}/past_rows", "/rounds/{id}/{act}", "/docs"}
    assert pages < {path for _, path in found}


def call(client, method, path, **more):
    answer = client.request(method, path, **more)
    assert answer.status_code < 500, (method, path[:100], str(more)[:200], answer.text[:300])
    if answer.status_code >= 400 and path.startswith("/v1"):
        assert answer.headers["content-type"].startswith(("application/problem+json", "text/plain")), path
        assert len(answer.text) < 4000
    return answer


def filled(path, value):
    return re.sub(r"\{[^}]*\}", lambda _: value, path)


def test_hostile_bodies(app, client):
    for method, path in routes(app):
        if method not in ("GET", "HEAD", "OPTIONS"):
            for body, kinds in KINDS.items():
                for kind in kinds:
                    there = filled(path, "icu:1" if "id}" in path else "icu")
                    call(client, method, there, content=body, headers={"content-type": kind})


def call_with_header(client, method, path, name, value):
    body = {} if method == "GET" else {"content": b'{"key": "a"}'}
    call(client, method, filled(path, "icu:1" if "id}" in path else "icu"), headers={name: value.encode()}, **body)


def test_hostile_headers(app, client):
    rng = random.Random(0)
    for method, path in routes(app):
        for name, values in HEADERS:
            call_with_header(client, method, path, name, rng.choice(values))


@pytest.mark.slow
def test_all_hostile_headers(app, client):
    for method, path in routes(app):
        for name, values in HEADERS:
            for value in values:
                call_with_header(client, method, path, name, value)


def test_hostile_paths_and_queries(app, client):
    for method, path in routes(app):
        for text in (
            *NUMBERS,
            "icu:" + "9" * 5000,
            "icu:٣",
            ":",
            "icu:0",
            "icu:-1",
            "icu:2147483648",
            "%2e%2e",
            "a" * 3000,
        ):
            quoted = "".join(
                c if (c.isascii() and c.isalnum()) or c in ":%." else "%00" if c == "\x00" else f"%{ord(c) & 255:02x}"
                for c in text
            )
            call(client, method, filled(path, quoted or "x"))
        for number in NUMBERS:
            call(client, method, filled(path, "icu"), params={"after": number, "limit": number, "status": number})


def test_last_event_id_of_thousands_of_digits(client, app):
    """The endless routes: their refusals, and the number they begin with."""
    from keyhole.service.event_stream import _event_number

    for text in NUMBERS:
        number = _event_number(text)
        assert number is None or 0 <= number < 10**9
    assert client.get("/v1/learners/icu/events", params={"after": "9" * 5000}).status_code in (401, 422)
    assert client.get("/v1/learners/nobody/events").status_code in (401, 404)


def test_the_store_is_as_it_was(app):
    """Runs last: nothing of all that changed the learner, except new rounds that were asked in due form."""
    from keyhole.store.verify import check

    assert all(verdict.good for verdict in check(app.state.store.database))
