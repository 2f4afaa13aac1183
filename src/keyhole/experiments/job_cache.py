"""Outcomes of jobs, one file each: what is there is not done again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from .executors import Executor, Job, Outcome

__all__ = ["Progress", "path_in", "work_off"]

Progress: TypeAlias = Callable[[int, int], None]
"""(finished jobs, all jobs)"""


def work_off(
    jobs: Sequence[Job],
    there: dict[Job, Outcome],
    work: Callable[[Job], Outcome],
    keep: Callable[[Job, Outcome], None],
    executor: Executor,
    progress: Progress,
) -> None:
    """Do the jobs that are not `there`, put each there, and `keep` it on disk at once."""
    missing = [job for job in jobs if job not in there]
    done = len(jobs) - len(missing)
    progress(done, len(jobs))
    for job, outcome in executor.run(missing, work) if missing else iter(()):
        keep(job, outcome)
        there[job] = outcome
        done += 1
        progress(done, len(jobs))


def path_in(folder: Path, key: str) -> Path:
    """Where the outcome of a job lies."""
    return folder / "jobs" / f"{key}.json"
