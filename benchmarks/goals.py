"""The goals of `thrifty`, line by line, on seeds that no version was tuned on.

python benchmarks/goals.py [--seeds 10] [--first 81000] [--only wordings,panels,error_cost,...] [--store FILE]
                           [--beside benchmarks/goals-0.2.0.json]

Beside each line stand the stored numbers of 0.2.0 (or of `--beside`), with the paired difference where the seeds are
the same. `--store` writes the numbers per line and seed. It runs on 0.2.0, too, whose options had other names.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import keyhole as kh

Floats = npt.NDArray[np.float64]
OLD = {
    "error_cost": "worth",
    "budget_per_row": "spend",
    "total_budget": "total",
    "expected_rows": "rows",
    "free": "known",
}
IS_OLD = kh.__version__.startswith("0.2")


def make(seed: int, **options: object) -> kh.Learner:
    """`thrifty`, whatever its options are called."""
    renamed = {OLD.get(key, key) if IS_OLD else key: value for key, value in options.items()}
    return kh.make("thrifty", seed=seed, **renamed)


def names(d: int) -> list[str]:
    return [f"x{j}" for j in range(d)]


def excess(learner: kh.Learner, X: Floats, y: Floats, noise2: Floats) -> float:
    losses = kh.play(learner, X, y, keep=False).losses - noise2
    return float(losses[np.isfinite(losses)][1:].sum())


# -- one problem, five wordings


def plain(design: str, d: int = 20, k: int = 4, sigma: float = 0.1) -> Callable[[int], tuple[Floats, Floats, Floats]]:
    def rows(seed: int, T: int = 4000) -> tuple[Floats, Floats, Floats]:
        X, y, w = kh.streams.synthetic(d, k, T, sigma, design, seed)
        return X, y, (y - X @ w) ** 2

    return rows


def changed(seed: int, T: int = 4000) -> tuple[Floats, Floats, Floats]:
    X, y, w = kh.streams.synthetic(20, 4, T, seed=seed)
    other = kh.streams.synthetic(20, 4, 1, seed=seed + 999).w
    noise = y - X @ w
    y[T // 2 :] = X[T // 2 :] @ other + noise[T // 2 :]
    return X, y, noise**2


def rare(seed: int, T: int = 4000) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng([seed, 3])
    X, w = (rng.random((T, 20)) < 0.05).astype(float), np.zeros(20)
    w[rng.permutation(20)[:4]] = rng.choice([-1.0, 1.0], 4) * rng.uniform(0.5, 1.0, 4)
    noise = 0.1 * rng.standard_normal(T)
    return X, X @ w + noise, noise**2


def heavy(seed: int, T: int = 4000) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng([seed, 4])
    X, w = rng.standard_t(3.0, (T, 20)) / 3.0, kh.streams.synthetic(20, 4, 1, seed=seed).w
    noise = 0.1 * rng.standard_normal(T)
    return X, X @ w + noise, noise**2


WORDED = {
    "uniform d=20": plain("uniform"),
    "uniform d=50": plain("uniform", 50),
    "ar .5": plain("ar(0.5)"),
    "ar .8": plain("ar(0.8)"),
    "block": plain("block(5, 0.7)"),
    "noisy": plain("uniform", sigma=0.3),
    "t(3) columns": heavy,
    "rare 0-1": rare,
    "change": changed,
}


def wordings(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    for name, rows in WORDED.items():
        found: dict[str, list[float]] = {}
        for seed in seeds:
            X, y, noise2 = rows(seed)
            d, T = X.shape[1], len(y)
            said = names(d)
            with_one = np.column_stack([X, np.ones(T)])
            renamed = {n if n != "x3" else "renamed": 1.0 for n in said}
            ways = {
                "k": (X, {"names": said, "k": 4}),
                "free constant": (with_one, {"names": [*said, "one"], "k": 4, "free": ["one"]}),
                "sources": (X, {"names": said, "k": 4, "sources": {"renamed": ["x3"]}}),
                "equal prices": (X, {"names": said, "k": 4, "sources": {"renamed": ["x3"]}, "prices": renamed}),
                "budget": (X, {"names": said, "prices": [1.0] * d, "budget_per_row": 4.0}),
            }
            for way, (Z, options) in ways.items():
                found.setdefault(way, []).append(excess(make(1000 + seed, **options), Z, y, noise2))
        for way, values in found.items():
            yield f"{name}: {way}", "as k", values


# -- a change of all weights, in several wordings


def after_a_change(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    """The excess in 1 500 rows after all weights changed; three of 24 attributes matter."""
    d, T, panels = 24, 3000, {f"p{i}": [f"x{3 * i + j}" for j in range(3)] for i in range(8)}
    ways: dict[str, dict[str, object]] = {
        "k = 3": {"k": 3},
        "k = 6": {"k": 6},
        "panels of three": {"k": 3, "sources": panels},
        "three attributes free": {"k": 3, "free": ["x0", "x1", "x2"]},
        "error_cost": {"prices": [1.0] * d, "error_cost": 300.0},
        "total for four in a row": {"prices": [1.0] * d, "total_budget": 4.0 * T, "expected_rows": T},
        "total for two in a row": {"prices": [1.0] * d, "total_budget": 2.0 * T, "expected_rows": T},
        "a fifth of the values missing": {"k": 3},
    }
    for way, options in ways.items():
        values = []
        for seed in seeds:
            rng = np.random.default_rng([seed, 9])
            X, noise = kh.streams.synthetic(d, 3, T, seed=seed).X, 0.1 * rng.standard_normal(T)
            before, after = (kh.streams.synthetic(d, 3, 1, seed=7 * seed + i).w for i in (1, 2))
            y = np.where(np.arange(T) < T // 2, X @ before, X @ after) + noise
            if "missing" in way:
                X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
            losses = kh.play(make(seed, names=names(d), **options), X, y, keep=False).losses - noise**2
            values.append(float(losses[T // 2 :].sum()))
        yield f"after a change: {way}", "as k", values


# -- panels of a real table


def nhanes_panels(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    data = kh.data.load("nhanes-panels")
    free = list(getattr(data, "free", None) or getattr(data, "known", ()))
    for k, goal in ((1, "34"), (2, "28"), (3, "25")):
        for priced in (False, True):
            values = []
            for seed in seeds:
                order = np.random.default_rng([seed, 10]).permutation(len(data.y))
                options = {"prices": dict(data.prices)} if priced else {}
                learner = make(seed, names=list(data.names), k=k, sources=data.sources, free=free, **options)
                values.append(float(kh.play(learner, data.X[order], data.y[order], keep=False).losses[1:].mean()))
            yield f"nhanes-panels k={k}{', priced' if priced else ''}", goal, values


# -- error_cost


def error_cost(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    import money

    lines = {
        "NHANES .05": (money.nhanes(0.05), "1.06"),
        "NHANES .5": (money.nhanes(0.5), "1.045"),
        "NHANES 2": (money.nhanes(2.0), "1.05"),
        "uniform": (money.uniform, "1.05"),
        "panels": (money.panels, "1.06"),
        "no signal": (money.nothing, "1.01"),
        "rare 0-1 columns": (rare_case, "1.3"),
    }
    for name, (case, goal) in lines.items():
        values = []
        for seed in seeds:
            one = case(seed)
            price = one.error_cost
            best, none = money.best_fixed(one)
            learner = make(seed, names=one.names, prices=one.prices, sources=one.sources, error_cost=price)
            history = kh.play(learner, one.X, one.y, keep=False)
            cost = float((price * history.losses + history.price)[1:].mean())
            values.append(cost / (none if name == "no signal" else best))
        yield f"error_cost: {name}", goal, values


def rare_case(seed: int) -> "object":
    import money

    X, y, _ = rare(seed, 10_000)
    prices = dict(zip(names(20), np.random.default_rng([seed, 7]).uniform(1, 10, 20), strict=True))
    return money.Case(X, y, prices, 400.0)


# -- a total


def total(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    """30 attributes at price 1, five true; half of what five would cost in all. The signal is steady, or four times as
    large (in standard deviation) in the first or in the second half."""
    for name, goal, first, last in (("flat", "240", 1.0, 1.0), ("front", "200", 1.0, 0.25), ("back", "480", 0.25, 1.0)):
        values = []
        for seed in seeds:
            X, y, w = kh.streams.synthetic(30, 5, 8000, seed=seed)
            noise = y - X @ w
            y = np.where(np.arange(8000) < 4000, first, last) * (X @ w) + noise
            options = {"prices": [1.0] * 30, "total_budget": 20_000.0, "expected_rows": 8000}
            values.append(excess(make(seed, d=30, **options), X, y, noise**2))
        yield f"total: {name}", goal, values


# -- streams on which 0.2.0 lost


def one_of_many(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    X, y, w = kh.streams.synthetic(20, 1, 8000, sigma=0.3, seed=seed)
    return X, y, (y - X @ w) ** 2, {"k": 1}


def suppressors(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    rng = np.random.default_rng([seed, 77])
    X, y, rho = rng.standard_normal((8000, 40)), np.zeros(8000), 0.95
    idx = rng.permutation(40)[:4]
    for a, b in ((idx[0], idx[1]), (idx[2], idx[3])):
        X[:, b] = rho * X[:, a] + np.sqrt(1 - rho**2) * X[:, b]
        y += 0.27 * (X[:, a] - X[:, b]) / np.sqrt(2 * (1 - rho))
    noise = 0.1 * rng.standard_normal(8000)
    return X, y + noise, noise**2, {"k": 4}


def scales(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    X, y, w = kh.streams.synthetic(40, 4, 8000, seed=seed)
    rng = np.random.default_rng([seed, 5])
    scale = np.where(rng.random((8000, 1)) < 0.1, 5.0, 0.5)
    noise = y - X @ w
    return X * scale, (X * scale) @ w + noise, noise**2, {"k": 4}


def short(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    X, y, w = kh.streams.synthetic(20, 4, 300, design="ar(0.8)", seed=seed)
    return X, y, (y - X @ w) ** 2, {"k": 4}


def autocorrelated(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    rng = np.random.default_rng([seed, 6])
    X, w = rng.standard_normal((8000, 30)), kh.streams.synthetic(30, 4, 1, seed=seed).w
    for t in range(1, 8000):
        X[t] = 0.95 * X[t - 1] + np.sqrt(1 - 0.95**2) * X[t]
    noise = 0.1 * rng.standard_normal(8000)
    return X / 3.0, (X / 3.0) @ w + noise, noise**2, {"k": 4}


# Goals for the excess loss; a comparator that knows the weights but misses the same values has about 35 at 5 % missing.
STREAM_GOALS = {
    "k = 1": "35",
    "suppressor pairs": "330",
    "mixture of scales": "160",
    "T = 300, ar .8": "27",
    "autocorrelated rows": "40",
    "5 % missing": "no worse",
    "availability masks": "8.5",
}


def missing(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    X, y, w = kh.streams.synthetic(20, 4, 8000, seed=seed)
    noise2 = (y - X @ w) ** 2
    X[np.random.default_rng([seed, 8]).random(X.shape) < 0.05] = np.nan
    return X, y, noise2, {"k": 4}


def masked(seed: int, learner: kh.Learner) -> float:
    """Each attribute can be bought in 95 % of the rows; the comparator has the true weights of those that can be."""
    X, y, w = kh.streams.synthetic(20, 4, 8000, seed=seed)
    there = np.random.default_rng([seed, 8]).random(X.shape) >= 0.05
    total = 0.0
    for t, available in enumerate(there):
        r = learner.ask(available=available)
        x = X[t, r.attributes]
        loss, comparator = (learner.predict(r, x) - y[t]) ** 2, (y[t] - (X[t] * available) @ w) ** 2
        total += loss - comparator if t > 0 else 0.0
        learner.tell(r, x, y[t])
    return total


def streams(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    lines = {"k = 1": one_of_many, "suppressor pairs": suppressors, "mixture of scales": scales}
    lines |= {"T = 300, ar .8": short, "autocorrelated rows": autocorrelated, "5 % missing": missing}
    for name, rows in lines.items():
        values = []
        for seed in seeds:
            X, y, noise2, options = rows(seed)
            values.append(excess(make(seed, d=X.shape[1], **options), X, y, noise2))
        yield name, STREAM_GOALS[name], values
    yield "availability masks", STREAM_GOALS["availability masks"], [masked(s, make(s, d=20, k=4)) for s in seeds]


def coverage(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    ways = {"k": {"k": 4}, "error_cost": {"prices": [1.0] * 20, "error_cost": 300.0}}
    ways["total"] = {"prices": [1.0] * 20, "total_budget": 9000.0, "expected_rows": 4000}
    ways["free and panels"] = {"k": 4, "free": ["x0"], "sources": {"p": ["x1", "x2", "x3"]}}
    for way, options in ways.items():
        for level in (0.5, 0.9, 0.95):
            values = []
            for seed in seeds:
                X, y, _ = WORDED["ar .5"](seed)
                history = kh.play(make(seed, d=20, **options), X, y, keep=False)
                values.append(float((history.levels[500:] <= level).mean()))
            yield f"coverage at {level}: {way}", f"{level} +- .02", values


def alarms(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    lines = {"suppressors": suppressors, "mixture of scales": scales, "autocorrelated rows": autocorrelated}
    for name, rows in lines.items():
        values = []
        for seed in seeds:
            X, y, _, options = rows(seed)
            learner = make(seed, d=X.shape[1], **options)
            kh.play(learner, X, y, keep=False)
            values.append(float(len(learner.alarms)))
        yield f"alarms where nothing changes: {name}", "at most 1", values


def past(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    if IS_OLD:
        return
    lines = {"500 rows": (500, 0.0, False, "0.5"), "500, 30 % missing": (500, 0.3, False, "1")}
    lines |= {"100 rows": (100, 0.0, False, "10"), "another world": (500, 0.0, True, "1.2 fresh")}
    lines["none (fresh)"] = (0, 0.0, False, "-")
    for name, (n, missing, other, goal) in lines.items():
        values = []
        for seed in seeds:
            X, y, w = kh.streams.synthetic(100, 4, n + 2000, seed=seed)
            noise2, rows, labels = (y - X @ w) ** 2, X[:n].copy(), y[:n].copy()
            if other:
                labels += rows @ (kh.streams.synthetic(100, 4, 1, seed=seed + 5000).w - w)
            rows[np.random.default_rng(seed).random(rows.shape) < missing] = np.nan
            learner = make(seed, d=100, k=4)
            if n:
                learner.learn(rows, labels)
            values.append(excess(learner, X[n:], y[n:], noise2[n:]))
        yield f"past rows: {name}", goal, values


def over_informed(seeds: range) -> Iterator[tuple[str, str, list[float]]]:
    """Excess on `uniform100` over that of a Bayesian who is told the noise and the law of the weights (_informed.py).

    The ratio R of the mean excesses is the mean of R + (a_i - R b_i) / mean(b), whose standard error is that of R.
    informed.json keeps the Bayesian's excess per seed, since no change of `thrifty` changes it; a change of
    _informed.py empties the file.
    """
    from rivals import PLAYERS, STREAMS

    folder = Path(__file__).parent
    kept, rule = folder / "informed.json", hashlib.sha256((folder / "_informed.py").read_bytes()).hexdigest()
    stored = json.loads(kept.read_text()) if kept.exists() else {}
    known = stored["excess"] if stored.get("rule") == rule else {}
    for name in ("uniform100", "uniform100-noisy"):
        stream, found = STREAMS[name], known.setdefault(name, {})
        a = []
        for seed in seeds:
            X, y, comparator = stream.rows(seed)
            for player in ("thrifty", "informed"):
                if player == "informed" and str(seed) in found:
                    continue
                lost = stream.excess((PLAYERS[player](stream, X, y, seed) - y) ** 2, comparator)
                if player == "thrifty":
                    a.append(lost)
                else:
                    found[str(seed)] = round(lost, 3)
                    kept.write_text(json.dumps({"rule": rule, "excess": known}, indent=1) + "\n")
        b = [found[str(seed)] for seed in seeds]
        ratio, mean = sum(a) / sum(b), sum(b) / len(b)
        yield f"{name}: informed Bayesian", "-", b
        yield f"{name}: thrifty", "-", a
        each = [ratio + (mine - ratio * its) / mean for mine, its in zip(a, b, strict=True)]
        yield f"{name}: thrifty / informed Bayesian", "1.2", each


PARTS = {
    "wordings": wordings,
    "changes": after_a_change,
    "panels": nhanes_panels,
    "error_cost": error_cost,
    "total": total,
    "streams": streams,
    "coverage": coverage,
    "alarms": alarms,
    "past": past,
    "informed": over_informed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=81_000)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--store", type=Path)
    parser.add_argument("--beside", type=Path, default=Path(__file__).parent / "goals-0.2.0.json")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    stored = json.loads(asked.beside.read_text())
    kept: dict[str, list[float]] = {}
    print(f"{'line':48} {'mean':>9} {'+-':>7} {'worst':>9}  {'goal':>10} {'before':>9}  difference")
    for part in asked.only.split(","):
        for name, goal, values in PARTS[part](seeds):
            kept[name] = values
            x = np.array(values)
            old = np.array(stored["lines"].get(name, []))
            said = f"{old.mean():9.4g}" if old.size else ""
            if old.size >= x.size > 1 and stored["first"] == asked.first:
                by = x - old[: x.size]
                said += f"  {by.mean():+.3g} +- {by.std(ddof=1) / np.sqrt(by.size):.2g}"
            error = x.std(ddof=1) / np.sqrt(x.size) if x.size > 1 else np.nan
            if asked.store:  # after every line: the run may be stopped
                told = {"version": kh.__version__, "first": asked.first, "lines": kept}
                asked.store.write_text(json.dumps(told, indent=1) + "\n")
            print(f"{name:48} {x.mean():9.4g} {error:7.2g} {x.max():9.4g}  {goal:>10} {said}", flush=True)


if __name__ == "__main__":
    main()
