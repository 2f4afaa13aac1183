"""The power fails at any system call of a run, and what was not forced to the disk is gone: it goes on all the same.

The layer stands under `keyhole._internal.atomic_io`. It follows every call that changes a disk and knows what would be
found after a cut: of a file the bytes at its last fsync, of a folder the names at its own last fsync (or, on another
file system, all names at once: both must do).
"""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole import runs
from keyhole._internal import atomic_io
from keyhole._internal.output_folder import Folder

from .test_lifecycle import RESULTS, Silent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the name of an open file in /proc")


class Disk:
    """What is on the disk (`safe`) and what a process sees (`seen`): names to contents, None for a folder."""

    def __init__(self, root):
        self.root, self.safe, self.seen, self.cuts = str(root), {}, {}, []
        self.os = SimpleNamespace(**{name: getattr(os, name) for name in dir(os)})
        for name in ("fsync", "replace", "link", "unlink", "mkdir", "rmdir"):
            setattr(self.os, name, self._following(name))

    def _following(self, name):
        def call(*arguments):
            result = getattr(os, name)(*arguments)
            getattr(self, f"_{name}")(*arguments)
            self.cuts.append((dict(self.safe), dict(self.seen)))
            return result

        return call

    def _fsync(self, descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            self.safe = {name: content for name, content in self.safe.items() if os.path.dirname(name) != path}
            self.safe |= {name: content for name, content in self.seen.items() if os.path.dirname(name) == path}
        else:
            with open(path, "rb") as file:
                self.seen[path] = file.read()

    def _replace(self, old, new):
        self.seen[str(new)] = self.seen.pop(str(old), b"")

    def _link(self, old, new):
        self.seen[str(new)] = self.seen[str(old)]

    def _unlink(self, path):
        self.seen.pop(str(path), None)

    def _mkdir(self, path):
        self.seen[str(path)] = None

    def _rmdir(self, path):
        self.seen.pop(str(path), None)

    def after(self, cut, names_too, place):
        """The run folder as it is found after a cut."""
        found = cut[0] if names_too else cut[1]
        for name in sorted(found):
            path = place / os.path.relpath(name, self.root)
            if found[name] is None:
                path.mkdir(parents=True, exist_ok=True)
            elif path.parent.is_dir():  # a file whose folder did not survive did not survive
                path.write_bytes(found[name])
        return place / "out"


def publish(folder, data):
    atomic_io.write_atomically(folder.file("report.html"), b"the report")


@pytest.fixture
def plan(tmp_path):
    X, y, _ = kh.streams.synthetic(5, 2, 150, seed=4)
    columns = {f"x{i}": X[:, i] for i in range(5)} | {"y": np.clip(y, -1, 1)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    return runs.prepare(runs.RunConfig(tmp_path / "a.parquet", "y", k=2, algorithm="fixed-random"))


def cuts_of(plan, root, monkeypatch):
    """A whole run, and what each of its system calls left on the disk."""
    disk = Disk(root)
    with monkeypatch.context() as patch:
        patch.setattr(atomic_io, "os", disk.os)
        assert runs.begin(plan, root / "out", Silent(), publish, every=0.0)
    return disk


def assert_goes_on(plan, folder, whole):
    if Folder.find(folder) is None or not (folder / "run.json").exists():
        assert runs.begin(plan, folder, Silent(), publish)
    else:
        assert runs.resume(folder, Silent(), publish)
    runs.find(folder)  # every result is what its digest says
    for name in (*RESULTS, "report.html"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize("names_too", [True, False])
def test_the_power_fails_at_some_calls(plan, tmp_path, monkeypatch, names_too):
    check(plan, tmp_path, monkeypatch, names_too, step=12)


@pytest.mark.slow
@pytest.mark.parametrize("names_too", [True, False])
def test_the_power_fails_at_any_call(plan, tmp_path, monkeypatch, names_too):
    check(plan, tmp_path, monkeypatch, names_too, step=1)


def check(plan, tmp_path, monkeypatch, names_too, step):
    disk = cuts_of(plan, tmp_path / "whole", monkeypatch)
    assert len(disk.cuts) > 80
    ended = disk.after(disk.cuts[-1], names_too, tmp_path / "ended")
    assert runs.find(ended)[1].status == "finished"  # when it says so it is safe, to the last result
    for i, cut in list(enumerate(disk.cuts))[::-step]:
        folder = disk.after(cut, names_too, tmp_path / f"cut{i}")
        assert_goes_on(plan, folder, tmp_path / "whole" / "out")
