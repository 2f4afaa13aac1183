"""A whole DS-POSLRC run, a solve per round: ours (a compiled block) against engine="highs", and how far they differ.

    python benchmarks/whole_run.py [--rounds 10000]

CPU seconds; the goal is a ratio of 100 at d=100, k=5, k0=10, T=10 000, with the same numbers to 1e-9. HiGHS alone takes
minutes.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import keyhole as kh

D, K, K0, GOAL = 100, 5, 10, 100


def run(rounds: int, engine: str) -> tuple[float, np.ndarray, np.ndarray]:
    """CPU seconds, predictions and final weights of one run."""
    X, y, _ = kh.streams.synthetic(D, K, rounds, seed=1)
    learner = kh.make("ds-poslrc", d=D, k=K, k0=K0, seed=0, engine=engine)
    start = time.process_time()
    history = kh.play(learner, X, y)
    return time.process_time() - start, history.predictions, learner.weights


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10_000)
    rounds = parser.parse_args().rounds
    run(50, "simplex")  # imports
    ours, highs = run(rounds, "simplex"), run(rounds, "highs")
    ratio, differ = (
        highs[0] / ours[0],
        max(float(np.abs(a - b).max()) for a, b in zip(ours[1:], highs[1:], strict=True)),
    )
    print(f"d={D} k={K} k0={K0} T={rounds}: highs {highs[0]:.1f} s, ours {ours[0]:.2f} s, ratio {ratio:.0f} ", end="")
    print(f"(goal {GOAL} {'met' if ratio >= GOAL else 'NOT'}); numbers differ by at most {differ:.0e}")


if __name__ == "__main__":
    main()
