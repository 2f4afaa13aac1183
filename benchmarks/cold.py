"""CPU seconds of a fresh process from import to the first 100 rows played, per learner: the least of a few.

python benchmarks/cold.py [thrifty ds-oslrc ds-poslrc ...] [--best-of 5] [--source PATH_OF_ANOTHER_VERSIONS_SRC]

The goal is 0.6 each. The first process of each learner is left out: it may write bytecode.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

PLAY = """
import sys, time, warnings
import keyhole as kh
warnings.simplefilter("ignore")
X, y, _ = kh.streams.synthetic(d=20, k=4, T=100, seed=0)
kh.play(kh.make(sys.argv[1], d=20, k=4, k0=int(sys.argv[2]), seed=0), X, y)
print(time.process_time())
"""
# How many extras the learners of the other setting need.
EXTRAS = {"ds-poslrc": 4}


def start(name: str, source: Path) -> float:
    """CPU seconds of one process that plays 100 rows."""
    command = [sys.executable, "-c", PLAY, name, str(EXTRAS.get(name, 0))]
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return float(out.stdout)


def main() -> None:
    """Print a line per learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["thrifty", "ds-oslrc", "ds-poslrc"])
    parser.add_argument("--best-of", type=int, default=5)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    asked = parser.parse_args()
    print(f"{'learner':24s} {'first, CPU s':>13s} {'CPU s':>8s}")
    for name in asked.names:
        first = start(name, asked.source)
        best = min(start(name, asked.source) for _ in range(asked.best_of))
        print(f"{name:24s} {first:13.2f} {best:8.2f}", flush=True)


if __name__ == "__main__":
    main()
