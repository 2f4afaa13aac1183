"""What each constant and each layer of `thrifty` is worth.

python benchmarks/ablation.py [--seeds 12] [--first 500000] [--only name,name] [--jobs 2] [--write]

Every entry of cpp/thrifty/constants.hpp is halved and doubled, and every layer that can be switched off is switched
off. An effect is the change of the excess loss in percent, averaged over the streams of a group. Excess loss is the
squared error beyond the noise; with `error_cost` it is the cost beyond the best fixed basket. Row 1 is left out. Runs
are paired by seed; the standard error is that of the ratio of means. Effects beyond three standard errors are bold.

`--write` puts both tables and the figures into docs/thrifty.md and docs/figures.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import numpy.typing as npt

import keyhole as kh
import money
from goals import WORDED, one_of_many, plain, scales, suppressors
from keyhole import figures
from keyhole.algorithms.thrifty import Thrifty

ROOT = Path(__file__).parents[1]
PAGE, FIGURES = ROOT / "docs" / "thrifty.md", ROOT / "docs" / "figures"
ENTRY = re.compile(r"^\s+double (\w+) = ([^;]+);\s+// (.+)$", re.M)
FACTORS = (0.5, 2.0)

Floats = npt.NDArray[np.float64]
Constants = dict[str, float]  # those that differ from constants.hpp

# A layer is switched off by constants that keep it from ever acting; "gain" is that of the level tracker's accounts.
LAYERS: dict[str, Constants] = {
    "outlier clip and label guard": {"outlier_sd": 1e9},
    "level tracker": {"gain": 0.0},
    "drift detector": {"drift_threshold": 1e9},
    "regime memory": {"decision_nats": 1e9},
    "exploration in place of a member": {"displacement_share": 0.0},
    "look for what a member is a proxy for": {"proxy_looks": 1e9},
    "account for looks (under a total)": {"look_rows": 1.0},
}


@dataclass(frozen=True)
class Stream:
    """Rows, the options of the learner, and the loss to subtract."""

    X: Floats
    y: Floats
    options: dict[str, object]
    comparator: Floats | float
    error_cost: float = 0.0

    def excess(self, constants: Constants, seed: int) -> float:
        learner = kh.make("thrifty", seed=seed, **self.options)
        assert isinstance(learner, Thrifty)
        for name, value in constants.items():
            (learner.memory.level_expert if name == "gain" else learner.memory.constants)[name] = value
        history = kh.play(learner, self.X, self.y, keep=False)
        losses = self.error_cost * history.losses + history.price if self.error_cost else history.losses
        if not np.isfinite(losses).all():  # a sum that skipped them would look like a gain
            raise ValueError(f"thrifty with {constants} made predictions that are not finite")
        excess = (losses - self.comparator)[1:]
        return float(excess[np.isfinite(excess)].sum())  # the comparator is NaN in rows that do not count


def of_rows(rows: Callable[[int], tuple], **options: object) -> Callable[[int], Stream]:
    def made(seed: int) -> Stream:
        X, y, noise2, *given = rows(seed)
        return Stream(X, y, {"d": X.shape[1], **(given[0] if given else {"k": 4}), **options}, noise2)

    return made


def of_money(case: Callable[[int], money.Case]) -> Callable[[int], Stream]:
    def made(seed: int) -> Stream:
        one = case(seed)
        options = {"names": one.names, "prices": one.prices, "sources": one.sources, "error_cost": one.error_cost}
        return Stream(one.X, one.y, options, money.best_fixed(one)[0], one.error_cost)

    return made


def odd_cells(seed: int) -> tuple[Floats, Floats, Floats]:
    """One cell in 300 is a thousand times too large and says nothing about the label."""
    X, y, noise2 = plain("uniform")(seed)
    X[np.random.default_rng([seed, 21]).random(X.shape) < 1 / 300] *= 1000.0
    return X, y, noise2


def odd_labels(seed: int) -> tuple[Floats, Floats, Floats]:
    """One label in 400 is 100 too large; those rows are not counted."""
    X, y, noise2 = plain("uniform")(seed)
    wrong = np.random.default_rng([seed, 22]).random(y.size) < 1 / 400
    y[wrong] += 100.0
    noise2[wrong] = np.nan
    return X, y, noise2


def level(seed: int) -> tuple[Floats, Floats, Floats]:
    """The label's level follows a wave and jumps once."""
    X, y, noise2 = plain("uniform")(seed)
    t = np.arange(y.size)
    return X, y + np.sin(2.0 * np.pi * t / 2000.0) + 3.0 * (t > 2500), noise2


def recurring(seed: int) -> tuple[Floats, Floats, Floats]:
    """Two sets of weights take turns of 1 000 rows."""
    X, y, w = kh.streams.synthetic(20, 4, 6000, seed=seed)
    other, noise = kh.streams.synthetic(20, 4, 1, seed=seed + 999).w, y - X @ w
    second = np.arange(6000) // 1000 % 2 == 1
    return X, np.where(second, X @ other, X @ w) + noise, noise**2


def no_signal(seed: int) -> tuple[Floats, Floats, Floats]:
    """The noise is all there is."""
    rng = np.random.default_rng([seed, 23])
    X, y = rng.uniform(-1, 1, (4000, 20)), rng.standard_normal(4000)
    return X, y, y**2


def halved(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    """A total that buys half of what all five true attributes would cost."""
    X, y, w = kh.streams.synthetic(30, 5, 8000, seed=seed)
    total = {"prices": [1.0] * 30, "total_budget": 20_000.0, "expected_rows": 8000}
    return X, y, (y - X @ w) ** 2, total


def per_row(seed: int) -> tuple[Floats, Floats, Floats, dict[str, object]]:
    """Prices from 1 to 10 and a budget of 12 a row."""
    X, y, w = kh.streams.synthetic(30, 5, 8000, design="ar(0.5)", seed=seed)
    prices = np.random.default_rng([seed, 24]).uniform(1, 10, 30).tolist()
    return X, y, (y - X @ w) ** 2, {"prices": prices, "budget_per_row": 12.0}


def worded(*names: str) -> list[Callable[[int], Stream]]:
    return [of_rows(WORDED[name]) for name in names]


GROUPS: dict[str, list[Callable[[int], Stream]]] = {
    "independent": [*worded("uniform d=50", "noisy"), of_rows(one_of_many), of_rows(no_signal)],
    "correlated": [*worded("ar .8", "block"), of_rows(suppressors)],
    "odd values": [*worded("t(3) columns", "rare 0-1"), of_rows(scales), of_rows(odd_cells), of_rows(odd_labels)],
    "change": [*worded("change"), of_rows(recurring), of_rows(level)],
    "money": [
        of_money(money.panels),
        of_money(lambda seed: money.uniform(seed, 5000)),
        of_rows(halved),
        of_rows(per_row),
    ],
}


@dataclass(frozen=True)
class Effect:
    """A change of the excess loss in percent, and its standard error."""

    percent: float
    error: float

    @property
    def clear(self) -> bool:
        return abs(self.percent) > 3.0 * self.error

    def __str__(self) -> str:
        if abs(self.percent) < 0.05 and self.error < 0.05:
            return "0"
        digits = 0 if self.error >= 0.95 else 1
        said = f"{self.percent:+.{digits}f} ± {self.error:.{digits}f}"
        return f"**{said}**" if self.clear else said


def excesses(make: Callable[[int], Stream], seed: int, changes: list[Constants]) -> list[float]:
    """The excess on one stream without a change, and with each of them."""
    stream = make(seed)
    return [stream.excess(change, seed) for change in ({}, *changes)]


def effects(
    streams: list[Callable[[int], Stream]], changes: list[Constants], seeds: range, jobs: int
) -> Iterator[Effect]:
    """The effect of each change on a group of streams, each stream with the same weight."""
    each = joblib.Parallel(n_jobs=jobs)(joblib.delayed(excesses)(make, s, changes) for make in streams for s in seeds)
    found = np.array(each).reshape(len(streams), len(seeds), 1 + len(changes))
    base = found[:, :, :1]
    ratio = found.mean(axis=1, keepdims=True) / base.mean(axis=1, keepdims=True)
    off = (found - ratio * base) / base.mean(axis=1, keepdims=True)
    error = off.std(axis=1, ddof=1) / np.sqrt(len(seeds))
    for c in range(1, found.shape[2]):
        percent = 100.0 * (ratio[:, 0, c].mean() - 1.0)
        yield Effect(float(percent), float(100.0 * np.sqrt((error[:, c] ** 2).sum()) / len(streams)))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def write(name: str, text: str) -> None:
    """Replace what stands between the marks of that name in docs/thrifty.md."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: made by benchmarks/ablation.py -->\n", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"docs/thrifty.md has no place for {name}"
    PAGE.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=500_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    source = (ROOT / "cpp" / "thrifty" / "constants.hpp").read_text(encoding="utf-8")
    entries = {name: (float(value), meaning) for name, value, meaning in ENTRY.findall(source)}
    entries = {name: entries[name] for name in asked.only.split(",")} if asked.only else entries
    layers = {} if asked.only else LAYERS
    changes = [*layers.values(), *({name: f * value} for name, (value, _) in entries.items() for f in FACTORS)]
    by_group = {}
    for group, streams in GROUPS.items():
        by_group[group] = list(effects(streams, changes, seeds, asked.jobs))
        print(f"{group}: done", flush=True)
    n = len(layers)
    off = [[name, *(str(by_group[group][i]) for group in GROUPS)] for i, name in enumerate(layers)]
    rows = []
    for i, (name, (value, meaning)) in enumerate(entries.items()):
        cells = []
        for group in GROUPS:
            half, double = by_group[group][n + 2 * i : n + 2 * i + 2]
            cells.append("0" if str(half) == str(double) == "0" else f"{half}; {double}")
        rows.append([f"`{name}`", f"{value:g}", meaning, *cells])
    text_off = table(["layer off", *GROUPS], off)
    text = table(["constant", "value", "unit and meaning", *GROUPS], rows)
    print(text_off, text, sep="\n\n")
    idle = [name for i, name in enumerate(entries)
            if not any(e.clear for group in GROUPS for e in by_group[group][n + 2 * i : n + 2 * i + 2])]  # fmt: skip
    print("\nno effect beyond three standard errors:", ", ".join(idle))
    if asked.write and not asked.only:
        write("layers", text_off)
        write("constants", text)
        draw(by_group, list(layers), seeds)


def draw(by_group: dict[str, list[Effect]], layers: list[str], seeds: range) -> None:
    """The two figures of docs/thrifty.md, and the table of the second."""
    largest = [max((by_group[group][i] for group in GROUPS), key=lambda e: e.percent) for i in range(len(layers))]
    ratio = 1.0 + np.array([e.percent for e in largest]) / 100.0
    error = np.array([e.error for e in largest]) / 100.0
    title = "Excess loss with a layer switched off over that of thrifty, on the group of streams that it helps most"
    name = "ratio, with two standard errors"
    figures.bars(title, layers, ratio, name, np.maximum(ratio - 2.0 * error, 0.5), ratio + 2.0 * error).save(
        FIGURES / "thrifty-layers.svg"
    )
    ends, lines = np.unique(np.geomspace(10, 4000, 40).astype(int)), []
    for name in ("uniform d=50", "ar .8", "change"):
        excess = []
        for seed in seeds:
            X, y, noise2 = WORDED[name](seed)
            losses = kh.play(kh.make("thrifty", d=X.shape[1], k=4, seed=seed), X, y, keep=False).losses
            excess.append(np.cumsum((losses - noise2)[1:])[ends - 2])
        low, median, high = np.quantile(excess, [0.1, 0.5, 0.9], axis=0)
        lines.append(figures.Curve(name, median, low, high))
    title = f"Excess loss so far, k = 4: median and 10-90 % of {len(seeds)} seeds; 'change' is at row 2 000"
    drawn = figures.curves(title, ends.astype(float), lines, "row", "excess loss", log=True)
    drawn.save(FIGURES / "thrifty-excess.svg")
    shown = [int(np.searchsorted(ends, row)) for row in (30, 100, 300, 1000, 2000, 4000)]
    rows = [
        [line.name, *(f"{line.y[i]:.3g} ({line.low[i]:.3g} to {line.high[i]:.3g})" for i in shown)] for line in lines
    ]
    write("excess", table(["stream", *(f"row {ends[i]}" for i in shown)], rows))


if __name__ == "__main__":
    main()
