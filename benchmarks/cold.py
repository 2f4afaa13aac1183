"""From an empty cache to the first 100 rows played: CPU seconds of a fresh process, best of a few, per learner.

python benchmarks/cold.py [thrifty ds-oslrc ds-oslrc,ds-poslrc ...] [--best-of 3]

A name with commas is a chain: the time of its last learner, in a fresh process, after the others filled the cache.
"""

import argparse
import os
import subprocess
import sys
import tempfile

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


def start(name: str, cache: str) -> float:
    """CPU seconds of one process that plays 100 rows with what the cache holds."""
    command = [sys.executable, "-c", PLAY, name, str(EXTRAS.get(name, 0))]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return float(out.stdout)


def cold(chain: str) -> tuple[float, float]:
    """From an empty cache, and once more from the cache it left."""
    *before, name = chain.split(",")
    with tempfile.TemporaryDirectory() as cache:
        for other in before:
            start(other, cache)
        return start(name, cache), start(name, cache)


def main() -> None:
    """Print a line per learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["thrifty", "ds-oslrc", "ds-oslrc,ds-poslrc"])
    parser.add_argument("--best-of", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'learner':24s} {'cold, CPU s':>12s} {'again':>8s}")
    for name in asked.names:
        times = [cold(name) for _ in range(asked.best_of)]
        print(f"{name:24s} {min(c for c, _ in times):12.1f} {min(w for _, w in times):8.1f}", flush=True)


if __name__ == "__main__":
    main()
