"""SQLite and PostgreSQL behind one small interface: transactions, and statements within them.

Statements are plain SQL that both databases understand, with named parameters (`:name`). Only this module converts
errors of the drivers to our own, and only values of the right type leave it: SQLite stores any value in any column, so
every value that is read is compared with the type of its column. The tables are defined first: events are the source
of truth; rounds and totals are projections, kept for fast lookup.
"""

import functools
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints
from urllib.parse import urlsplit

from .._internal.escaping import printable
from ..errors import ConfigError, StateError
from .models import DamagedStore, StoreUnavailable, Totals

__all__ = [
    "ROUND_COLUMNS",
    "SCHEMA_VERSION",
    "TOTAL_COLUMNS",
    "Connection",
    "Database",
    "DuplicateRow",
    "create_statements",
]

# -- the tables

SCHEMA_VERSION = 1
"""A store of any other version is refused."""


ROUND_COLUMNS = {
    "round": "INTEGER NOT NULL",
    "key": "TEXT",
    "status": "TEXT NOT NULL",
    "asked_at": "DOUBLE PRECISION NOT NULL",
    "price": "DOUBLE PRECISION NOT NULL",
    "deadline": "DOUBLE PRECISION",
    "prediction": "DOUBLE PRECISION",
    "labelled_at": "DOUBLE PRECISION",
    "label": "DOUBLE PRECISION",
    # Numbers of events: that of the ask, of the last prediction, and of the label or else of the abandonment.
    "ask_event": "INTEGER NOT NULL",
    "prediction_event": "INTEGER",
    "end_event": "INTEGER",
    # The totals after this label, so that a curve needs no sum over the history.
    "n_scored": "INTEGER",
    "loss": "DOUBLE PRECISION",
    "baseline_loss": "DOUBLE PRECISION",
}
"""The columns of the table of rounds and their types; `projections` computes them from the events."""
TOTAL_COLUMNS = ", ".join(Totals._fields)


def create_statements(sqlite: bool) -> list[str]:
    """Return the statements that create the tables if they do not exist yet.

    In SQLite the cost of a commit grows with the number of pages written. Rows are therefore stored in the tree of
    their primary key (WITHOUT ROWID), and an index omits the rows that are never looked up by it.
    """
    identity = "INTEGER PRIMARY KEY" if sqlite else "SERIAL PRIMARY KEY"
    blob, without_rowid = ("BLOB", " WITHOUT ROWID") if sqlite else ("BYTEA", "")
    owner = "learner INTEGER NOT NULL REFERENCES keyhole_learners (id)"
    sql = {int: "INTEGER NOT NULL", float: "DOUBLE PRECISION NOT NULL"}
    totals = ", ".join(f"{name} {sql[kind]}" for name, kind in get_type_hints(Totals).items())
    rounds = ", ".join(f"{name} {kind}" for name, kind in ROUND_COLUMNS.items())
    tables = {
        "about": "name VARCHAR(40) PRIMARY KEY, value TEXT NOT NULL)",
        # config: arguments of `make` as JSON; note: display texts (label, unit, currency); head, checksum: last event
        "learners": f"id {identity}, name VARCHAR(64) NOT NULL UNIQUE, config TEXT NOT NULL, note TEXT NOT NULL, "
        f"created_at DOUBLE PRECISION NOT NULL, head INTEGER NOT NULL, checksum VARCHAR(64) NOT NULL, {totals})",
        "events": f"{owner}, number INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, round INTEGER NOT NULL, "
        "at DOUBLE PRECISION NOT NULL, body TEXT NOT NULL, checksum VARCHAR(64) NOT NULL, "
        f"PRIMARY KEY (learner, number)){without_rowid}",
        "rounds": f"{owner}, {rounds}, PRIMARY KEY (learner, round), UNIQUE (learner, key)){without_rowid}",
        # number: the last event in the state; model: the state as a model file
        "snapshots": f"{owner}, number INTEGER NOT NULL, version VARCHAR(40) NOT NULL, model {blob} NOT NULL, "
        "PRIMARY KEY (learner, number))",
        # learner: a name, or NULL for every learner
        "tokens": "id VARCHAR(16) PRIMARY KEY, hash VARCHAR(64) NOT NULL, learner VARCHAR(64), "
        "may VARCHAR(80) NOT NULL, created_at DOUBLE PRECISION NOT NULL)",
    }
    indexes = {
        "status": "(learner, status, round)",
        "asked_at": "(learner, asked_at)",
        "n_scored": "(learner, n_scored) WHERE n_scored IS NOT NULL",
        "end_event": "(learner, end_event) WHERE end_event IS NOT NULL",
    }
    made = [f"CREATE TABLE IF NOT EXISTS keyhole_{name} ({columns}" for name, columns in tables.items()]
    return made + [
        f"CREATE INDEX IF NOT EXISTS keyhole_rounds_{name} ON keyhole_rounds {what}" for name, what in indexes.items()
    ]


_TYPES: dict[str, type] = (
    dict.fromkeys(("id", "learner", "head", "number", "round"), int)
    | dict.fromkeys(("name", "config", "note", "checksum", "kind", "body", "version", "value"), str)
    | dict.fromkeys(("token_id", "token_learner", "hash", "may"), str)
    | {"created_at": float, "at": float, "model": bytes}
    | {name: {"INTEGER": int, "TEXT": str, "DOUBLE": float}[kind.split()[0]] for name, kind in ROUND_COLUMNS.items()}
    | get_type_hints(Totals)
)
"""The types of the columns by name. A query gives a column of another type another name."""
_NULLABLE = {"token_learner", *(name for name, kind in ROUND_COLUMNS.items() if "NOT NULL" not in kind)} - {
    *Totals._fields
}
_TYPE_NAMES = {int: "a whole number", float: "a number", str: "text", bytes: "bytes"}


@functools.cache
def _expected(names: tuple[str, ...]) -> tuple[type | None, ...]:
    """Return the types of the columns of a result; None for a column that is not in a table."""
    return tuple(_TYPES.get(name) for name in names)


# -- connections


_LOCK_TIMEOUT = 120.0  # seconds to wait for another process; its transaction usually takes a few milliseconds
_MAX_IDLE = 8  # connections kept open between transactions
# KB of pages kept by a connection to SQLite. The system keeps the file in memory too: more made no call faster, and
# with SQLite's own 2 MB each, a server grew for an hour while the caches filled.
_PAGE_CACHE = 512
_ADDRESS = "use sqlite:///file.db or postgresql://user@host/database"
_UNCHANGED = "nothing was changed"
_CREATE_LOCK = 0x6B65_7968  # PostgreSQL's advisory lock, held while the tables are created
# Primary result codes of SQLite after which the same call may succeed later.
_TEMPORARY = {
    sqlite3.SQLITE_BUSY: "it is locked by another process",
    sqlite3.SQLITE_LOCKED: "it is locked by another process",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_READONLY: "its file or folder may not be written",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
}
Parameters: TypeAlias = Mapping[str, object]
Row: TypeAlias = tuple[Any, ...]


class DuplicateRow(DamagedStore):
    """A row with this key already exists: another process has just created this learner, or the store is damaged."""


class Connection:
    """One connection to the database, inside a transaction."""

    def __init__(self, database: "Database") -> None:
        self._database, self.sqlite = database, database.sqlite
        with database.own_errors():
            self._raw: Any = _open_sqlite(database.path) if self.sqlite else _open_postgres(database.url)

    def rows(self, statement: str, parameters: Parameters | None = None, nullable: bool = False) -> list[Row]:
        """Return all rows of a query; with `nullable`, as in an outer join, any column may be NULL."""
        with self._database.own_errors():
            cursor = self._execute(statement, parameters)
            found: list[Row] = cursor.fetchall()
        _check_types(cursor.description, found, parameters or {}, nullable)
        return found

    def row(self, statement: str, parameters: Parameters | None = None) -> Row | None:
        """Return the first row of a query, or None."""
        with self._database.own_errors():
            cursor = self._execute(statement, parameters)
            found: Row | None = cursor.fetchone()
        _check_types(cursor.description, () if found is None else (found,), parameters or {})
        return found

    def run(self, statement: str, parameters: Parameters | None = None) -> int:
        """Run a statement without a result and return the number of rows that it changed."""
        with self._database.own_errors():
            changed: int = self._execute(statement, parameters).rowcount
        return changed

    def run_many(self, statement: str, rows: Sequence[Parameters]) -> None:
        """Run a statement once for each set of parameters."""
        with self._database.own_errors():
            self._raw.cursor().executemany(_in_dialect(statement, self.sqlite), rows)

    def for_update(self, statement: str) -> str:
        """Make a query lock its rows until the transaction ends; SQLite, which has a single writer, needs no lock."""
        return statement if self.sqlite else f"{statement} FOR UPDATE"

    def listed(self, parameter: str) -> str:
        """Return the integers of a parameter that is a JSON list, for `IN`.

        With the numbers themselves in its text, each query would be another statement, and the drivers keep the last
        statements in memory.
        """
        if self.sqlite:
            return f"(SELECT value FROM json_each(:{parameter}))"
        return f"(SELECT CAST(value AS INTEGER) FROM json_array_elements_text(CAST(:{parameter} AS JSON)))"

    def close(self) -> None:
        """Close the connection and roll back its transaction if that is still open."""
        with suppress(Exception):
            self._raw.close()

    def _execute(self, statement: str, parameters: Parameters | None) -> Any:
        return self._raw.execute(_in_dialect(statement, self.sqlite), parameters or {})


class Database:
    """The connections of one process to one store.

    SQLite uses the write-ahead log, `synchronous=FULL` (a committed transaction survives a power failure), and `BEGIN
    IMMEDIATE`, so that a transaction gets its write lock at the start and cannot fail to get it at the end. In
    PostgreSQL, a writer locks the row of its learner.
    """

    def __init__(self, url: str) -> None:
        self.url, self.path = url, _sqlite_path(url)
        self.sqlite = self.path is not None
        self._error: type[Exception] = sqlite3.Error if self.sqlite else _psycopg().Error
        self._start_process()

    def _start_process(self) -> None:
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        # Threads of this process queue here, because SQLite does not serve waiting writers in order of arrival.
        self._writer: threading.Lock | nullcontext[None] = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that reads a single snapshot: all its queries see the same events."""
        with self._transaction("BEGIN" if self.sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is committed as a whole or rolled back."""
        self._check_process()
        with self._writer, self._transaction("BEGIN IMMEDIATE" if self.sqlite else "BEGIN", True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str, writes: bool = False) -> Iterator[Connection]:
        try:
            with self._bare_transaction(begin, writes) as connection:
                yield connection
        except DamagedStore as fault:
            what = f"the store {self.address} is damaged or not a keyhole store: {fault}"
            raise type(fault)(f"{what}; run keyhole store check {self.address}") from fault

    @contextmanager
    def _bare_transaction(self, begin: str, writes: bool) -> Iterator[Connection]:
        connection = self._begun(begin)
        try:
            yield connection
            if writes:
                self._commit(connection)
            else:
                connection.run("COMMIT")
        except BaseException:
            connection.close()
            raise
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _commit(self, connection: Connection) -> None:
        """Commit; where PostgreSQL does not confirm it, nobody can say whether the changes were recorded."""
        try:
            connection.run("COMMIT")
        except StoreUnavailable as fault:
            if self.sqlite:
                raise
            unsure = "it is not known whether this was recorded; repeat the call with the same key"
            raise StoreUnavailable(str(fault).replace(_UNCHANGED, unsure)) from fault

    def _begun(self, begin: str) -> Connection:
        self._check_process()
        while True:
            try:
                kept: Connection | None = self._idle.pop()
            except IndexError:
                kept = None
            connection = kept or Connection(self)
            try:
                connection.run(begin)
                return connection
            except BaseException as fault:
                connection.close()
                # An idle connection may have been cut meanwhile, for example by a restart of the server.
                if kept is None or self.sqlite or not isinstance(fault, StoreUnavailable):
                    raise

    def _check_process(self) -> None:
        """Give a forked child its own connections; it neither uses nor closes those of its parent."""
        if self._pid != os.getpid():
            self._inherited = self._idle
            self._start_process()

    def close(self) -> None:
        """Close the idle connections."""
        self._check_process()
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def own_errors(self) -> Iterator[None]:
        """Convert errors of the driver to our own."""
        try:
            yield
        except self._error as fault:
            raise self._translated(fault) from fault
        except (OverflowError, UnicodeError) as fault:  # a parameter that the database cannot hold
            raise StateError(f"the store {self.address} cannot hold this value: {_first_line(fault)}") from fault

    def _translated(self, fault: Exception) -> StateError:
        duplicate, reason = _reason(fault)
        if duplicate:
            return DuplicateRow(f"this row is there already ({_first_line(fault)})")
        if reason is not None:
            return StoreUnavailable(f"the store {self.address} does not answer: {reason}; {_UNCHANGED}")
        return DamagedStore(printable(_first_line(fault)))

    # -- the schema

    def open(self) -> None:
        """Create the tables if the database is new; refuse a schema of another version."""
        try:
            found = self.schema_version()
            if found is None:
                self._create()
                found = self.schema_version()
        except StoreUnavailable as fault:
            raise ConfigError(f"cannot open the store {self.address}: {fault}") from None
        if found != str(SCHEMA_VERSION):
            raise StateError(
                f"{self.address} has schema version {printable(found or 'none'):.20}; "
                f"this keyhole reads version {SCHEMA_VERSION} only"
            )

    def schema_version(self) -> str | None:
        """Return the version of the schema, or None if there are no tables yet."""
        exists = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'keyhole_about'"
            if self.sqlite
            else "SELECT to_regclass('keyhole_about')::text"
        )
        with self.reading() as connection:
            table = connection.row(exists)
            if table is None or table[0] is None:
                return None
            found = connection.row("SELECT value FROM keyhole_about WHERE name = 'schema'")
        return None if found is None else str(found[0])

    def _create(self) -> None:
        with self.writing() as connection:
            if not self.sqlite:
                connection.rows("SELECT pg_advisory_xact_lock(:lock)", {"lock": _CREATE_LOCK})
            for statement in create_statements(self.sqlite):
                connection.run(statement)
            connection.run(
                "INSERT INTO keyhole_about (name, value) VALUES ('schema', :version) ON CONFLICT (name) DO NOTHING",
                {"version": str(SCHEMA_VERSION)},
            )

    @property
    def address(self) -> str:
        """The address without its password, for messages."""
        parts = urlsplit(self.url)
        if self.sqlite or parts.password is None:
            return self.url
        return self.url.replace(f":{parts.password}@", ":***@", 1)


def _sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite store, or None for a PostgreSQL store."""
    scheme, separator, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    if not separator or scheme not in ("sqlite", "postgresql", "postgres"):
        raise ConfigError(f"'{url}' is not a store; {_ADDRESS}")
    if "\0" in url:
        raise ConfigError(f"{url!r} is not a store: its address contains a NUL character; {_ADDRESS}")
    if scheme != "sqlite":
        _check_postgres_address(url)
        return None
    if rest in ("", "/", "/:memory:"):
        raise ConfigError("a store is shared by processes, so it must be a file: sqlite:///file.db")
    if not rest.startswith("/"):
        raise ConfigError(f"'{url}' needs three slashes: sqlite:///file.db, or four before an absolute path")
    return Path(rest[1:])


def _check_postgres_address(url: str) -> None:
    """Check what the driver would refuse; its message must not show the address, which may have a password."""
    try:
        urlsplit(url)
        _psycopg().conninfo.conninfo_to_dict(url)
    except (ValueError, _psycopg().ProgrammingError) as fault:
        raise ConfigError(f"this address of a store is invalid ({_first_line(fault)}); {_ADDRESS}") from None


def _open_sqlite(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(str(path), timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA cache_size=-{_PAGE_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, with retries: SQLite does not wait while others open the same new file."""
    end = time.monotonic() + _LOCK_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _psycopg() -> Any:
    import psycopg

    return psycopg


def _open_postgres(url: str) -> Any:
    return _psycopg().connect(url, autocommit=True, connect_timeout=10)


def _check_types(
    description: Sequence[Sequence[Any]], rows: Sequence[Row], parameters: Parameters, nullable: bool = False
) -> None:
    """Check that every value has the type of its column."""
    names = tuple([column[0] for column in description]) if rows else ()
    types = _expected(names)
    for row in rows:
        if tuple(map(type, row)) == types:
            continue
        for name, value, kind in zip(names, row, types, strict=True):
            missing = value is None and (nullable or name in _NULLABLE)
            if kind is not None and type(value) is not kind and not missing:
                known = {**parameters, **dict(zip(names, row, strict=True))}
                where = [f"{key} {known[key]!r:.80}" for key in ("learner", "name", "number", "round") if key in known]
                place = f" (in the row of {', '.join(where)})" if where else ""
                raise DamagedStore(f"'{name}' is {value!r:.40}, not {_TYPE_NAMES[kind]}{place}")


def _in_dialect(statement: str, sqlite: bool) -> str:
    """Return the statement with its parameters in the style of the driver."""
    return statement if sqlite else _for_psycopg(statement)


@functools.cache
def _for_psycopg(statement: str) -> str:
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", statement.replace("%", "%%"))


def _reason(fault: Exception) -> tuple[bool, str | None]:
    """Return whether the row already exists, and the reason of a failure after which the call may succeed later."""
    if isinstance(fault, sqlite3.Error):
        if isinstance(fault, sqlite3.IntegrityError):
            return True, None
        code = getattr(fault, "sqlite_errorcode", None)
        return False, None if code is None else _TEMPORARY.get(code & 0xFF)
    errors = _psycopg().errors
    if isinstance(fault, errors.UniqueViolation):
        return True, None
    return False, _first_line(fault) if isinstance(fault, errors.OperationalError | errors.InterfaceError) else None


def _first_line(fault: BaseException) -> str:
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0]
