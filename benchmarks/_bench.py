"""What the benchmarks share: the four public streams, one run, and many runs on all cores."""

import os
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from time import perf_counter
from typing import TypeAlias

import numpy as np

import keyhole as kh
from keyhole.data.synthetic_streams import synthetic


@dataclass(frozen=True)
class Setting:
    """A stream of the league: the law of its rows, d attributes, k of them relevant and k bought."""

    design: str
    d: int
    k: int
    T: int = 20_000

    def __str__(self) -> str:
        return f"{self.design} d={self.d} k={self.k}"


STREAMS = (
    Setting("uniform", 20, 4),
    Setting("uniform", 50, 5),
    Setting("ar(0.5)", 20, 4),
    Setting("ar(0.5)", 50, 5),
)


Options: TypeAlias = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Job:
    """One learner with its options on one stream."""

    algorithm: str
    options: Options
    stream: Setting
    seed: int


@dataclass(frozen=True)
class Outcome:
    """Regret divided by that of predicting 0; NaN where the learner refuses the stream, with its reason."""

    job: Job
    relative: float
    seconds: float
    refusal: str = ""


def run(job: Job) -> Outcome:
    """Play the stream of this seed; regret is against the weights behind the labels."""
    s = job.stream
    X, y, w = synthetic(d=s.d, k=s.k, T=s.T, design=s.design, seed=job.seed)
    start = perf_counter()
    try:
        # Another seed than the stream's, lest the learner's draws go along with those of the stream.
        learner = kh.make(job.algorithm, d=s.d, seed=1000 + job.seed, **arguments(job, w))
    except kh.ConfigError as refusal:
        return Outcome(job, float("nan"), 0.0, str(refusal))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kh.KeyholeWarning)
        regret = kh.play(learner, X, y).regret(w)[-1]
    zero = float((y**2).sum() - ((y - X @ w) ** 2).sum())
    return Outcome(job, float(regret) / zero, perf_counter() - start)


def arguments(job: Job, w: np.ndarray) -> dict[str, object]:
    """The budget by the algorithm's setting, the support for the one that is told it, and the options."""
    buys_all = next(a.buys_all for a in kh.list_algorithms() if a.name == job.algorithm)
    given: dict[str, object] = {"k": job.stream.d if buys_all else job.stream.k}
    if job.algorithm == "oracle-support":
        given["support"] = np.flatnonzero(w).tolist()
    return given | dict(job.options)


def run_all(jobs: Iterable[Job]) -> list[Outcome]:
    """All jobs, on all cores (or on KEYHOLE_WORKERS of them), in the order given."""
    # One thread per process, since the processes fill the cores; a fresh process reads this before it loads numpy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    workers = int(os.environ.get("KEYHOLE_WORKERS", 0)) or os.cpu_count()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(run, jobs))
