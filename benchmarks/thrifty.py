"""The table of `thrifty`: regret on streams, loss on real tables, the worst prefix, speed and memory.

python benchmarks/thrifty.py [--seeds 20] [--first 1000] [--only streams,edges,tables,speed,memory]
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
import numpy.typing as npt

import keyhole as kh

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stream:
    """A synthetic stream and the mean regret it must stay under."""

    design: str
    d: int
    k: int
    sigma: float
    bar: float
    change: bool = False

    def __str__(self) -> str:
        text = f"{self.design} d={self.d} k={self.k}, sigma {self.sigma}"
        return f"{text}, support changes" if self.change else text

    def rows(self, seed: int, T: int = 20_000) -> tuple[Floats, Floats, Floats]:
        """X, y and the loss of the true weights, row by row."""
        parts = [(T // 2, seed), (T - T // 2, seed + 77_777)] if self.change else [(T, seed)]
        made = [kh.streams.synthetic(self.d, self.k, n, self.sigma, self.design, s) for n, s in parts]
        X, y = np.vstack([X for X, _, _ in made]), np.concatenate([y for _, y, _ in made])
        return X, y, np.concatenate([(y - X @ w) ** 2 for X, y, w in made])


STREAMS = (
    Stream("uniform", 20, 4, 0.1, 14),
    Stream("uniform", 100, 5, 0.1, 48),
    Stream("uniform", 100, 5, 0.3, 130),
    Stream("ar(0.5)", 50, 5, 0.1, 20),
    Stream("ar(0.8)", 50, 5, 0.1, 38),
    Stream("block(5,0.7)", 60, 6, 0.1, 35),
    Stream("equicorrelated(0.3)", 40, 5, 0.1, 18),
    Stream("uniform", 20, 4, 0.1, 50, change=True),
)
# Ratio to the greedy best five in hindsight that must be reached; nan: a control, to be compared with fixed-random.
TABLES = {"deliveries": 1.055, "hotel_rates": 1.08, "randhie": 0.97, "nhanes": 1.08}
CONTROLS = ("check_times", "ames", "toyota", "rf1", "chicago")


def mean_losses(y: Floats) -> Floats:
    """The losses of predicting the running mean, 0 at first."""
    before = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, y.size)])
    return (y - before) ** 2


def worst_prefix(losses: Floats, y: Floats) -> float:
    """Cumulative loss over that of the running mean, at its worst from row 100 on; row 1 left out of both."""
    return float((np.cumsum(losses[1:])[98:] / np.cumsum(mean_losses(y)[1:])[98:]).max())


def run(X: Floats, y: Floats, k: int, seed: int, **options: object) -> Floats:
    """The losses of `thrifty`."""
    return kh.play(kh.make("thrifty", d=X.shape[1], k=k, seed=seed, **options), X, y).losses


def streams(seeds: range) -> None:
    """Regret against the true weights."""
    print(f"\n{'stream (T = 20000)':52s} {'bar':>5s} {'mean':>7s} {'max':>7s} {'predict 0':>9s} {'prefix':>7s}")
    for stream in STREAMS:
        regrets, prefixes, zeros = [], [], []
        for seed in seeds:
            X, y, rival = stream.rows(seed)
            losses = run(X, y, stream.k, seed, **({"half_life": 2000} if stream.change else {}))
            regrets.append(losses.sum() - rival.sum())
            zeros.append((y**2).sum() - rival.sum())
            prefixes.append(worst_prefix(losses, y))
        print(
            f"{stream!s:52s} {stream.bar:5.0f} {np.mean(regrets):7.1f} {max(regrets):7.1f} "
            f"{np.mean(zeros):9.0f} {max(prefixes):7.3f}",
            flush=True,
        )


def _edges(seed: int, T: int = 20_000) -> Iterator[tuple[str, Floats, Floats]]:
    """Streams that are not in the table: raw scales, heavy tails, little or no signal, odd columns."""
    rng = np.random.default_rng(seed)
    X, y, w = kh.streams.synthetic(30, 5, T, seed=seed)
    two, _, v = kh.streams.synthetic(30, 2, T, seed=seed + 1)
    noise = rng.standard_normal(T)
    yield "no signal, sigma 1", X, noise
    yield "two true attributes, k = 5", two, two @ v + 0.1 * noise
    yield "weak signal, sigma 1", X, X @ w + noise
    yield "raw scales and offsets", X * 10.0 ** rng.uniform(-6, 6, 30) + rng.normal(0, 1e6, 30), 1e4 * y - 1e6
    tails = rng.standard_t(2.5, (T, 30))
    yield "t(2.5) columns", tails, tails @ w + 0.1 * noise
    yield "t(2.5) columns and noise", tails, tails @ w + 0.5 * rng.standard_t(2.5, T)
    yield "lognormal columns", np.exp(1.5 * rng.standard_normal((T, 30))), noise + X[:, 0]
    rare = (rng.random((T, 30)) < 0.03).astype(float)
    yield "rare 0/1 columns", rare, rare @ (5 * w) + 0.1 * noise
    signs = np.sign(X)
    yield (
        "+-1 columns, duplicates, constants",
        np.hstack([signs, signs[:, :5], np.ones((T, 5))]),
        signs @ w + 0.1 * noise,
    )


def edges(seeds: range) -> None:
    """Loss over that of the running mean, at the end and at the worst prefix."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        for name, X, y in _edges(seed):
            losses = run(X, y, 5, seed)
            found.setdefault(name, []).append((losses[1:].sum() / mean_losses(y)[1:].sum(), worst_prefix(losses, y)))
    print(f"\n{'other streams (k = 5, T = 20000)':44s} {'loss / running mean: mean':>26s} {'max':>7s} {'prefix':>7s}")
    for name, pairs in found.items():
        ends, prefixes = zip(*pairs, strict=True)
        print(f"{name:44s} {np.mean(ends):26.4f} {max(ends):7.4f} {max(prefixes):7.3f}", flush=True)


def greedy(X: Floats, y: Floats, k: int) -> float:
    """Mean squared error of least squares with intercept on k attributes chosen forward, in hindsight."""
    Z = X - X.mean(0)
    Z = Z[:, Z.std(0) > 0.0] / Z.std(0)[Z.std(0) > 0.0]
    C, c, S = Z.T @ Z, Z.T @ (y - y.mean()), list[int]()
    best = 0.0
    for _ in range(k):
        gains = np.full(c.size, -np.inf)
        for j in set(range(c.size)) - set(S):
            T = [*S, j]
            gains[j] = c[T] @ np.linalg.lstsq(C[np.ix_(T, T)], c[T], rcond=None)[0]
        S.append(int(gains.argmax()))
        best = float(gains.max())
    return float(y.var() - best / y.size)


def tables(seeds: range) -> None:
    """Whole-stream loss over the greedy best five in hindsight, 5000 shuffled raw rows."""
    print(
        f"\n{'table (k = 5)':16s} {'bar':>6s} {'thrifty':>8s} {'median':>7s} {'q90/med':>7s} "
        f"{'max':>7s} {'fixed-random':>12s} {'prefix':>7s}"
    )
    for name in (*TABLES, *CONTROLS):
        try:
            data = kh.data.load(name)
        except kh.ConfigError as fault:
            print(f"{name:16s} left out: {fault}")
            continue
        ours, theirs, prefixes = [], [], []
        for seed in seeds:
            turn = np.random.default_rng(seed).permutation(data.y.size)[:5000]
            X, y = np.ascontiguousarray(data.X[turn]), data.y[turn]
            rival, losses = greedy(X, y, 5), run(X, y, 5, seed)
            fixed = kh.play(kh.make("fixed-random", d=X.shape[1], k=5, seed=seed, standardize=True), X, y).losses
            ours.append(losses[1:].mean() / rival)
            theirs.append(fixed[1:].mean() / rival)
            prefixes.append(worst_prefix(losses, y))
        bar = f"{TABLES[name]:6.3f}" if name in TABLES else f"{'-':>6s}"
        median = np.median(ours)
        print(
            f"{name:16s} {bar} {np.mean(ours):8.4f} {median:7.4f} {np.quantile(ours, 0.9) / median:7.3f} "
            f"{max(ours):7.3f} {np.mean(theirs):12.3f} {max(prefixes):7.3f}",
            flush=True,
        )


def speed() -> None:
    """Rows per second beside River's StandardScaler | LinearRegression, same rows, CPU time, alternating."""
    from river import compose, linear_model, preprocessing

    X, y, _ = kh.streams.synthetic(100, 5, 20_000, seed=0)
    run(X[:500], y[:500], 5, 0)
    keys, few = [f"x{i}" for i in range(100)], 2_000
    ours, theirs = [], []
    for _ in range(3):
        start = process_time()
        run(X, y, 5, 0)
        ours.append(y.size / (process_time() - start))
        model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.LinearRegression())
        start = process_time()
        for row, label in zip(X[:few], y[:few].tolist(), strict=True):
            x = dict(zip(keys, row.tolist(), strict=True))
            model.predict_one(x)
            model.learn_one(x, label)
        theirs.append(few / (process_time() - start))
    ratio = np.median(ours) / np.median(theirs)
    print(
        f"\nspeed, d = 100, k = 5: thrifty {np.median(ours):,.0f} rows/s, river {np.median(theirs):,.0f}: {ratio:.0f} x"
    )


def wordings() -> None:
    """CPU time of panels, prices and totals over that of k alone: the same rows, alternating, the best of three."""
    print(f"\n{'CPU time over that of k alone':40s} {'d = 20':>7s} {'d = 100':>8s}")
    ratios: dict[str, list[float]] = {}
    for d in (20, 100):
        X, y, _ = kh.streams.synthetic(d, 4, 10_000, seed=1)
        panels = {f"p{j}": [f"x{5 * j + i}" for i in range(5)] for j in range(d // 5)}
        ways: dict[str, dict[str, object]] = {
            "k": {"k": 4},
            "panels of five": {"k": 4, "sources": panels},
            "panels with error_cost": {"sources": panels, "prices": dict.fromkeys(panels, 1.0), "error_cost": 300.0},
            "error_cost": {"prices": [1.0] * d, "error_cost": 300.0},
            "total_budget": {"prices": [1.0] * d, "total_budget": 40_000.0, "expected_rows": 10_000},
            "budget_per_row": {"prices": [1.0, 2.0] * (d // 2), "budget_per_row": 6.0},
        }
        best = dict.fromkeys(ways, np.inf)
        for _ in range(3):
            for way, options in ways.items():
                start = process_time()
                kh.play(kh.make("thrifty", d=d, seed=0, **options), X, y, keep=False)
                best[way] = min(best[way], process_time() - start)
        for way in ways:
            ratios.setdefault(way, []).append(best[way] / best["k"])
    for way, each in ratios.items():
        print(f"{way:40s} {each[0]:7.1f} {each[1]:8.1f}")


def _large() -> None:
    """d = 1e5 in 200 panels of 20 and single attributes, k = 20, in a process of its own; rows are made as read."""
    d, T, rng = 100_000, 1_000, np.random.default_rng(0)
    panels = {f"p{j}": [f"x{20 * j + i}" for i in range(20)] for j in range(200)}
    learner = kh.make("thrifty", d=d, k=20, seed=0, sources=panels)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
    rows = (rng.uniform(-1, 1, d) for _ in range(T))
    for x in rows:
        r = learner.ask()
        learner.tell(r, x[r.attributes], float(x[:5].sum()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"\nmemory, d = 1e5, k = 20, 200 panels of 20, {T} rows: peak {peak / 1024:.0f} MB, before the first row "
        f"{before / 1024:.0f} MB, {1e3 * (perf_counter() - start) / T:.1f} ms a row"
    )


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--only", default="streams,edges,tables,speed,memory")
    asked = parser.parse_args()
    seeds, parts = range(asked.first, asked.first + asked.seeds), asked.only.split(",")
    if "large" in parts:
        _large()
    if "streams" in parts:
        streams(seeds)
    if "edges" in parts:
        edges(seeds[:5])
    if "tables" in parts:
        tables(range(asked.first, asked.first + 2 * asked.seeds))  # unlucky days show in quantiles
    if "speed" in parts:
        speed()
        wordings()
    if "memory" in parts:
        subprocess.run([sys.executable, __file__, "--only", "large"], check=True)


if __name__ == "__main__":
    main()
