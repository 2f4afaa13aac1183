"""What past rows are worth to `thrifty`, and how yes/no labels do: the table of docs/measured.md.

python benchmarks/past_rows.py [--seeds 20] [--parts synthetic,missing,few,world,real,binary,speed]
"""

import argparse
import time

import numpy as np

import keyhole as kh
from keyhole.simulation.scoring import auc
from keyhole.theory import best_sparse

D, K, SIGMA, PAST, ROWS = 100, 4, 0.1, 500, 2000
TABLES = ("deliveries", "hotel_rates", "randhie", "check_times", "ames", "toyota", "nhanes", "chicago")


def excess(X, y, w, past=None, seed=0):
    """Squared error over 2 000 rows beyond that of the true weights, and the learner."""
    learner = kh.make("thrifty", d=X.shape[1], k=K, seed=seed)
    if past is not None:
        learner.learn(*past)
    history = kh.play(learner, X, y, keep=False)
    return float(history.losses.sum() - ((y - X @ w) ** 2).sum()), learner


def world(seed, sigma=SIGMA):
    return kh.streams.synthetic(D, K, PAST + ROWS, sigma=sigma, seed=seed)


def spread(name, values):
    v = np.array(values)
    print(f"{name:34s} mean {v.mean():8.3f}  median {np.median(v):8.3f}  q90 {np.quantile(v, 0.9):8.3f}", flush=True)
    return v


def synthetic(seeds):
    fresh, taught = [], []
    for seed in range(seeds):
        X, y, w = world(seed)
        fresh.append(excess(X[PAST:], y[PAST:], w, seed=seed)[0])
        taught.append(excess(X[PAST:], y[PAST:], w, (X[:PAST], y[:PAST]), seed)[0])
    spread("fresh", fresh)
    spread("500 complete past rows", taught)


def missing(seeds):
    found = []
    for seed in range(seeds):
        X, y, w = world(seed)
        past = np.where(np.random.default_rng(seed).random((PAST, D)) < 0.3, np.nan, X[:PAST])
        found.append(excess(X[PAST:], y[PAST:], w, (past, y[:PAST]), seed)[0])
    spread("500 past rows, 30 % missing", found)


def few(seeds):
    found = []
    for seed in range(seeds):
        X, y, w = world(seed)
        found.append(excess(X[PAST:], y[PAST:], w, (X[:100], y[:100]), seed)[0])
    spread("100 complete past rows", found)


def another_world(seeds):
    fresh, misled, noticed = [], [], 0
    for seed in range(seeds):
        X, y, w = world(seed)
        Xo, yo, _ = world(seed + 1000)
        fresh.append(excess(X[PAST:], y[PAST:], w, seed=seed)[0])
        found, learner = excess(X[PAST:], y[PAST:], w, (Xo[:PAST], yo[:PAST]), seed)
        misled.append(found)
        noticed += bool(learner.alarms)
    spread("fresh", fresh)
    spread("past rows of another world", misled)
    ratio = np.sum(misled) / np.sum(fresh)
    print(f"ratio of the sums {ratio:.3f}; alarms in {noticed} of {seeds} seeds", flush=True)


def real(seeds, k=5):
    for name in TABLES:
        try:
            data = kh.data.load(name)
        except kh.ConfigError as fault:
            print(f"{name}: {fault}")
            continue
        X, y = np.nan_to_num(data.X, nan=0.0), data.y
        fresh, taught = [], []
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(y.size)[: PAST + 4000]
            past, now = order[:PAST], order[PAST:]
            best = best_sparse(X[now] - X[now].mean(0), y[now] - y[now].mean(), k)
            left = float(((y[now] - y[now].mean() - (X[now] - X[now].mean(0)) @ best.weights) ** 2).sum())
            losses = []
            for history in (None, past):
                learner = kh.make("thrifty", d=X.shape[1], k=k, seed=seed)
                if history is not None:
                    learner.learn(data.X[history], y[history])
                losses.append(float(kh.play(learner, data.X[now], y[now], keep=False).losses[1:].sum()) - left)
            unit = float(((y[now] - y[now].mean()) ** 2).mean())  # in rows whose label is predicted by the mean
            fresh.append(losses[0] / unit)
            taught.append(losses[1] / unit)
        a, b = float(np.mean(fresh)), float(np.mean(taught))
        # Past rows can leave less error than the best columns in hindsight, which have no level that follows the label.
        met = "met" if b <= max(a, 0.0) / 3.0 else "not met"
        print(
            f"{name:12s} excess over the best {k} in hindsight: fresh {a:7.1f}, taught {b:7.1f}; a third: {met}",
            flush=True,
        )


def binary(seeds):
    """Calibration in five bins, Brier score and AUC beside the same learner told numbers."""
    for law in ("logistic", "rare", "weak", "hard", "linear", "change", "no signal"):
        worst, over, over_numbers, ranking = 0.0, 0.0, 0.0, []
        for seed in range(seeds):
            X, y, p = yes_no(law, seed)
            made = [kh.make("thrifty", d=20, k=4, seed=seed, label=label) for label in ("number", "binary")]
            numbers, history = (kh.play(learner, X, y, keep=False) for learner in made)
            assert ((history.predictions >= 0) & (history.predictions <= 1)).all()
            bins = history.reliability(5)
            off = np.abs(bins.observed - bins.predicted) / (0.02 + 2 * bins.standard_error)
            worst = max(worst, float(off[bins.rows >= 500].max(initial=0.0)))
            least = ((p - y) ** 2).sum()
            over += history.losses.sum() - least
            over_numbers += numbers.losses.sum() - least
            ranking.append(history.auc() - auc(y, numbers.predictions))
        error = np.std(ranking) / np.sqrt(seeds)
        print(
            f"{law:10s} bins: worst {worst:.2f} of the limit; excess Brier {over / seeds:6.1f}, told numbers "
            f"{over_numbers / seeds:6.1f}, ratio {over / over_numbers:.3f}; AUC {np.mean(ranking):+.4f} ± {error:.4f}",
            flush=True,
        )


def yes_no(law, seed, T=6000):
    """Rows, labels, and the true probability of each label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 20))
    z = X[:, :4] @ [2.0, -1.5, 1.0, 0.5]
    score = {
        "logistic": z,
        "rare": z - 4.0,
        "weak": 0.3 * z,
        "hard": 8.0 * z,
        "change": np.where(np.arange(T) < T // 2, z, -z),
        "no signal": 0.0 * z,
        "linear": z,
    }[law]
    p = np.clip(0.5 + 0.1 * z, 0, 1) if law == "linear" else 1 / (1 + np.exp(-score))
    return X, (rng.random(T) < p).astype(float), p


def speed():
    X, y, _ = kh.streams.synthetic(D, K, 100_000, seed=0)
    learner = kh.make("thrifty", d=D, k=K, seed=0)
    began = time.perf_counter()
    learner.learn(X, y)
    print(f"learn on 100 000 x 100: {time.perf_counter() - began:.2f} s")
    for k in (K, D):
        learner = kh.make("thrifty", d=D, k=k, seed=0)
        kh.play(learner, X[:500], y[:500])
        tells, learns = [], []
        for i in range(300):
            r = learner.ask()
            values = X[i][r.attributes]
            began = time.perf_counter()
            learner.tell(r, values, float(y[i]))
            tells.append(time.perf_counter() - began)
            began = time.perf_counter()
            learner.learn(X[i : i + 1], y[i : i + 1])
            learns.append(time.perf_counter() - began)
        told, learnt = 1e6 * np.median(tells), 1e6 * np.median(learns)
        print(f"one row: learn of {D} values {learnt:.0f} us, tell of {k} values {told:.0f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--parts", default="synthetic,missing,few,world,real,binary,speed")
    given = parser.parse_args()
    parts = {
        "synthetic": synthetic,
        "missing": missing,
        "few": few,
        "world": another_world,
        "real": real,
        "binary": binary,
    }
    for name in given.parts.split(","):
        print(f"-- {name}", flush=True)
        if name == "speed":
            speed()
        else:
            parts[name](given.seeds)


if __name__ == "__main__":
    main()
