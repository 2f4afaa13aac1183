"""Many runs: algorithms x streams x seeds, on one machine or many, with results on disk."""

from .comparing import Comparison, Progress
from .engines import Engine
from .frontiers import Frontier, frontier, frontier_in
from .job import Job, Outcome, run_job
from .stream_spec import StreamSpec
from .summing import Row, notes_of, summarise

__all__ = [
    "Comparison",
    "Engine",
    "Frontier",
    "Job",
    "Outcome",
    "Progress",
    "Row",
    "StreamSpec",
    "frontier",
    "frontier_in",
    "notes_of",
    "run_job",
    "summarise",
]
