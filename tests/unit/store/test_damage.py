"""`check` is the command for damaged stores: whatever the damage, a verdict per learner, and what can be saved."""

import contextlib
import shutil
import sqlite3

import numpy as np
import pytest

import keyhole as kh
from keyhole.store.database import Database
from keyhole.store.export_import import export_store, import_store
from keyhole.store.verify import check

from ...journeys.conftest import typed  # noqa: F401
from .play import create, play, seen

TABLES = ("learners", "events", "rounds", "snapshots", "about", "tokens")
ODD = ("''", "'x'", "-1", "1e400", "NULL", "x'ff00'", "9223372036854775807", "'{}'", "'[]'", "'[1'")


@pytest.fixture
def file(tmp_path):
    """A store file with two learners, one with a snapshot; closed, so that all is in one file."""
    with kh.open_store(f"sqlite:///{tmp_path}/store.db") as store:
        learner = create(store)
        play(learner, 0, 6)
        late = learner.ask(key="late")
        learner.predict(late, seen(late, 99))
        learner.abandon(learner.ask(key="gone"))
        play(create(store, "second", "fixed-random"), 0, 3)
        with store.database.writing() as connection:
            learner._cached.snapshot(connection)
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
    """What check finds; any error but ours is a fault of check."""
    database = Database(f"sqlite:///{copy}")
    try:
        database.open()
        return list(check(database))
    except (kh.StateError, kh.ConfigError):
        return None
    finally:
        database.close()


def odd_values(file, every):
    """Every `every`-th of all odd values in all columns, in one row and in all."""
    one = {"learners": "id = 1", "about": "name = 'schema'", "events": "learner = 1 AND number = 4"}
    tried = 0
    for i, (table, column) in enumerate(columns(file)):
        for j, value in enumerate(ODD):
            for which in ("", f" WHERE {one.get(table, 'learner = 1')}"):
                if (i + j) % every == 0:
                    copy = damaged(file, f"UPDATE keyhole_{table} SET {column} = {value}{which}")
                    if copy is not None:
                        tried += 1
                        verdicts(copy)
    return tried


def test_an_odd_value_in_any_column_gets_a_verdict(file):
    assert odd_values(file, every=5) > 40


@pytest.mark.slow
def test_any_odd_value_in_any_column_gets_a_verdict(file):
    assert odd_values(file, every=1) > 200


@pytest.mark.parametrize("table", TABLES[:4])
def test_missing_tables_and_rows_get_a_verdict(file, table):
    for statement in (f"DROP TABLE keyhole_{table}", f"DELETE FROM keyhole_{table}"):
        found = verdicts(damaged(file, statement))
        if table == "events":
            assert found is None or not any(verdict.good for verdict in found)


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
    assert {"refused", False} & outcomes
    for length in (0, 50, 100, 4096, len(whole) // 2, len(whole) - 4096):
        copy.write_bytes(whole[:length])
        verdicts(copy)


def test_the_command_names_learner_and_event_and_says_what_can_be_saved(file, typed):  # noqa: F811
    copy = damaged(file, "UPDATE keyhole_events SET body = '{' WHERE learner = 1 AND number = 8")
    code, out, err = typed("store", "check", f"sqlite:///{copy}")
    assert code == 2
    assert " icu: 8 events: NOT as recorded\n   event 8 was changed: its checksum is wrong\n" in out
    assert "the first 7 events are sound and can be saved: keyhole store export --sound" in out
    assert " second: 9 events: as recorded" in out
    assert err == "keyhole: 1 learner(s) do not match their recorded events; restore the store from a backup\n"


def test_what_is_sound_is_saved(file, tmp_path):
    copy = damaged(file, "UPDATE keyhole_events SET body = '{' WHERE learner = 1 AND number = 8")
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
