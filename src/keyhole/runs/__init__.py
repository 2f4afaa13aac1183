"""Runs: a file is played into a folder; an interrupted run can be resumed with identical results."""

from .lifecycle import begin, find, reopen, resume
from .recommendation import HOW, Advice, rule_of, total_of
from .results import RunData
from .run_config import RunConfig, RunPlan, Settings, prepare
from .runner import Watcher
from .totals import Totals

__all__ = [
    "HOW",
    "Advice",
    "RunConfig",
    "RunData",
    "RunPlan",
    "Settings",
    "Totals",
    "Watcher",
    "begin",
    "find",
    "prepare",
    "reopen",
    "resume",
    "rule_of",
    "total_of",
]
