"""The estimates of `kh.footprint` beside what learners take: `python benchmarks/footprint.py [NAME ...]`.

Every label depends on all attributes, so that supports are filled as far as the rows allow. Prints processor seconds,
estimated and measured, of building and of the slowest round, and exits with 1 if one is measured to take more than ten
times its estimate. An estimate may be far above: the slow round that it means need not come in so few rounds. Memory is
checked in `tests/unit/core/test_footprint.py`; times are not, because a test must not depend on a quiet machine.
"""

import sys
import time
import warnings

import numpy as np

import keyhole as kh

ROUNDS, SECONDS, FACTOR, LEAST = 200, 20.0, 10.0, 0.01
SIZES = {"foster2016": (14,), "support-bandit": (14,), "gibbs-thompson": (60, 120)}


def worst_times(name: str, d: int, k: int, k0: int) -> tuple[float, float]:
    """Seconds to build, and of the slowest of the first rounds."""
    begin = time.process_time()
    support = {"support": list(range(k))} if name == "oracle-support" else {}
    learner = kh.make(name, d=d, k=k, k0=k0, seed=0, **support)
    build, worst, end = time.process_time() - begin, 0.0, begin + SECONDS
    rng = np.random.default_rng(0)
    weights = rng.choice([-1.0, 1.0], d) / np.sqrt(d)
    for _ in range(ROUNDS):
        row = rng.uniform(-1, 1, d)
        begin = time.process_time()
        r = learner.ask()
        more = (r.extra, row[r.extra]) if len(r.extra) else ()
        learner.predict(r, row[r.attributes])
        learner.tell(r, row[r.attributes], float(row @ weights), *more)
        worst = max(worst, time.process_time() - begin)
        if begin > end:
            break
    return build, worst


def main() -> int:
    warnings.simplefilter("ignore")
    bad = 0
    print(f"{'':20}{'d':>6}{'k':>6}{'build: said':>13}{'was':>9}{'round: said':>13}{'was':>9}")
    for a in kh.list_algorithms():
        if sys.argv[1:] and a.name not in sys.argv[1:]:
            continue
        for d in SIZES.get(a.name, (300, 1000)):
            for k in [d] if a.buys_all else [5, d // 2, d - 3]:
                k0 = 3 if a.needs_k0 else 0
                worst_times(a.name, 12, 5, k0) if not a.buys_all else None  # imports what it needs
                said = kh.footprint(a.name, d, k, k0)
                build, worst = worst_times(a.name, d, k, k0)
                low = build > LEAST + FACTOR * said.build_seconds or worst > LEAST + FACTOR * said.round_seconds
                bad += low
                times = f"{said.build_seconds:13.2g}{build:9.2g}{said.round_seconds:13.2g}{worst:9.2g}"
                print(f"{a.name:20}{d:6}{k:6}{times}{'  TOO LOW' if low else ''}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
