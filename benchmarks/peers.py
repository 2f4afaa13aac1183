"""How the peers' practical defaults were chosen, and what they reach: `python benchmarks/peers.py [NAME ...]`.

First, per learner, a grid around its default on development seeds (100 and up): regret relative to predicting 0 on the
stream its section of the literature suggests and on two others. The default is the setting with the least mean, or
one that the noise of a few seeds cannot tell from it. Then the default on the seeds it is judged by (0 to 4), which
chose nothing, against the number it must reach.

`--judge` prints the second table only.
"""

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import keyhole as kh

DEVELOPMENT, JUDGED = range(100, 104), (0, 1, 2, 3, 4)


class Law(NamedTuple):
    """A stream and the budget it is played with; `equal` makes every non-zero weight 1/k in size."""

    d: int
    k: int
    k0: int
    T: int
    design: str
    equal: bool = False
    budget: int | None = None

    def __str__(self) -> str:
        return f"{self.design} {self.d},{self.budget or self.k}" + (f",{self.k0}" if self.k0 else "")

    def draw(self, seed: int) -> kh.streams.Stream:
        X, y, w = kh.streams.synthetic(d=self.d, k=self.k, T=self.T, design=self.design, seed=seed)
        if not self.equal:
            return kh.streams.Stream(X, y, w)
        v = np.sign(w) / self.k
        return kh.streams.Stream(X, y + X @ (v - w), v)


class Case(NamedTuple):
    """A learner, its default in words, the streams and the alternatives it was chosen among."""

    name: str
    default: str
    laws: tuple[Law, ...]
    grid: tuple[dict[str, object], ...]
    fixed: dict[str, object] = {}  # noqa: RUF012
    aside: tuple[dict[str, object], ...] = ()
    """Shown but not to be chosen: they are not the published algorithm."""


class Outcome(NamedTuple):
    """What is judged: regret, regret relative to predicting 0, and the distance of the weights from the true ones."""

    regret: float
    relative: float
    error: float


def run(name: str, law: Law, seed: int, options: dict[str, object]) -> Outcome:
    """One run on one stream."""
    X, y, w = law.draw(seed)
    learner = kh.make(name, d=law.d, k=law.budget or law.k, k0=law.k0, seed=seed, **options)
    regret = float(kh.play(learner, X, y).regret(w)[-1])
    zero = float((y**2 - (y - X @ w) ** 2).sum())
    return Outcome(regret, regret / zero, float(np.linalg.norm(learner.weights - w)))


_EXTRA = (
    Law(20, 3, 6, 5000, "rademacher", equal=True),
    Law(20, 4, 6, 5000, "uniform"),
    Law(50, 5, 10, 5000, "ar(0.5)"),
)
_PLAIN = (
    Law(20, 3, 0, 10000, "rademacher", equal=True),
    Law(20, 4, 0, 10000, "uniform"),
    Law(50, 5, 0, 10000, "ar(0.5)"),
)
_BANDIT = tuple(Law(d, k, 0, 10000, "rademacher", equal=True) for d, k in ((10, 1), (10, 2), (20, 2)))
_MURATA = (Law(20, 3, 0, 10000, "uniform", budget=6), *_PLAIN[1:])

CASES = (
    Case(
        "ito2017-1",
        "lam_scale=3",
        (Law(20, 3, 3, 5000, "rademacher", equal=True), Law(20, 4, 4, 5000, "uniform"), Law(50, 5, 5, 5000, "ar(0.5)")),
        ({"lam_scale": 1.0}, {"lam_scale": 2.0}, {"lam_scale": 6.0}, {"tuning": "theory"}),
    ),
    Case(
        "ito2017-2",
        "lam_explore=16, lam_exploit=1, explore='2 t^(-1/3)'",
        _PLAIN,
        (
            {"lam_explore": 8.0},
            {"lam_explore": 32.0},
            {"lam_exploit": 0.5},
            {"explore": "4 t^(-1/3)"},
            {"explore": "1 t^(-1/3)"},
            {"tuning": "theory"},
        ),
    ),
    Case(
        "ito2017-3",
        "as ito2017-2, l1=0.3",
        _PLAIN,
        ({"l1": 0.1}, {"l1": 1.0}, {"lam_explore": 8.0}, {"tuning": "theory"}),
    ),
    Case(
        "kale2017-dantzig",
        "self-tuned width, C=0.5",
        _EXTRA,
        (
            {"C": 0.25},
            {"C": 1.0},
            {"tuning": "theory", "C": 0.1},
            {"tuning": "theory", "C": 0.03},
            {"sampling": "bernoulli"},
            {"tuning": "theory"},
        ),
        aside=({"sampling": "union"},),
    ),
    Case(
        "kale2017-greedy",
        "eta_scale=50, batch=0.5",
        _EXTRA,
        ({"eta_scale": 10.0}, {"eta_scale": 200.0}, {"batch": 0.25}, {"batch": 1.0}, {"tuning": "theory"}),
    ),
    Case(
        "foster2016",
        "hedge 2, step 0.1",
        (Law(8, 2, 4, 4000, "rademacher", equal=True), Law(8, 2, 4, 4000, "uniform"), Law(10, 3, 5, 4000, "ar(0.5)")),
        ({"hedge_scale": 0.5}, {"hedge_scale": 2.0}, {"step_scale": 0.5}, {"step_scale": 2.0}, {"tuning": "theory"}),
    ),
    Case(
        "support-bandit",
        "tsallis, vaw, eta=16",
        _BANDIT,
        ({"eta": 8.0}, {"eta": 32.0}, {"base": "newton"}, {"ridge": 0.1}, {"tuning": "theory"}),
    ),
    Case(
        "support-bandit",
        "hedged-ftrl, eta=16",
        _BANDIT,
        ({"eta": 8.0}, {"eta": 32.0}, {"base": "gradient"}, {"base": "gradient", "tuning": "theory"}),
        {"master": "hedged-ftrl"},
    ),
    Case(
        "support-bandit",
        "corral, eta=1000",
        _BANDIT,
        ({"eta": 300.0}, {"eta": 3000.0}, {"tuning": "theory"}),
        {"master": "corral"},
    ),
    Case(
        "support-bandit",
        "batched-exp3, eta=64",
        _BANDIT,
        ({"eta": 16.0}, {"eta": 256.0}, {"tuning": "theory"}),
        {"master": "batched-exp3"},
    ),
    Case(
        "murata2018-explore",
        "s=k//2+1, step=1, batch=20, growth=2",
        _MURATA,
        (
            *({"sparsity": s} for s in (2, 3)),
            {"step": 0.5},
            {"batch": 10.0},
            {"batch": 40.0},
            {"growth": 1.5},
            {"tuning": "theory"},
        ),
    ),
    Case(
        "murata2018-hybrid",
        "s=k//2, step=1, batch=20, growth=2, ratio=5",
        _MURATA,
        (
            {"sparsity": 3},
            {"ratio": 2.0},
            {"ratio": 10.0},
            {"batch": 10.0},
            {"batch": 40.0},
            {"step": 0.5},
            {"tuning": "theory"},
        ),
    ),
)

_ITO_LAW = Law(20, 3, 3, 10000, "rademacher", equal=True)
_KALE_LAW = Law(20, 3, 6, 10000, "rademacher", equal=True)
TARGETS: tuple[tuple[str, Law, str, float], ...] = (
    ("ito2017-1", _ITO_LAW, "regret", 260.0),
    ("kale2017-dantzig", _KALE_LAW, "regret", 170.0),
    ("foster2016", Law(8, 2, 4, 4000, "rademacher", equal=True), "regret", 190.0),
    ("support-bandit", Law(10, 1, 0, 20000, "rademacher", equal=True), "relative", 0.015),
    ("support-bandit", Law(10, 2, 0, 20000, "rademacher", equal=True), "relative", 0.08),
    ("support-bandit", Law(20, 2, 0, 20000, "rademacher", equal=True), "relative", 0.25),
    ("murata2018-hybrid", Law(20, 3, 0, 20000, "uniform", budget=6), "error", 0.006),
)


def choose(case: Case) -> None:
    """The grid of one learner; the least mean of the relative regrets is marked."""
    fixed = ", ".join(map(str, case.fixed.values()))
    print(f"\n{case.name} {fixed}\n  {'':60}" + "".join(f"{law!s:>22}" for law in case.laws) + f"{'mean':>8}")
    rows = []
    for options in ({}, *case.grid, *case.aside):
        means = [
            np.mean([run(case.name, law, s, case.fixed | options).relative for s in DEVELOPMENT]) for law in case.laws
        ]
        label = ", ".join(f"{key}={value}" for key, value in options.items()) or f"default: {case.default}"
        label += " (ours)" if options in case.aside else ""
        if options not in case.aside:
            rows.append((float(np.mean(means)), label))
        print(f"  {label:60}" + "".join(f"{m:22.4f}" for m in means) + f"{np.mean(means):8.4f}", flush=True)
    print(f"  least: {min(rows)[1]}")


def judge(names: list[str], read: Callable[[Outcome, str], float] = getattr) -> None:
    """The defaults on the seeds they are judged by."""
    print(f"\n{'learner':20}{'stream':>22}{'measure':>10}{'mean':>10}{'worst':>10}{'at most':>10}")
    for name, law, measure, target in TARGETS:
        if names and name not in names:
            continue
        values = [read(run(name, law, seed, {}), measure) for seed in JUDGED]
        mark = "" if np.mean(values) <= target else "  MISSED"
        line = f"{name:20}{law!s:>22}{measure:>10}{np.mean(values):10.4g}{max(values):10.4g}{target:10.4g}{mark}"
        print(line, flush=True)


def main(arguments: list[str]) -> None:
    """Both tables, of all learners or of those named."""
    warnings.simplefilter("ignore", kh.KeyholeWarning)
    names = [a for a in arguments if not a.startswith("-")]
    if "--judge" not in arguments:
        for case in CASES:
            if not names or case.name in names:
                choose(case)
    judge(names)


if __name__ == "__main__":
    main(sys.argv[1:])
