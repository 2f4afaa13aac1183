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


def test_a_comparison_prints_its_table_and_continues_where_it_stopped(typed, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    words = (*COMPARE, "--rounds", "300", "--out", "a")
    code, out, _ = typed(*words, "--seeds", "2")
    assert code == 0
    assert "regret at T (median, 10-90 %)" in out
    assert "the Dantzig estimate was zero in all 17 explorations (gamma" in out
    assert "its support is arbitrary" in out
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "jobs").iterdir()}
    assert len(first) == 6
    assert typed(*words, "--seeds", "3")[0] == 0
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "jobs").iterdir()}
    assert len(after) == 9
    assert {path: after[path] for path in first} == first
    table = pq.read_table(tmp_path / "a" / "results.parquet").to_pydict()
    assert table["seed"] == [0, 1, 2] * 3
    assert set(table["attributes_per_row"][-3:]) == {8.0}


def test_what_an_earlier_command_played_stays_in_the_report(typed, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    words = ("compare", "synthetic:d=8,k=3", "--rounds", "100", "--seeds", "2", "--out", "a")
    assert typed(*words, "--algorithms", "vaw,rda")[0] == 0
    code, out, _ = typed(*words, "--algorithms", "fixed-random", "--sort", "regret")
    assert code == 0
    assert sorted(line.split()[0] for line in out.splitlines()[2:5]) == ["fixed-random", "rda", "vaw"]
    table = pq.read_table(tmp_path / "a" / "results.parquet").to_pydict()
    assert table["algorithm"] == ["fixed-random"] * 2 + ["rda"] * 2 + ["vaw"] * 2
    page = (tmp_path / "a" / "report.html").read_text()
    assert all(name in page for name in ("vaw", "rda", "fixed-random"))
    other = ("compare", "synthetic:d=8,k=3", "--rounds", "90", "--seeds", "2", "--out", "a")
    assert "rda" not in typed(*other, "--algorithms", "vaw")[1]  # not as long: another comparison
    assert typed(*words, "--algorithms", "vaw", "--sort", "beauty")[0] == 2


def test_a_damaged_job_is_run_again_and_said(typed, tmp_path):
    words = ("compare", "synthetic:d=8,k=3", "--algorithms", "fixed-random", "--rounds", "100", "--out", "a")
    assert typed(*words, "--seeds", "2")[0] == 0
    before = results(tmp_path / "a")
    paths = sorted((tmp_path / "a" / "jobs").iterdir())
    flipped = bytearray(paths[0].read_bytes())
    flipped[len(flipped) // 2] ^= 2
    paths[0].write_bytes(flipped)
    paths[1].write_text("[" * 100_000)
    code, out, _ = typed(*words, "--seeds", "2")
    assert code == 0
    assert out.count("was damaged: its job was run again") == 2
    assert results(tmp_path / "a") == before
    assert "was damaged" not in typed(*words, "--seeds", "2")[1]


def test_a_comparison_plans_with_money_and_shows_every_curve(typed, tmp_path):
    from .conftest import stream, write

    write(tmp_path / "a.csv", {name: 50 * values for name, values in stream(200).items()})
    (tmp_path / "prices.toml").write_text("x0 = 5\nx1 = 0.5\n")
    words = ("compare", "a.csv", "--target", "y", "--rounds", "200", "--seeds", "1", "-k", "3", "--out", "a")
    names = "thrifty,fixed-random,vaw,rda,ds-oslrc,aer,ito2017-2"
    code, _, errors = typed(*words, "--algorithms", names, "--budget-per-row", "2")
    assert (code, "--budget-per-row M needs to know what things cost" in errors) == (2, True)
    code, out, _ = typed(
        *words, "--algorithms", names, "--budget-per-row", "2", "--prices", "prices.toml", "--sort", "price"
    )
    assert code == 0
    assert "are set aside to estimate them, and no learner plays those rows" in out
    found = pq.read_table(tmp_path / "a" / "results.parquet").to_pydict()
    price = dict(zip(found["algorithm"], found["price_per_row"], strict=True))
    assert price["thrifty"] <= 2.0 < price["vaw"]
    assert len(list((tmp_path / "a" / "figures").glob("regret-*.svg"))) == 1  # seven curves in one chart
    svg = (tmp_path / "a" / "figures" / "regret-1.svg").read_text()
    assert all(f">{name}" in svg for name in names.split(","))


def test_what_cannot_play_is_named_at_once(typed):
    words = ("compare", "synthetic:d=8,k=2", "--rounds", "50", "--seeds", "1", "--out", "a")
    code, _, errors = typed(*words, "--algorithms", "ds-oslrc,vaw,ds-poslrc,kale2017-dantzig")
    assert code == 2
    assert all(f"{name}" in errors for name in ("ds-oslrc", "ds-poslrc", "kale2017-dantzig"))
    assert "vaw" not in errors
    assert "\\n" not in errors  # one line, however many are refused
    code, out, _ = typed(*words, "--algorithms", "ds-poslrc,vaw", "-k", "3", "--k0", "3")
    assert code == 0
    assert "vaw (reference)" in out
    code, _, errors = typed("compare", "synthetic:d=8,k=3,T=100", "--algorithms", "vaw", "--out", "b")
    assert (code, "use --rounds 100" in errors) == (2, True)
    assert typed(*words[:-1], "q", "-k", "3", "--algorithms", "ds-oslrc[tuning='theory']")[0] == 0


def test_in_order_the_seeds_of_a_learner_that_draws_nothing_are_one_run(typed, tmp_path):
    from .conftest import stream, write

    write(tmp_path / "a.csv", stream(200))
    words = ("compare", "a.csv", "--target", "y", "--algorithms", "vaw,fixed-random", "-k", "3", "--seeds", "2")
    assert "vaw draws nothing: its 2 seeds" in typed(*words, "--in-order", "--out", "a")[1]
    assert "are one run" not in typed(*words, "--out", "b")[1]


def test_the_numbers_do_not_depend_on_how_many_processes_there_are(typed, keyhole, tmp_path):
    words = (*COMPARE, "--rounds", "300", "--seeds", "3")
    assert typed(*words, "--out", "one")[0] == 0
    keyhole(*words, "--out", "two", "--jobs", "2")
    assert results(tmp_path / "one") == results(tmp_path / "two")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compare", "synthetic:d=8,k=9", "--algorithms", "vaw", "--out", "a"), "1 <= k <= d"),
        (("compare", "synthetic:d=8,q=9", "--algorithms", "vaw", "--out", "a"), "write synthetic:d=20"),
        (("compare", "synthetic:d=8,k=3", "--algorithms", "vow", "--out", "a"), "did you mean 'vaw'"),
        (("compare", "synthetic:d=8,k=3", "--algorithms", "vaw,vaw", "--out", "a"), "'vaw' is listed twice"),
        (
            ("compare", "synthetic:d=8,k=3", "--algorithms", "vaw", "--executor", "ray", "--out", "a"),
            "no executor 'ray'",
        ),
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


@pytest.mark.slow  # in the suite Dask's answers are compared with joblib's: test_engines, test_frontier
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
        process = begin(*words, "--executor", f"dask={address}", "--out", "dask")
        jobs = tmp_path / "dask" / "jobs"
        while not jobs.exists() or len(list(jobs.iterdir())) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        os.kill(int(victim), signal.SIGKILL)
        assert len(list(jobs.iterdir())) < 16  # in the middle
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        keyhole(*words, "--out", "here")
        assert results(tmp_path / "dask") == results(tmp_path / "here")
    finally:
        cluster.terminate()
        cluster.communicate()
