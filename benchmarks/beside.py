"""Speed beside another version of the package: the engine, learners and single calls, both versions taking turns.

python benchmarks/beside.py PATH_OF_THE_OTHER_VERSIONS_SRC [--turns 5] [--only engine,calls,...]

Prints microseconds of CPU time per round (of a call: of the clock, the median) of both, the median over the turns, and
new / old, the median of the ratios of turns that follow one another. Each version has one process, which plays
everything once before.
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
warnings.simplefilter("ignore")

def engine(name, d, k, T):
    rng, seq = np.random.default_rng(0), kh.dantzig.Sequence(d)
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

def made(name, d, k):
    options = {"support": list(range(k))} if name == "oracle-support" else {}
    try:
        return kh.make(name, d=d, k=k, seed=0, **options)
    except kh.ConfigError:  # it buys after the label
        return kh.make(name, d=d, k=k, k0=k, seed=0, **options)

def play(name, d, k, T):
    X, y, _ = kh.streams.synthetic(d=d, k=min(k, 5), T=T, seed=0)
    learner = made(name, d, k)
    start = time.process_time()
    kh.play(learner, X, y)
    return time.process_time() - start

def calls(name, d, k, T):
    which, _, name = name.partition(":")
    X, y, _ = kh.streams.synthetic(d=d, k=k, T=T, seed=0)
    learner, spent, clock = made(name, d, k), dict(ask=[], predict=[], tell=[]), time.perf_counter
    for x, label in zip(X, y.tolist()):
        start = clock()
        r = learner.ask()
        asked = clock()
        values, extra = x[r.attributes], learner.ask_more(r)
        more = x[extra]
        before = clock()
        learner.predict(r, values)
        predicted = clock()
        learner.tell(r, values, label, extra, more)
        told = clock()
        for key, seconds in zip(spent, (asked - start, predicted - before, told - predicted)):
            spent[key].append(seconds)
    return float(np.median(spent[which])) * T  # the median: a call that was interrupted is not ours

for line in sys.stdin:
    kind, name, *sizes = line.split()
    d, k, T = map(int, sizes)
    print({"engine": engine, "play": play, "calls": calls}[kind](name, d, k, T) / T * 1e6, flush=True)
"""
LINES = [
    ("engine", "simplex", 20, 5, 1000),
    ("engine", "simplex", 100, 5, 1000),
    ("engine", "simplex", 100, 10, 1000),
    ("engine", "simplex", 500, 10, 500),
    ("play", "ds-oslrc", 100, 5, 100_000),
    ("play", "ds-poslrc", 50, 5, 1000),
    ("play", "thrifty", 20, 5, 20_000),
    ("play", "thrifty", 100, 5, 20_000),
    ("play", "thrifty", 500, 10, 10_000),
    ("play", "ito2017-1", 20, 5, 4000),
    ("play", "ito2017-2", 20, 5, 20_000),
    ("play", "ito2017-3", 20, 5, 20_000),
    ("play", "kale2017-dantzig", 20, 5, 2000),
    ("play", "kale2017-greedy", 20, 5, 4000),
    ("play", "foster2016", 12, 3, 2000),
    ("play", "support-bandit", 12, 3, 4000),
    ("play", "murata2018-explore", 20, 5, 10_000),
    ("play", "murata2018-hybrid", 20, 5, 20_000),
    ("play", "aer", 20, 5, 20_000),
    ("play", "aelr", 20, 5, 20_000),
    ("play", "explore-then-commit", 20, 5, 4000),
    ("play", "gibbs-thompson", 20, 5, 2000),
    ("play", "fixed-random", 20, 5, 100_000),
    ("play", "vaw", 20, 20, 20_000),
    ("play", "olin-lasso", 20, 20, 4000),
    ("play", "rda", 20, 20, 20_000),
    ("play", "i-lamm", 20, 20, 4000),
    *(("calls", f"{call}:{name}", 20, 5, 2000)
      for name in ("thrifty", "ds-oslrc", "ds-poslrc") for call in ("ask", "predict", "tell")),
]  # fmt: skip


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
    """Times of both, turn by turn; the first turn is left out."""
    for turn in range(n + 1):
        times = new.play(line), old.play(line)
        if turn:
            yield times


def main() -> None:
    """Print a line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default="", help="kinds (engine, play, calls) or names, with commas")
    asked = parser.parse_args()
    new, old = Version(Path(__file__).parents[1] / "src"), Version(asked.other.absolute())
    print(f"{'':30s} {'d':>4s} {'k':>3s} {'new, us':>9s} {'old, us':>9s} {'new/old':>8s}")
    only = set(filter(None, asked.only.split(",")))
    for line in (line for line in LINES if not only or only & {line[0], line[1]}):
        times = np.array(list(turns(new, old, line, asked.turns)))
        (a, b), ratio = np.median(times, axis=0), np.median(times[:, 0] / times[:, 1])
        name = f"{line[0]} {line[1]}"
        print(f"{name:30s} {line[2]:4d} {line[3]:3d} {a:9.2f} {b:9.2f} {ratio:8.2f}", flush=True)
    for version in (new, old):
        version.process.communicate()


if __name__ == "__main__":
    main()
