"""Journey 2: a comparison that continues, and does not depend on who does the work."""

import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from .conftest import environment

COMPARE = ("compare", "synthetic:d=8,k=3,sigma=0.1", "--algorithms", "ds-oslrc[tuning=theory],fixed-random,vaw")
RESULTS = ("results.parquet", "curves.parquet")


def results(folder):
    return [(folder / name).read_bytes() for name in RESULTS]


def test_a_comparison_prints_its_table_and_continues_where_it_stopped(typed, tmp_path):
    words = (*COMPARE, "--rounds", "300", "--out", "a")
    code, out, _ = typed(*words, "--seeds", "2")
    assert code == 0
    assert "regret at T (median, 10-90 %)" in out
    assert "kept w = 0 in 17/17 explorations (gamma" in out
    assert "tie-break, not a choice" in out
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "jobs").iterdir()}
    assert len(first) == 6
    assert typed(*words, "--seeds", "3")[0] == 0
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "jobs").iterdir()}
    assert len(after) == 9
    assert {path: after[path] for path in first} == first
    table = pq.read_table(tmp_path / "a" / "results.parquet").to_pydict()
    assert table["seed"] == [0, 1, 2] * 3
    assert set(table["attributes_per_row"][-3:]) == {8.0}


def test_the_numbers_do_not_depend_on_how_many_processes_there_are(keyhole, tmp_path):
    words = (*COMPARE, "--rounds", "300", "--seeds", "3")
    keyhole(*words, "--out", "one")
    keyhole(*words, "--out", "two", "--jobs", "2")
    assert results(tmp_path / "one") == results(tmp_path / "two")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compare", "synthetic:d=8,k=9", "--algorithms", "vaw", "--out", "a"), "1 <= k <= d"),
        (("compare", "synthetic:d=8,q=9", "--algorithms", "vaw", "--out", "a"), "write synthetic:d=20"),
        (("compare", "synthetic:d=8,k=3", "--algorithms", "vow", "--out", "a"), "did you mean 'vaw'"),
        (("compare", "synthetic:d=8,k=3", "--algorithms", "vaw,vaw", "--out", "a"), "'vaw' is listed twice"),
        (("compare", "synthetic:d=8,k=3", "--algorithms", "vaw", "--engine", "ray", "--out", "a"), "no engine 'ray'"),
        (("compare", "nowhere.csv", "--algorithms", "vaw", "--out", "a"), "nowhere.csv: no such file"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused_before_it_runs(typed, tmp_path, words, told):
    code, _, errors = typed(*words)
    assert code == 2
    assert told in errors
    assert not (tmp_path / "a").exists()


CLUSTER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, *(w.pid for w in cluster.workers.values()), flush=True)
    time.sleep(300)
"""


def test_a_worker_of_a_dask_cluster_may_die(begin, keyhole, tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    cluster = subprocess.Popen(
        [sys.executable, "cluster.py"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        address, victim, _ = cluster.stdout.readline().split()
        words = ("compare", "synthetic:d=8,k=3", "--algorithms", "ds-oslrc[explore=1],vaw")
        words = (*words, "--rounds", "800", "--seeds", "8")
        process = begin(*words, "--engine", f"dask={address}", "--out", "dask")
        jobs = tmp_path / "dask" / "jobs"
        while not jobs.exists() or len(list(jobs.iterdir())) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        os.kill(int(victim), signal.SIGKILL)
        assert len(list(jobs.iterdir())) < 16  # in the middle
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        keyhole(*words, "--out", "here")
        assert results(tmp_path / "dask") == results(tmp_path / "here")
    finally:
        cluster.terminate()
        cluster.communicate()
