"""Choose a peer's default: its grid on the league's streams, with seeds of its own.

    python benchmarks/tune.py aelr rda
    python benchmarks/tune.py aelr average=3.0      # only the part of the grid with this value
    python benchmarks/tune.py ds-oslrc seeds=6      # seeds 100 to 105 instead of 100 and 101

The score of a setting is the geometric mean, over the four streams, of the mean regret relative to predicting 0.
"""

import sys

import numpy as np

from _bench import STREAMS, Job, Options, run_all
from grids import GRIDS, chosen, points, text

FIRST = 100


def scores(name: str, grid: list[Options], seeds: range) -> list[tuple[float, list[float], Options]]:
    """(score, mean per stream, setting) of every grid point, best first."""
    jobs = [Job(name, options, stream, seed) for options in grid for stream in STREAMS for seed in seeds]
    relative = np.array([o.relative for o in run_all(jobs)]).reshape(len(grid), len(STREAMS), len(seeds)).mean(axis=2)
    score = np.exp(np.log(np.maximum(relative, 1e-12)).mean(axis=1))
    return sorted(zip(score.tolist(), relative.tolist(), grid, strict=True), key=lambda row: row[0])


def main(words: list[str]) -> None:
    only = dict(word.split("=", 1) for word in words if "=" in word)
    seeds = range(FIRST, FIRST + int(only.pop("seeds", 2)))
    for name in [word for word in words if "=" not in word] or list(GRIDS):
        grid = [p for p in points(name) if all(str(value) == only.get(axis, str(value)) for axis, value in p)]
        print(f"\n{name}: seeds {list(seeds)}, T = {STREAMS[0].T}; score, then {', '.join(map(str, STREAMS))}")
        for score, per_stream, options in scores(name, grid, seeds):
            mark = "  <- the default" if dict(options) == dict(chosen(name)) else ""
            print(f"{score:9.5f}  " + " ".join(f"{r:9.5f}" for r in per_stream) + f"  {text(options)}{mark}")


if __name__ == "__main__":
    main(sys.argv[1:])
