"""Last year's complete table makes the first new row almost as good as the last."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import Curve, curves


def main(folder: Path) -> None:
    X, y, w = kh.streams.synthetic(d=100, k=4, T=2500, sigma=0.1, seed=1)
    last_year, this_year = slice(0, 500), slice(500, 2500)
    known = X[last_year].copy()
    known[np.random.default_rng(0).random(known.shape) < 0.3] = np.nan  # a third of the tests was never made
    fresh = kh.make("thrifty", d=100, k=4, seed=0)
    taught = kh.make("thrifty", d=100, k=4, seed=0)
    taught.learn(known, y[last_year])  # free
    lines = []
    for name, learner in (("no past rows", fresh), ("500 past rows, 30 % of the cells missing", taught)):
        regret = kh.play(learner, X[this_year], y[this_year]).regret(w)
        print(f"{name}: regret {regret[99]:.2f} after 100 rows, {regret[-1]:.2f} after 2 000")
        lines.append(Curve(name, regret[9::10]))
    rows = np.arange(10, 2001, 10, dtype=float)
    figure = curves("What last year's table is worth", rows, lines, "rows", "regret", cumulative=True)
    figure.save(folder / "last_years_table.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
