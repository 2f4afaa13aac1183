"""A worker does not outlive the process that started it."""

import os
import signal
import time
from threading import Thread

__all__ = ["leave_with"]

_EVERY = 0.5


def leave_with(supervisor: int) -> None:
    """End this process once the one that started it is gone, however it went.

    A supervisor that is killed cannot send its workers away; left alone they would hold its port for ever, and a
    server that is started in its place could not listen.
    """

    def watch() -> None:
        while os.getppid() == supervisor:
            time.sleep(_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="leave-with-supervisor", daemon=True).start()
