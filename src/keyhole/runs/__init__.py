"""A file played into a folder: nothing is lost when it is killed, and nothing is different when it goes on."""

from .advice import HOW, Advice, rule_of
from .lifecycle import begin, find, resume
from .request import Plan, Request, prepare
from .run_data import RunData
from .running import Watcher
from .settings import Settings
from .totals import Totals

__all__ = [
    "HOW",
    "Advice",
    "Plan",
    "Request",
    "RunData",
    "Settings",
    "Totals",
    "Watcher",
    "begin",
    "find",
    "prepare",
    "resume",
    "rule_of",
]
