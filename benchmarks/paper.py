"""DS-OSLRC and DS-POSLRC on the streams of their acceptance test: regret, as a number and against predicting 0.

    python benchmarks/paper.py [--seeds 10] [--jobs 2]

Told nothing but the budget (`tuning="empirical"`), on uniform designs with sigma = 0.1. The seeds are 0, 1, ...: none
of them was used to choose kappa (see kappa.py).
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import keyhole as kh

SETTINGS = {
    "ds-poslrc, d=30 k=5 k0=5, T=4000": dict(name="ds-poslrc", d=30, k=5, k0=5, T=4000),
    "ds-oslrc on squares, d=20 k=4, T=20000": dict(name="ds-oslrc", d=20, k=4, T=20000),
    "ds-oslrc at 2 t^(-1/3), d=20 k=4, T=20000": dict(name="ds-oslrc", d=20, k=4, T=20000, explore="2 t^(-1/3)"),
}


def run(seed, name, d, k, T, k0=0, kappa=None, **options):
    """(regret, regret of predicting 0, support found) of one seed."""
    warnings.simplefilter("ignore", kh.KeyholeWarning)
    X, y, w = kh.streams.synthetic(d, k, T, seed=seed)
    learner = kh.make(name, d=d, k=k, k0=k0, seed=seed, **options)
    if kappa is not None:
        learner.estimate.width = kh.tuning.Empirical(d, kappa)
    regret = kh.play(learner, X, y).regret(w)[-1]
    zero = (y**2).sum() - ((y - X @ w) ** 2).sum()
    return regret, zero, np.array_equal(learner.support, np.flatnonzero(w))


def table(seeds, jobs, settings=SETTINGS):
    """One line per setting."""
    print(f"{'':44}{'regret':>9}{'predict 0':>11}{'share: mean':>13}{'max':>7}{'found':>9}")
    with ProcessPoolExecutor(jobs) as pool:
        for label, setting in settings.items():
            results = list(pool.map(partial(run, **setting), seeds))
            regret, zero, found = (np.array(column) for column in zip(*results, strict=True))
            share = regret / zero
            line = f"{regret.mean():9.1f}{zero.mean():11.1f}{share.mean():13.3f}{share.max():7.3f}"
            print(f"{label:44}{line}{found.sum():6}/{len(results)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    table(range(arguments.seeds), arguments.jobs)
