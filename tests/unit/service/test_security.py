"""Who is let in, what a browser may do, and how large anything may be."""

import pytest
from fastapi.testclient import TestClient

import keyhole as kh
from keyhole.service.app import create_app
from keyhole.service.security import MAX_BODY
from keyhole.service.server import Settings
from keyhole.store.tokens import create_token, find_token, list_tokens, revoke_token

from .conftest import ICU


@pytest.fixture
def guarded(sqlite_url):
    """A server that asks for tokens, and a maker of them."""
    app = create_app(Settings(sqlite_url, auth=True, local=False))
    app.state.store.create("icu", ICU["algorithm"], names=ICU["names"], k=3, seed=0)
    app.state.store.create("other", ICU["algorithm"], names=ICU["names"], k=3, seed=0)
    with TestClient(app, base_url="http://ward.example", follow_redirects=False) as client:
        yield (
            client,
            lambda *may, learner=None: {
                "authorization": "Bearer " + create_token(app.state.store.database, learner, may)
            },
        )


def test_without_a_token_nobody_gets_in(guarded):
    api, _ = guarded
    for method, path in (
        ("GET", "/v1/learners"),
        ("POST", "/v1/learners"),
        ("GET", "/v1/learners/icu"),
        ("POST", "/v1/learners/icu/rounds"),
        ("GET", "/v1/learners/icu/rounds"),
        ("POST", "/v1/rounds/icu:1/label"),
        ("POST", "/v1/rounds/icu:1/prediction"),
        ("POST", "/v1/rounds/icu:1/abandon"),
        ("POST", "/v1/learners/icu/labels"),
        ("GET", "/v1/learners/icu/events"),
        ("GET", "/v1/events"),
        ("GET", "/v1/learners/icu/rounds.csv"),
        ("GET", "/v1/learners/icu/ledger.csv"),
        ("GET", "/v1/learners/icu/history"),
        ("GET", "/v1/learners/icu/ledger"),
        ("GET", "/v1/learners/icu/totals"),
        ("GET", "/v1/learners/icu/model"),
        ("GET", "/v1/rounds/icu:1"),
        ("GET", "/metrics"),
    ):
        for headers in ({}, {"authorization": "Bearer kh_000000000000_" + "x" * 43}, {"authorization": "Basic eA=="}):
            answer = api.request(method, path, json={}, headers=headers)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/", "/learners/icu", "/rounds/icu:1", "/learners/icu/figures"):
        assert api.get(path).headers["location"] == "/login"
    assert api.get("/healthz").status_code == 200


def test_every_call_of_the_service_is_in_that_list_or_open(guarded):
    api, _ = guarded
    paths = api.get("/openapi.json").json()["paths"]
    guards = {
        path: method
        for path, methods in paths.items()
        for method in methods
        if path not in ("/healthz", "/v1/learners")
    }
    for path in guards:
        concrete = path.replace("{name}", "icu").replace("{id}", "icu:1")
        for method in paths[path]:
            assert api.request(method, concrete, json={}).status_code == 401, path


def test_a_token_may_what_it_may_and_no_more(guarded):
    api, token = guarded
    asker, reader = token("ask", learner="icu"), token("read", learner="icu")
    assert api.post("/v1/learners/icu/rounds", json={"key": "a"}, headers=asker).status_code == 201
    assert api.post("/v1/learners/other/rounds", json={"key": "a"}, headers=asker).status_code == 403
    assert api.post("/v1/learners/nobody/rounds", json={"key": "a"}, headers=asker).status_code == 403
    assert api.post("/v1/rounds/icu:1/label", json={"y": 1.0}, headers=asker).status_code == 403
    assert api.get("/v1/learners/icu", headers=asker).status_code == 403
    assert [one["name"] for one in api.get("/v1/learners", headers=reader).json()] == ["icu"]
    assert api.get("/metrics", headers=reader).status_code == 403
    assert api.get("/metrics", headers=token("read")).status_code == 200
    assert api.post("/v1/learners", json=ICU, headers=token("ask", "tell", "read")).status_code == 403
    assert api.post("/v1/learners", json=ICU, headers=token("create")).status_code == 201


def test_a_person_signs_in_with_a_token(guarded):
    api, token = guarded
    text = token("read", "ask")["authorization"].split()[1]
    assert api.post("/login", content="token=wrong").status_code == 401
    answer = api.post("/login", content=f"token={text}")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert api.get("/").status_code == 200  # the client keeps the cookie
    assert api.post("/learners/icu/ask", content="key=a").status_code == 303
    assert api.post("/rounds/icu:1/label", content="y=1").status_code == 403
    api.post("/logout")
    assert api.get("/").headers["location"] == "/login"


def test_only_a_hash_is_stored_and_a_revoked_token_opens_nothing(url):
    with kh.open_store(url) as store:
        text = create_token(store.database, None, ("read",))
        (token,) = list_tokens(store.database)
        assert find_token(store.database, text) == token
        assert find_token(store.database, text[:-1] + ("A" if text[-1] != "A" else "B")) is None
        assert find_token(store.database, text + "\n") is None
        assert text.split("_", 2)[2] not in str(vars(token))
        revoke_token(store.database, token.id)
        assert find_token(store.database, text) is None
        with pytest.raises(kh.ConfigError, match="no token"):
            revoke_token(store.database, token.id)
        with pytest.raises(kh.ConfigError, match="are ask, tell, read, create"):
            create_token(store.database, None, ("fly",))
        with pytest.raises(kh.ConfigError, match="no learner"):
            create_token(store.database, "icu", ("read",))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "user@127.0.0.1"])
def test_without_tokens_only_this_machine_is_answered(icu, host):
    assert icu.get("/v1/learners", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "localhost:1", "[::1]:8765"])
def test_this_machine_has_several_names(icu, host):
    assert icu.get("/v1/learners", headers={"host": host}).status_code == 200


def test_no_other_site_can_post(icu):
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert icu.post("/learners/icu/ask", content="key=a", headers=headers).status_code == 403
    assert icu.post("/learners/icu/ask", headers={"origin": "http://127.0.0.1:8765"}).status_code == 303
    assert icu.get("/v1/learners/icu").json()["n_rounds"] == 1


def test_bodies_are_limited_however_they_come(icu):
    def drops():
        for _ in range(MAX_BODY // 65536 + 2):
            yield b"x" * 65536

    for body in (b"x" * (MAX_BODY + 1), drops()):
        answer = icu.post("/v1/learners/icu/labels", content=body)
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_browser_is_told_to_run_nothing_inline(icu):
    for path in ("/", "/learners/icu", "/v1/learners", "/nothing", "/static/page.js"):
        policy = icu.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    icu.post("/learners/icu/ask", content="key=<script>alert(1)</script>")
    page = icu.get("/learners/icu").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "<b>sodium" not in page
    assert "onclick" not in page
    assert "style=" not in page
