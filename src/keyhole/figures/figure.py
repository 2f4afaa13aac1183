"""A figure: a chart as SVG, drawn in a process of its own, and the table with the same numbers."""

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

from .._internal.escaping import escape, printable
from .._internal.formatting import number
from ..errors import KeyholeWarning
from . import theme

__all__ = ["STYLE", "Figure", "NotDrawn", "draw", "number", "standalone", "to_svg"]

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


class _RendererProcess:
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
                self.stop()
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

    def stop(self) -> None:
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


_renderer = _RendererProcess()
draw = _renderer.draw
atexit.register(_renderer.stop)


# What a page with our figures needs in its style sheet.
STYLE = (
    "svg{max-width:100%;height:auto}"
    f":root{{color-scheme:light dark;{theme.variables()}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{theme.variables(dark=True)}}}}}"
)

_MARK = re.compile(r'<path (aria-label="([^"]*)"[^>]*?)(?:/>|></path>)')
_WITHOUT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="40" viewBox="0 0 480 40">'
    '<text x="0" y="24" font-size="14" fill="currentColor">not drawn: see the numbers below</text></svg>'
)
_PAINT = re.compile(r'((?:fill|stroke)=")(#[0-9a-fA-F]{6})(")')


def to_svg(chart: alt.TopLevelMixin, title: str) -> str:
    """The chart drawn once; `title` is what a screen reader says. The same chart gives the same text.

    What cannot be drawn is a sentence in its place, and a warning: nobody's results are lost for a picture.
    """
    spec = _harmless(theme.dressed(chart).to_dict(validate=False))
    # Vega reads some names as expressions, in which what was written out becomes what it was: hence once more.
    try:
        drawn = printable(draw(json.dumps(spec)))
    except NotDrawn as fault:
        said = f"the figure '{printable(title)}' could not be drawn ({fault}); its numbers are in the table"
        warnings.warn(said, KeyholeWarning, 2)
        drawn = _WITHOUT
    names = theme.named()
    drawn = _PAINT.sub(lambda m: m[1] + names.get(m[2].lower(), m[2]) + m[3], drawn)
    drawn = _MARK.sub(r"<path \1><title>\2</title></path>", drawn)  # shown where a pointer rests
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _harmless(spec: object) -> object:
    """The same with what nobody can see written out: controls would not even be XML, nor is what is no number JSON."""
    if isinstance(spec, dict):
        return {key: _harmless(value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [_harmless(value) for value in spec]
    if isinstance(spec, float) and not math.isfinite(spec):
        return None
    return printable(spec) if isinstance(spec, str) else spec


def standalone(svg: str) -> str:
    """The same as a file of its own, which brings its colours along."""
    end = svg.index(">") + 1
    return f"{svg[:end]}<style>{STYLE}</style>{svg[end:]}"


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its title and, since nobody can read a number off a picture, its numbers."""

    title: str
    chart: alt.LayerChart
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """A sentence under the picture, where it needs one."""

    @cached_property
    def svg(self) -> str:
        """The picture for a page, drawn once: its colours are the page's variables."""
        return to_svg(self.chart, self.title)

    def save(self, path: Path) -> None:
        """The picture as a file of its own, light or dark as the reader's screen is."""
        path.write_text(standalone(self.svg), encoding="utf-8")
