"""Fingerprints: the same for the same bytes, and every change is told."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from keyhole.data.fingerprint import fingerprint
from keyhole.data.streams import Fingerprint
from keyhole.errors import StateError

pytest.importorskip("pyarrow")

ROWS = 5000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.csv"
    file.write_text("a,b\n" + "".join(f"{i:06d},1\n" for i in range(ROWS)))
    return file


def test_a_copy_with_another_date_is_the_same_file(path: Path, tmp_path: Path) -> None:
    before = fingerprint(path)
    shutil.copy(path, tmp_path / "copy.csv")
    os.utime(tmp_path / "copy.csv", (1, 1))
    assert fingerprint(tmp_path / "copy.csv") == before
    assert before.changes(fingerprint(path)) == []
    assert Fingerprint.from_dict(json.loads(json.dumps(before.to_dict()))) == before


@pytest.mark.parametrize("place", [4, 20_000, -2])
def test_one_changed_byte_is_noticed_anywhere(path: Path, place: int) -> None:
    before, content = fingerprint(path), bytearray(path.read_bytes())
    content[place] = ord("7")
    path.write_bytes(content)
    assert before.changes(fingerprint(path)) == ["its content from byte 0 on"]


def test_appended_rows_and_new_columns_are_told(path: Path) -> None:
    before, text = fingerprint(path), path.read_text()
    path.write_text(text + "1,2\n")
    assert "its size (45004 bytes then, 45008 now)" in before.changes(fingerprint(path))
    path.write_text(text.replace("a,b", "a,c"))
    assert before.changes(fingerprint(path))[0] == "its columns (new: 'c'; gone: 'b')"
    path.write_text(text.replace("a,b", "b,a"))
    assert before.changes(fingerprint(path))[0] == "its columns (their order)"


def test_every_byte_of_a_large_file_counts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pieces of 64 bytes, 4 blocks at most, a file of 45 kB is a large one."""

    module = sys.modules[fingerprint.__module__]
    monkeypatch.setattr(module, "_READ", 64)
    monkeypatch.setattr(module, "_BLOCKS", 4)
    told: list[tuple[int, int]] = []
    before = fingerprint(path, progress=lambda read, size: told.append((read, size)))
    assert told[-1] == (before.size, before.size)
    assert len(before.digests) <= 4
    content = path.read_bytes()
    for place in (11, before.block - 7, before.block * 2 + 1001, before.size - 4):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        assert before.changes(fingerprint(path, "ab")) == [
            f"its content from byte {place // before.block * before.block} on"
        ]


def test_a_damaged_record_is_refused() -> None:
    with pytest.raises(StateError, match="damaged"):
        Fingerprint.from_dict({"size": 3, "columns": "a"})
