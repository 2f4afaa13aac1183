"""A run folder in the hands of a person: whatever they do to it, their files stay and the run ends as it should."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import keyhole as kh
from keyhole import runs
from keyhole._internal import atomic_io

from .test_lifecycle import RESULTS, Silent

NAMES = ("notes.txt", "report.html", "rounds.parquet", "journal/mine.txt", "figures/mine.svg", "run.csv")


def publish(folder, data):
    atomic_io.write_atomically(folder.file("report.html"), b"the report")


class RunFolder(RuleBasedStateMachine):
    """Begin, stop, resume, kill while publishing; add, remove and rename files; flip bits."""

    @initialize()
    def make(self):
        self.place = tempfile.TemporaryDirectory()
        self.root = Path(self.place.name)
        X, y, _ = kh.streams.synthetic(5, 2, 200, seed=4)
        columns = {f"x{i}": X[:, i] for i in range(5)} | {"y": np.clip(y, -1, 1)}
        pq.write_table(pa.table(columns), self.root / "a.parquet")
        self.plan = runs.prepare(runs.RunConfig(self.root / "a.parquet", "y", k=2, algorithm="fixed-random"))
        runs.begin(self.plan, self.root / "whole", Silent(), publish)
        self.out = self.root / "out"
        self.mine, self.damaged, self.finished = {}, False, False

    def attempt(self, act):
        """What keyhole may answer: it works, or one sentence."""
        try:
            ended = act()
        except (kh.ConfigError, kh.StateError) as fault:
            return str(fault)
        self.finished = self.finished or bool(ended)
        return None

    @rule(stop=st.none() | st.integers(1, 200))
    def begin(self, stop):
        held = (self.out / "run.json").exists()
        empty = not self.out.exists() or not any(self.out.iterdir())
        told = self.attempt(lambda: runs.begin(self.plan, self.out, Silent(stop), publish, every=0.0))
        assert not held or told
        assert not empty or told is None

    @rule(stop=st.none() | st.integers(1, 200))
    def resume(self, stop):
        told = self.attempt(lambda: runs.resume(self.out, Silent(stop), publish, every=0.0))
        assert "\n" not in (told or "")
        ours_taken = any(word in (told or "") for word in ("was not written by keyhole", "there is no run"))
        assert told is None or ours_taken or self.damaged, told

    @rule()
    def die_while_publishing(self):
        class Killed(BaseException):
            pass

        def die(folder, data):
            raise Killed

        with contextlib.suppress(Killed):
            self.attempt(lambda: runs.resume(self.out, Silent(), die, every=0.0))

    @rule(name=st.sampled_from(NAMES), content=st.binary(max_size=8))
    def put(self, name, content):
        path = self.out / name
        if not path.exists() and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self.mine[path] = content

    @precondition(lambda self: self.mine)
    @rule(data=st.data())
    def take_away(self, data):
        path = data.draw(st.sampled_from(sorted(self.mine)))
        path.unlink()
        del self.mine[path]

    @precondition(lambda self: not self.finished and (self.out / "journal").is_dir())
    @rule(data=st.data())
    def damage(self, data):
        ours = sorted(p for p in (self.out / "journal").iterdir() if p not in self.mine)
        if ours:
            path = data.draw(st.sampled_from(ours))
            content = bytearray(path.read_bytes())
            content[data.draw(st.integers(0, len(content) - 1))] ^= 4
            path.write_bytes(content)
            self.damaged = True

    @invariant()
    def what_a_person_put_there_is_there(self):
        for path, content in getattr(self, "mine", {}).items():
            assert path.read_bytes() == content

    @invariant()
    def a_finished_run_is_right(self):
        if getattr(self, "finished", False):
            runs.find(self.out)
            for name in RESULTS:
                assert (self.out / name).read_bytes() == (self.root / "whole" / name).read_bytes(), name

    def teardown(self):
        if hasattr(self, "place"):
            self.place.cleanup()


TestRunFolder = RunFolder.TestCase
TestRunFolder.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)
