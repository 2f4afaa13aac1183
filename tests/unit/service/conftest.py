"""The service in this process: `api` speaks HTTP to it."""

import pytest
from fastapi.testclient import TestClient

from keyhole.service.app import create_app
from keyhole.service.server import Settings

NAMES = ["age", "glucose", "ldl", "<b>sodium</b>", "pulse", "=height", "bmi"]
ICU = {"name": "icu", "algorithm": "fixed-random", "names": NAMES, "k": 3, "seed": 0}


@pytest.fixture
def app(sqlite_url):
    return create_app(Settings(sqlite_url))


@pytest.fixture
def api(app):
    with TestClient(app, base_url="http://127.0.0.1:8765", follow_redirects=False) as client:
        yield client


@pytest.fixture
def icu(api):
    """The learner icu is there."""
    assert api.post("/v1/learners", json=ICU).status_code == 201
    return api
