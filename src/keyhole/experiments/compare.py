"""A comparison in its folder: what is there is not done again."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._internal.atomic_io import read_json, remove_leftovers, write_atomically, write_json
from .._internal.output_folder import Folder
from ..core.registry.spec import Spec, unpriced
from ..errors import ConfigError, StateError
from .executors import Executor
from .job import Job, Outcome, learner_of, run_job
from .job_cache import Progress, path_in, work_off
from .stream_spec import StreamSpec

__all__ = ["Comparison", "Progress"]


class Comparison:
    """Every algorithm on every stream with seeds 0, 1, ..., `seeds` - 1."""

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
        names = [str(Spec.parse(text)) for text in algorithms]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice or not names:
            raise ConfigError(f"'{twice}' is listed twice" if twice else "list at least one algorithm")
        self.jobs = [
            Job(stream, name, seed, rounds, k or stream.k, k0, budget_per_row, error_cost, total_budget)
            for stream in streams
            for name in names
            for seed in range(seeds)
        ]
        self.notes = [f"{stream.name}: {text}" for stream in streams for text in stream.notes]
        for job in self.jobs:
            if job.seed == 0:
                self._check(job)  # what cannot be made is said before anything runs

    def _check(self, job: Job) -> None:
        rows = job.stream.rows(0, 1)
        if job.money and not rows.schema.priced:
            raise ConfigError(unpriced(job.money))
        learner_of(job, rows)

    def run(self, executor: Executor, progress: Progress) -> list[tuple[Job, Outcome]]:
        """Do what is missing, then write results.parquet and curves.parquet; gives every job with its outcome.

        Algorithms that an earlier command played on the same streams, as long and with the same budget, come after.
        """
        self.folder = Folder.claim(self.path, "comparison")
        self.folder.check_room(len(self.jobs) * 20_000 + 20_000_000)
        with self.folder.lock():
            remove_leftovers(self.folder.subfolder("jobs"))
            there = self._stored()
            work_off(self.jobs, there, run_job, self._keep, executor, progress)
            pairs = [(job, there[job]) for job in (*self.jobs, *self._earlier(there))]
            write_results(self.folder, pairs)
        return pairs

    def _earlier(self, there: dict[Job, Outcome]) -> list[Job]:
        """Jobs of other algorithms that can stand in the same tables, in an order of their own."""
        asked = {(job.stream, job.algorithm) for job in self.jobs}
        alike = {replace(job, algorithm="", seed=0) for job in self.jobs}
        found = [job for job in there if (job.stream, job.algorithm) not in asked]
        found = [job for job in found if replace(job, algorithm="", seed=0) in alike]
        return sorted(found, key=lambda job: (job.stream.name, job.algorithm, job.seed))

    def _stored(self) -> dict[Job, Outcome]:
        """The outcomes in the folder; a job whose file is damaged is done again."""
        found: dict[Job, Outcome] = {}
        for path in sorted((self.path / "jobs").glob("*.json")):
            try:
                data: dict[str, Any] = read_json(path)
                job = Job.from_plain(data["job"])
            except StateError:
                self.notes.append(f"{path} was damaged: its job was run again")
                continue
            except (KeyError, TypeError):
                continue  # of another version, or not ours
            if self._path(job) == path:
                found[job] = data["outcome"]
        return found

    def _keep(self, job: Job, outcome: Outcome) -> None:
        write_json(self._path(job), {"job": asdict(job), "outcome": outcome})

    def _path(self, job: Job) -> Path:
        return path_in(self.path, job.key)


_CURVES = ("rows", "curve", "losses", "seconds", "silent")


def write_results(folder: Folder, pairs: Sequence[tuple[Job, Outcome]]) -> None:
    """One row per job, and one per job and point of its curve; the same bytes however the jobs were run."""
    results = [
        _labels(job)
        | {key: value for key, value in outcome.items() if key not in _CURVES}
        | {"silent": outcome["silent"] is not None}
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


def _labels(job: Job) -> dict[str, object]:
    return {"stream": job.stream.name, "algorithm": job.algorithm, "seed": job.seed, "rounds": job.rounds}
