"""What holds for every test, and fixtures that several kinds of tests share."""

import pytest
from hypothesis import settings

from . import databases

# A deadline measures the machine, never what is tested.
settings.register_profile("keyhole", deadline=None)
settings.load_profile("keyhole")


@pytest.fixture
def sqlite_url():
    """A new SQLite store."""
    with databases.folder() as name:
        yield f"sqlite:///{name}/store.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """A new store, once on SQLite and once on PostgreSQL."""
    return request.getfixturevalue("sqlite_url") if request.param == "sqlite" else databases.postgres()
