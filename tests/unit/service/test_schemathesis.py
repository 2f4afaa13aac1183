"""Whatever the OpenAPI document allows, and much that it does not: never a 5xx, always a problem document."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from keyhole.service.app import create_app
from keyhole.service.server import Settings

from ... import databases
from .conftest import ICU

_folder = databases.folder()
_app = create_app(Settings(f"sqlite:///{_folder.name}/store.db"))
_store = _app.state.store
_icu = _store.create("icu", ICU["algorithm"], names=ICU["names"], k=3, seed=0)
_icu.ask(key="a")
schema = schemathesis.openapi.from_asgi("/openapi.json", _app, headers={"host": "127.0.0.1"})


@pytest.fixture(scope="module", autouse=True)
def _cleanup():
    yield
    _store.close()
    _folder.cleanup()


@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_is_a_server_error(case):
    answer = case.call(headers={"host": "127.0.0.1"})
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"][0].startswith("application/problem+json"), answer.headers
