"""A figure: a chart rendered as SVG in a separate process, and the table with the same numbers."""

import atexit
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import altair as alt

from .._internal.atomic_io import write_atomically
from .._internal.escaping import escape, printable
from .._internal.formatting import number
from ..errors import KeyholeWarning
from . import theme

__all__ = ["STYLE", "Figure", "NotDrawn", "draw", "number", "standalone", "to_svg"]

_LONGEST = 120.0  # seconds after which rendering is aborted
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
    """Raised with the reason if a chart cannot be rendered."""


class _RendererProcess:
    """A process that renders Vega-Lite charts one after another; it lives from the first chart until we exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._pid = 0

    def draw(self, spec: str) -> str:
        """Render the chart, given as one line of JSON, as SVG."""
        with self._lock:
            if self._pid != os.getpid():
                self._process, self._pid = None, os.getpid()  # after a fork the process belongs to the parent
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
                self.stop()
                raise NotDrawn("the drawing library gave up")
        said: dict[str, str] = json.loads(answer)
        if "svg" not in said:
            raise NotDrawn(said["fault"])
        return said["svg"]

    def _start(self) -> "subprocess.Popen[str]":
        if importlib.util.find_spec("vl_convert") is None:
            raise ModuleNotFoundError("No module named 'vl_convert'", name="vl_convert")
        # In a session of its own, so that Control-C reaches only us and causes no native traceback there.
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

    def stop(self) -> None:
        """End the process; the next rendering starts another."""
        if self._process is not None and self._pid == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._process = None


def _asked(process: "subprocess.Popen[str]", line: str) -> str:
    """Return the answer of the process, or "" if it ended instead."""
    stdin = _stream(process.stdin)
    stdin.write(line + "\n")
    stdin.flush()
    return _stream(process.stdout).readline()


def _stream(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise NotDrawn("the renderer has no pipe")
    return pipe


_renderer = _RendererProcess()
draw = _renderer.draw
atexit.register(_renderer.stop)


# The style sheet that a page with our figures needs.
STYLE = (
    "svg{max-width:100%;height:auto}"
    f":root{{color-scheme:light dark;{theme.variables()}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{theme.variables(dark=True)}}}{theme.repainted()}}}"
)

_MARK = re.compile(r'<path (aria-label="([^"]*)"[^>]*?)(?:/>|></path>)')
_WITHOUT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="40" viewBox="0 0 480 40">'
    '<text x="0" y="24" font-size="14" fill="currentColor">not drawn: see the numbers below</text></svg>'
)
_PAINT = re.compile(r'(?:fill|stroke)="#[0-9a-fA-F]{6}"')


def to_svg(chart: alt.TopLevelMixin, title: str) -> str:
    """Render the chart as SVG, deterministically; `title` is its label for screen readers.

    If rendering fails, a sentence replaces the chart and a warning is issued, so that no results are lost.
    """
    spec = _harmless(theme.dressed(chart).to_dict(validate=False))
    # Vega evaluates some names as expressions, which undoes the escaping: therefore escape the result again.
    try:
        drawn = printable(draw(json.dumps(spec)))
    except NotDrawn as fault:
        said = f"the figure '{printable(title)}' could not be drawn ({fault}); its numbers are in the table"
        warnings.warn(said, KeyholeWarning, 2)
        drawn = _WITHOUT
    drawn = _PAINT.sub(lambda m: m[0].lower(), drawn)  # as the style sheet writes its colours
    drawn = _MARK.sub(r"<path \1><title>\2</title></path>", drawn)  # shown on hover
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _harmless(spec: object) -> object:
    """Escape control characters, which are invalid in XML, and replace non-finite numbers, invalid in JSON."""
    if isinstance(spec, dict):
        return {key: _harmless(value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [_harmless(value) for value in spec]
    if isinstance(spec, float) and not math.isfinite(spec):
        return None
    return printable(spec) if isinstance(spec, str) else spec


def standalone(svg: str) -> str:
    """Return the SVG as a self-contained file with its colours."""
    end = svg.index(">") + 1
    return f"{svg[:end]}<style>{STYLE}</style>{svg[end:]}"


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its title and the table of its numbers."""

    title: str
    chart: alt.LayerChart
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """An optional sentence below the chart."""

    @cached_property
    def svg(self) -> str:
        """The chart for embedding in a page, whose style sheet defines the dark colours; rendered once."""
        return to_svg(self.chart, self.title)

    def save(self, path: Path) -> None:
        """Save the chart as a self-contained file that follows the reader's light or dark mode."""
        write_atomically(path, standalone(self.svg).encode())
