"""Nothing is deleted or overwritten that keyhole did not write: commands as processes in folders that are in use."""

import os

import pytest

from .conftest import stream, write

RUN = ("run", "a.csv", "--target", "y", "-k", "3", "--algorithm", "fixed-random")
COMPARE = ("compare", "synthetic:d=8,k=3", "--algorithms", "fixed-random", "--rounds", "50", "--seeds", "1")
DEMO = ("demo", "--error-cost", "1")


def contents(folder):
    """Every file below a folder, with its bytes and links."""
    found = {}
    for place in sorted(folder.rglob("*")):
        name = str(place.relative_to(folder))
        found[name] = os.readlink(place) if place.is_symlink() else place.read_bytes() if place.is_file() else None
    return found


@pytest.fixture
def used(tmp_path):
    """A person's own folder, with files that bear our names."""
    folder = tmp_path / "mine"
    (folder / "journal").mkdir(parents=True)
    (folder / "journal" / "diary.txt").write_text("dear diary")
    (folder / "jobs").mkdir()
    for name in ("report.html", "run.json", "notes.txt", "jobs/list.json", "model.kh"):
        (folder / name).write_text("precious")
    return folder


@pytest.mark.parametrize("command", [RUN, COMPARE, DEMO])
def test_a_folder_in_use_is_refused_and_nothing_in_it_is_touched(keyhole, tmp_path, used, command):
    write(tmp_path / "a.csv", stream(60))
    os.symlink(used, tmp_path / "link")
    before = contents(used)
    for out in ("mine", "link"):
        done = keyhole(*command, "--out", out, check=False)
        assert done.returncode == 2
        assert f"{out} is not empty, and keyhole did not make it" in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""  # nothing was played first
        assert contents(used) == before


def test_a_run_is_refused_in_a_folder_that_holds_one_and_in_that_of_its_file(typed, tmp_path):
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "a.csv", stream(60))
    before = contents(tmp_path / "data")
    words = ("run", "data/a.csv", *RUN[2:], "--out")
    assert "is not empty" in typed(*words, "data")[2]
    assert contents(tmp_path / "data") == before
    assert typed(*words, "out")[0] == 0
    before = contents(tmp_path / "out")
    assert "holds a finished run already" in typed(*words, "out")[2]
    said, errors = typed(*DEMO, "--out", "out")[1:]
    assert "holds a run, not a demo" in errors
    assert said == ""  # refused before anything is played
    assert "holds a run, not a comparison" in typed(*COMPARE, "--out", "out")[2]
    assert contents(tmp_path / "out") == before


def test_what_a_person_puts_into_a_run_folder_stays(typed, tmp_path, monkeypatch):
    """Also under a name that we would use: then the run stops there, and goes on when it is moved away."""
    write(tmp_path / "a.csv", stream(60))
    monkeypatch.setattr("keyhole.cli._progress.Screen.wants_to_stop", lambda self: self.rows > 0)
    assert typed(*RUN, "--out", "out")[0] == 3
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    (out / "report.html").write_text("precious")
    (out / "journal" / "diary.txt").write_text("precious")
    code, _, errors = typed("run", "--resume", "out")
    assert code == 2
    assert "report.html was not written by keyhole and would be overwritten; move it" in errors
    assert (out / "report.html").read_text() == "precious"
    (out / "report.html").rename(out / "mine.html")
    assert typed("run", "--resume", "out")[0] == 0
    assert (out / "mine.html").read_text() == (out / "journal" / "diary.txt").read_text() == "precious"
    assert {p.name for p in (out / "journal").iterdir()} == {"diary.txt"}


def test_a_comparison_continues_its_own_folder_and_leaves_the_rest(typed, tmp_path):
    assert typed(*COMPARE, "--out", "out")[0] == 0
    (tmp_path / "out" / "jobs" / "list.txt").write_text("precious")
    (tmp_path / "out" / "notes.txt").write_text("precious")
    assert typed(*COMPARE, "--out", "out")[0] == 0
    assert (tmp_path / "out" / "jobs" / "list.txt").read_text() == "precious"
    assert (tmp_path / "out" / "notes.txt").read_text() == "precious"


@pytest.mark.parametrize("name", ["figures", "jobs"])
def test_a_link_in_the_place_of_a_subfolder_is_not_followed(typed, tmp_path, name):
    assert typed(*COMPARE, "--out", "out")[0] == 0
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / name).rename(tmp_path / "old")
    os.symlink(tmp_path / "elsewhere", tmp_path / "out" / name)
    code, _, errors = typed(*COMPARE, "--out", "out")
    assert code == 2
    assert f"out/{name} is a link that keyhole did not make" in errors
    assert not list((tmp_path / "elsewhere").iterdir())


def test_predictions_never_replace_what_is_read_and_other_files_only_by_force(typed, tmp_path):
    write(tmp_path / "a.csv", stream(60))
    assert typed(*RUN, "--out", "out")[0] == 0
    model = tmp_path / "out" / "model.kh"
    os.symlink(tmp_path / "a.csv", tmp_path / "link.csv")
    os.link(tmp_path / "a.csv", tmp_path / "hard.csv")
    (tmp_path / "scores.csv").write_text("precious")
    os.mkfifo(tmp_path / "pipe")
    before = contents(tmp_path / "out") | {"a.csv": (tmp_path / "a.csv").read_bytes()}
    for out in ("a.csv", "link.csv", "hard.csv", "out/model.kh"):
        for force in ((), ("--force",)):
            code, _, errors = typed("predict", model, "a.csv", "--out", out, *force)
            assert (code, f"{out} is what this command reads" in errors) == (2, True)
    assert "scores.csv exists already" in typed("predict", model, "a.csv", "--out", "scores.csv")[2]
    for out in ("out", "pipe"):
        assert "is not an ordinary file" in typed("predict", model, "a.csv", "--out", out, "--force")[2]
    assert contents(tmp_path / "out") | {"a.csv": (tmp_path / "a.csv").read_bytes()} == before
    assert (tmp_path / "scores.csv").read_text() == "precious"
    assert typed("predict", model, "a.csv", "--out", "scores.csv", "--force")[0] == 0
    assert (tmp_path / "scores.csv").read_text().startswith('"row","prediction"')


def test_diagnose_never_replaces_a_file_that_is_there(typed, tmp_path):
    write(tmp_path / "a.csv", stream(200))
    before = (tmp_path / "a.csv").read_bytes()
    (tmp_path / "mine.toml").write_text("# mine")
    for place in ("a.csv", "mine.toml"):
        code, out, _ = typed("diagnose", "a.csv", "--target", "y", "--schema", place)
        assert (code, f"{place} was there already and is kept" in out) == (0, True)
    assert typed("diagnose", "a.csv", "--target", "y", "--schema", "a.csv", "--force")[0] == 2
    assert (tmp_path / "a.csv").read_bytes() == before
    assert (tmp_path / "mine.toml").read_text() == "# mine"
