"""The journal: whole or not at all, and the same bytes however it was cut."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core import serialization
from keyhole.core.serialization import to_bytes
from keyhole.core.state import Stateful
from keyhole.data.streams import Schema
from keyhole.runs import journal as module
from keyhole.runs.journal import CODED, LEDGER, Journal
from keyhole.runs.totals import Totals


@pytest.fixture
def learner():
    return kh.make("ds-oslrc", d=7, k=3, seed=0)


def rows(first, last):
    n = last - first
    numbers = np.arange(first, last)
    columns = {
        "row": numbers,
        "explored": numbers % 3 == 0,
        "prediction": numbers / 7,
        "label": numbers / 9,
        "loss": numbers / 11,
        "bought": [[0, 1][: i % 3] for i in numbers],
        "bought_after": [[]] * n,
        "unobserved": np.zeros(n, dtype=np.int32),
        "price": np.ones(n),
    }
    return module.pa.table(columns, schema=CODED)


@pytest.mark.parametrize("cuts", [[], [5], [1, 2, 3, 70, 71], [64, 128]])
def test_the_bytes_do_not_depend_on_the_cuts(tmp_path, learner, cuts, monkeypatch):
    monkeypatch.setattr(module, "_GROUP", 50)
    books = []
    for name, borders in (("one", []), ("other", cuts)):
        journal = Journal(tmp_path / name, ("a", "b"))
        for a, b in zip([0, *borders], [*borders, 130], strict=True):
            journal.append("rounds", rows(a, b))
            journal.checkpoint(b, learner, Stateful())
        journal.assemble("rounds", tmp_path / f"{name}.parquet")
        books.append((tmp_path / f"{name}.parquet").read_bytes())
    assert books[0] == books[1]
    table = module.pq.read_table(tmp_path / "one.parquet")
    assert table["row"].to_pylist() == list(range(130))
    assert table["bought"].to_pylist() == [["a", "b"][: i % 3] for i in range(130)]


def test_what_lies_beyond_the_checkpoint_is_thrown_away(tmp_path, learner):
    journal = Journal(tmp_path / "j", ("a", "b"))
    journal.append("rounds", rows(0, 10))
    journal.checkpoint(10, learner, Stateful())
    before = (tmp_path / "j" / "checkpoint.kh").read_bytes()
    journal.append("rounds", rows(10, 20))
    journal.checkpoint(20, learner, Stateful())
    (tmp_path / "j" / "checkpoint.kh").write_bytes(before)  # as if killed between the segment and the checkpoint
    (tmp_path / "j" / ".keyhole-0123456789abcdef.part").write_bytes(b"half")
    journal = Journal(tmp_path / "j", ("a", "b"))
    assert journal.restore(Stateful())[0] == 10
    assert sorted(p.name for p in (tmp_path / "j").iterdir()) == ["checkpoint.kh", "rounds-000000000000010.arrow"]


def test_a_checkpoint_brings_learner_and_totals_back(tmp_path, learner):
    X, y, _ = kh.streams.synthetic(7, 3, 50, seed=0)
    kh.play(learner, X, y)
    totals = Totals.zero(Schema.plain("y", learner.names))
    totals.rows, totals.alarm_lines = 50, "7\tsomething\n"
    totals.bought += 3
    Journal(tmp_path / "j", ("a", "b")).checkpoint(50, learner, totals)
    fresh = Totals.zero(Schema.plain("y", learner.names))
    row, found = Journal(tmp_path / "j", ("a", "b")).restore(fresh)
    assert row == 50
    assert to_bytes(found) == to_bytes(learner)
    assert fresh.alarm_lines == "7\tsomething\n"
    assert fresh.bought.tolist() == [3] * 7


def test_a_damaged_checkpoint_is_a_state_error(tmp_path, learner):
    journal = Journal(tmp_path / "j", ("a", "b"))
    journal.checkpoint(5, learner, Stateful())
    path = tmp_path / "j" / "checkpoint.kh"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(kh.StateError, match="cannot be continued"):
        Journal(tmp_path / "j", ("a", "b")).restore(Stateful())


def test_an_empty_run_has_empty_books(tmp_path, learner):
    journal = Journal(tmp_path / "j", ("a", "b"))
    journal.checkpoint(0, learner, Stateful())
    journal.assemble("ledger", tmp_path / "ledger.parquet")
    table = module.pq.read_table(tmp_path / "ledger.parquet")
    assert table.num_rows == 0
    assert table.schema.names == LEDGER.names


def test_a_segment_that_is_gone_or_has_one_bit_flipped_is_named_and_nothing_is_written(tmp_path, learner):
    journal = Journal(tmp_path / "j", ("a", "b"))
    for last in (10, 20):
        journal.append("rounds", rows(last - 10, last))
        journal.checkpoint(last, learner, Stateful())
    path, out = tmp_path / "j" / "rounds-000000000000010.arrow", tmp_path / "rounds.parquet"
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 13):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(
            kh.StateError, match=r"0010\.arrow is damaged, and with it records up to row 10; .* new run"
        ):
            journal.assemble("rounds", out)
    path.unlink()
    with pytest.raises(kh.StateError, match=r"0010\.arrow is damaged"):
        journal.assemble("rounds", out)
    with pytest.raises(kh.StateError, match=r"0010\.arrow is gone, and with it records up to row 10"):
        Journal(tmp_path / "j", ("a", "b")).restore(Stateful())
    assert not out.exists()


def test_a_checkpoint_of_another_version_is_refused_in_one_sentence(tmp_path, learner, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(serialization, "FORMAT", 2)
        Journal(tmp_path / "j", ("a", "b")).checkpoint(5, learner, Stateful())
    with pytest.raises(kh.StateError, match=r"checkpoint\.kh cannot be continued \(the file has format 2, .* new run"):
        Journal(tmp_path / "j", ("a", "b")).restore(Stateful())
