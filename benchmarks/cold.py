"""How long a newcomer waits: `python benchmarks/cold.py [learner ...]`, from an empty cache to the first 100 rows.

Each learner starts in a process of its own with an empty cache folder; CPU seconds of the whole process, best of three.
`ds-poslrc` is also measured after `ds-oslrc`, whose kernels it shares.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
GOALS = {"thrifty": 12.0, "ds-oslrc": 8.0, "ds-poslrc after ds-oslrc": 2.0}
CODE = """
import sys, keyhole as kh
name = sys.argv[1]
X, y, _ = kh.streams.synthetic(d=20, k=4, T=100, seed=1)
kh.play(kh.make(name, d=20, k=4, seed=0, **({"k0": 4} if name == "ds-poslrc" else {})), X, y)
"""


def cpu_seconds(name: str, cache: str) -> float:
    """CPU time of a process that plays 100 rows."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-W", "ignore", "-c", CODE, name], env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(names: list[str]) -> float:
    """The time of the last of the learners, each in turn from the cache that those before it left."""
    with tempfile.TemporaryDirectory() as cache:
        return [cpu_seconds(name, cache) for name in names][-1]


def main() -> None:
    cases = {name: [name] for name in sys.argv[1:] or ("thrifty", "ds-oslrc")}
    if not sys.argv[1:]:
        cases["ds-poslrc after ds-oslrc"] = ["ds-oslrc", "ds-poslrc"]
    for label, names in cases.items():
        best = min(measure(names) for _ in range(3))
        goal = GOALS.get(label)
        print(f"{label:28} {best:6.1f} s" + (f"   goal {goal:4.0f} {'met' if best <= goal else 'NOT'}" if goal else ""))


if __name__ == "__main__":
    main()
