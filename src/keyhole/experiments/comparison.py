"""Comparisons of algorithms x streams x seeds, in memory or in a folder that keeps finished jobs."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._internal.atomic_io import read_json, write_atomically, write_json
from .._internal.dataframes import to_frame
from .._internal.formatting import join_names, repeated
from .._internal.output_folder import Folder
from ..core.learner import Learner
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Spec, unpriced
from ..errors import ConfigError, StateError
from .aggregate import CURVES, Row, figure_of, notes_of, summarise
from .executors import Executor, Progress, path_in, work_off
from .job import Job, Outcome, learner_of, run_job
from .stream_spec import StreamSpec

if TYPE_CHECKING:
    import altair as alt

__all__ = ["Comparison", "ComparisonResult", "Progress", "compare"]


def _names(algorithms: Sequence[str]) -> list[str]:
    """Return the algorithms with their tuning spelt out; those of other packages are imported."""
    specs = [Spec.parse(text) for text in algorithms]
    for spec in specs:
        import_algorithm(spec.name)
    names = [str(spec.labelled()) for spec in specs]
    twice = repeated(names)
    if twice or not names:
        raise ConfigError(f"'{twice}' is listed twice" if twice else "list at least one algorithm")
    return names


def compare(
    learners: Sequence[str | type[Learner]],
    streams: Sequence[str | Callable[[int, int], object]],
    seeds: int = 10,
    *,
    rounds: int = 20_000,
    k: int | None = None,
    k0: int = 0,
    jobs: int = 1,
) -> "ComparisonResult":
    """Run every learner on every stream with seeds 0, 1, ..., in memory; `keyhole compare` does the same in a folder.

    Parameters
    ----------
    learners
        Names as on the command line ("ds-oslrc[tuning=theory]", "mypackage.module:Class"), or classes of learners.
    streams
        Names ("synthetic:d=20,k=4", a data set, "mypackage.module:function"), or functions that return X, y and w
        (or None) for a number of rows and a seed.
    seeds, rounds, jobs
        The number of runs per learner and stream, the maximum number of rows per run, and the number of processes.
        With several processes, learners and streams must be importable: not defined in a notebook or a script.
    k, k0
        Attributes per row before and after the label; k defaults to the number of true weights, if known.

    Returns
    -------
    A `ComparisonResult` with `to_frame()`, `summary()`, `plot()`, and the warnings of the learners in `notes`.

    Raises
    ------
    ConfigError
        If a learner or a stream cannot be constructed.

    >>> import keyhole as kh
    >>> result = compare(["oracle-support", "fixed-random"], ["synthetic:d=8,k=2"], seeds=2, rounds=200)
    >>> [(row.algorithm, row.seeds) for row in result.rows]
    [('oracle-support', 2), ('fixed-random', 2)]
    """
    if seeds < 1 or rounds < 1 or jobs < 1:
        raise ConfigError(f"seeds, rounds and jobs must be at least 1, not {seeds}, {rounds} and {jobs}")
    names = _names([_written(learner) for learner in learners])
    specs = [StreamSpec.parse(_written(stream)) for stream in streams]
    if not specs:
        raise ConfigError("list at least one stream")
    if jobs > 1 and (odd := next((n for n in [*names, *(s.name for s in specs)] if n.startswith("__main__:")), None)):
        raise ConfigError(f"'{odd}' must be importable from a module to run in several processes")
    todo = [
        Job(stream, name, seed, rounds, k or stream.k, k0)
        for stream in specs
        for name in names
        for seed in range(seeds)
    ]
    for job in todo:
        if job.seed == 0:
            learner_of(job, job.stream.rows(0, 1))
    outcomes = dict(Executor("joblib", jobs).run(todo, run_job))
    return ComparisonResult([(job, outcomes[job]) for job in todo])


def _written(thing: object) -> str:
    """Return a class or a function as "module:name"; a string is returned unchanged."""
    if isinstance(thing, str):
        return thing
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if module is None or not name.isidentifier():
        raise ConfigError(f"{thing!r} must be a name, or a class or function at the top of a module")
    return f"{module}:{name}"


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The result of `compare`."""

    outcomes: list[tuple[Job, Outcome]]
    """Every job with its outcome, in the order of streams, learners and seeds."""

    @property
    def rows(self) -> list[Row]:
        """One row per stream and learner: medians with 10 and 90 % quantiles over seeds."""
        return summarise(self.outcomes)

    @property
    def notes(self) -> list[str]:
        """Notes for the reader: estimates that stayed zero, and warnings of the learners."""
        return notes_of(self.outcomes)

    def to_frame(self) -> object:
        """Return a data frame with one row per stream, learner and seed."""
        kept = ("regret", "loss", "loss_last_tenth", "found", "attributes_per_row", "price_per_row", "seconds")
        labels = [_labels(job) for job, _ in self.outcomes]
        return to_frame(
            {key: [label[key] for label in labels] for key in ("stream", "algorithm", "seed")}
            | {key: [outcome[key] for _, outcome in self.outcomes] for key in kept}  # type: ignore[literal-required]
            | {key: [_or_nan(_scores(outcome)[key]) for _, outcome in self.outcomes] for key in ("auc", "log_loss")}
        )

    def summary(self) -> object:
        """Return a data frame with one row per stream and learner: the table of `keyhole compare`."""
        rows = self.rows
        return to_frame(
            {
                "stream": [row.stream for row in rows],
                "algorithm": [row.algorithm for row in rows],
                "seeds": [row.seeds for row in rows],
                "regret": [row.regret.middle for row in rows],
                "regret_10": [row.regret.low for row in rows],
                "regret_90": [row.regret.high for row in rows],
                "loss_last_tenth": [row.loss_last_tenth.middle for row in rows],
                "support_found": [row.found for row in rows],
                "attributes_per_row": [row.attributes_per_row for row in rows],
                "auc": [nan if row.probabilities is None else row.probabilities["auc"] for row in rows],
                "log_loss": [nan if row.probabilities is None else row.probabilities["log_loss"] for row in rows],
                "seconds_per_row": [row.seconds_per_row for row in rows],
            }
        )

    def plot(self, stream: str | None = None, what: str = "regret") -> "alt.LayerChart":
        """Plot regret, or "loss", over time with 10-90 % bands on one stream (by default the first)."""
        rows = self.rows
        stream = rows[0].stream if stream is None else stream
        mine = [row for row in rows if row.stream == stream]
        if not mine or what not in CURVES:
            known = ", ".join(f"'{name}'" for name in dict.fromkeys(row.stream for row in rows))
            raise ConfigError(f"plot needs one of the streams {known}, and what = {' or '.join(map(repr, CURVES))}")
        return figure_of(mine, what).chart


class Comparison:
    """A comparison of every algorithm on every stream with seeds 0, 1, ..., `seeds` - 1."""

    def __init__(
        self,
        folder: Path,
        streams: Sequence[StreamSpec],
        algorithms: Sequence[str],
        seeds: int,
        rounds: int,
        k: int | None = None,
        k0: int = 0,
        budget_per_row: float | None = None,
        error_cost: float | None = None,
        total_budget: float | None = None,
    ) -> None:
        self.path = folder
        names = _names(algorithms)
        self.jobs = [
            Job(stream, name, seed, rounds, k or stream.k, k0, budget_per_row, error_cost, total_budget)
            for stream in streams
            for name in names
            for seed in range(seeds)
        ]
        self.notes = [f"{stream.name}: {text}" for stream in streams for text in stream.notes]
        self._refuse()

    def _refuse(self) -> None:
        """Raise a `ConfigError` for algorithms that cannot be constructed, before anything runs; a shared fault is
        reported once.
        """
        faults: dict[str, list[str]] = {}
        first = [job for job in self.jobs if job.seed == 0]
        for job in first:
            rows = job.stream.rows(0, 1)
            if job.money and not rows.schema.priced:
                raise ConfigError(unpriced(job.money))
            try:
                learner_of(job, rows)
            except ConfigError as fault:
                names = faults.setdefault(str(fault), [])
                names += [job.algorithm] if job.algorithm not in names else []
        if len(faults) == 1 and len(next(iter(faults.values()))) in (1, len({job.algorithm for job in first})):
            raise ConfigError(next(iter(faults)))
        if faults:
            reasons: dict[str, list[str]] = {}
            for sentence, names in faults.items():
                for name in names:
                    reasons.setdefault(sentence.removeprefix(f"'{Spec.parse(name).name}' "), []).append(name)
            each = "; ".join(f"{join_names(names, 20)} ({reason})" for reason, names in reasons.items())
            raise ConfigError(f"{sum(map(len, faults.values()))} algorithms cannot be used here: {each}")

    def run(self, executor: Executor, progress: Progress) -> list[tuple[Job, Outcome]]:
        """Run the missing jobs, write results.parquet and curves.parquet, and return every job with its outcome.

        Stored results of other algorithms on the same streams, with the same length and budget, are appended.
        """
        self.folder = Folder.claim(self.path, "comparison")
        self.folder.check_room(len(self.jobs) * 20_000 + 20_000_000)
        with self.folder.lock():
            self.folder.subfolder("jobs")
            there = self._stored()
            work_off(self.jobs, there, run_job, self._keep, executor, progress)
            pairs = [(job, there[job]) for job in (*self.jobs, *self._earlier(there))]
            write_results(self.folder, pairs)
        return pairs

    def _earlier(self, there: dict[Job, Outcome]) -> list[Job]:
        """Return the stored jobs of other algorithms that can be shown in the same tables, sorted."""
        asked = {(job.stream, job.algorithm) for job in self.jobs}
        alike = {replace(job, algorithm="", seed=0) for job in self.jobs}
        found = [job for job in there if (job.stream, job.algorithm) not in asked]
        found = [job for job in found if replace(job, algorithm="", seed=0) in alike]
        return sorted(found, key=lambda job: (job.stream.name, job.algorithm, job.seed))

    def _stored(self) -> dict[Job, Outcome]:
        """Return the outcomes in the folder; a job with a damaged file is run again."""
        found: dict[Job, Outcome] = {}
        for path in sorted((self.path / "jobs").glob("*.json")):
            try:
                data: dict[str, Any] = read_json(path)
                job, outcome = Job.from_plain(data["job"]), data["outcome"]
            except StateError:
                self.notes.append(f"{path} was damaged: its job was run again")
                continue
            except (KeyError, TypeError):
                continue  # written by another version, or a foreign file
            if self._path(job) == path:
                found[job] = outcome
        return found

    def _keep(self, job: Job, outcome: Outcome) -> None:
        write_json(self._path(job), {"job": asdict(job), "outcome": outcome})

    def _path(self, job: Job) -> Path:
        return path_in(self.path, job.key)


_CURVES = ("rows", "curve", "losses", "seconds", "silent", "probabilities")


def write_results(folder: Folder, pairs: Sequence[tuple[Job, Outcome]]) -> None:
    """Write one row per job, and one per job and curve point; the bytes do not depend on how the jobs were run."""
    results = [
        _labels(job)
        | {key: value for key, value in outcome.items() if key not in _CURVES}
        | {"silent": outcome["silent"] is not None}
        | _scores(outcome)
        for job, outcome in pairs
    ]
    curves = [
        _labels(job) | {"row": row, "regret": regret, "mean_loss": loss}
        for job, outcome in pairs
        for row, regret, loss in zip(outcome["rows"], outcome["curve"], outcome["losses"], strict=True)
    ]
    for name, records in (("results", results), ("curves", curves)):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(records), sink, compression="zstd")
        write_atomically(folder.file(f"{name}.parquet"), sink.getvalue().to_pybytes())


def _scores(outcome: Outcome) -> dict[str, float | None]:
    """Return AUC and log loss for yes/no labels; None for numbers."""
    found = outcome["probabilities"]
    return {"auc": None, "log_loss": None} if found is None else {key: found[key] for key in ("auc", "log_loss")}


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


def _labels(job: Job) -> dict[str, object]:
    return {"stream": job.stream.name, "algorithm": job.algorithm, "seed": job.seed, "rounds": job.rounds}
