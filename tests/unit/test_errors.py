"""The library's own calls raise the library's errors, in one sentence, never those of a driver or the system."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

import keyhole as kh
from keyhole import experiments
from keyhole._internal import atomic_io
from keyhole.data.file_table import open_file
from keyhole.data.schema import Schema
from keyhole.errors import WriteError
from keyhole.store import database
from keyhole.store.export_import import export_store, import_store

OURS = (kh.ConfigError, kh.StateError, kh.ProtocolError)


def learner():
    return kh.make("fixed-random", d=4, k=2, seed=0)


def refused(call, *arguments, **named):
    """Make a call that must be refused by one of our errors, and give its sentence."""
    with pytest.raises(OURS) as fault:
        call(*arguments, **named)
    assert type(fault.value).__module__.startswith("keyhole.")
    assert "\n" not in str(fault.value)
    return str(fault.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:///no/such/folder/a.db", "its file cannot be opened"),
        ("sqlite:///.", "its file cannot be opened"),
        ("sqlite:///a\0b.db", "contains a NUL character"),
        (f"sqlite:///{'a' * 300}", "its file cannot be opened"),
        ("sqlite:///text.db", "file is not a database"),
        ("postgresql://nobody:secret@127.0.0.1:1/x", "does not answer"),
        ("postgresql://[::1/x:secret", "this address of a store is invalid"),
        ("postgresql://a:secret@127.0.0.1/x?nonsense=1", "this address of a store is invalid"),
        (None, "is not a store"),
    ],
)
def test_a_store_that_cannot_be_opened(url, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("not a database\n" * 100)
    said = refused(kh.open_store, url)
    assert why in said
    assert "secret" not in said


@pytest.mark.parametrize("path", ["no/such/folder/a.kh", ".", "a\0b.kh", "a" * 300])
def test_a_model_that_cannot_be_read_or_written(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(learner().save, path)
    refused(kh.load, path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["no.csv", ".", "a.parquet"])
def test_a_table_that_cannot_be_read(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.parquet").write_bytes(b"PAR1xxxxPAR1")
    for call in (open_file, Schema.read):
        refused(call, path)
    refused(experiments.frontier, path, target="y")
    refused(experiments.plan, path, target="y")
    refused(experiments.frontier_in, path)


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://127.0.0.1:99999999", "http://a..b", "http://[::1", "http://x/\r\ny", "", None]
)
def test_an_address_that_is_none(url):
    assert "is not the address of a server" in refused(kh.connect, url)


def test_a_token_that_is_none_is_refused_and_not_shown():
    for token in ("kh_\r\nHost: x", "kh_é", "kh_\0"):
        assert "kh_" not in refused(kh.connect, "http://127.0.0.1:1", token=token)


def test_numbers_that_a_database_cannot_take(url):
    with kh.open_store(url) as store:
        icu = store.create("icu", "fixed-random", d=4, k=2, seed=0)
        for odd in (-1, 10**30, 1.5):
            for call in (icu.rounds, icu.history, icu.events):
                refused(call, limit=odd)
                refused(call, after=odd)
        for odd in (0, -1, 10**30):
            refused(icu.tell, odd, [0.0, 0.0], 1.0)
        refused(icu.ask, key="a\0")
        assert icu.head == 0


def test_a_store_that_is_locked_or_gone(sqlite_url, monkeypatch):
    monkeypatch.setattr(database, "_LOCK_TIMEOUT", 0.01)
    with kh.open_store(sqlite_url) as store:
        icu = store.create("icu", "fixed-random", d=4, k=2, seed=0)
        path = Path(sqlite_url.removeprefix("sqlite:///"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        store.close()
        assert "locked by another process" in refused(icu.ask)
        other.close()
    for file in path.parent.iterdir():
        file.unlink()
    refused(icu.ask)


def test_an_export_that_cannot_be_written_or_read(sqlite_url, tmp_path):
    with kh.open_store(sqlite_url) as store:
        store.create("icu", "fixed-random", d=4, k=2, seed=0).ask()
        (tmp_path / "file").touch()
        for place in (tmp_path, tmp_path / "file" / "x"):
            refused(export_store, store.database, place)
        export_store(store.database, tmp_path / "out")
        for damage in (b"[1]", b"\xff\xfe", b""):
            (tmp_path / "out" / "store.json").write_bytes(damage)
            refused(import_store, store.database, tmp_path / "out")
        refused(import_store, store.database, tmp_path / "nothing")


def test_a_full_disk(tmp_path, monkeypatch):
    """Whatever is written: our error names the file, and what was there is untouched."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    schema = Schema.plain("y", ["a", "b"])
    schema.write(tmp_path / "schema.toml")
    before = (tmp_path / "schema.toml").read_bytes()
    monkeypatch.setattr(atomic_io.os, "fsync", full)
    assert "no space left" in refused(learner().save, tmp_path / "a.kh")
    with pytest.raises(WriteError, match=r"cannot write .*schema.toml \(No space left on device\)") as fault:
        schema.write(tmp_path / "schema.toml")
    assert isinstance(fault.value, OSError)
    assert (fault.value.errno, fault.value.filename) == (errno.ENOSPC, str(tmp_path / "schema.toml"))
    assert (tmp_path / "schema.toml").read_bytes() == before
    assert os.listdir(tmp_path) == ["schema.toml"]
    monkeypatch.setattr(atomic_io.os, "mkdir", full)
    with pytest.raises(WriteError, match="cannot write"):
        atomic_io.make_folder(tmp_path / "folder")
