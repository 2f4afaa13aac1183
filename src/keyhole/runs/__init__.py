"""A file played into a folder: nothing is lost when it is killed, and nothing is different when it goes on."""

from .conducting import begin, resume
from .preparing import Request, default_algorithm, prepare
from .running import Watcher
from .settings import Settings
from .spec import Spec, split
from .tally import Tally
from .view import View

__all__ = [
    "Request",
    "Settings",
    "Spec",
    "Tally",
    "View",
    "Watcher",
    "begin",
    "default_algorithm",
    "prepare",
    "resume",
    "split",
]
