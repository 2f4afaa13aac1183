"""What each constant of `thrifty` is worth: every entry of cpp/thrifty/constants.hpp halved and doubled.

python benchmarks/ablation.py [--seeds 4] [--first 300] [--only name,name]

Prints the table of constants of docs/thrifty.md. Effects are in % of the mean excess (for money: of the cost beyond
the best basket), paired over seeds, on a few streams of each kind; a star marks more than two standard errors.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

import keyhole as kh
import money
from goals import WORDED, suppressors
from keyhole.algorithms.thrifty import Thrifty

SOURCE = Path(__file__).parents[1] / "cpp" / "thrifty" / "constants.hpp"
ENTRY = re.compile(r"^\s+double (\w+) = ([^;]+);\s+// (.+)$", re.M)
Change = tuple[str, float] | None


def constants() -> dict[str, tuple[float, str]]:
    """Name, value and meaning of every constant."""
    return {name: (float(value), meaning) for name, value, meaning in ENTRY.findall(SOURCE.read_text())}


def learner(change: Change, **options: object) -> kh.Learner:
    """`thrifty` with one constant multiplied."""
    made = kh.make("thrifty", **options)
    assert isinstance(made, Thrifty)
    if change is not None:
        made.memory.constants[change[0]] *= change[1]
    return made


def on_rows(rows: Callable[[int], tuple], k: int) -> Callable[[int, Change], float]:
    def run(seed: int, change: Change) -> float:
        X, y, noise2, *_ = rows(seed)
        return float(
            (kh.play(learner(change, d=X.shape[1], k=k, seed=seed), X, y, keep=False).losses - noise2)[1:].sum()
        )

    return run


def on_money(seed: int, change: Change) -> float:
    case = money.panels(seed)
    best, _ = money.best_fixed(case)
    options = {"names": case.names, "prices": case.prices, "sources": case.sources, "error_cost": case.error_cost}
    history = kh.play(learner(change, seed=seed, **options), case.X, case.y, keep=False)
    return float((case.error_cost * history.losses + history.price)[1:].mean()) - best


KINDS: dict[str, list[Callable[[int, Change], float]]] = {
    "independent": [on_rows(WORDED["uniform d=20"], 4), on_rows(WORDED["uniform d=50"], 4)],
    "correlated": [on_rows(WORDED["ar .8"], 4), on_rows(WORDED["block"], 4), on_rows(suppressors, 4)],
    "odd columns": [on_rows(WORDED["t(3) columns"], 4), on_rows(WORDED["rare 0-1"], 4)],
    "change": [on_rows(WORDED["change"], 4)],
    "money": [on_money],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=300)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    seeds, table = range(asked.first, asked.first + asked.seeds), constants()
    wanted = asked.only.split(",") if asked.only else list(table)
    base = {kind: np.array([[run(s, None) for run in runs] for s in seeds]) for kind, runs in KINDS.items()}
    print("| constant | value | meaning | " + " | ".join(f"{kind}, x 0.5 / x 2" for kind in KINDS) + " |")
    print("|---" * (3 + len(KINDS)) + "|")
    for name in wanted:
        value, meaning = table[name]
        cells = []
        for kind, runs in KINDS.items():
            parts = []
            for factor in (0.5, 2.0):
                found = np.array([[run(s, (name, factor)) for run in runs] for s in seeds])
                by = (found - base[kind]).mean(axis=1) / base[kind].mean() * 100.0
                sure = abs(by.mean()) > 2.0 * by.std(ddof=1) / np.sqrt(by.size)
                parts.append(f"{by.mean():+.0f}{'*' if sure else ''}")
            cells.append(" / ".join(parts))
        print(f"| `{name}` | {value:g} | {meaning} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
