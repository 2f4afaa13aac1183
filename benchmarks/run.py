"""`keyhole run` on a Parquet file beside `play` on the same rows in memory: rows per second, and memory by length.

python benchmarks/run.py [--expected-rows 2000000] [--d 100] [--k 5] [--rounds 3]

Everything runs in a process of its own. Speeds are of the whole process, less what it takes for a hundred rows (start,
imports), by the clock and by CPU time over all its threads.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import keyhole as kh

GROUP = 100_000


class Cost(NamedTuple):
    """What a process took."""

    wall: float
    cpu: float
    megabytes: float

    def rate(self, start: "Cost", rows: int) -> tuple[float, float]:
        """Rows per second of the clock and of CPU time, without the start."""
        return rows / (self.wall - start.wall), rows / (self.cpu - start.cpu)


def write_table(path: Path, rows: int, d: int) -> None:
    """Uniform columns and a label of five of them, in row groups of 100 000."""
    names = [*(f"x{i}" for i in range(d)), "y"]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for first in range(0, rows, GROUP):
            X, y = block(first, min(GROUP, rows - first), d)
            writer.write_table(pa.table([*X.T, y], names=names))


def block(first: int, rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows after the first `first`."""
    rng = np.random.default_rng([first, d])
    X = rng.uniform(-1, 1, (rows, d))
    return X, X[:, :5] @ np.array([0.3, -0.25, 0.2, -0.15, 0.1]) + 0.1 * rng.standard_normal(rows)


def cost_of(*words: str) -> Cost:
    """Run a Python process to its end."""
    start = perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words} failed")
    return Cost(perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def cost_of_run(folder: Path, rows: int, k: int) -> Cost:
    """`keyhole run` on the file of that many rows."""
    out = folder / f"out-{len(list(folder.iterdir()))}"
    return cost_of(
        *("-m", "keyhole.cli", "run", str(folder / f"{rows}.parquet")),
        *("--target", "y", "-k", str(k), "--algorithm", "thrifty", "--out", str(out)),
    )


def play(rows: int, d: int, k: int) -> None:
    """`play` in this process, with the array made beforehand; prints what it took."""
    X, y = np.empty((rows, d)), np.empty(rows)
    for first in range(0, rows, GROUP):
        X[first : first + GROUP], y[first : first + GROUP] = block(first, min(GROUP, rows - first), d)
    kh.play(kh.make("thrifty", d=d, k=k, seed=0), X[:100], y[:100], keep=False)
    wall, cpu = perf_counter(), os.times()
    kh.play(kh.make("thrifty", d=d, k=k, seed=0), X, y, keep=False)
    now = os.times()
    print(perf_counter() - wall, now.user + now.system - cpu.user - cpu.system)


def rate_of_play(rows: int, d: int, k: int) -> tuple[float, float]:
    """Rows per second of the clock and of CPU time."""
    words = [sys.executable, __file__, "--play", "--expected-rows", str(rows), "--d", str(d), "--k", str(k)]
    wall, cpu = map(float, subprocess.check_output(words, text=True).split())
    return rows / wall, rows / cpu


def compare(rows: int, d: int, k: int, rounds: int) -> None:
    """Alternate the two and print medians, then memory by length."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = [rows // 10, rows // 2, rows]
        for length in (100, *lengths):
            write_table(folder / f"{length}.parquet", length, d)
        start = cost_of_run(folder, 100, k)
        pairs = [(cost_of_run(folder, rows, k), rate_of_play(rows, d, k)) for _ in range(rounds)]
        print(f"{rows:,} rows, {d} attributes, k = {k}; medians of {rounds}, alternating")
        print(f"{'':12}{'keyhole run':>14}{'play':>14}{'ratio':>8}")
        for i, clock in enumerate(("wall", "CPU")):
            ours = median(cost.rate(start, rows)[i] for cost, _ in pairs)
            theirs = median(rate[i] for _, rate in pairs)
            print(f"rows/s {clock:5}{ours:14,.0f}{theirs:14,.0f}{ours / theirs:8.2f}")
        peaks = [cost_of_run(folder, length, k).megabytes for length in lengths[:-1]] + [pairs[-1][0].megabytes]
        print("peak memory " + ", ".join(f"{p:.0f} MB at {n:,}" for p, n in zip(peaks, lengths, strict=True)))


def main() -> None:
    """Compare, or play where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"rows": 2_000_000, "d": 100, "k": 5, "rounds": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--play", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.play:
        play(asked.rows, asked.d, asked.k)
    else:
        compare(asked.rows, asked.d, asked.k, asked.rounds)


if __name__ == "__main__":
    main()
