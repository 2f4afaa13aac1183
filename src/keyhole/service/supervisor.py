"""A worker does not outlive the process that started it."""

import os
import signal
import time
from threading import Thread

__all__ = ["leave_with"]

_EVERY = 0.5


def leave_with(supervisor: int) -> None:
    """End this process once the one that started it has ended.

    A supervisor that is killed cannot stop its workers. They would hold its port for ever, and a new server could not
    listen there.
    """

    def watch() -> None:
        while os.getppid() == supervisor:
            time.sleep(_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="leave-with-supervisor", daemon=True).start()
