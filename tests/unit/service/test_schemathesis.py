"""Whatever the OpenAPI document allows, and much that it does not: never a 5xx, always a problem document."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from keyhole.service.app import create_app
from keyhole.service.server import Settings
from keyhole.store.tokens import create_token

from ... import databases
from .conftest import ICU
from .test_hostile import HEADERS

_folder = databases.folder()
_apps = [create_app(Settings(f"sqlite:///{_folder.name}/{auth}.db", auth=auth)) for auth in (False, True)]
for _app in _apps:
    _app.state.store.create("icu", ICU["algorithm"], names=ICU["names"], k=3, seed=0).ask(key="a")
_token = create_token(_apps[1].state.store.database, None, ("ask", "tell", "read", "create"))
_OPEN = {"host": "127.0.0.1"}
_TOKEN = _OPEN | {"authorization": f"Bearer {_token}"}
schema = schemathesis.openapi.from_asgi("/openapi.json", _apps[0], headers=_OPEN)
schema_with_tokens = schemathesis.openapi.from_asgi("/openapi.json", _apps[1], headers=_TOKEN)


@pytest.fixture(scope="module", autouse=True)
def _cleanup():
    yield
    for app in _apps:
        app.state.store.close()
    _folder.cleanup()


def check(case, headers):
    answer = case.call(headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"][0].startswith("application/problem+json"), answer.headers
    return answer.status_code


@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_is_a_server_error(case):
    check(case, _OPEN)


@schema_with_tokens.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_is_a_server_error_with_a_token(case):
    assert check(case, _TOKEN) not in (401, 403)


# Hosts and origins are refused before any route is reached; a client does not send a space before a value.
_HOSTILE = [
    (name, value.encode("utf-8").decode("latin-1"))
    for name, values in HEADERS
    if name not in ("host", "origin")
    for value in values
    if value == value.lstrip()
]


# Without the examples of the document, to which schemathesis cannot add a header.
_PHASES = (Phase.generate, Phase.shrink)
_MANY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), phases=_PHASES)


@pytest.fixture
def met():
    """The hostile headers that a test has sent: most of them by its end."""
    found = set()
    yield found
    assert len(found) > 0.8 * len(_HOSTILE)


@pytest.mark.slow
@schema.given(header=st.sampled_from(_HOSTILE))
@schema.parametrize()
@_MANY
def test_nothing_is_a_server_error_with_hostile_headers(case, header, met):
    met.add(header)
    check(case, _OPEN | dict([header]))


@pytest.mark.slow
@schema_with_tokens.given(header=st.sampled_from(_HOSTILE))
@schema_with_tokens.parametrize()
@_MANY
def test_nothing_is_a_server_error_with_hostile_headers_and_a_token(case, header, met):
    met.add(header)
    check(case, _TOKEN | dict([header]))
