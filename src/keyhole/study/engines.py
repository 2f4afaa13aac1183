"""Who does the work: this process, processes beside it (joblib), or a Dask cluster. The outcomes are the same."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..errors import ConfigError

__all__ = ["Engine"]

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Engine:
    """`joblib` (the default), `dask` (a cluster on this machine) or `dask=ADDRESS` (one that is there)."""

    kind: str
    jobs: int
    address: str | None = None

    @classmethod
    def parse(cls, text: str, jobs: int) -> "Engine":
        """The engine as one writes it."""
        kind, _, address = text.partition("=")
        if kind not in ("joblib", "dask") or (kind == "joblib" and address):
            raise ConfigError(f"there is no engine '{text}'; there are joblib, dask and dask=tcp://HOST:PORT")
        return cls(kind, jobs, address or None)

    def run(self, jobs: Sequence[Job], work: Callable[[Job], Outcome]) -> Iterator[tuple[Job, Outcome]]:
        """Each job with what `work` makes of it, as they become ready, in whatever order."""
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
        """A worker that dies is no loss: its jobs go to another."""
        try:
            from distributed import Client, LocalCluster, as_completed
        except ModuleNotFoundError:
            raise ConfigError("the engine dask needs dask: pip install 'keyhole[dask]'") from None
        local = {"n_workers": self.jobs, "threads_per_worker": 1, "dashboard_address": None}
        cluster = self.address or LocalCluster(**local)  # type: ignore[no-untyped-call]
        try:
            with Client(cluster, timeout=20) as client:  # type: ignore[no-untyped-call]
                futures = client.map(_pair, jobs, work=work, pure=False)
                for future in as_completed(futures):  # type: ignore[no-untyped-call]
                    yield future.result()
        except OSError as fault:
            raise ConfigError(f"the Dask cluster at {self.address} does not answer: {fault}") from None
        finally:
            if not isinstance(cluster, str):
                cluster.close()


def _pair(job: Job, work: Callable[[Job], Outcome]) -> tuple[Job, Outcome]:
    return job, work(job)
