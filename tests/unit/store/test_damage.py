"""`check` is the command for damaged stores: whatever the damage, a verdict per learner, and what can be saved."""

import contextlib
import shutil
import sqlite3
import warnings
from pathlib import Path

import numpy as np
import pytest

import keyhole as kh
from keyhole.store import tokens
from keyhole.store.database import Database
from keyhole.store.export_import import export_store, import_store
from keyhole.store.models import DamagedStore, NoSuchLearner
from keyhole.store.verify import check

from ...journeys.conftest import typed  # noqa: F401
from .play import create, play, seen

TABLES = ("learners", "events", "rounds", "snapshots", "about", "tokens")
ODD = ("''", "'x'", "-1", "1e400", "NULL", "x'ff00'", "9223372036854775807", "'{}'", "'[]'", "'[1'")


@pytest.fixture
def file(tmp_path):
    """A store file with two learners, one with a snapshot, and a token; closed, so that all is in one file."""
    with kh.open_store(f"sqlite:///{tmp_path}/store.db") as store:
        learner = create(store)
        play(learner, 0, 6)
        late = learner.ask(key="late")
        learner.predict(late, seen(late, 99))
        learner.abandon(learner.ask(key="gone"))
        play(create(store, "second", "fixed-random"), 0, 3)
        with store.database.writing() as connection:
            learner._cached.snapshot(connection)
        tokens.create_token(store.database, "icu", ("read",))
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return tmp_path / "store.db"


def columns(file):
    with sqlite3.connect(file) as connection:
        return [(t, row[1]) for t in TABLES for row in connection.execute(f"PRAGMA table_info(keyhole_{t})")]


def damaged(file, statement):
    """A copy of the store with one statement run on it by hand; None where SQLite itself refuses it."""
    copy = file.with_name("damaged.db")
    for name in (copy, f"{copy}-wal", f"{copy}-shm"):
        Path(name).unlink(missing_ok=True)
    shutil.copy(file, copy)
    connection = sqlite3.connect(copy)
    try:
        connection.execute(statement)
        connection.commit()
    except sqlite3.Error:
        return None
    finally:
        connection.close()
    return copy


def verdicts(copy):
    """What check finds, None if it refuses; any error but ours is a fault of check."""
    database = Database(f"sqlite:///{copy}")
    try:
        database.open()
        return list(check(database))
    except (kh.StateError, kh.ConfigError):
        return None
    finally:
        database.close()


def rows(file, table):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.text_factory = bytes
        return repr(connection.execute(f"SELECT * FROM keyhole_{table}").fetchall())


def is_found(copy):
    found = verdicts(copy)
    return found is None or not all(verdict.good for verdict in found)


# What no checksum covers: any value of the right form is accepted. A missing version of the schema is written again.
UNCOVERED = {
    ("learners", "note"): ("'{}'",),
    ("learners", "created_at"): ("-1", "9223372036854775807"),
    ("snapshots", "version"): ("''", "'x'", "-1", "1e400", "9223372036854775807", "'{}'", "'[]'", "'[1'"),
    ("about", "name"): ODD,
    ("tokens", "learner"): ("'x'", "1e400", "NULL", "9223372036854775807"),
    ("tokens", "may"): ("''",),
    ("tokens", "created_at"): ("-1", "9223372036854775807"),
}


def odd_values(file, every):
    """Every `every`-th of all odd values in all columns, in one row and in all."""
    one = {"learners": "id = 1", "about": "name = 'schema'", "events": "learner = 1 AND number = 4"}
    tried = 0
    for i, (table, column) in enumerate(columns(file)):
        for j, value in enumerate(ODD):
            for which in ("", f" WHERE {one.get(table, 'learner = 1')}"):
                if (i + j) % every == 0:
                    statement = f"UPDATE keyhole_{table} SET {column} = {value}{which}"
                    copy = damaged(file, statement)
                    if copy is not None and rows(copy, table) != rows(file, table):
                        tried += 1
                        assert is_found(copy) or value in UNCOVERED.get((table, column), ()), statement
    return tried


def test_an_odd_value_in_any_column_is_found(file):
    assert odd_values(file, every=11) > 25


@pytest.mark.slow
def test_every_odd_value_in_every_column_is_found(file):
    assert odd_values(file, every=1) > 200


@pytest.mark.parametrize("table", TABLES)
def test_missing_tables_and_rows_are_found(file, table):
    """A learner can do without a snapshot, and a store without tokens; `about` is written again when it is opened."""
    assert is_found(damaged(file, f"DROP TABLE keyhole_{table}")) == (table != "about")
    assert is_found(damaged(file, f"DELETE FROM keyhole_{table}")) == (table in TABLES[:3])


DAMAGE = {
    "an event beyond the head": (
        "INSERT INTO keyhole_events SELECT learner, 23, kind, round, at, body, checksum FROM keyhole_events "
        "WHERE learner = 1 AND number = 22",
        "icu: event 23 was changed",
    ),
    "an event before the first": (
        "INSERT INTO keyhole_events SELECT learner, 0, kind, round, at, body, checksum FROM keyhole_events "
        "WHERE learner = 1 AND number = 22",
        "icu: event 1 should come next; number 0 was found",
    ),
    "a head too small": ("UPDATE keyhole_learners SET head = 21 WHERE id = 1", "icu: the last event should be"),
    "a round nobody asked": (
        "INSERT INTO keyhole_rounds (learner, round, key, status, asked_at, price, ask_event) "
        "VALUES (1, 9, 'zz', 'open', 1.0, 0.0, 1)",
        "icu: number of rounds: 9 in the table, 8 in the events",
    ),
    "no row of a learner": ("DELETE FROM keyhole_learners WHERE id = 1", "the database: there are events of learner"),
    "a note": ("UPDATE keyhole_learners SET note = '[' WHERE id = 1", "icu: the note of learner 'icu' is not JSON"),
    "a deep note": (
        f"UPDATE keyhole_learners SET note = '{'[' * 100_000}' WHERE id = 1",
        "icu: the note of learner 'icu' is not JSON",
    ),
    "a time of creation": ("UPDATE keyhole_learners SET created_at = 'abc'", "icu: 'created_at' is 'abc', not a numb"),
    "a head": ("UPDATE keyhole_learners SET head = 'x'", "icu: 'head' is 'x', not a whole number"),
    "a total": ("UPDATE keyhole_learners SET n_asked = 'y'", "icu: 'n_asked' is 'y', not a whole number"),
    "no configuration": ("UPDATE keyhole_learners SET config = '[]'", "icu: the configuration of learner 'icu' is not"),
    "a configuration of bytes": ("UPDATE keyhole_learners SET config = x'ff'", "icu: 'config' is b'\\xff', not text"),
    "a deep configuration": (
        f"UPDATE keyhole_learners SET config = '{'[' * 100_000}'",
        "icu: the configuration of learner 'icu' is not JSON",
    ),
    "a configuration without options": (
        "UPDATE keyhole_learners SET config = '{}'",
        "icu: the configuration of learner 'icu' has no name",
    ),
    "a name that is not UTF-8": (
        "UPDATE keyhole_learners SET name = CAST(x'fffe' AS TEXT) WHERE id = 1",
        "learner number 1: Could not decode",
    ),
    "a name with escapes": (
        "UPDATE keyhole_learners SET name = 'a' || char(27) || char(10) WHERE id = 1",
        r"learner number 1: its name 'a\x1b\n' is invalid",
    ),
    "a time of an event": (
        "UPDATE keyhole_events SET at = 'abc' WHERE learner = 1 AND number = 5",
        "icu: event 5 cannot be read: 'at' is 'abc', not a number",
    ),
    "a body": (
        "UPDATE keyhole_events SET body = x'fffe' WHERE learner = 1 AND number = 5",
        "icu: event 5 cannot be read: 'body' is b'\\xff\\xfe', not text",
    ),
    "a time of a label": (
        "UPDATE keyhole_rounds SET labelled_at = 'w' WHERE learner = 1 AND round = 2",
        "icu: the table of rounds: 'labelled_at' is 'w', not a number (in the row of learner 1, round 2)",
    ),
    "a token": ("UPDATE keyhole_tokens SET may = x'ff'", "the database: 'may' is b'\\xff', not text"),
    "a right": ("UPDATE keyhole_tokens SET may = 'all'", "the database: the token '"),
    "no index": ("DROP INDEX keyhole_rounds_status", "the database: the index keyhole_rounds_status is missing"),
    "another definition": (
        "ALTER TABLE keyhole_events ADD COLUMN more TEXT",
        "the database: the table keyhole_events is not as keyhole creates it",
    ),
}


def refuses_in_a_sentence(call, url):
    refused = None
    try:
        call()
    except DamagedStore as fault:
        refused = str(fault)
    assert refused is None or (refused.endswith(f"; run keyhole store check {url}") and "\n" not in refused)


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_by_hand_is_found_refused_in_a_sentence_and_can_be_saved(file, tmp_path, what):
    statement, words = DAMAGE[what]
    copy = damaged(file, statement)
    faults = [f"{verdict.name}: {fault}" for verdict in verdicts(copy) for fault in verdict.faults]
    assert any(fault.startswith(words) for fault in faults), faults
    with kh.open_store(f"sqlite:///{copy}") as store:
        for call in (
            *[lambda name=name: getattr(store["icu"], name)() for name in ("rounds", "history", "ledger", "learner")],
            lambda: store["icu"].ask(key="new"),
            lambda: store["icu"].tell_many([("late", 0.5)]),
            lambda: store["icu"].note,
            lambda: store.summaries(),
            lambda: store.create("icu", "ds-oslrc", names=["a", "b"], k=1),
            lambda: tokens.list_tokens(store.database),
            lambda: export_store(store.database, tmp_path / "all"),
        ):
            with contextlib.suppress(kh.ProtocolError, kh.ConfigError, NoSuchLearner):
                refuses_in_a_sentence(call, f"sqlite:///{copy}")
    saved = damaged(file, statement)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        n = export_store(Database(f"sqlite:///{saved}"), tmp_path / "sound", sound_only=True)
    assert n >= 9 or "configuration" in what
    assert n == 31 or warned, "what cannot be saved is named"
    with kh.open_store(f"sqlite:///{tmp_path}/saved.db") as again:
        assert import_store(again.database, tmp_path / "sound") == n
        assert all(verdict.good for verdict in check(again.database))


def test_an_index_that_has_lost_its_rows_is_found(file):
    """The definition is the right one, but a query by status finds nothing."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'keyhole_rounds_status'").fetchone()
        connection.execute("DROP INDEX keyhole_rounds_status")
        connection.execute(f"{sql} WHERE price < 0")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'keyhole_rounds_status'", (sql,))
    (database, *others) = verdicts(file)
    assert all(fault.startswith("SQLite finds: ") for fault in database.faults)
    assert "keyhole_rounds_status" in database.faults[0]
    assert all(verdict.good for verdict in others)


def test_an_export_leaves_nothing_out_in_silence(file, tmp_path):
    for i, what in enumerate(("an event beyond the head", "a head too small", "no row of a learner")):
        database = Database(f"sqlite:///{damaged(file, DAMAGE[what][0])}")
        with pytest.raises(DamagedStore, match="keyhole store export --sound|should have 21 events"):
            export_store(database, tmp_path / str(i))
        database.close()


def test_an_ask_is_not_acknowledged_behind_a_foreign_event(file):
    """The snapshot is older than the event that somebody added."""
    store = kh.open_store(f"sqlite:///{damaged(file, DAMAGE['a head too small'][0])}")
    with store, pytest.raises(DamagedStore, match="learner 'icu' has 21 events, but the last one is number 22"):
        store["icu"].ask(key="new")


def test_a_learner_that_is_written_meanwhile_is_sound(url):
    """The head and the events are read in one snapshot, also if a server appends between two queries."""
    with kh.open_store(url) as store, kh.open_store(url) as server:
        play(create(store), 0, 3)
        with store.database.reading() as connection:
            (head,) = connection.row("SELECT head FROM keyhole_learners")
            play(server["icu"], 3, 5)
            (n,) = connection.row("SELECT count(*) FROM keyhole_events")
        assert head == n == 9


def test_torn_pages_get_a_verdict(file):
    """Bytes that a failing disk changed."""
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    outcomes = set()
    for _ in range(60):
        torn = bytearray(whole)
        start = int(rng.integers(100, len(torn) - 600))
        torn[start : start + 512] = rng.bytes(512)
        copy = file.with_name("torn.db")
        copy.write_bytes(torn)
        found = verdicts(copy)
        outcomes.add("refused" if found is None else all(verdict.good for verdict in found))
    assert {"refused", False} <= outcomes
    for length in (50, 100, 4096, len(whole) // 2, len(whole) - 4096):
        copy.write_bytes(whole[:length])
        assert is_found(copy), length


def test_the_command_names_learner_and_event_and_says_what_can_be_saved(file, typed):  # noqa: F811
    copy = damaged(file, "UPDATE keyhole_events SET body = '{' WHERE learner = 1 AND number = 8")
    code, out, err = typed("store", "check", f"sqlite:///{copy}")
    assert code == 2
    assert " icu: 8 events: NOT as recorded\n   event 8 was changed: its checksum is wrong\n" in out
    assert "the first 7 events are sound and can be saved: keyhole store export --sound" in out
    assert "the first 0 events" not in out
    assert " second: 9 events: as recorded" in out
    assert err == "keyhole: 1 learner(s) do not match their recorded events; restore the store from a backup\n"


def test_the_command_escapes_what_it_prints_and_offers_nothing_that_cannot_be_saved(file, typed):  # noqa: F811
    code, out, _ = typed("store", "check", f"sqlite:///{damaged(file, DAMAGE['a name with escapes'][0])}")
    assert code == 2
    assert out.splitlines()[:3] == [
        " learner number 1: 0 events: NOT as recorded",
        r"   its name 'a\x1b\n' is invalid",
        " second: 9 events: as recorded",
    ]
    copy = damaged(file, f"UPDATE keyhole_about SET value = '{'9' * 5000}'")
    code, out, err = typed("store", "check", f"sqlite:///{copy}")
    assert code == 2
    assert err.endswith(f"has schema version {'9' * 20}; this keyhole reads version 1 only\n")


def test_the_command_on_a_store_that_cannot_be_read_says_what_to_do_instead_of_to_run_it(file, typed):  # noqa: F811
    gone = damaged(file, "DROP TABLE keyhole_learners")
    code, out, err = typed("store", "check", f"sqlite:///{gone}")
    assert (code, err.count("\n")) == (2, 1)
    assert "the table keyhole_learners is missing" in out
    assert err.endswith("no such table: keyhole_learners; no learner can be read: restore the store from a backup\n")
    whole = file.read_bytes()
    for length in (5000, 100, 0):
        file.write_bytes(whole[:length])
        code, out, err = typed("store", "check", f"sqlite:///{file}")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.endswith("restore the store from a backup\n")
        assert "run keyhole store check" not in err
        assert file.stat().st_size == length  # also an empty file: no new store is made of it


def test_what_is_sound_is_saved(file, tmp_path):
    copy = damaged(file, "UPDATE keyhole_events SET body = '{' WHERE learner = 1 AND number = 8")
    with pytest.warns(kh.KeyholeWarning, match="icu: the events after event 7 cannot be saved .event 8 was changed"):
        assert export_store(Database(f"sqlite:///{copy}"), tmp_path / "out", sound_only=True) == 7 + 9
    with kh.open_store(f"sqlite:///{tmp_path}/saved.db") as saved:
        assert import_store(saved.database, tmp_path / "out") == 16
        assert all(verdict.good for verdict in check(saved.database))
        assert saved["icu"].totals().n_labels == 2
        play(saved["icu"], 50, 52)


def test_the_calls_of_a_damaged_store_raise_our_errors(file):
    for statement in (
        "UPDATE keyhole_events SET body = '{' WHERE learner = 1",
        "UPDATE keyhole_events SET kind = 'x' WHERE learner = 1",
        "UPDATE keyhole_snapshots SET model = x'00'",
        "DELETE FROM keyhole_events",
        "DROP TABLE keyhole_events",
        "UPDATE keyhole_rounds SET status = 'open'",
    ):
        copy = damaged(file, statement)
        with kh.open_store(f"sqlite:///{copy}") as store:
            for call in (
                lambda store=store: store["icu"].ask(key="late"),
                lambda store=store: store["icu"].tell(7, None, 0.5),
                lambda store=store: store["icu"].tell(1, None, 0.5),
                lambda store=store: store["icu"].learner(),
                lambda store=store: store["icu"].rounds(),
            ):
                with contextlib.suppress(kh.StateError, kh.ProtocolError):  # any other error is a fault
                    call()
