"""A comparison's folder in the hands of a person: however it is stopped, damaged and gone on with, it ends the same."""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from keyhole._internal.atomic_io import read_json, write_json
from keyhole._internal.output_folder import Folder
from keyhole.experiments import Comparison, StreamSpec
from keyhole.experiments.executors import Executor

STREAMS = [StreamSpec.parse("synthetic:d=6,k=2,sigma=0.1")]
ALGORITHMS = ["fixed-random", "vaw"]
ROWS = 40


class Stopped(BaseException):
    """Ctrl-C between two jobs."""


def compare(folder, algorithms, seeds, stop=None):
    """Run a comparison; `stop`: after so many jobs."""

    def progress(done, of):
        if stop is not None and done >= stop:
            raise Stopped

    comparison = Comparison(folder, STREAMS, algorithms, seeds, ROWS, k=2)
    try:
        return comparison.run(Executor("joblib", 1), progress)
    except Stopped:
        return None


def results(folder):
    """What is in results.parquet and curves.parquet."""
    return [pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("results", "curves")]


class ComparisonFolder(RuleBasedStateMachine):
    """Run, stop, go on with more seeds or algorithms; add files; flip bits of jobs."""

    @initialize()
    def make(self):
        self.place = tempfile.TemporaryDirectory()
        self.root = Path(self.place.name)
        self.out, self.mine, self.done = self.root / "out", {}, None
        self.truth = dict(compare(self.root / "whole", ALGORITHMS, 3))

    @rule(algorithms=st.sampled_from([ALGORITHMS, ALGORITHMS[:1], ALGORITHMS[1:]]), seeds=st.integers(1, 3))
    def run(self, algorithms, seeds):
        self.done = None
        pairs = compare(self.out, algorithms, seeds)
        asked = [(a, s) for a in algorithms for s in range(seeds)]
        assert [(job.algorithm, job.seed) for job, _ in pairs][: len(asked)] == asked
        for job, outcome in pairs:
            assert outcome | {"seconds": 0.0} == self.truth[job] | {"seconds": 0.0}
        self.done = results(self.out)

    @rule(stop=st.integers(1, 4), seeds=st.integers(1, 3))
    def run_and_stop(self, stop, seeds):
        self.done = None
        compare(self.out, ALGORITHMS, seeds, stop)

    @precondition(lambda self: (self.out / "jobs").is_dir())
    @rule(data=st.data())
    def damage_a_job(self, data):
        ours = sorted(p for p in (self.out / "jobs").iterdir() if p not in self.mine)
        if ours:
            path = data.draw(st.sampled_from(ours))
            content = bytearray(path.read_bytes())
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.sampled_from([1, 4, 64]))
            path.write_bytes(content)

    @precondition(lambda self: self.out.is_dir())
    @rule(name=st.sampled_from(["notes.txt", "jobs/mine.json", "jobs/mine.txt"]), content=st.binary(max_size=8))
    def put(self, name, content):
        path = self.out / name
        if not path.exists() and path.parent.is_dir():
            path.write_bytes(content)
            self.mine[path] = content

    @invariant()
    def what_a_person_put_there_is_there(self):
        for path, content in getattr(self, "mine", {}).items():
            assert path.read_bytes() == content

    @invariant()
    def what_was_written_stays_written(self):
        if getattr(self, "done", None) is not None:
            assert results(self.out) == self.done
            assert Folder.find(self.out).kind == "comparison"

    def teardown(self):
        if hasattr(self, "place"):
            self.place.cleanup()


TestComparisonFolder = ComparisonFolder.TestCase
TestComparisonFolder.settings = settings(max_examples=8, stateful_step_count=8, deadline=None)


def test_jobs_of_another_version_are_played_again_and_not_read(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("keyhole.experiments.job.__version__", "another")
        compare(tmp_path / "out", ALGORITHMS[:1], 1)
    (other,) = (tmp_path / "out" / "jobs").iterdir()
    write_json(other, {"job": read_json(other)["job"], "result": {}})  # no outcome as we know it
    pairs = compare(tmp_path / "out", ALGORITHMS[:1], 1)
    assert len(pairs) == 1
    assert len(list((tmp_path / "out" / "jobs").iterdir())) == 2
    (mine,) = (path for path in (tmp_path / "out" / "jobs").iterdir() if path != other)
    write_json(mine, {"job": read_json(mine)["job"]})
    assert len(compare(tmp_path / "out", ALGORITHMS[:1], 1)) == 1
