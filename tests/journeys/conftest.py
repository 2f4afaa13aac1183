"""The command as a person types it: a process of its own in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import keyhole as kh
from keyhole.cli import main

COMMAND = [sys.executable, "-m", "keyhole.cli"]


def environment():
    """Where keyhole is found from an empty folder, installed or not."""
    home = str(Path(kh.__file__).parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join([home, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])}


@pytest.fixture
def keyhole(tmp_path):
    """keyhole("run", ...) in a process of its own; gives what it printed and its exit code."""

    def call(*words, check=True):
        done = subprocess.run(
            [*COMMAND, *map(str, words)], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=1200
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    return call


@pytest.fixture
def begin(tmp_path):
    """begin("run", ...) starts a process and does not wait for it."""
    started = []

    def call(*words):
        started.append(
            subprocess.Popen(
                [*COMMAND, *map(str, words)],
                cwd=tmp_path,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield call
    for process in started:
        process.kill()
        process.communicate()


DIES = """
import itertools, os, signal, sys
from keyhole._internal import atomic_io

number, left, delay, move = int(sys.argv[1]), itertools.count(int(sys.argv[2]), -1), float(sys.argv[3]), atomic_io._move

def last_move(*names):
    if not next(left):
        if delay:
            signal.setitimer(signal.ITIMER_PROF, delay)
        else:
            os.kill(os.getpid(), number)
    move(*names)

atomic_io._move = last_move
sys.argv[:4] = ["keyhole"]
from keyhole.cli import main
main()
"""


def ends_at_write(folder, number, writes, *words, delay=0.0):
    """Run a command that gets this signal before it moves the next file into its place, after so many; its exit code.

    With a delay it is SIGPROF, which ends a process like SIGKILL, after that much more work, in seconds of the
    processor. Nobody has to be quick: a signal from outside may come too late on a busy machine.
    """
    line = [sys.executable, "-c", DIES, str(int(number)), str(writes), str(delay), *map(str, words)]
    return subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True).returncode


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """typed("run", ...) in this process: quick; gives exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["keyhole", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as exit:
            code = exit.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def stream(rows, d=8, seed=0):
    """A table with columns x0, x1, ... in [-1, 1] and the label y."""
    X, y, _ = kh.streams.synthetic(d, 3, rows, seed=seed)
    return {f"x{i}": X[:, i].copy() for i in range(d)} | {"y": np.clip(y, -1, 1)}


def write(path, columns):
    """Columns as CSV or Parquet."""
    table = pa.table(columns)
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        pa.parquet.write_table(table, path)
    return path
