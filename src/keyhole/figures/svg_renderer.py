"""Draw in a process of its own: the drawing is native code, and where that gives up it takes its process along."""

import atexit
import importlib.util
import json
import os
import subprocess
import sys
import threading
from typing import IO

__all__ = ["NotDrawn", "draw"]

_LONGEST = 120.0  # seconds before a drawing is given up
_CHILD = """
import json, sys
from vl_convert import vegalite_to_svg
print("ready", flush=True)
for line in sys.stdin:
    try:
        said = {"svg": vegalite_to_svg(line)}
    except Exception as fault:
        said = {"fault": str(fault).splitlines()[0]}
    print(json.dumps(said), flush=True)
"""


class NotDrawn(Exception):
    """There is no picture, and why."""


class _Pencil:
    """A process that draws one Vega-Lite chart after the other, from our first to our end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._pid = 0

    def draw(self, spec: str) -> str:
        """The chart, one line of JSON, as SVG."""
        with self._lock:
            if self._pid != os.getpid():
                self._process, self._pid = None, os.getpid()  # that of a parent stays the parent's
            process = self._process or self._start()
            over = threading.Timer(_LONGEST, process.kill)
            over.start()
            try:
                answer = _asked(process, spec)
            except OSError:
                answer = ""
            finally:
                over.cancel()
            if not answer:
                self.put_down()
                raise NotDrawn("the drawing library gave up")
        said: dict[str, str] = json.loads(answer)
        if "svg" not in said:
            raise NotDrawn(said["fault"])
        return said["svg"]

    def _start(self) -> "subprocess.Popen[str]":
        if importlib.util.find_spec("vl_convert") is None:
            raise ModuleNotFoundError("No module named 'vl_convert'", name="vl_convert")
        # In a session of its own, so that a Control-C is for us alone; its last words would be a native traceback.
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        if _stream(process.stdout).readline() != "ready\n":
            process.kill()
            process.communicate()
            raise NotDrawn("the drawing library does not start")
        self._process = process
        return process

    def put_down(self) -> None:
        """End the process; the next drawing starts another."""
        if self._process is not None and self._pid == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._process = None


def _asked(process: "subprocess.Popen[str]", line: str) -> str:
    """Its answer; nothing where it ended instead."""
    stdin = _stream(process.stdin)
    stdin.write(line + "\n")
    stdin.flush()
    return _stream(process.stdout).readline()


def _stream(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise NotDrawn("the renderer has no pipe")
    return pipe


_pencil = _Pencil()
draw = _pencil.draw
atexit.register(_pencil.put_down)
