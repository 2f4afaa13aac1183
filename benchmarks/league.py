"""The league: every learner that lives on k of d attributes, on four public streams.

    python benchmarks/league.py [--seeds 10] [NAME ...]

Each entry is the regret after T = 20000 rows divided by that of predicting 0 (so 1 is "learnt nothing"), mean over the
seeds, with the 10-90 % band. Learners come from `kh.algorithms()` by their setting and play their defaults; the grid
from which each peer's default was chosen, on other seeds, is printed below the table. The last rows are references
that see more than the budget allows.
"""

import argparse
from time import perf_counter

import numpy as np

import keyhole as kh
from _bench import STREAMS, Job, Outcome, run_all
from grids import GRIDS, chosen, text


def entrants() -> tuple[list[str], list[str]]:
    """The names of the learners on a budget of k of d without extra attributes, and of the references."""
    budgeted = [a.name for a in kh.algorithms() if a.setting.startswith("k of d") and "then" not in a.setting]
    references = [a.name for a in kh.algorithms() if a.setting.startswith(("d of d", "reference"))]
    return budgeted, references


def cell(outcomes: list[Outcome]) -> str:
    """Mean and 10-90 % band, or a dash where the learner refuses the stream."""
    relative = np.array([o.relative for o in outcomes])
    if np.isnan(relative).any():
        return "-"
    low, high = np.quantile(relative, (0.1, 0.9))
    return f"{relative.mean():.4f} ({low:.4f} - {high:.4f})"


def print_table(names: list[str], outcomes: dict[str, list[Outcome]]) -> None:
    """One row per learner, the best on average first."""
    means = {n: np.mean([o.relative for o in outcomes[n] if not np.isnan(o.relative)] or [np.inf]) for n in names}
    for name in sorted(names, key=lambda n: means[n]):
        by_stream = [[o for o in outcomes[name] if o.job.stream == stream] for stream in STREAMS]
        seconds = np.mean([o.seconds for o in outcomes[name]])
        print(f"{name:20s}" + "".join(f"{cell(part):>27s}" for part in by_stream) + f"{seconds:9.2f}")


def print_settings(names: list[str]) -> None:
    """What was tried for each peer, and what its default is."""
    for name in names:
        if name in GRIDS:
            print(f"{name}: {text(chosen(name))}\n    of " + "; ".join(f"{a} in {v}" for a, v in GRIDS[name].items()))
        else:
            print(f"{name}: its defaults (no grid in grids.py)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0, 1, ... of the streams and of the learners")
    parser.add_argument("names", nargs="*", help="only these learners")
    given = parser.parse_args()
    budgeted, references = ([n for n in part if not given.names or n in given.names] for part in entrants())
    names = budgeted + references
    jobs = [Job(name, (), stream, seed) for name in names for stream in STREAMS for seed in range(given.seeds)]
    start = perf_counter()
    results = run_all(jobs)
    outcomes = {name: [o for o in results if o.job.algorithm == name] for name in names}
    print(f"regret relative to predicting 0: mean over {given.seeds} seeds (10-90 %), T = {STREAMS[0].T}")
    print(f"{'':20s}" + "".join(f"{stream!s:>27s}" for stream in STREAMS) + f"{'s/run':>9s}")
    for part in (budgeted, references):
        print_table(part, outcomes)
        print()
    print("settings chosen on seeds 100 and up (python benchmarks/tune.py NAME prints every point of a grid)")
    print_settings(names)
    for refusal in sorted({f"{o.job.algorithm} on {o.job.stream}: {o.refusal}" for o in results if o.refusal}):
        print(f"refused: {refusal}")
    print(f"\n{len(jobs)} runs in {perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
