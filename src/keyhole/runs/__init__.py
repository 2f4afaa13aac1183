"""A file played into a folder: nothing is lost when it is killed, and nothing is different when it goes on."""

from .lifecycle import begin, find, resume
from .recommendation import HOW, Advice, rule_of
from .reopen import reopen
from .results import RunData
from .run_config import RunConfig, RunPlan, prepare
from .run_settings import Settings
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
]
