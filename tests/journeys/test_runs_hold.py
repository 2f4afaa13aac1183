"""Commands that are killed and continued, folders copied and moved, inputs that change, full disks, links."""

import errno
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

import keyhole as kh
from keyhole._internal import atomic_io
from keyhole.core.serialization import DIGEST, to_bytes
from keyhole.runs.run_config import Settings

from .conftest import COMMAND, ends_at_write, environment, stream, write
from .test_killed import BUDGET, RESULTS, RUN, SLOWLY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and limits are Unix's")
COMPARE = ("compare", "synthetic:d=8,k=3", "--algorithms", "ds-oslrc,fixed-random", "--seeds", "2", "--rounds", "200")
FRONTIER = ("frontier", "a.csv", "--target", "y", "--prices", "prices.toml", "--seeds", "2")
SMALL_FRONTIER = (*FRONTIER[:-1], "1", "--levels", "2")
STUDY = ("study", "sampling", "--quick")
PLAN = ("plan", "a.csv", "--target", "y", "--prices", "prices.toml", "-k", "2", "--folds", "2")
LOCKS = (".lock", ".writer")


def content(folder):
    """All files of a folder, without the seconds that something took and the name of the folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in LOCKS]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    if "report.html" in found:
        found["report.html"] = found["report.html"].replace(f"--out {folder.name}".encode(), b"--out")
    if json.loads(found[".keyhole.json"])["kind"] == "comparison":
        found.pop("report.html", None)  # a column of it is the time per row
    for name in found:
        if name.startswith(("jobs/", "parts/")):
            found[name] = without_seconds(json.loads(found[name]))
    return found


def without_seconds(kept):
    """What a job of a comparison or frontier, or a part of a study, kept; its digest is one of the seconds too."""
    outcome = kept.get("outcome", kept)
    if "seconds" in outcome:
        del outcome["seconds"]
        kept.pop("digest", None)
    return kept


def kill_and_continue(keyhole, folder, words, kills, seed):
    """The same command, killed again and again, started again each time: the same bytes as without kills.

    It is killed before a file is in its place, or some work later. Where it comes to its end, it starts in a new
    folder. Gives the numbers of files after which it was killed.
    """
    rng = random.Random(seed)
    keyhole(*words, "--out", "whole")
    whole, out, reached = content(folder / "whole"), folder / "cut", set()
    while kills:
        writes, delay = rng.randint(0, len(whole)), rng.choice([0.0, rng.uniform(0.0, 0.05)])
        code = ends_at_write(folder, signal.SIGKILL, writes, *words, "--out", "cut", delay=delay)
        assert code in (0, -signal.SIGKILL, -signal.SIGPROF)
        if code:
            kills -= 1
            reached.add(writes)
        else:
            assert content(out) == whole
            shutil.rmtree(out)
    keyhole(*words, "--out", "cut")
    assert content(out) == whole
    return reached


def prepare(folder, rows=800):
    write(folder / "a.csv", stream(rows, d=4, seed=3))
    (folder / "prices.toml").write_text("x0 = 1.0\nx1 = 2.0\nx2 = 1.0\nx3 = 0.5\n")


def test_a_killed_comparison_continues_to_the_same_bytes(keyhole, tmp_path):
    keyhole(*COMPARE, "--out", "whole")
    assert ends_at_write(tmp_path, signal.SIGKILL, 5, *COMPARE, "--out", "cut") == -signal.SIGKILL
    assert 0 < len(list((tmp_path / "cut").glob("jobs/*.json"))) < 4
    assert not (tmp_path / "cut" / "report.html").exists()
    keyhole(*COMPARE, "--out", "cut")
    assert content(tmp_path / "cut") == content(tmp_path / "whole")


class Cut(BaseException):
    """The end of a process, as far as this test can have it."""


def cut_and_continue(typed, monkeypatch, folder, words, part):
    """A command that ends after this part of its files, and is started again: the same bytes as without the end."""
    move, moves = atomic_io._move, []
    with monkeypatch.context() as patched:
        patched.setattr(atomic_io, "_move", lambda *names: moves.append(names) or move(*names))
        assert typed(*words, "--out", "whole")[0] == 0
    left = itertools.count(int(part * len(moves)), -1)

    def cut(*names):
        if not next(left):
            raise Cut
        move(*names)

    with monkeypatch.context() as patched:
        patched.setattr(atomic_io, "_move", cut)
        with pytest.raises(Cut):
            typed(*words, "--out", "cut")
    assert not (folder / "cut" / "report.html").exists()
    assert typed(*words, "--out", "cut")[0] == 0
    assert content(folder / "cut") == content(folder / "whole")


@pytest.mark.parametrize("words", [SMALL_FRONTIER, PLAN], ids=lambda words: words[0])
def test_a_command_that_ends_in_its_middle_continues_to_the_same_bytes(typed, monkeypatch, tmp_path, words):
    prepare(tmp_path, rows=150)
    cut_and_continue(typed, monkeypatch, tmp_path, words, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.0, 0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("words", [COMPARE, FRONTIER, STUDY, PLAN], ids=lambda words: words[0])
def test_a_command_that_ends_anywhere_continues_to_the_same_bytes(typed, monkeypatch, tmp_path, words, part):
    prepare(tmp_path)
    cut_and_continue(typed, monkeypatch, tmp_path, words, part)


@pytest.mark.slow
@pytest.mark.parametrize("words", [COMPARE, FRONTIER, STUDY, PLAN], ids=lambda words: words[0])
def test_fifty_kills_and_the_same_bytes(keyhole, tmp_path, words):
    prepare(tmp_path)
    reached = kill_and_continue(keyhole, tmp_path, words, kills=50, seed=1)
    assert len(reached) >= 5, "the kills met the same part again and again"


# -- a run that is not finished


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A whole run, and one that was killed in its middle."""
    folder = tmp_path_factory.mktemp("unfinished")
    write(folder / "a.parquet", stream(5000, seed=1))

    whole = [*COMMAND, "run", "a.parquet", *BUDGET, *SLOWLY, "--out", "whole"]
    subprocess.run(whole, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True)
    assert ends_at_write(folder, signal.SIGKILL, 12, "run", "a.parquet", *RUN, "--out", "cut") == -signal.SIGKILL
    assert (folder / "cut" / "journal" / "checkpoint.kh").exists()
    return folder


@pytest.fixture
def unfinished(played, tmp_path):
    """The same in a folder of this test's own."""
    for name in ("whole", "cut"):
        shutil.copytree(played / name, tmp_path / name)
    return tmp_path


def same_results(folder, whole):
    return all((folder / name).read_bytes() == (whole / name).read_bytes() for name in RESULTS)


def test_two_resumes_at_once(unfinished, begin):
    """One of them goes on; the other says who does, or finds it finished; the results are those of one run."""
    both = [begin("run", "--resume", "cut") for _ in range(2)]
    ends = [(process.communicate(timeout=1200), process.returncode) for process in both]
    assert sorted(code for _, code in ends)[0] == 0
    for (_, err), code in ends:
        assert code in (0, 2)
        assert code == 0 or "is being written by" in err or "finished" in err, err
    assert same_results(unfinished / "cut", unfinished / "whole")


def test_a_folder_that_was_copied_moved_or_renamed_goes_on(unfinished, keyhole):
    (unfinished / "deeper").mkdir()
    shutil.move(unfinished / "cut", unfinished / "deeper" / "moved")  # and `unfinished` itself is a copy
    keyhole("run", "--resume", "deeper/moved")
    assert same_results(unfinished / "deeper" / "moved", unfinished / "whole")


def test_an_input_that_changed_is_not_resumed(unfinished, played, typed):
    # What the kill left half written is nobody's, and may be removed.
    before = {name: data for name, data in content(unfinished / "cut").items() if not name.endswith(".part")}
    source = played / "a.parquet"
    original = source.read_bytes()
    try:
        write(source, stream(5000, seed=2))
        code, _, err = typed("run", "--resume", "cut")
        assert code == 2
        assert err.count("\n") == 1
        assert "a.parquet" in err
        source.unlink()
        code, _, err = typed("run", "--resume", "cut")
        assert code == 2
        assert err.count("\n") == 1
    finally:
        source.write_bytes(original)
    after = content(unfinished / "cut")
    assert {name: data for name, data in after.items() if not name.endswith(".part")} == before


# -- a full disk

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv[1:2] = []
from keyhole.cli import main
main()
"""


def with_limit(folder, size, *words):
    """A command no file of which may be larger than so many bytes."""
    line = [sys.executable, "-c", LIMITED, str(size), *words]
    return subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True, timeout=1200)


def run_on_full_disk(folder, size):
    """A run no file of which may be larger than so many bytes: it ends well, or with one sentence."""
    words = ("run", "a.parquet", *BUDGET, "--algorithm", "fixed-random", "--out", f"full-{size}")
    found = with_limit(folder, size, *words)
    assert "Traceback" not in found.stderr, found.stderr[-2000:]
    assert not found.returncode or found.stderr.strip().count("\n") == 0, found.stderr
    return found.returncode, words


def fill_at(tmp_path, keyhole, sizes):
    """A run that meets a full disk at different writes, and goes on with more room."""
    write(tmp_path / "a.parquet", stream(1500, seed=1))
    keyhole("run", "a.parquet", *BUDGET, "--algorithm", "fixed-random", "--out", "whole")
    refused = 0
    for size in sizes:
        code, words = run_on_full_disk(tmp_path, size)
        if code:
            refused += 1
            again = ("run", "--resume", f"full-{size}") if (tmp_path / f"full-{size}" / "run.json").exists() else words
            keyhole(*again)
        assert same_results(tmp_path / f"full-{size}", tmp_path / "whole"), size
    return refused


def test_a_full_disk(tmp_path):
    write(tmp_path / "a.parquet", stream(1500, seed=1))
    assert run_on_full_disk(tmp_path, 20_000)[0] in (2, 3)


def test_a_command_that_meets_a_full_disk_names_the_file(typed, tmp_path, monkeypatch):
    prepare(tmp_path, rows=150)
    move = atomic_io._move

    def full(temporary, path, over):
        if not path.name.startswith("."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        move(temporary, path, over)

    with monkeypatch.context() as patched:
        patched.setattr(atomic_io, "_move", full)
        code, _, err = typed(*PLAN, "--out", "out")
    assert code == 3
    assert re.fullmatch(r"keyhole: cannot write out/\S+ \(No space left on device\); make room, .*\n", err), err
    assert not list((tmp_path / "out").glob("*.part"))
    assert typed(*PLAN, "--out", "out")[0] == 0


@pytest.mark.slow
def test_a_full_disk_at_every_write(tmp_path, keyhole):
    assert fill_at(tmp_path, keyhole, [0, 50, 200, 500, 1000, 2000, 5000, 8000, 12_000, 20_000, 40_000, 80_000]) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("words", [COMPARE, FRONTIER, STUDY, PLAN], ids=lambda words: words[0])
def test_other_commands_on_a_full_disk(tmp_path, keyhole, words):
    """One sentence, and the same bytes once there is room."""
    prepare(tmp_path, rows=300)
    keyhole(*words, "--out", "whole")
    refused = 0
    for size in (0, 100, 1000, 5000, 20_000):
        found = with_limit(tmp_path, size, *words, "--out", f"full-{size}")
        assert "Traceback" not in found.stderr, found.stderr[-2000:]
        if found.returncode:
            refused += 1
            assert found.stderr.strip().count("\n") == 0, found.stderr
            keyhole(*words, "--out", f"full-{size}")
        assert content(tmp_path / f"full-{size}") == content(tmp_path / "whole"), size
    assert refused >= 3


# -- archives and links


def with_members(path, members, attributes=0):
    """Write a model file with these members: an archive that ends with the digest of all bytes before."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = attributes
            archive.writestr(entry, data)
        archive.comment = b"0" * DIGEST
    body = path.read_bytes()[:-DIGEST]
    path.write_bytes(body + atomic_io.digest(body).encode())


@pytest.mark.parametrize("place", ["../outside", "{root}/outside", "a/../../outside", "C:\\outside"])
def test_names_that_leave_the_folder_are_not_followed(tmp_path, monkeypatch, place):
    """A model file is a zip archive whose members are read into memory: foreign ones and links mean nothing."""
    place = place.format(root=tmp_path)
    learner = kh.make("fixed-random", d=4, k=2, seed=0)
    model, odd, folder = tmp_path / "model.kh", tmp_path / "odd.kh", tmp_path / "folder"
    learner.save(model)
    with zipfile.ZipFile(model) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    folder.mkdir()
    monkeypatch.chdir(folder)
    before = sorted(tmp_path.rglob("*"))
    foreign = {f"{place}.txt": b"x", f"{place}.npy": members["order.npy"]}
    link = 0o120777 << 16
    for more, attributes in (({}, 0), (foreign, 0), ({}, link)):
        with_members(odd, members | more, attributes)
        assert to_bytes(kh.load(odd)) == model.read_bytes()
    assert sorted(tmp_path.rglob("*")) == sorted([*before, odd])


def test_the_command_that_continues_a_run_quotes_its_folder(typed, tmp_path):
    write(tmp_path / "a.csv", stream(60, d=4))
    words = ("run", "a.csv", "--target", "y", "-k", "2", "--algorithm", "fixed-random", "--out", "my run")
    assert typed(*words)[0] == 0
    path = tmp_path / "my run" / "run.json"
    replace(Settings.read(path), status="running").write(path)
    for refused in (words, ("report", "my run")):
        code, _, err = typed(*refused)
        assert (code, err.strip().endswith("continue it with: keyhole run --resume 'my run'")) == (2, True)


@pytest.mark.parametrize("out", [("--out", "it's out"), ("--out=it's out",)], ids=["two words", "one word"])
def test_the_command_that_repeats_a_damaged_copy_is_into_the_copy_and_works(typed, tmp_path, out):
    write(tmp_path / "a.csv", stream(60, d=4))
    assert typed("run", "a.csv", *out, "--target", "y", "-k", "2", "--algorithm", "fixed-random")[0] == 0
    shutil.copytree(tmp_path / "it's out", tmp_path / "my copy")
    (tmp_path / "my copy" / "summary.json").write_text("{}")
    for words in (("run", "--resume", "my copy"), ("report", "my copy")):
        code, _, err = typed(*words)
        assert code == 2
        assert "my copy/summary.json is damaged" in err
        advice, again = err.strip().split(", then: ")
        assert advice.endswith("to repeat the run, rename 'my copy'")
    (tmp_path / "my copy").rename(tmp_path / "renamed")
    assert typed(*shlex.split(again)[1:])[0] == 0
    assert (tmp_path / "my copy" / "rounds.parquet").read_bytes() == (
        tmp_path / "renamed" / "rounds.parquet"
    ).read_bytes()


def test_a_link_in_a_folder_of_results_is_not_written_through(typed, tmp_path):
    write(tmp_path / "a.csv", stream(60, d=4))
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious.txt").write_text("mine")
    words = ("run", "a.csv", "--target", "y", "-k", "2", "--algorithm", "fixed-random", "--out", "out")
    assert typed(*words)[0] == 0
    shutil.rmtree(tmp_path / "out" / "figures", ignore_errors=True)
    (tmp_path / "out" / "figures").symlink_to(tmp_path / "victim", target_is_directory=True)
    marker = json.loads((tmp_path / "out" / ".keyhole.json").read_text())
    marker["files"] += ["../victim/precious.txt", "figures/precious.txt"]
    (tmp_path / "out" / ".keyhole.json").write_text(json.dumps(marker))
    code, _, err = typed(*words, "--force")
    assert code == 2
    assert err.count("\n") == 1
    assert (tmp_path / "victim" / "precious.txt").read_text() == "mine"
    assert os.listdir(tmp_path / "victim") == ["precious.txt"]
