"""One job: an algorithm plays a stream with a seed. The same job gives the same outcome wherever it runs."""

import copy
import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np

from .. import __version__
from .._internal.typing import Floats
from ..core.learner import Learner
from ..core.registry.catalogue import options_of
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Budget, Spec
from ..data.learner_scaling import Scaling
from ..errors import ConfigError, KeyholeWarning
from ..estimation.moment_regression import Moments
from ..simulation import History, play
from ..theory.comparators import best_basket_of
from .stream_spec import Rows, StreamSpec

__all__ = ["Job", "Outcome", "run_job"]

POINTS = 24
"""How many points of a curve are kept."""
_FEW = 200
_WARM: set[str] = set()
"""The algorithms that this process has played."""


@dataclass(frozen=True)
class Job:
    """What decides an outcome."""

    stream: StreamSpec
    algorithm: str
    seed: int
    rounds: int
    k: int | None
    k0: int
    budget_per_row: float | None = None
    error_cost: float | None = None
    total_budget: float | None = None

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> "Job":
        """What `asdict` gave, by way of JSON."""
        stream = data["stream"] | {"notes": tuple(data["stream"]["notes"])}
        return cls(**(data | {"stream": StreamSpec(**stream)}))

    @property
    def money(self) -> dict[str, float]:
        """The limits in money that were given, by option."""
        given = {
            "budget_per_row": self.budget_per_row,
            "error_cost": self.error_cost,
            "total_budget": self.total_budget,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def key(self) -> str:
        """A name for the job's file: equal for equal jobs of the same version."""
        text = json.dumps({"version": __version__, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Silent(TypedDict):
    """An estimate that never left 0, and the widths of the attribute closest to leaving it."""

    explorations: int
    gamma: float
    gamma_max: float


class Outcome(TypedDict):
    """What is kept of a job."""

    regret: float
    """Against the true weights, or the best k in hindsight where those are unknown."""
    loss: float
    loss_last_tenth: float
    found: float
    """The share of the true support that is in the learner's at the end; NaN where the truth is unknown."""
    attributes_per_row: float
    price_per_row: float
    rows: list[int]
    curve: list[float]
    """The regret up to each of `rows`."""
    losses: list[float]
    """The mean loss between them."""
    seconds: float
    """What playing took; the only number that is not the same twice."""
    silent: Silent | None
    """Of an estimate that was 0 in every exploration."""
    notes: list[str]


def run_job(job: Job) -> Outcome:
    """Play the job."""
    rows = job.stream.rows(job.seed, job.rounds)
    learner = learner_of(job, rows)
    scaling = Scaling(rows.schema, scaled=_is_scaled(job), clip=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KeyholeWarning)
        _warm_up(job.algorithm, learner, scaling.rows(rows.X[:_FEW]), scaling.labels(rows.y[:_FEW]))
        caught.clear()
        began = time.perf_counter()
        history = play(learner, scaling.rows(rows.X), scaling.labels(rows.y), keep=False)
    seconds = time.perf_counter() - began
    losses = (scaling.predictions(history.predictions) - rows.y) ** 2
    return _outcome(learner, history, losses, rows, seconds, [str(h.message) for h in caught])


def _warm_up(algorithm: str, learner: Learner, X: Floats, y: Floats) -> None:
    """Let a copy play a few rows, once a process: what brings the compiled code is no part of the time per row."""
    if algorithm not in _WARM:
        play(copy.deepcopy(learner), X, y, keep=False)
        _WARM.add(algorithm)


def learner_of(job: Job, rows: Rows) -> Learner:
    """The learner of a job, with a seed of its own; an oracle is told the truth."""
    spec = Spec.parse(job.algorithm)
    import_algorithm(spec.name)  # in a process of its own nothing is imported yet
    support = None if rows.w is None else [int(i) for i in np.flatnonzero(rows.w)]
    if support is None and "support" in options_of(spec.name) and "support" not in dict(spec.options):
        raise ConfigError(f"'{spec.name}' needs the true support, which only a synthetic stream knows")
    # Money is for those who plan with it; the others keep to the number of attributes.
    money = {name: value for name, value in job.money.items() if name in options_of(spec.name)}
    money |= {"expected_rows": rows.y.size} if "total_budget" in money else {}
    budget = Budget(None if spec.record.buys_all else job.k, job.k0, **money)
    seed = int(np.random.SeedSequence([job.seed, 1]).generate_state(1)[0])  # not the stream's own numbers again
    return spec.learner(rows.schema, budget, seed, support)


def _is_scaled(job: Job) -> bool:
    """Synthetic rows are what the paper's learners expect, whatever the label; tables are scaled by their schema."""
    return not job.stream.is_synthetic and not Spec.parse(job.algorithm).record.raw_columns


def _outcome(
    learner: Learner, history: History, losses: Floats, rows: Rows, seconds: float, notes: list[str]
) -> Outcome:
    T = losses.size
    there = np.nan_to_num(losses - _rival(rows, learner.k), nan=0.0)
    regret = np.cumsum(there)
    ends = np.unique(np.ceil(np.linspace(0, T, min(POINTS, T) + 1)).astype(np.int64))[1:]
    starts = np.concatenate([[0], ends[:-1]])
    return Outcome(
        regret=float(regret[-1]),
        loss=float(np.nanmean(losses)),
        loss_last_tenth=float(np.nanmean(losses[-max(T // 10, 1) :])),
        found=_found(learner, rows),
        attributes_per_row=float(history.bought.sum()) / T,
        price_per_row=float(history.bought @ rows.schema.catalog.charge) / T,
        rows=ends.tolist(),
        curve=regret[ends - 1].tolist(),
        losses=[float(np.nanmean(losses[a:b])) for a, b in zip(starts, ends, strict=True)],
        seconds=seconds,
        silent=_silent(learner),
        notes=notes,
    )


def _rival(rows: Rows, k: int) -> Floats:
    """The losses of what regret is measured against."""
    if rows.w is not None:
        residual: Floats = rows.y - np.nan_to_num(rows.X, nan=0.0) @ rows.w
        return residual**2
    known = np.isfinite(rows.y)
    X = np.where(np.isfinite(rows.X), rows.X, np.nanmean(np.where(np.isfinite(rows.X), rows.X, np.nan), axis=0))
    shift = X.mean(axis=0)
    V = np.column_stack([np.ones(known.sum()), X[known] - shift, rows.y[known]])
    catalog, moments = rows.schema.catalog, Moments.of(V.T @ V)
    S = catalog.attributes(best_basket_of(moments.C, moments.c, moments.variance, catalog, k=k).chosen)
    beta = np.linalg.lstsq(moments.C[np.ix_(S, S)], moments.c[S], rcond=None)[0]
    fitted = moments.mean[-1] + (X - shift - moments.mean[:-1])[:, S] @ beta
    return np.asarray((rows.y - fitted) ** 2, dtype=np.float64)


def _found(learner: Learner, rows: Rows) -> float:
    if rows.w is None:
        return float("nan")
    true = np.flatnonzero(rows.w)
    return float(np.isin(true, learner.support).mean())


def _silent(learner: Learner) -> Silent | None:
    """What there is to tell of a learner of the paper whose estimate was 0 all along."""
    estimate = getattr(learner, "estimate", None)
    if estimate is None or not getattr(estimate, "silent", False):
        return None
    gamma, gamma_max = estimate.nearest()
    return Silent(explorations=estimate.solved, gamma=gamma, gamma_max=gamma_max)
