"""Seconds from the first POST to a fresh server to its answer, and those of the second: the least of a few servers.

python benchmarks/first_post.py [--best-of 5] [--source PATH_OF_ANOTHER_VERSIONS_SRC]

The first POST makes a `thrifty`, the second asks it; the goal is 0.5 for the first. The server listens on 127.0.0.1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def post(address: str, path: str, body: dict[str, object]) -> float:
    """Seconds of one call."""
    data, head = json.dumps(body).encode(), {"Content-Type": "application/json"}
    start = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(address + path, data, head)) as answer:
        answer.read()
    return time.perf_counter() - start


def serve(source: Path) -> tuple[float, float, float]:
    """From start to the first healthy answer, then the two POSTs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "keyhole.cli", "serve", "--store", f"sqlite:///{folder}/s.db", "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        start = time.perf_counter()
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
            with urllib.request.urlopen(f"{address}/healthz") as answer:
                assert answer.status == 200
            healthy = time.perf_counter() - start
            body = {"name": "a", "algorithm": "thrifty", "d": 20, "k": 4, "seed": 0}
            return healthy, post(address, "/v1/learners", body), post(address, "/v1/learners/a/rounds", {})
        finally:
            server.terminate()
            server.communicate()


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--best-of", type=int, default=5)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    asked = parser.parse_args()
    healthy, first, second = (
        min(times) for times in zip(*(serve(asked.source) for _ in range(asked.best_of)), strict=True)
    )
    print(f"healthy after {healthy:.2f} s; first POST {first:.3f} s, second {second:.3f} s")


if __name__ == "__main__":
    main()
