"""Verification, export and import: damage is found, and nothing is lost on the way."""

import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.store import verify
from keyhole.store.database import Database
from keyhole.store.events import Event, first_checksum
from keyhole.store.export_import import export_store, import_store
from keyhole.store.verify import check

from .play import create, play, row, seen


@pytest.fixture
def store(url):
    with kh.open_store(url) as store:
        learner = create(store)
        play(learner, 0, 8)
        late = learner.ask(key="late")
        learner.predict(late, seen(late, 99))
        learner.abandon(learner.ask(key="gone"))
        create(store, "second", "fixed-random")
        yield store


def damage(store, statement):
    with store.database.writing() as connection:
        assert connection.run(statement) >= 1


def faults(store):
    return {verdict.name: verdict.faults for verdict in check(store.database) if not verdict.good}


def test_an_untouched_store_is_sound(store):
    assert faults(store) == {}


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE keyhole_events SET body = REPLACE(body, '\"y\":', '\"y\":1') WHERE number = 3", "event 3 was changed"),
        ("UPDATE keyhole_events SET at = at + 1 WHERE number = 5", "event 5 was changed"),
        ("UPDATE keyhole_events SET kind = 'abandon' WHERE number = 24", "event 24 was changed"),
        ("DELETE FROM keyhole_events WHERE number = 2", "event 2 is missing"),
        ("DELETE FROM keyhole_events WHERE number = 28", "the last event should be number 28"),
        ("UPDATE keyhole_learners SET spent = 5 WHERE name = 'icu'", "the totals"),
        ("UPDATE keyhole_learners SET n_labels = n_labels - 1 WHERE name = 'icu'", "the totals"),
        ("UPDATE keyhole_rounds SET label = 0.125 WHERE round = 3", "round 3 in the table differs"),
        ("UPDATE keyhole_rounds SET status = 'open' WHERE status = 'abandoned'", "round 10 in the table differs"),
        ("DELETE FROM keyhole_rounds WHERE round = 9", "round 9 in the table differs"),
    ],
)
def test_damage_is_found(store, statement, words):
    damage(store, statement)
    assert any(words in fault for fault in faults(store)["icu"]), faults(store)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP INDEX keyhole_rounds_status", "the index keyhole_rounds_status is missing"),
        ("DROP TABLE keyhole_tokens", "the table keyhole_tokens is missing"),
        ("INSERT INTO keyhole_tokens VALUES ('x', 'y', NULL, 'read', 1.0)", "the token 'x' is damaged"),
    ],
)
def test_damage_that_belongs_to_no_learner_is_found(store, statement, words):
    with store.database.writing() as connection:
        connection.run(statement)
    found = faults(store)
    assert list(found) == ["the database"]
    assert words in found["the database"][0]


def test_extra_rows_are_found(store):
    extra = "INSERT INTO keyhole_rounds (learner, round, key, status, asked_at, price, ask_event)"
    damage(store, f"{extra} SELECT id, 99, 'zz', 'open', 1.0, 0.0, 1 FROM keyhole_learners")
    damage(
        store,
        "INSERT INTO keyhole_events SELECT learner, 29, kind, round, at, body, checksum FROM keyhole_events "
        "WHERE number = 28",
    )
    found = faults(store)
    assert "event 29 was changed" in found["icu"][0]
    assert "number of rounds: 1 in the table, 0 in the events" in found["second"][0]


def test_every_round_is_compared_however_many_there_are(store, monkeypatch):
    """Labelled rounds are compared page by page while the events are read, and the rest at the end."""
    monkeypatch.setattr(verify, "_PAGE", 3)
    labelled = [r.index for r in store["icu"].rounds("labelled")]
    assert len(labelled) > 6
    for index in labelled:
        damage(store, f"UPDATE keyhole_rounds SET deadline = 5.0 WHERE round = {index}")
        assert faults(store)["icu"] == [f"round {index} in the table differs from its events"]
        damage(store, f"UPDATE keyhole_rounds SET deadline = NULL WHERE round = {index}")


def test_a_note_has_only_texts(store):
    with pytest.raises(kh.ConfigError, match="the values of a note must be texts"):
        create(store, "third", note={"unit": 5})


def test_a_snapshot_that_is_not_what_happened_is_found(store):
    learner = store["icu"]
    cached = learner._cached
    with store.database.writing() as connection:
        cached.catch_up(connection)
        cached.learner.rng.random()  # one draw that nobody asked for
        cached.snapshot(connection)
    assert "not what a replay comes to" in faults(store)["icu"][0]


def test_a_forged_event_with_a_good_checksum_is_found_by_the_replay(store):
    """Somebody who can compute checksums changes a prediction: the replay says otherwise."""
    from keyhole.store.events import events_after

    with store.database.writing() as connection:
        me = store["icu"].id
        *_, last = (e for e in events_after(connection, me, 0) if e.number <= 28)
        before = list(events_after(connection, me, 0))[-2]
        content = {"values": [0, 0, 0], "prediction": 7.5, "low": None, "high": None}
        forged = Event.chained("icu", before.checksum, 28, "predict", 9, last.at, content)
        connection.run(
            "UPDATE keyhole_events SET kind=:k, round=9, body=:b, checksum=:c WHERE number=28 AND learner=:learner",
            {"k": forged.kind, "b": forged.body, "c": forged.checksum, "learner": me},
        )
    assert any("the replay predicts" in fault for fault in faults(store)["icu"])


def test_what_is_exported_comes_back_the_same(store, tmp_path, sqlite_url):
    assert export_store(store.database, tmp_path / "out") == 28
    other = sqlite_url.replace("store.db", "other.db")
    with kh.open_store(other) as copy:
        assert import_store(copy.database, tmp_path / "out") == 28
        assert faults(copy) == {}
        assert list(copy) == list(store)
        assert to_bytes(copy["icu"].learner()) == to_bytes(store["icu"].learner())
        assert copy["icu"].rounds() == store["icu"].rounds()
        assert copy["icu"].totals() == store["icu"].totals()
        late = copy["icu"].ask(key="late")
        assert copy["icu"].tell(late, None, row(99)[1])
        with pytest.raises(kh.ConfigError, match="has a learner 'icu' already"):
            import_store(copy.database, tmp_path / "out")
    with pytest.raises(kh.ConfigError, match="exists"):
        export_store(store.database, tmp_path / "out")


def test_a_changed_export_is_refused_as_a_whole(store, tmp_path, sqlite_url):
    import pyarrow.parquet as pq

    export_store(store.database, tmp_path / "out")
    events = pq.read_table(tmp_path / "out" / "events.parquet").to_pylist()
    events[4]["at"] += 1
    import pyarrow as pa

    schema = pq.read_schema(tmp_path / "out" / "events.parquet")
    pq.write_table(pa.Table.from_pylist(events, schema=schema), tmp_path / "out" / "events.parquet")
    with kh.open_store(sqlite_url.replace("store.db", "other.db")) as copy:
        with pytest.raises(kh.StateError, match="event 5: lost or changed"):
            import_store(copy.database, tmp_path / "out")
        assert list(copy) == []
    with pytest.raises(kh.ConfigError, match="is not what keyhole store export wrote"):
        import_store(store.database, tmp_path)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("learners", "config", ""),
        ("learners", "config", "[" * 100_000),
        ("learners", "config", '{"name": "vaw"}'),
        ("learners", "created_at", None),
        ("learners", "name", None),
        ("events", "kind", None),
        ("events", "learner", "nobody"),
        ("events", "body", "[" * 100_000),
        ("events", "body", '{"values": 5, "prediction": "x", "low": null, "high": null}'),
        ("events", "round", 2**60),
        ("store.json", "", "[" * 100_000),
    ],
)
def test_an_export_that_somebody_made_up_is_refused_in_one_sentence(store, tmp_path, sqlite_url, table, column, value):
    """Its checksums are right; the decoders and the learner meet what is in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    export_store(store.database, out)
    if table == "store.json":
        (out / table).write_text(value)
    else:
        learners, events = (pq.read_table(out / f"{name}.parquet").to_pylist() for name in ("learners", "events"))
        {"learners": learners, "events": events[4:]}[table][0][column] = value
        sums = {str(row["name"]): first_checksum(str(row["name"]), row["config"]) for row in learners}
        for row in events:
            at = row["learner"]
            last = {key: row[key] for key in ("number", "kind", "round", "at", "body")}
            row["checksum"] = sums[at] = Event(**last).expected_checksum(at, sums.get(at, ""))
        for name, rows in (("learners", learners), ("events", events)):
            pq.write_table(
                pa.Table.from_pylist(rows, schema=pq.read_schema(out / f"{name}.parquet")), out / f"{name}.parquet"
            )
    with kh.open_store(sqlite_url.replace("store.db", "other.db")) as copy:
        with pytest.raises((kh.StateError, kh.ConfigError)) as fault:
            import_store(copy.database, out)
        assert "\n" not in str(fault.value)
        assert list(copy) == []


@pytest.mark.parametrize("version", ["0", "2", "99", "x"])
def test_a_store_of_another_version_is_refused(store, url, version):
    damage(store, f"UPDATE keyhole_about SET value = '{version}' WHERE name = 'schema'")
    with pytest.raises(kh.StateError, match=f"has schema version {version}; this keyhole reads version 1 only"):
        kh.open_store(url)


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, but it is long enough to look at " * 40)
    with pytest.raises(kh.StateError, match="is damaged or not a keyhole store"):
        kh.open_store(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(kh.ConfigError, match="cannot open the store"):
        kh.open_store(f"sqlite:///{tmp_path}/no/such/folder/a.db")
    for url in ("clinic.db", "mysql://me@host/db", "sqlite://", "sqlite:///:memory:", ""):
        with pytest.raises(kh.ConfigError):
            kh.open_store(url)
    with pytest.raises(kh.ConfigError, match="cannot open the store") as fault:
        kh.open_store("postgresql://me:secret@127.0.0.1:1/ward")
    assert "secret" not in str(fault.value)


def test_a_forked_child_uses_connections_of_its_own(sqlite_url):
    import os

    with kh.open_store(sqlite_url) as store:
        learner = create(store)
        play(learner, 0, 2)
        child = os.fork()
        if child == 0:
            try:
                play(learner, 2, 4)
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        play(learner, 4, 6)
        assert learner.totals().n_labels == 6
        assert faults(store) == {}
    assert isinstance(Database(sqlite_url), Database)
