"""What every learner did in a released version: the cases, their stream, and how the fixtures are made of them.

`scripts/record_release.py` writes the fixtures, `test_releases.py` compares with them.
"""

from pathlib import Path

import numpy as np

import keyhole as kh

FIXTURES = Path(__file__).parents[1] / "fixtures"

ROWS, SAVED, LATE = 240, 120, (1, 2)
"""Rows of the stream; after how many a model is saved; which of three rounds asked before saving are left open."""

D = 9
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "thrifty": ("thrifty", dict(k=3)),
    "thrifty-money": ("thrifty", dict(k=4, k0=2, prices=[1, 2, 3, 1, 2, 3, 1, 2, 3], spend=6, half_life=80)),
    "ds-oslrc": ("ds-oslrc", dict(k=3)),
    "ds-oslrc-rate": ("ds-oslrc", dict(k=4, explore="2 t^(-1/3)", reset="partial", exploit="gradient")),
    "ds-oslrc-theory": ("ds-oslrc", dict(k=3, tuning="scaled(0.004)", sampling="uniform")),
    "ds-poslrc": ("ds-poslrc", dict(k=3, k0=4)),
    "ds-poslrc-newton": ("ds-poslrc", dict(k=3, k0=4, exploit="newton", solve="powers", reset="partial")),
    "aer": ("aer", dict(k=3)),
    "aerr": ("aerr", dict(k=3)),
    "aelr": ("aelr", dict(k=3)),
    "aer-weights": ("aer", dict(k=4, exploit="weights", tuning="theory")),
    "olin-lasso": ("olin-lasso", {}),
    "olin-lasso-theory": ("olin-lasso", dict(tuning="theory")),
    "rda": ("rda", {}),
    "rda-groups": ("rda", dict(tuning="theory", groups=[[0, 1], [2, 3, 4]])),
    "i-lamm": ("i-lamm", {}),
    "i-lamm-authors": ("i-lamm", dict(tuning="authors", penalty="mcp")),
    "vaw": ("vaw", {}),
    "fixed-random": ("fixed-random", dict(k=3)),
    "fixed-random-raw": ("fixed-random", dict(k=3, standardize=True)),
    "oracle-support": ("oracle-support", dict(k=3, support=[1, 4, 6])),
    "ito2017-1": ("ito2017-1", dict(k=3, k0=4)),
    "ito2017-2": ("ito2017-2", dict(k=3)),
    "ito2017-2-theory": ("ito2017-2", dict(k=3, tuning="theory")),
    "ito2017-3": ("ito2017-3", dict(k=3)),
    "ito2017-3-theory": ("ito2017-3", dict(k=3, tuning="theory")),
    "kale2017-dantzig": ("kale2017-dantzig", dict(k=3, k0=4)),
    "kale2017-dantzig-coins": ("kale2017-dantzig", dict(k=3, k0=4, sampling="bernoulli")),
    "kale2017-greedy": ("kale2017-greedy", dict(k=3, k0=4)),
    "kale2017-greedy-theory": ("kale2017-greedy", dict(k=3, k0=4, tuning="theory")),
    "foster2016": ("foster2016", dict(k=3, k0=4)),
    "foster2016-theory": ("foster2016", dict(k=3, k0=4, tuning="theory")),
    "support-bandit": ("support-bandit", dict(k=2)),
    "support-bandit-corral": ("support-bandit", dict(k=2, master="corral", base="newton")),
    "support-bandit-exp3": ("support-bandit", dict(k=2, master="batched-exp3", tuning="theory")),
    "gibbs-thompson": ("gibbs-thompson", dict(k=3)),
    "explore-then-commit": ("explore-then-commit", dict(k=3)),
    "thrifty-worth": ("thrifty", dict(k=3, k0=1, prices=[1, 2, 3, 1, 2, 3, 1, 2, 3], worth=400.0)),
    "thrifty-panels": ("thrifty", dict(k=3, sources={"panel": ["x1", "x2"]}, known=["x0"], half_life=80)),
    "murata2018-explore": ("murata2018-explore", dict(k=4, batch=4)),
    "murata2018-hybrid": ("murata2018-hybrid", dict(k=4, batch=4)),
}


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Three of nine attributes matter, a twentieth of the cells is missing; labels within [-1, 1]."""
    rng = np.random.default_rng(20261116)
    X = rng.uniform(-1.0, 1.0, (ROWS, D))
    y = X[:, [1, 4, 6]] @ np.array([0.45, -0.3, 0.2]) + 0.02 * rng.standard_normal(ROWS)
    return np.where(rng.random(X.shape) < 0.05, np.nan, X), np.clip(y, -1.0, 1.0)


def made(case: str) -> kh.Learner:
    """The learner of a case, as new."""
    name, options = CASES[case]
    return kh.make(name, d=D, seed=7, **options)  # type: ignore[arg-type]


def trace(case: str, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """What a learner does on the whole stream."""
    history = kh.play(made(case), X, y)
    return {"predictions": history.predictions, "bought": history.bought, "explored": history.explored}


def answer(learner: kh.Learner, r: kh.Round, x: np.ndarray, y: float) -> float:
    """Predict and tell one round from its full row."""
    extra = learner.ask_more(r)
    y_hat = learner.predict(r, x[r.attributes])
    learner.tell(r, x[r.attributes], y, extra_attributes=extra, extra_values=x[extra])
    return y_hat


def to_be_saved(case: str, X: np.ndarray, y: np.ndarray) -> kh.Learner:
    """The learner after `SAVED` rows and three more rounds, of which it was told one."""
    learner = made(case)
    kh.play(learner, X[:SAVED], y[:SAVED])
    rounds = [learner.ask() for _ in range(3)]
    told = next(i for i in range(3) if i not in LATE)
    answer(learner, rounds[told], X[SAVED + told], float(y[SAVED + told]))
    return learner


def go_on(learner: kh.Learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The predictions of a saved learner from there on: first the open rounds, then the rest of the stream."""
    late = [
        answer(learner, r, X[SAVED + i], float(y[SAVED + i])) for i, r in zip(LATE, learner.open_rounds, strict=True)
    ]
    return np.concatenate([late, kh.play(learner, X[SAVED + 3 :], y[SAVED + 3 :]).predictions])
