"""One job: an algorithm on a stream with a seed. Equal jobs have equal outcomes wherever they run."""

import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np

from .. import __version__
from .._internal.formatting import number
from .._internal.typing import Floats
from ..core.learner import Learner
from ..core.registry.catalogue import options_of
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Budget, Spec
from ..data.scaling import Scaling
from ..data.schema_completion import learn_ranges
from ..data.streams import Batch
from ..errors import ConfigError, KeyholeWarning
from ..estimation.moment_regression import Moments
from ..simulation import History, play, scored, with_center
from ..simulation.scoring import ProbabilityScores, score
from ..theory.comparators import best_basket_of
from .stream_spec import Rows, StreamSpec

__all__ = ["Job", "Outcome", "run_job"]

POINTS = 24
"""The number of points of a stored curve."""
CALIBRATION = 100
"""Rows set aside to estimate ranges that the schema lacks; at most a tenth of the table."""


@dataclass(frozen=True)
class Job:
    """The parameters that determine the outcome of one run of a comparison."""

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
        """Restore a job from the JSON values of `asdict`."""
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
        """The name of the job's file: equal for equal jobs of the same version."""
        text = json.dumps({"version": __version__, "outcome": 3, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Silent(TypedDict):
    """An estimate that stayed zero, and the widths of the attribute closest to becoming non-zero."""

    explorations: int
    gamma: float
    gamma_max: float


class Outcome(TypedDict):
    """The stored outcome of a job."""

    regret: float
    """Regret against the true weights or, if unknown, against the best basket of the same budget in hindsight."""
    loss: float
    """The mean squared error over the scored rows; its root is the typical error."""
    loss_last_tenth: float
    found: float
    """The share of the true support in the learner's final support; NaN if the truth is unknown."""
    attributes_per_row: float
    price_per_row: float
    rows: list[int]
    curve: list[float]
    """The regret up to each of `rows`."""
    losses: list[float]
    """The mean loss between consecutive `rows`."""
    seconds: float
    """The duration of the play; the only number that is not reproducible."""
    silent: Silent | None
    """Set if the estimate was zero in every exploration."""
    notes: list[str]
    budget: str
    """The limits of a row, in words."""
    reference: bool
    """Whether it sees everything or is given the true support: it is not ranked."""
    probabilities: ProbabilityScores | None
    """For yes/no labels; `loss` is then the Brier score."""


def run_job(job: Job) -> Outcome:
    """Run the job and return its outcome."""
    rows = rows_of(job)
    learner = learner_of(job, rows)
    scaling = Scaling(rows.schema, scaled=_is_scaled(job), clip=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KeyholeWarning)
        began = time.perf_counter()
        history = play(learner, scaling.rows(rows.X), scaling.labels(rows.y), keep=False)
    seconds = time.perf_counter() - began
    center, predictions = rows.schema.label.stated_center, scaling.predictions(history.predictions)
    if not job.stream.is_synthetic:  # synthetic labels are centred at 0, and a learner's initial prediction is its own
        predictions = with_center(predictions, rows.y, center)
    losses = (predictions - rows.y) ** 2
    losses = np.where(scored(rows.y, center), losses, np.nan)
    return _outcome(job, learner, history, losses, rows, seconds, [str(h.message) for h in caught])


def rows_of(job: Job) -> Rows:
    """Return the rows of a job. No learner of a comparison knows anything about a row before it is its turn.

    Ranges and centres that were computed from the rows themselves are not used. If ranges are then missing, the first
    100 rows in the order of the seed (at most a tenth of the table) are set aside to estimate them; no learner plays
    these rows. The ranges of a synthetic stream are known.
    """
    if job.stream.is_synthetic:
        return job.stream.rows(job.seed, job.rounds)
    rows = job.stream.rows(job.seed, job.rounds + CALIBRATION)
    schema = rows.schema.without_estimates()
    if not schema.unbounded:
        return rows._replace(X=rows.X[: job.rounds], y=rows.y[: job.rounds], schema=schema)
    aside = min(CALIBRATION, rows.y.size // 10)
    schema, _ = learn_ranges(schema, Batch(0, rows.X[:aside], rows.y[:aside]))
    played = slice(aside, aside + job.rounds)
    return rows._replace(X=rows.X[played], y=rows.y[played], schema=schema)


def learner_of(job: Job, rows: Rows) -> Learner:
    """Return the learner of a job, with a seed of its own; an oracle receives the true support."""
    spec = Spec.parse(job.algorithm)
    import_algorithm(spec.name)  # a worker process has not imported it yet
    support = None if rows.w is None else [int(i) for i in np.flatnonzero(rows.w)]
    if support is None and "support" in options_of(spec.name) and "support" not in dict(spec.options):
        raise ConfigError(f"'{spec.name}' needs the true support, which only a synthetic stream knows")
    # Only learners that plan with money get the limits in money; the others are limited by k alone.
    money = {name: value for name, value in job.money.items() if name in options_of(spec.name)}
    money |= {"expected_rows": rows.y.size} if "total_budget" in money else {}
    k0 = job.k0 if spec.record.takes_k0 or spec.record.needs_k0 else 0
    budget = Budget(None if spec.record.buys_all else job.k, k0, **money)
    seed = int(np.random.SeedSequence([job.seed, 1]).generate_state(1)[0])  # independent of the stream's generator
    return spec.learner(rows.schema, budget, seed, support)


def _is_scaled(job: Job) -> bool:
    """Return whether rows are scaled by the schema: synthetic rows already lie in the expected range."""
    return not job.stream.is_synthetic and not Spec.parse(job.algorithm).record.raw_columns


def _outcome(
    job: Job, learner: Learner, history: History, losses: Floats, rows: Rows, seconds: float, notes: list[str]
) -> Outcome:
    T, spec = losses.size, Spec.parse(job.algorithm)
    there = np.nan_to_num(losses - _rival(rows, job), nan=0.0)
    regret = np.cumsum(there)
    ends = np.unique(np.ceil(np.linspace(0, T, min(POINTS, T) + 1)).astype(np.int64))[1:]
    starts = np.concatenate([[0], ends[:-1]])
    return Outcome(
        regret=float(regret[-1]),
        loss=_mean(losses),
        loss_last_tenth=_mean(losses[-max(T // 10, 1) :]),
        found=_found(learner, rows),
        attributes_per_row=float(history.bought.sum()) / T,
        price_per_row=float(history.bought @ rows.schema.catalog.charge) / T,
        rows=ends.tolist(),
        curve=regret[ends - 1].tolist(),
        losses=[_mean(losses[a:b]) for a, b in zip(starts, ends, strict=True)],
        seconds=seconds,
        silent=_silent(learner),
        notes=notes,
        budget=_budget(learner),
        reference=spec.record.buys_all or spec.record.oracle,
        probabilities=score(np.where(np.isnan(losses), np.nan, history.labels), history.predictions)
        if learner.binary
        else None,
    )


def _mean(losses: Floats) -> float:
    """Return the mean of the losses of the scored rows; NaN if there is none."""
    there = losses[~np.isnan(losses)]
    return float(there.mean()) if there.size else float("nan")


def _budget(learner: Learner) -> str:
    """Return the limits of a row in a few words; learners whose words are equal can be ranked against each other."""
    words = {"budget_per_row": "{} a row", "error_cost": "error cost {}", "total_budget": "{} in all"}
    options = learner.config["options"]
    given = {name: options.get(name) for name in words} if isinstance(options, dict) else {}
    money = [words[name].format(number(float(v))) for name, v in given.items() if isinstance(v, int | float)]
    k = [f"k = {learner.k}"] if not money or learner.k < len(learner.catalog.sources) else []
    after = f", k0 = {learner.k0}" if learner.k0 else ""
    return ", ".join([*k, *money]) + after


def _rival(rows: Rows, job: Job) -> Floats:
    """Return the losses of the comparator used to compute the regret, which is the same for all learners of a
    comparison.
    """
    if rows.w is not None:
        residual: Floats = rows.y - np.nan_to_num(rows.X, nan=0.0) @ rows.w
        return residual**2
    known = np.isfinite(rows.y)
    X = np.where(np.isfinite(rows.X), rows.X, np.nanmean(np.where(np.isfinite(rows.X), rows.X, np.nan), axis=0))
    shift = X.mean(axis=0)
    V = np.column_stack([np.ones(known.sum()), X[known] - shift, rows.y[known]])
    catalog, moments = rows.schema.catalog, Moments.of(V.T @ V)
    k = job.k if job.k is not None or job.money else len(catalog.sources)
    limits = {"k": k, "budget_per_row": job.budget_per_row, "error_cost": job.error_cost}
    best = best_basket_of(moments.C, moments.c, moments.variance, catalog, **limits)  # type: ignore[arg-type]
    S = catalog.attributes(best.chosen)
    beta = np.linalg.lstsq(moments.C[np.ix_(S, S)], moments.c[S], rcond=None)[0]
    fitted = moments.mean[-1] + (X - shift - moments.mean[:-1])[:, S] @ beta
    return np.asarray((rows.y - fitted) ** 2, dtype=np.float64)


def _found(learner: Learner, rows: Rows) -> float:
    if rows.w is None:
        return float("nan")
    true = np.flatnonzero(rows.w)
    return float(np.isin(true, learner.support).mean())


def _silent(learner: Learner) -> Silent | None:
    """Return the diagnosis of a learner whose Dantzig estimate was always zero; None for all others."""
    estimate = getattr(learner, "estimate", None)
    if estimate is None or not getattr(estimate, "silent", False):
        return None
    gamma, gamma_max = estimate.nearest()
    return Silent(explorations=estimate.solved, gamma=gamma, gamma_max=gamma_max)
