"""One code for two databases: how each begins a transaction in which nobody else writes."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import Error as SQLiteError
from typing import TypeAlias

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.pool import ConnectionPoolEntry

from ..errors import ConfigError, StateError
from .sql_tables import SCHEMA, about, metadata

__all__ = ["Database"]

_PATIENCE = 120.0  # seconds for another process's transaction, of which none takes more than a few milliseconds
_DIALECTS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
Guard: TypeAlias = "threading.Lock | nullcontext[None]"


class Database:
    """The connections of one process to one store.

    SQLite: write-ahead log, `synchronous=FULL` (what was committed survives a power cut), and `BEGIN IMMEDIATE`, so
    that a transaction never finds out at its end that it may not write. PostgreSQL: rows are locked by who reads them
    to write.
    """

    def __init__(self, url: str) -> None:
        self.url = _understood(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._pid = 0
        self._connect()

    def _connect(self) -> None:
        """Connections of this process; those of a parent must not be shared with it."""
        self._pid = os.getpid()
        self._kept: Connection | None = None
        self._queue: Guard = threading.Lock() if self.sqlite else nullcontext()
        self._engine = _engine(self.url, self.sqlite)

    @property
    def engine(self) -> Engine:
        """The engine of this process, also in a child that was forked."""
        if self._pid != os.getpid():
            self._inherited = self._kept  # neither used nor closed here: both would meddle with the parent's
            self._engine.dispose(close=False)
            self._connect()
        return self._engine

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment (SQLite) or what is committed (PostgreSQL)."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed as a whole, or leaves nothing."""
        engine = self.engine
        # Threads of this process stand in line here: SQLite itself lets whoever happens to ask first go first.
        with self._queue:
            connection, self._kept = self._kept or engine.connect().execution_options(writing=True), None
            try:
                with connection.begin():
                    yield connection
            except BaseException:
                connection.close()  # whatever is left of the transaction ends here
                raise
            self._keep(connection)

    def _keep(self, connection: Connection) -> None:
        """On SQLite one connection does all the writing, one transaction after the other: a new one costs more time."""
        if self.sqlite:
            self._kept = connection
        else:
            connection.close()

    def close(self) -> None:
        """Give the connections back."""
        with self._queue:
            kept, self._kept = self._kept, None
            if kept is not None:
                kept.close()
        self._engine.dispose()

    # -- the schema

    def open(self) -> None:
        """Make the tables where the database is new; refuse a schema that is not this version's."""
        try:
            if self.schema() is None:
                self._make()
        except OperationalError as fault:
            raise ConfigError(f"cannot open the store {self.shown}: {_first_line(fault)}") from None
        except DatabaseError as fault:
            raise StateError(f"{self.shown} is not a store: {_first_line(fault)}") from None
        found = self.schema()
        if found is not None and found > SCHEMA:
            raise StateError(f"{self.shown} has schema {found}, this version knows {SCHEMA}; install a newer keyhole")

    def schema(self) -> int | None:
        """The number of the schema; None where there is none yet."""
        with self.reading() as connection:
            if not self.engine.dialect.has_table(connection, about.name):
                return None
            found = connection.execute(select(about.c.value).where(about.c.name == "schema")).scalar()
        return int(found) if found is not None else None

    def _make(self) -> None:
        """All tables, unless another process made them in this moment."""
        try:
            with self.writing() as connection:
                metadata.create_all(connection)
                if connection.execute(select(about.c.value).where(about.c.name == "schema")).scalar() is None:
                    connection.execute(about.insert().values(name="schema", value=str(SCHEMA)))
        except (IntegrityError, ProgrammingError):
            if self.schema() is None:  # nobody else did
                raise

    @property
    def shown(self) -> str:
        """The address without a password."""
        return self.url.render_as_string(hide_password=True).replace("postgresql+psycopg", "postgresql")


def _understood(url: str) -> URL:
    """The address with the driver filled in."""
    try:
        found = make_url(url)
    except ArgumentError:
        found = None
    name = found.drivername.split("+")[0] if found else ""
    if found is None or name not in _DIALECTS:
        raise ConfigError(f"'{url}' is not a store; use sqlite:///file.db or postgresql://user@host/database")
    if name == "sqlite" and found.database in (None, "", ":memory:"):
        raise ConfigError("a store is shared by processes, so it needs a file: sqlite:///file.db")
    return found.set(drivername=_DIALECTS[name])


def _engine(url: URL, sqlite: bool) -> Engine:
    if not sqlite:
        return create_engine(url, pool_size=8, max_overflow=56, pool_pre_ping=True)
    engine = create_engine(url, pool_size=8, max_overflow=56, connect_args={"timeout": _PATIENCE})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(raw: SQLiteConnection, _: ConnectionPoolEntry) -> None:
    """Take transactions into our own hands, and make them durable."""
    raw.isolation_level = None
    _patiently(raw, "PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    """By the driver itself: what SQLAlchemy does around a statement takes longer than this one."""
    writing = connection.get_execution_options().get("writing", False)
    words = "BEGIN IMMEDIATE" if writing else "BEGIN"
    try:
        connection.connection.driver_connection.execute(words)  # type: ignore[union-attr]
    except SQLiteError as fault:
        raise DBAPIError.instance(words, None, fault, SQLiteError, dialect=connection.dialect) from fault


def _patiently(raw: SQLiteConnection, statement: str) -> None:
    """Switching to the write-ahead log does not wait by itself while others open the same new file."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            raw.execute(statement)
            return
        except Exception as fault:
            if "locked" not in str(fault) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _first_line(fault: DatabaseError) -> str:
    return str(fault.orig).strip().splitlines()[0]
