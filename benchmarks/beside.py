"""Speed beside another version of the package: the engine and learners, CPU time, both versions taking turns.

python benchmarks/beside.py PATH_OF_THE_OTHER_VERSIONS_SRC [--turns 5]

Prints microseconds per round of both, the median over the turns, and new / old, the median of the ratios of turns that
follow one another. Each version has one process of its own that has compiled, and played, everything once before.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PLAYER = """
import sys, time, warnings
import numpy as np
import keyhole as kh
from keyhole.estimation.dantzig import Sequence
warnings.simplefilter("ignore")

def engine(d, k, T):
    rng, seq = np.random.default_rng(0), Sequence(d)
    P = np.full((k, k), k * (k - 1) / (d * (d - 1)))
    np.fill_diagonal(P, k / d)
    w = np.zeros(d)
    w[:5] = 0.2
    spent, share = 0.0, 0.5
    for t in range(2 * T):
        B, x = rng.choice(d, k, replace=False), rng.uniform(-1, 1, d)
        h, v = np.outer(x[B], x[B]) / P, x[B] * (x @ w + 0.1 * rng.normal()) * d / k
        start = time.process_time()
        seq.update(B, h, v)
        share = min(0.95, share * (1.01 if seq.simplex.m > 2 * k else 0.99))
        seq.solve(share * seq.gamma_max)
        spent += (t >= T) * (time.process_time() - start)
    return spent

def learner(name, d, k, T):
    X, y, _ = kh.streams.synthetic(d=d, k=k, T=T, seed=0)
    made = kh.make(name, d=d, k=k, k0=k if name == "ds-poslrc" else 0, seed=0)
    start = time.process_time()
    kh.play(made, X, y)
    return time.process_time() - start

for line in sys.stdin:
    name, *sizes = line.split()
    d, k, T = map(int, sizes)
    spent = engine(d, k, T) if name == "engine" else learner(name, d, k, T)
    print(spent / T * 1e6, flush=True)
"""
LINES = [
    ("engine", 20, 5, 1000),
    ("engine", 100, 5, 1000),
    ("engine", 100, 10, 1000),
    ("engine", 500, 10, 500),
    ("ds-oslrc", 100, 5, 100_000),
    ("ds-poslrc", 50, 5, 1000),
    ("thrifty", 20, 5, 20_000),
    ("thrifty", 100, 5, 20_000),
    ("thrifty", 500, 10, 10_000),
]


class Version:
    """One process with the package of one source folder."""

    def __init__(self, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", PLAYER],
            env=environment,
            text=True,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
        )

    def play(self, line: tuple[object, ...]) -> float:
        """Microseconds of CPU per round."""
        assert self.process.stdin
        assert self.process.stdout
        print(*line, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def turns(new: Version, old: Version, line: tuple[object, ...], n: int) -> Iterator[tuple[float, float]]:
    """Times of both, turn by turn; the first turn, which compiles, is left out."""
    for turn in range(n + 1):
        times = new.play(line), old.play(line)
        if turn:
            yield times


def main() -> None:
    """Print a line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    new, old = Version(Path(__file__).parents[1] / "src"), Version(asked.other.absolute())
    print(f"{'':10s} {'d':>4s} {'k':>3s} {'new, us':>9s} {'old, us':>9s} {'new/old':>8s}")
    for line in LINES:
        times = np.array(list(turns(new, old, line, asked.turns)))
        (a, b), ratio = np.median(times, axis=0), np.median(times[:, 0] / times[:, 1])
        print(f"{line[0]:10s} {line[1]:4d} {line[2]:3d} {a:9.1f} {b:9.1f} {ratio:8.2f}", flush=True)
    for version in (new, old):
        version.process.communicate()


if __name__ == "__main__":
    main()
