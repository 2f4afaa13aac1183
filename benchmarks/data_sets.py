"""The data sets that `kh.data.load` knows, as the two tables of docs/data.md show them.

python benchmarks/data_sets.py

R2 of least squares on all rows, missing cells at the mean of their column: with all columns, with the best 5 (greedy),
and with 5 at random (median of 300 draws). Then, for nhanes-panels, the mean squared error of the best baskets.
"""

import numpy as np

import keyhole as kh

K, DRAWS = 5, 300
BASKETS = (
    (),
    ("height",),
    ("waist",),
    ("height", "waist"),
    ("height", "waist", "questions on weight"),
    ("height", "waist", "questions on weight", "diet recall", "blood pressure"),
)


def r2(C, columns):
    """1 - mse / variance of least squares on these columns; the label is the last of C, the covariances."""
    S = list(columns)
    c = C[S, -1]
    return float(c @ np.linalg.lstsq(C[np.ix_(S, S)], c, rcond=None)[0] / C[-1, -1])


def greedy(C, k):
    chosen = []
    for _ in range(k):
        rest = [j for j in range(len(C) - 1) if j not in chosen]
        chosen.append(max(rest, key=lambda j: r2(C, [*chosen, j])))
    return chosen


def of_set(name):
    found = kh.data.load(name)
    d = found.X.shape[1]
    C = np.corrcoef(np.column_stack([found.X, found.y]).T)
    rng = np.random.default_rng(0)
    lucky = [r2(C, rng.choice(d, min(K, d), replace=False)) for _ in range(DRAWS)]
    numbers = r2(C, range(d)), r2(C, greedy(C, min(K, d))), float(np.median(lucky))
    print(f"{name:14s} n {len(found.y):6d}  d {d:4d}  R2 " + " / ".join(f"{v:.3f}" for v in numbers), flush=True)


def panels():
    found = kh.data.load("nhanes-panels")
    free = [found.names.index(name) for name in found.free]
    C = np.cov(np.column_stack([found.X, found.y]).T, bias=True)
    every = tuple(found.prices)
    for basket in (*BASKETS, every):
        columns = free + [found.names.index(n) for s in basket for n in found.sources.get(s, [s])]
        mse = C[-1, -1] * (1 - r2(C, columns))
        label = "everything" if basket == every else ", ".join(basket) or "nothing (age and sex)"
        print(f"{label:72s} {mse:6.2f}  {sum(found.prices[s] for s in basket):5.0f} USD")


if __name__ == "__main__":
    for each in kh.data.names():
        try:
            of_set(each)
        except kh.ConfigError as missing:
            print(f"{each:14s} {missing}")
    panels()
