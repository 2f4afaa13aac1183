"""The league: every learner that lives on k of d attributes, on four public streams.

    python benchmarks/league.py [--seeds 10] [NAME ...]

Each entry is the regret after T = 20000 rows divided by that of predicting 0 (so 1 is "learnt nothing"), mean over the
seeds, with the 10-90 % band. Learners come from `kh.list_algorithms()` by their setting and play their defaults
(where these are the paper's letter, also the best of their grid: "tuned"); the grid from which each peer's setting
was chosen, on other seeds, is printed below the table. The last rows are references that see more than the budget
allows.
"""

import argparse
from time import perf_counter
from typing import TypeAlias

import numpy as np

import keyhole as kh
from _bench import STREAMS, Job, Options, Outcome, run_all
from grids import GRIDS, TUNED, chosen, text
from peers import CASES

Entrant: TypeAlias = tuple[str, Options]


def entrants(only: list[str]) -> tuple[list[Entrant], list[Entrant]]:
    """The learners on a budget of k of d without extra attributes, and the references."""
    known = [a for a in kh.list_algorithms() if not only or a.name in only]
    budgeted = [a.name for a in known if not (a.buys_all or a.oracle) and not a.needs_k0]
    references = [a.name for a in known if a.buys_all or a.oracle]
    tuned = [(name, tuple(TUNED[name].items())) for name in budgeted if name in TUNED]
    return [(name, ()) for name in budgeted] + tuned, [(name, ()) for name in references]


def title(entrant: Entrant) -> str:
    return entrant[0] + (" (tuned)" if entrant[1] else "")


def cell(outcomes: list[Outcome]) -> str:
    """Mean and 10-90 % band, or a dash where the learner refuses the stream."""
    relative = np.array([o.relative for o in outcomes])
    if np.isnan(relative).any():
        return "-"
    low, high = np.quantile(relative, (0.1, 0.9))
    return f"{relative.mean():.4f} ({low:.4f} - {high:.4f})"


def mean(outcomes: list[Outcome]) -> float:
    """Over the streams that the learner accepts; the last place for one that accepts none."""
    return float(np.mean([o.relative for o in outcomes if not np.isnan(o.relative)] or [np.inf]))


def print_table(part: list[Entrant], outcomes: dict[Entrant, list[Outcome]]) -> None:
    """One row per learner, the best on average first."""
    for entrant in sorted(part, key=lambda e: mean(outcomes[e])):
        by_stream = [[o for o in outcomes[entrant] if o.job.stream == stream] for stream in STREAMS]
        seconds = np.mean([o.seconds for o in outcomes[entrant]])
        print(f"{title(entrant):20s}" + "".join(f"{cell(part):>27s}" for part in by_stream) + f"{seconds:9.2f}")


def print_lead(budgeted: list[Entrant], outcomes: dict[Entrant, list[Outcome]]) -> None:
    """How far `thrifty` is ahead of the best of the others on each stream, or behind it."""
    for stream in STREAMS:
        means = {e: mean([o for o in outcomes[e] if o.job.stream == stream]) for e in budgeted}
        others = {e: value for e, value in means.items() if e[0] not in ("thrifty", "fixed-random")}
        if ("thrifty", ()) in means and others:
            best = min(others, key=lambda e: others[e])
            ratio = others[best] / means["thrifty", ()]
            print(f"{stream!s}: the best of the others is {title(best)}, with {ratio:.2f} times the regret of thrifty")


def print_settings(everyone: list[Entrant]) -> None:
    """What was tried for each peer, and what it plays."""
    for entrant in everyone:
        name, options = entrant
        if name in GRIDS:
            axes = "; ".join(f"{axis} in {values}" for axis, values in GRIDS[name].items())
            print(f"{title(entrant)}: {text(options or chosen(name))}\n    of {axes}")
        for case in (c for c in CASES if c.name == name and not c.fixed):
            tried = "; ".join(text(tuple(point.items())) for point in case.grid)
            print(f"{name}: {case.default}\n    or, one at a time, {tried} (by peers.py, on streams of its own)")
        if name not in GRIDS and name not in {c.name for c in CASES}:
            print(f"{name}: its defaults, no grid")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0, 1, ... of the streams and of the learners")
    parser.add_argument("names", nargs="*", help="only these learners")
    given = parser.parse_args()
    budgeted, references = entrants(given.names)
    everyone = budgeted + references
    jobs = [Job(*entrant, stream, seed) for entrant in everyone for stream in STREAMS for seed in range(given.seeds)]
    start = perf_counter()
    results = run_all(jobs)
    outcomes = {e: [o for o in results if (o.job.algorithm, o.job.options) == e] for e in everyone}
    print(f"regret relative to predicting 0: mean over {given.seeds} seeds (10-90 %), T = {STREAMS[0].T}")
    print(f"{'':20s}" + "".join(f"{stream!s:>27s}" for stream in STREAMS) + f"{'s/run':>9s}")
    for part in (budgeted, references):
        print_table(part, outcomes)
        print()
    print_lead(budgeted, outcomes)
    print()
    print("settings chosen on seeds 100 and up (python benchmarks/tune.py NAME prints every point of a grid)")
    print_settings(everyone)
    for refusal in sorted({f"{o.job.algorithm} on {o.job.stream}: {o.refusal}" for o in results if o.refusal}):
        print(f"refused: {refusal}")
    print(f"\n{len(jobs)} runs in {perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
