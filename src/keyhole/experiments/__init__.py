"""Experiments of many runs (algorithms x streams x seeds), on one machine or many, with results on disk."""

from .aggregate import Row, notes_of, summarise
from .comparison import Comparison, ComparisonResult, Progress, compare
from .executors import Executor
from .frontier_result import Frontier, frontier_in
from .frontiers import frontier
from .job import Job, Outcome, run_job
from .plan import Plan, PlannedBasket, plan
from .stream_spec import StreamSpec

__all__ = [
    "Comparison",
    "ComparisonResult",
    "Executor",
    "Frontier",
    "Job",
    "Outcome",
    "Plan",
    "PlannedBasket",
    "Progress",
    "Row",
    "StreamSpec",
    "compare",
    "frontier",
    "frontier_in",
    "notes_of",
    "plan",
    "run_job",
    "summarise",
]
