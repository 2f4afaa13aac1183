"""What `thrifty` pays, told what an error is worth, against the best fixed basket in hindsight.

python benchmarks/money.py [--seeds 10] [--first 100] [--only nhanes,uniform,long,nothing,dear,everything,panels,total]

Cost of a row = worth * (y_hat - y)^2 + price of its basket, every look included, row 1 left out. The best fixed basket
minimises the same cost with weights by least squares; known attributes are free.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import keyhole as kh

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A stream with its prices, and what it must come to."""

    X: Floats
    y: Floats
    prices: dict[str, float]
    error_cost: float
    sources: dict[str, list[str]] | None = None
    right: frozenset[str] | None = None
    """The sources that a perfect learner ends with, where they are known."""

    @property
    def names(self) -> list[str]:
        return [f"x{j}" for j in range(self.X.shape[1])]


def uniform(seed: int, T: int = 20_000) -> Case:
    """100 attributes, 5 true; prices U(1, 10); worth between the third and the fourth price per gain."""
    X, y, w = kh.streams.synthetic(d=100, k=5, T=T, seed=seed)
    prices = np.random.default_rng([seed, 7]).uniform(1, 10, 100)
    true = np.flatnonzero(w)
    per_gain = np.sort(prices[true] / (w[true] ** 2 * X[:, true].var(axis=0)))
    return Case(X, y, dict(zip((f"x{j}" for j in range(100)), prices, strict=True)), float(per_gain[2:4].mean()))


def nothing(seed: int, T: int = 20_000) -> Case:
    """Labels that no attribute explains, as dear as those of `uniform`."""
    case, rng = uniform(seed, T), np.random.default_rng([seed, 8])
    return Case(case.X, rng.standard_normal(T), case.prices, case.error_cost * float(case.y.var()))


def dear(seed: int, T: int = 20_000) -> Case:
    """Attributes that explain something and cost more than that."""
    case = uniform(seed, T)
    return Case(case.X, case.y, {n: 100 * p for n, p in case.prices.items()}, case.error_cost)


def everything(seed: int, T: int = 20_000) -> Case:
    """Ten attributes, all of them true and nearly free."""
    X, y, _ = kh.streams.synthetic(d=10, k=10, T=T, seed=seed)
    return Case(X, y, {f"x{j}": 0.01 for j in range(10)}, error_cost=1e4)


def panels(seed: int, T: int = 5_000) -> Case:
    """20 panels of 5, of which 3 matter, two attributes each; a panel costs 4."""
    rng = np.random.default_rng([seed, 9])
    X, matter = rng.uniform(-1, 1, (T, 100)), rng.choice(20, 3, replace=False)
    w = np.zeros(100)
    for p in matter:
        w[5 * p + rng.choice(5, 2, replace=False)] = rng.choice([-1, 1], 2) * rng.uniform(0.5, 1, 2)
    w /= np.abs(w).sum()
    y = X @ w + 0.1 * rng.standard_normal(T)
    least = min(float((w[5 * p : 5 * p + 5] ** 2).sum()) / 3 for p in matter)
    sources = {f"p{p}": [f"x{j}" for j in range(5 * p, 5 * p + 5)] for p in range(20)}
    return Case(X, y, dict.fromkeys(sources, 4.0), 2 * 4.0 / least, sources, frozenset(f"p{p}" for p in matter))


def nhanes(error_cost: float) -> Callable[[int], Case]:
    """The people of NHANES in a shuffled order; label systolic_bp, all attributes priced."""

    def shuffled(seed: int) -> Case:
        data = kh.data.load("nhanes")
        order = np.random.default_rng([seed, 10]).permutation(len(data.y))
        prices = {f"x{j}": float(p) for j, p in enumerate(data.prices)}
        return Case(data.X[order], data.y[order], prices, error_cost)

    return shuffled


def best_fixed(case: Case) -> tuple[float, float]:
    """Cost a row of the best basket in hindsight, and of buying nothing; row 1 left out."""
    X, y = np.where(np.isnan(case.X), np.nanmean(case.X, axis=0), case.X)[1:], case.y[1:]
    X, y = X - X.mean(axis=0), y - y.mean()
    place = {n: j for j, n in enumerate(case.names)}
    groups = [[place[n] for n in case.sources[s]] if case.sources else [place[s]] for s in case.prices]
    best = kh.theory.best_basket(X, y, prices=list(case.prices.values()), groups=groups, error_cost=case.error_cost)
    return case.error_cost * best.mse + best.price, case.error_cost * float(y.var())


def pay(case: Case, seed: int, **options: object) -> tuple[Floats, Floats, kh.Learner]:
    """Our cost and the money in it, row by row, and the learner afterwards."""
    learner = kh.make(
        "thrifty",
        names=case.names,
        prices=case.prices,
        sources=case.sources,
        seed=seed,
        **({"error_cost": case.error_cost} | options),
    )
    history = kh.play(learner, case.X, case.y, keep=False)
    return case.error_cost * history.losses + history.price, history.price, learner


@dataclass(frozen=True)
class Line:
    """A line of the table: a stream for each seed, the goal for the mean, the goal for the worst."""

    name: str
    case: Callable[[int], Case]
    goal: float
    worst: float = np.inf
    against_nothing: bool = False


LINES = {
    "nhanes": [Line(f"NHANES, worth {w}", nhanes(w), g) for w, g in ((0.05, 1.08), (0.5, 1.05), (2.0, 1.05))],
    "uniform": [Line("uniform d=100, 5 true", uniform, 1.08, 1.15)],
    "long": [
        Line("the same, T = 200 000", lambda s: uniform(s, 200_000), 1.01),
        Line("no signal, T = 200 000", lambda s: nothing(s, 200_000), 1.003, against_nothing=True),
    ],
    "nothing": [Line("no signal", nothing, 1.01, against_nothing=True)],
    "dear": [Line("prices too high", dear, 1.005, against_nothing=True)],
    "everything": [Line("everything worth buying", everything, 1.05)],
    "panels": [Line("20 panels of 5, 3 matter", panels, 1.08, 1.2)],
}


def table(wanted: list[str], seeds: range) -> Iterator[str]:
    """One printed line for each line of the table."""
    yield f"{'':28} {'mean':>7} {'worst':>7} {'goal':>7} {'worst':>7}    cost/row  money/row  right basket"
    for line in (line for name in wanted for line in LINES.get(name, [])):
        ratios, costs, money, right = [], [], [], []
        for seed in seeds:
            case = line.case(seed)
            best, none = best_fixed(case)
            cost, price, learner = pay(case, seed)
            costs.append(float(cost[1:].mean()))
            ratios.append(costs[-1] / (none if line.against_nothing else best))
            money.append(float(price[1:].mean()))
            if case.right is not None:
                right.append(set(learner.catalog.ordered(learner.support)) == case.right)
        said = f"{sum(right)}/{len(right)}" if right else "-"
        numbers = f"{np.mean(ratios):7.4f} {max(ratios):7.3f} {line.goal:7.3f} {line.worst:7.2f}"
        yield f"{line.name:28} {numbers}   {np.mean(costs):9.3f}  {np.mean(money):9.3f}  {said}"


def total(seeds: range) -> Iterator[str]:
    """A total for all rows: never exceeded, spent where it helps, as good as the best constant `budget_per_row`."""
    yield f"{'total for 20 000 rows':28} {'spent':>7} {'loss / best constant budget_per_row':>28}"
    for a_row in (3.0, 8.0):
        shares, ratios = [], []
        for seed in seeds:
            case = uniform(seed)
            T = len(case.y)
            learner = kh.make(
                "thrifty", names=case.names, prices=case.prices, total_budget=a_row * T, expected_rows=T, seed=seed
            )
            history = kh.play(learner, case.X, case.y, keep=False)
            if (np.cumsum(history.price) > a_row * T * (1 + 1e-12)).any():
                raise AssertionError("the total was exceeded")
            levels = [
                kh.play(
                    kh.make("thrifty", names=case.names, prices=case.prices, budget_per_row=s * a_row, seed=seed),
                    case.X,
                    case.y,
                    keep=False,
                )
                for s in (0.8, 1.0, 1.5, 2.0)
            ]
            fair = [h.losses[1:].mean() for h in levels if h.price.mean() <= a_row * 1.001]
            shares.append(history.price.sum() / (a_row * T))
            ratios.append(history.losses[1:].mean() / min(fair) if fair else np.nan)
        yield f"{f'{a_row:g} a row':28} {100 * np.mean(shares):6.1f}% {np.nanmean(ratios):28.3f}   (<= 1.05, 97-100 %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=100, help="development: 100 on; judging: 9000 on, looked at once")
    parser.add_argument("--only", default=",".join([*LINES, "total"]))
    given = parser.parse_args()
    seeds, wanted = range(given.first, given.first + given.seeds), given.only.split(",")
    for text in table([name for name in wanted if name != "total"], seeds):
        print(text, flush=True)
    if "total" in wanted:
        for text in total(seeds):
            print(text, flush=True)


if __name__ == "__main__":
    main()
