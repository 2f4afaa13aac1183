"""Executors of jobs: this process, parallel processes (joblib), or a Dask cluster; outcomes are kept on disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..errors import ConfigError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

__all__ = ["Executor", "Progress", "path_in", "work_off"]

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Executor:
    """What runs the jobs: `joblib` (the default), `dask` (a cluster on this machine) or `dask=ADDRESS` (an existing
    cluster).
    """

    kind: str
    jobs: int
    address: str | None = None

    @classmethod
    def parse(cls, text: str, jobs: int) -> "Executor":
        """Parse an executor as a user writes it."""
        kind, _, address = text.partition("=")
        if kind not in ("joblib", "dask") or (kind == "joblib" and address):
            raise ConfigError(f"there is no executor '{text}'; there are joblib, dask and dask=tcp://HOST:PORT")
        return cls(kind, jobs, address or None)

    def run(self, jobs: Sequence[Job], work: Callable[[Job], Outcome]) -> Iterator[tuple[Job, Outcome]]:
        """Yield each job with the result of `work`, in order of completion."""
        if self.kind == "dask":
            return self._dask(jobs, work)
        return self._joblib(jobs, work) if self.jobs > 1 else ((job, work(job)) for job in jobs)

    def _joblib(self, jobs: Sequence[Job], work: Callable[[Job], Outcome]) -> Iterator[tuple[Job, Outcome]]:
        try:
            from joblib import Parallel, delayed
        except ModuleNotFoundError:
            raise ConfigError("--jobs above 1 needs joblib: pip install 'keyhole[cli]'") from None
        parallel = Parallel(n_jobs=self.jobs, return_as="generator_unordered")
        yield from parallel(delayed(_pair)(job, work) for job in jobs)

    def _dask(self, jobs: Sequence[Job], work: Callable[[Job], Outcome]) -> Iterator[tuple[Job, Outcome]]:
        """Run on a Dask cluster; the jobs of a worker that dies are moved to another."""
        try:
            from distributed import LocalCluster, as_completed
        except ModuleNotFoundError:
            raise ConfigError("the executor dask needs dask: pip install 'keyhole[dask]'") from None
        local = {"n_workers": self.jobs, "threads_per_worker": 1, "dashboard_address": None}
        cluster = self.address or LocalCluster(**local)  # type: ignore[no-untyped-call]
        try:
            if not isinstance(cluster, str):  # close the HTTP port that the scheduler always opens
                cluster.loop.add_callback(cluster.scheduler.http_server.stop)  # type: ignore[union-attr]
            with self._client(cluster) as client:
                futures = client.map(_pair, jobs, work=work, pure=False)
                for future in as_completed(futures):  # type: ignore[no-untyped-call]
                    yield future.result()
        finally:
            if not isinstance(cluster, str):
                cluster.close()

    def _client(self, cluster: "str | LocalCluster") -> "Client":
        """Return a connected client; certificates for tls:// are taken from Dask's own settings."""
        from distributed import Client

        try:
            return Client(cluster, timeout=20)  # type: ignore[no-untyped-call]
        except (OSError, TypeError, ValueError) as fault:
            raise ConfigError(
                f"the Dask cluster at {self.address} does not answer: {str(fault).splitlines()[0]}; tls:// needs "
                "certificates in Dask's settings (distributed.comm.tls.ca-file, client.cert and client.key)"
            ) from None


def _pair(job: Job, work: Callable[[Job], Outcome]) -> tuple[Job, Outcome]:
    return job, work(job)


Progress: TypeAlias = Callable[[int, int], None]
"""Called with (finished jobs, all jobs)."""


def work_off(
    jobs: Sequence[Job],
    there: dict[Job, Outcome],
    work: Callable[[Job], Outcome],
    keep: Callable[[Job, Outcome], None],
    executor: Executor,
    progress: Progress,
) -> None:
    """Run the jobs that are not in `there`, add their outcomes to it, and `keep` each on disk at once."""
    missing = [job for job in jobs if job not in there]
    done = len(jobs) - len(missing)
    progress(done, len(jobs))
    for job, outcome in executor.run(missing, work) if missing else iter(()):
        keep(job, outcome)
        there[job] = outcome
        done += 1
        progress(done, len(jobs))


def path_in(folder: Path, key: str) -> Path:
    """Return the path of the file, in `folder`, that holds the outcome of the job `key`."""
    return folder / "jobs" / f"{key}.json"
