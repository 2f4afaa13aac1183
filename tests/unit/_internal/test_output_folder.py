"""Claiming a folder, claiming a file, and writing so that nothing is torn."""

import os
import threading

import pytest

from keyhole._internal import atomic_io
from keyhole._internal.output_folder import Folder, claim_file
from keyhole.errors import ConfigError, StateError


def test_a_folder_is_claimed_when_new_empty_or_ones_own(tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "a" / "b", tmp_path / "empty"):
        Folder.claim(path, "run").file("x.txt").write_text("ours")
        assert atomic_io.read_json(path / ".keyhole.json") == {"kind": "run", "files": ["x.txt"]}
        assert Folder.claim(path, "run").file("x.txt") == path / "x.txt"
        with pytest.raises(ConfigError, match="holds a run, not a comparison"):
            Folder.claim(path, "comparison")


def test_what_a_killed_process_left_on_its_way_to_the_marker_is_no_obstacle(tmp_path):
    (tmp_path / ".keyhole-0123456789abcdef.part").write_text("half a marker")
    (tmp_path / ".lock").write_text("")
    Folder.claim(tmp_path, "run")
    atomic_io.remove_leftovers(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {".keyhole.json", ".lock"}


@pytest.mark.parametrize(
    "name", ["../precious", "/precious", "a/../../precious", "..", "C:/precious", "a\\..\\b", 5, ""]
)
def test_a_marker_that_was_tampered_with_reaches_nothing_outside(tmp_path, name):
    folder = Folder.claim(tmp_path / "out", "demo")
    (tmp_path / "precious").write_text("x")
    atomic_io.write_json(folder.path / ".keyhole.json", {"kind": "demo", "files": [name]})
    with pytest.raises(ConfigError, match="is damaged"):
        Folder.claim(tmp_path / "out", "demo")
    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": 1, "files": []}', "[" * 100_000, '{"kind": "run", "files": {}}']
)
def test_a_damaged_marker_is_one_sentence(tmp_path, text):
    (tmp_path / ".keyhole.json").write_text(text)
    with pytest.raises(ConfigError, match="is damaged; nothing in"):
        Folder.claim(tmp_path, "run")


def test_one_flipped_bit_anywhere_in_a_marker_is_noticed(tmp_path):
    atomic_io.write_json(tmp_path / "a.json", {"x": 0.1, "y": ["z"], "w": float("nan")})
    atomic_io.read_json(tmp_path / "a.json")
    for changed in damaged((tmp_path / "a.json").read_bytes()):
        (tmp_path / "a.json").write_bytes(changed)
        with pytest.raises(StateError, match="is damaged"):
            atomic_io.read_json(tmp_path / "a.json")


def damaged(whole):
    """The content cut at every length, and with every bit flipped."""
    yield from (whole[:length] for length in range(len(whole)))
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


def test_only_listed_files_are_cleared(tmp_path):
    folder = Folder.claim(tmp_path / "out", "demo")
    for name in ("a.txt", "figures/b.svg"):
        folder.file(name).write_text("ours")
    (folder.path / "figures" / "mine.svg").write_text("mine")
    (folder.path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"mine\.txt was not written by keyhole"):
        folder.file("mine.txt")
    with pytest.raises(ConfigError, match="figures was not written by keyhole"):
        folder.subfolder("figures")
    folder.clear()
    left = sorted(p.name for p in folder.path.rglob("*"))
    assert left == [".keyhole.json", "figures", "mine.svg", "mine.txt"]


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path):
    path = claim_file(tmp_path / "a.csv")

    def write():
        with atomic_io.replacing(path, over=False) as file:
            file.write(b"ours")
            path.write_text("theirs")

    with pytest.raises(FileExistsError):
        write()
    assert path.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    with pytest.raises(ConfigError, match="there is no folder"):
        claim_file(tmp_path / "nowhere" / "a.csv")


def test_threads_that_write_one_path_never_tear_it(tmp_path):
    path, contents = tmp_path / "a", [bytes([i]) * 50_000 for i in range(4)]
    atomic_io.write_atomically(path, contents[0])
    torn, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            torn.extend(data for data in [path.read_bytes()] if data not in contents)

    def write(data):
        for _ in range(20):
            atomic_io.write_atomically(path, data)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert not torn
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_what_a_killed_process_left_is_removed_in_every_folder_that_it_wrote(tmp_path):
    folder = Folder.claim(tmp_path / "out", "study")
    for place in (folder.subfolder("parts"), folder.file("figures/loss.svg").parent, folder.path, tmp_path):
        (place / ".keyhole-0123456789abcdef.part").write_text("half a file")
    (folder.path / "mine").mkdir()
    (folder.path / "mine" / ".keyhole-0123456789abcdef.part").write_text("not in a folder of ours")
    (folder.path / "figures").rename(tmp_path / "elsewhere")
    (folder.path / "figures").symlink_to(tmp_path / "elsewhere")
    with Folder.claim(folder.path, "study").lock():
        left = sorted(str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("*.part"))
    assert left == [".", "elsewhere", "out/mine"]


def test_the_first_error_is_told_also_where_nothing_can_be_removed(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError("cannot be removed")

    monkeypatch.setattr(atomic_io.os, "unlink", refuse)
    with pytest.raises(ZeroDivisionError), atomic_io.replacing(tmp_path / "a"):
        raise ZeroDivisionError
    monkeypatch.undo()
    atomic_io.remove_leftovers(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_whose_place_is_a_file_or_a_dangling_link_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    for name in ("file", "link", "file/below"):
        with pytest.raises(ConfigError, match="cannot be written"):
            Folder.claim(tmp_path / name, "run")
