"""Journey 6: a run that is interrupted or killed, however often, equals one that was not, byte for byte."""

import json
import random
import signal
import sys
import time

import pytest

from .conftest import ends_at_write, stream, write

RESULTS = ("rounds.parquet", "ledger.parquet", "model.kh")
BUDGET = ("--target", "y", "-k", "3", "--checkpoint-every", "0")
SLOWLY, COMPILED = ("--algorithm", "ds-oslrc[explore=0.1]"), ("--algorithm", "thrifty")
RUN = (*BUDGET, *SLOWLY)


def checkpoint_of(folder):
    path = folder / "journal" / "checkpoint.kh"
    return path.stat().st_mtime_ns if path.exists() else 0


def wait_for_checkpoints(process, folder, count):
    """Until the process has written so many checkpoints, or has ended."""
    seen = checkpoint_of(folder)
    while count and process.poll() is None:
        now = checkpoint_of(folder)
        count -= now != seen
        seen = now
        time.sleep(0.001)


def stop_at_random(begin, folder, words, rng, signals):
    """Stop a run again and again, resume it each time, and let it end; gives the exit codes."""
    codes = []
    for sign in (*signals, None):
        resumed = ("run", "--resume", folder.name, "--checkpoint-every", "0")
        process = begin(*(resumed if (folder / "run.json").exists() else words))
        if sign is not None:
            wait_for_checkpoints(process, folder, rng.randint(1, 8))
            time.sleep(rng.uniform(0, 0.03))
            process.send_signal(sign)
        process.communicate(timeout=600)
        codes.append(process.returncode)
    return codes


@pytest.fixture
def uninterrupted(keyhole, tmp_path):
    def play(name, rows, learner):
        file = write(tmp_path / name, stream(rows, seed=1))
        keyhole("run", file.name, *BUDGET, *learner, "--out", "whole")
        return file

    return play


def assert_equal_results(folder, whole):
    for name in RESULTS:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name


def test_killed_and_resumed_equals_uninterrupted(keyhole, uninterrupted, tmp_path):
    file, folder = uninterrupted("a.parquet", 5000, SLOWLY), tmp_path / "cut"
    resumed = ("run", "--resume", "cut", "--checkpoint-every", "0")
    killed = ends_at_write(tmp_path, signal.SIGKILL, 9, "run", file.name, *RUN, "--out", "cut")
    assert killed == -signal.SIGKILL
    assert ends_at_write(tmp_path, signal.SIGINT, 9, *resumed) == 3
    keyhole(*resumed)
    starts = [s["first_row"] for s in json.loads((folder / "timing.json").read_text())["sessions"]]
    assert 1 < starts[-1] <= 5000  # it really went on in the middle
    assert_equal_results(folder, tmp_path / "whole")
    assert not (folder / "journal").exists()


@pytest.mark.slow
@pytest.mark.parametrize("learner", [SLOWLY, COMPILED])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_killed_twelve_times_and_resumed_equals_uninterrupted(begin, uninterrupted, tmp_path, name, learner):
    file, folder = uninterrupted(name, 12_000, learner), tmp_path / "cut"
    words = ("run", file.name, *BUDGET, *learner, "--out", "cut")
    signals = random.Random(2).choices([signal.SIGKILL, signal.SIGINT, signal.SIGTERM], [4, 1, 1], k=12)
    codes = stop_at_random(begin, folder, words, random.Random(1), signals)
    assert codes[-1] == 0
    assert set(codes) <= {0, 3, -signal.SIGKILL, -signal.SIGTERM}
    assert_equal_results(folder, tmp_path / "whole")


def test_control_c_says_how_to_continue_and_two_processes_know_of_each_other(begin, keyhole, tmp_path):
    file, folder = write(tmp_path / "a.parquet", stream(300_000)), tmp_path / "out"
    first = begin("run", file.name, *RUN, "--out", "out")
    wait_for_checkpoints(first, folder, 1)
    second = keyhole("run", "--resume", "out", check=False)
    assert second.returncode == 2
    holder = f"process {first.pid}" if sys.platform == "linux" else "another process"
    assert f"out is being written by {holder}" in second.stderr
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=600)
    assert first.returncode == 3
    assert "interrupted at row" in out
    assert "continue with: keyhole run --resume out" in out
