"""Recorded traces: the cases, their streams, and how a trace is made.

`scripts/record_traces.py` writes the fixture, `test_traces.py` compares with it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import keyhole as kh

TRACES = Path(__file__).parents[1] / "fixtures" / "traces.npz"

ROWS, SAVED, LATE = 240, 120, (1, 2)
"""Rows of the stream; after how many a model is saved; which of three rounds asked before saving are left open."""

D = 9
LONG_ROWS = 3_000
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "thrifty": ("thrifty", dict(k=3)),
    "thrifty-money": ("thrifty", dict(k=4, k0=2, prices=[1, 2, 3, 1, 2, 3, 1, 2, 3], budget_per_row=6, half_life=80)),
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
    "thrifty-worth": ("thrifty", dict(k=3, k0=1, prices=[1, 2, 3, 1, 2, 3, 1, 2, 3], error_cost=400.0)),
    "thrifty-panels": ("thrifty", dict(k=3, sources={"panel": ["x1", "x2"]}, free=["x0"], half_life=80)),
    "murata2018-explore": ("murata2018-explore", dict(k=4, batch=4)),
    "murata2018-hybrid": ("murata2018-hybrid", dict(k=4, batch=4)),
}


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Three of nine attributes matter, a twentieth of the cells is missing; labels within [-1, 1]."""
    rng = np.random.default_rng(20261116)
    X = rng.uniform(-1.0, 1.0, (ROWS, D))
    y = X[:, [1, 4, 6]] @ np.array([0.45, -0.3, 0.2]) + 0.02 * rng.standard_normal(ROWS)
    return np.where(rng.random(X.shape) < 0.05, np.nan, X), np.clip(y, -1.0, 1.0)


def long_stream() -> tuple[np.ndarray, np.ndarray]:
    """Nine autocorrelated attributes, no missing cells, 3 000 rows: long enough for supports to move and settle."""
    rng = np.random.default_rng(20261118)
    Z = rng.standard_normal((LONG_ROWS, D))
    for j in range(1, D):
        Z[:, j] = 0.6 * Z[:, j - 1] + 0.8 * Z[:, j]
    X = np.clip(Z / 3.0, -1.0, 1.0)
    y = X[:, [0, 3, 7]] @ np.array([0.5, -0.3, 0.2]) + 0.05 * rng.standard_normal(LONG_ROWS)
    return X, np.clip(y, -1.0, 1.0)


def make_case(case: str) -> kh.Learner:
    """A new learner of this case."""
    name, options = CASES[case]
    return kh.make(name, d=D, seed=7, **options)  # type: ignore[arg-type]


def trace(case: str, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """The history of a case on a whole stream."""
    history = kh.play(make_case(case), X, y)
    return {"predictions": history.predictions, "bought": history.bought, "explored": history.explored}


def long_trace(case: str, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Every 25th prediction of the long stream, and its purchases."""
    history = kh.play(make_case(case), X, y)
    return {"predictions": history.predictions[::25], "bought": history.bought}


def answer(learner: kh.Learner, r: kh.Round, x: np.ndarray, y: float) -> float:
    """Predict and tell one round from its full row."""
    extra = learner.ask_more(r)
    y_hat = learner.predict(r, x[r.attributes])
    learner.tell(r, x[r.attributes], y, extra_attributes=extra, extra_values=x[extra])
    return y_hat


def play_until_saved(case: str, X: np.ndarray, y: np.ndarray) -> kh.Learner:
    """The learner after `SAVED` rows and three more rounds, of which it was told one."""
    learner = make_case(case)
    kh.play(learner, X[:SAVED], y[:SAVED])
    rounds = [learner.ask() for _ in range(3)]
    told = next(i for i in range(3) if i not in LATE)
    answer(learner, rounds[told], X[SAVED + told], float(y[SAVED + told]))
    return learner


def resume_saved(case: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The predictions after a save and a load: first of the rounds left open, then of the rest of the stream."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.kh"
        play_until_saved(case, X, y).save(path)
        learner = kh.load(path)
    late = [
        answer(learner, r, X[SAVED + i], float(y[SAVED + i])) for i, r in zip(LATE, learner.open_rounds, strict=True)
    ]
    return np.concatenate([late, kh.play(learner, X[SAVED + 3 :], y[SAVED + 3 :]).predictions])
