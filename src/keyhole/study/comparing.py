"""A comparison in its folder: what is there is not done again."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import ConfigError
from ..files import remove_leftovers, write_atomically
from ..outputs import Folder
from ..spec import Spec
from .engines import Engine
from .job import Job, Outcome, learner_of, run_job
from .stream_spec import StreamSpec

__all__ = ["Comparison", "Progress"]

Progress: TypeAlias = Callable[[int, int], None]
"""(finished jobs, all jobs)"""


class Comparison:
    """Every algorithm on every stream with seeds 0, 1, ..., `seeds` - 1."""

    def __init__(
        self,
        folder: Path,
        streams: Sequence[StreamSpec],
        algorithms: Sequence[str],
        seeds: int,
        rounds: int,
        budget: int | None = None,
        extra: int = 0,
    ) -> None:
        self.path = folder
        names = [str(Spec.parse(text)) for text in algorithms]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice or not names:
            raise ConfigError(f"'{twice}' is listed twice" if twice else "list at least one algorithm")
        self.jobs = [
            Job(stream, name, seed, rounds, budget or stream.budget, extra)
            for stream in streams
            for name in names
            for seed in range(seeds)
        ]
        for job in self.jobs:
            if job.seed == 0:
                learner_of(job, job.stream.rows(0, 1))  # what cannot be made is said before anything runs

    def run(self, engine: Engine, progress: Progress) -> list[tuple[Job, Outcome]]:
        """Do what is missing, then write results.parquet and curves.parquet; gives every job with its outcome."""
        self.folder = Folder.claim(self.path, "comparison")
        self.folder.check_room(len(self.jobs) * 20_000 + 20_000_000)
        with self.folder.lock():
            remove_leftovers(self.folder.subfolder("jobs"))
            missing = [job for job in self.jobs if self._read(job) is None]
            done = len(self.jobs) - len(missing)
            progress(done, len(self.jobs))
            for job, outcome in engine.run(missing, run_job) if missing else iter(()):
                write_atomically(self._path(job), json.dumps(outcome).encode())
                done += 1
                progress(done, len(self.jobs))
            pairs = list(self._pairs())
            write_results(self.folder, pairs)
        return pairs

    def _pairs(self) -> Iterator[tuple[Job, Outcome]]:
        for job in self.jobs:
            outcome = self._read(job)
            if outcome is None:
                raise RuntimeError(f"the engine lost job {job}")
            yield job, outcome

    def _path(self, job: Job) -> Path:
        return self.path / "jobs" / f"{job.key}.json"

    def _read(self, job: Job) -> Outcome | None:
        try:
            found: Outcome = json.loads(self._path(job).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found


_CURVES = ("rows", "curve", "losses")


def write_results(folder: Folder, pairs: Sequence[tuple[Job, Outcome]]) -> None:
    """One row per job, and one per job and point of its curve; the same bytes however the jobs were run."""
    results = [_labels(job) | {k: v for k, v in outcome.items() if k not in _CURVES} for job, outcome in pairs]
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
