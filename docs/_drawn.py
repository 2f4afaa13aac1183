"""The pictures of the pages, drawn by the build from small runs into _static/made (not committed)."""

from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole import figures

MADE = Path(__file__).parent / "_static" / "made"
LEAGUE = (
    "thrifty",
    "explore-then-commit",
    "murata2018-hybrid",
    "ds-oslrc",
    "ito2017-3",
    "fixed-random",
)


def draw_all() -> None:
    """Every picture; a page that shows another one does not build."""
    MADE.mkdir(parents=True, exist_ok=True)
    first().save(MADE / "first.svg")
    league().save(MADE / "league.svg")
    zero().save(MADE / "zero.svg")
    drift().save(MADE / "drift.svg")


def first() -> figures.Figure:
    """Three learners on one stream."""
    X, y, w = kh.streams.synthetic(d=20, k=4, T=4000, seed=1)
    ends = np.arange(99, 4000, 100)
    lines = []
    for name in ("thrifty", "ds-oslrc", "fixed-random"):
        regret = kh.play(kh.make(name, d=20, k=4, seed=0), X, y).regret(w)[ends]
        lines.append(figures.Curve(name, np.maximum(regret, 0.1)))
    return figures.curves("Regret, 4 of 20 bought a row", ends + 1.0, lines, "row", "regret")


def league() -> figures.Figure:
    """Regret after 4 000 rows, median of three seeds."""
    found = {}
    for name in LEAGUE:
        ends = []
        for seed in range(3):
            X, y, w = kh.streams.synthetic(d=20, k=4, T=4000, seed=100 + seed)
            ends.append(kh.play(kh.make(name, d=20, k=4, seed=seed), X, y).regret(w)[-1])
        found[name] = np.sort(ends)
    low, middle, high = np.array(list(found.values())).T
    title = "Regret after 4 000 rows, 4 of 20 bought: median, smallest and largest of 3 seeds"
    return figures.bars(title, list(found), middle, "regret (less is better)", low, high)


def zero() -> figures.Figure:
    """The norm of the Dantzig selector's solution along gamma: it reaches 0 at gamma_max and stays there."""
    X, y, _ = kh.streams.synthetic(d=20, k=4, T=400, seed=1)
    H, b = X.T @ X / len(y), X.T @ y / len(y)
    top = kh.dantzig.gamma_max(b)
    gammas = np.linspace(0.02, 1.3, 40) * top
    norms = np.array([np.abs(kh.dantzig.solve(H, b, g).w).sum() for g in gammas])
    line = figures.Curve("|w|_1", norms)
    return figures.curves("gamma_max is at 1", gammas / top, [line], "gamma / gamma_max", "|w|_1", cumulative=True)


def drift() -> figures.Figure:
    """The weights turn round after 3 000 rows."""
    X, y, w = kh.streams.synthetic(d=12, k=3, T=6000, seed=3)
    X, y = X.copy(), y.copy()
    y[3000:] -= 2 * (X[3000:] @ w)
    ends = np.arange(200, 6001, 200)
    lines = []
    for name in ("thrifty", "fixed-random"):
        losses = kh.play(kh.make(name, d=12, k=3, seed=0), X, y).losses
        lines.append(figures.Curve(name, np.sqrt([losses[e - 200 : e].mean() for e in ends])))
    title = "Typical error, 200 rows at a time; the weights turn round at row 3 000"
    return figures.curves(title, ends.astype(float), lines, "row", "typical error")
